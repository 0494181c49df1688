//! Parses lines of the protocol. What is unknown is skipped; nothing panics.
//!
//! After Meyer-Kahlen and Huber, "Description of the Universal Chess Interface" (2006).

/// A command of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Identify the engine and list its options.
    Uci,
    /// Answer once everything is ready.
    IsReady,
    /// The next position belongs to another game.
    NewGame,
    /// Set an option.
    SetOption {
        /// Its name.
        name: String,
        /// Its value; empty if there is none.
        value: String,
    },
    /// The game so far, as `Game::from_text` reads it.
    Position(String),
    /// Search.
    Go(Go),
    /// End the search.
    Stop,
    /// The move pondered on was played.
    PonderHit,
    /// End.
    Quit,
    /// Report skipped lines, or not.
    Debug(bool),
    /// Registration, which dc0 does not need.
    Register,
    /// For people: the board.
    Board,
    /// For people: the net's evaluation of the position.
    Eval,
    /// For people: the moves of the last search.
    Tree,
    /// For people: signature and speed.
    Bench,
}

/// The limits of a search; without any, the option `DC0Simulations` holds. Times are in milliseconds and may be negative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Go {
    /// Search only these root moves, in lower case; all if empty. They may be illegal, or no moves at all.
    pub searchmoves: Vec<String>,
    /// Think on the opponent's time.
    pub ponder: bool,
    /// White's clock.
    pub wtime: Option<i64>,
    /// Black's clock.
    pub btime: Option<i64>,
    /// White's increment.
    pub winc: Option<i64>,
    /// Black's increment.
    pub binc: Option<i64>,
    /// Moves until the clocks are set again.
    pub movestogo: Option<i64>,
    /// Depth.
    pub depth: Option<i64>,
    /// Simulations.
    pub nodes: Option<i64>,
    /// Look for a mate in this many moves.
    pub mate: Option<i64>,
    /// Time for this move.
    pub movetime: Option<i64>,
    /// Until `stop`.
    pub infinite: bool,
    /// Count the positions after this many plies, in place of a search.
    pub perft: Option<i64>,
    /// Limits that no whole number follows, so that they limit nothing.
    pub without_number: Vec<String>,
}

/// Parses a line: the first known command in it, with its arguments. `None` if there is none.
pub fn parse(line: &str) -> Option<Command> {
    let mut rest = line.trim();
    let is_for_people = |command: &Command| {
        matches!(command, Command::Board | Command::Eval | Command::Tree | Command::Bench)
    };
    let mut is_first = true;
    while !rest.is_empty() {
        let (word, arguments) = split_word(rest);
        match command(word, arguments) {
            Some(found) if is_first || !is_for_people(&found) => return Some(found),
            _ => (rest, is_first) = (arguments, false),
        }
    }
    None
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, tail) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, tail.trim_start())
}

fn command(word: &str, arguments: &str) -> Option<Command> {
    Some(match word {
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => set_option(arguments)?,
        "position" => Command::Position(position(arguments)),
        "go" => Command::Go(go(arguments)),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "quit" => Command::Quit,
        "debug" => Command::Debug(split_word(arguments).0 != "off"),
        "register" => Command::Register,
        "d" => Command::Board,
        "eval" => Command::Eval,
        "tree" => Command::Tree,
        "bench" => Command::Bench,
        _ => return None,
    })
}

/// `name NAME… value VALUE…`; values keep their spaces, because they may be paths.
fn set_option(arguments: &str) -> Option<Command> {
    let named = arguments.strip_prefix("name").filter(|rest| rest.starts_with(char::is_whitespace))?;
    let mut rest = named.trim_start();
    let mut name: Vec<&str> = Vec::new();
    let mut value = "";
    while !rest.is_empty() {
        let (word, tail) = split_word(rest);
        if word == "value" && !name.is_empty() {
            value = tail.trim_end();
            break;
        }
        name.push(word);
        rest = tail;
    }
    let value = if value == "<empty>" { "" } else { value };
    (!name.is_empty()).then(|| Command::SetOption { name: name.join(" "), value: value.to_owned() })
}

/// The start and the moves as [`dc0_core::board::Game::from_text`] reads them; moves and the en-passant square may be in capitals.
fn position(arguments: &str) -> String {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let moves = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
    let written = |(number, word): (usize, &&str)| {
        let is_en_passant = words[0] == "fen" && number == EN_PASSANT_WORD;
        if number >= moves || is_en_passant { word.to_ascii_lowercase() } else { (*word).to_owned() }
    };
    words.iter().enumerate().map(written).collect::<Vec<_>>().join(" ")
}

/// The index of the en-passant square after `position`: `fen`, pieces, side to move and castling rights come before.
const EN_PASSANT_WORD: usize = 4;

/// The words of `go`, which end a list of moves.
const LIMITS: [&str; 13] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
];

fn go(arguments: &str) -> Go {
    let mut go = Go::default();
    let mut words = arguments.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let number = match word {
            "ponder" => {
                go.ponder = true;
                continue;
            }
            "infinite" => {
                go.infinite = true;
                continue;
            }
            "searchmoves" => {
                while let Some(word) = words.next_if(|word| !LIMITS.contains(word)) {
                    let mv = word.to_ascii_lowercase();
                    if !go.searchmoves.contains(&mv) {
                        go.searchmoves.push(mv);
                    }
                }
                continue;
            }
            "wtime" => &mut go.wtime,
            "btime" => &mut go.btime,
            "winc" => &mut go.winc,
            "binc" => &mut go.binc,
            "movestogo" => &mut go.movestogo,
            "depth" => &mut go.depth,
            "nodes" => &mut go.nodes,
            "mate" => &mut go.mate,
            "movetime" => &mut go.movetime,
            "perft" => &mut go.perft,
            _ => continue,
        };
        if let Some(read) = words.peek().and_then(|word| whole_number(word)) {
            *number = Some(read);
            words.next();
        } else {
            go.without_number.push(word.to_owned());
        }
    }
    go
}

/// A whole number, saturated at 64 bits.
fn whole_number(word: &str) -> Option<i64> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let largest = if word.starts_with('-') { i64::MIN } else { i64::MAX };
    are_digits.then(|| word.parse().unwrap_or(largest))
}

#[cfg(test)]
mod tests;
