//! xboard engines.
//!
//! After Mann and Muller, "Chess Engine Communication Protocol" (2009), version 2. Details that it leaves open are as in cutechess.
//!
//! Between its own moves an engine waits with its own move on its board, as in a game with a person. Results that it claims are
//! ignored, because the match knows the rules; only a claim that it has lost is a resignation. Draw offers are ignored as well.

mod feature;
mod thinking;

use std::time::Duration;

use dc0_core::board::{Castling, CastlingSquares, Game, Move, Piece, Position, Side};
use dc0_core::params::{Problems, Value};
use dc0_process::clock::Stopwatch;

use crate::error::OpponentError;
use crate::options::{Kind, check};
use crate::params::{ClockParams, Limit};
use crate::player::{Order, Protocol, Reply, Report};
use crate::process::{Next, Process, Speech, shortened};
use crate::setup::{Introduction, Setup};
use feature::{FISCHERANDOM, Features, KNOWN};

/// How long a program may take to declare its features before it counts as one of version 1, which has none: the protocol says
/// 2 seconds, cutechess waits for 8, because machines that play many games are busy.
const FEATURES: Duration = Duration::from_secs(8);

/// How long an engine may be silent before it is asked again: GNU Chess loses what it is sent while it starts.
const SILENCE: Duration = Duration::from_millis(1500);

/// How long after that a program that rejects the request may take.
const REJECTED: Duration = Duration::from_secs(5);

/// How long a program without `ping` may take to reject a command.
const REJECTION: Duration = Duration::from_millis(500);

/// Seconds for a move whose limit is another.
const LONG: u32 = 86_400;

/// For programs that do not answer.
const HINT: &str = "; is it an xboard engine? A UCI engine is played by `uci(…)`, and some programs need `args` such as [\"xboard\"]";

/// An xboard engine.
#[derive(Debug)]
pub(crate) struct Xboard {
    features: Features,
    /// The command that limits the depth: `sd`, or `depth` of GNU Chess, which some know instead.
    depth: &'static str,
    /// The number of the last ping.
    pings: u32,
    /// The limit of each move, which a new game resets.
    limit: Limit,
    /// The engine's game.
    game: Known,
    /// A move to send when it starts to think, and the position before it; without one, `go`.
    next: Option<(Position, Move)>,
    report: Report,
}

/// What an engine has on its board.
#[derive(Debug, Clone, Default)]
struct Known {
    /// The FEN that its game started from, if not the initial position.
    start: Option<String>,
    /// Whether it is a game of Chess960, in which castling is written as in SAN.
    is_chess960: bool,
    moves: Vec<Move>,
    /// The text of the moves that were sent.
    sent: Vec<String>,
    /// Whether it answers to moves with a move.
    is_playing: bool,
}

fn is_answer(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    matches!(first, "move" | "pong" | "feature" | "resign" | "0-1" | "1-0" | "1/2-1/2")
        || is_rejection(line)
        || (first.ends_with('.') && second == Some("..."))
}

/// Whether a line rejects a move or a command. `Invalid` is GNU Chess' word.
fn is_rejection(line: &str) -> bool {
    ["Illegal", "Invalid", "Error"].iter().any(|word| line.starts_with(word))
}

impl Xboard {
    /// Waits until everything sent before is done, if the engine can say so.
    fn synchronise(
        &mut self,
        process: &Process,
        setup: &Setup,
        mut each: impl FnMut(&str),
    ) -> Result<(), OpponentError> {
        if !self.features.ping {
            return Ok(());
        }
        self.pings += 1;
        let (ping, pong) = (format!("ping {}", self.pings), format!("pong {}", self.pings));
        setup.request(process, (&ping, &pong), "", |line| {
            each(line);
            line == pong
        })
    }

    /// Finds out which command limits the depth.
    fn probe_depth(&mut self, process: &Process, setup: &Setup, depth: u32) -> Result<(), OpponentError> {
        for command in ["sd", "depth"] {
            self.depth = command;
            process.write(&format!("{command} {depth}"));
            let mut is_rejected = false;
            let mut each = |line: &str| {
                is_rejected |= is_rejection(line) && line.split([' ', ':']).any(|word| word == command);
            };
            if self.features.ping {
                self.synchronise(process, setup, each)?;
            } else {
                let waited = Stopwatch::start();
                while let Next::Line(line) = process.next(REJECTION.saturating_sub(waited.elapsed())) {
                    each(&line.text);
                }
            }
            if !is_rejected {
                return Ok(());
            }
        }
        Err(wrong(
            setup,
            "depth",
            "the program knows neither `sd` nor `depth`; use move_time or clock".to_owned(),
        ))
    }

    /// Resets the engine to the initial position, where it waits for moves.
    fn reset(&mut self, process: &Process) {
        process.write("new");
        process.write("easy");
        process.write("post");
        for line in limits(&self.limit, self.depth) {
            process.write(&line);
        }
        process.write("force");
        self.game = Known::default();
    }

    /// Sends a move.
    fn send(&mut self, process: &Process, before: &Position, mv: Move) {
        let word = if self.features.usermove { "usermove " } else { "" };
        let text = match before.castling(mv).filter(|_| self.game.is_chess960) {
            Some(CastlingSquares { wing: Castling::KingSide, .. }) => "O-O".to_owned(),
            Some(CastlingSquares { wing: Castling::QueenSide, .. }) => "O-O-O".to_owned(),
            None => mv.to_string(),
        };
        process.write(&format!("{word}{text}"));
        self.game.moves.push(mv);
        self.game.sent.push(text);
    }

    /// Sets up the start of a game on a board of a new game.
    fn set_up(&mut self, process: &Process, start: &Position) -> Result<(), String> {
        self.game.is_chess960 = start.is_chess960();
        if self.game.is_chess960 {
            if !(self.features.fischerandom && self.features.setboard) {
                let fen = start.fen();
                return Err(format!(
                    "has no features variants={FISCHERANDOM} and setboard, without which it cannot play {fen}"
                ));
            }
            process.write(&format!("variant {FISCHERANDOM}"));
        }
        if *start == Position::initial() {
            return Ok(());
        }
        if self.features.setboard {
            process.write(&format!("setboard {}", start.fen()));
        } else {
            edit(start)?.iter().for_each(|line| process.write(line));
        }
        Ok(())
    }

    /// Whether the engine's board becomes that of a game by the game's last move.
    fn is_one_behind(&self, start: Option<&str>, moves: &[Move]) -> bool {
        let Known { start: known, moves: played, is_playing, .. } = &self.game;
        *is_playing
            && known.as_deref() == start
            && moves.len() == played.len() + 1
            && moves.starts_with(played)
    }

    /// Whether a line rejects a move of the game, in words.
    fn rejected(&self, line: &str) -> Option<String> {
        let mut moves = self.game.sent.iter().rev();
        let rejected = moves.find(|text| is_rejection(line) && line.contains(text.as_str()))?;
        Some(format!("rejected the legal move {rejected}: \"{}\"", shortened(line)))
    }

    /// Reads a move in any notation.
    fn reply(&mut self, text: &str, position: &Position) -> Reply {
        let Ok(played) = position.read_move(text) else {
            let text = shortened(text);
            return Reply::Illegal(format!(
                "played \"{text}\", which is no legal move in {}",
                position.fen()
            ));
        };
        self.game.moves.push(played);
        Reply::Move(played)
    }
}

impl Protocol for Xboard {
    const SPEECH: Speech = Speech { is_answer, farewell: "quit\n" };

    fn greet(process: &Process, setup: &Setup) -> Result<(Self, Introduction), OpponentError> {
        let (features, introduction) = features(process, setup)?;
        let (limit, game) = (setup.limit.clone(), Known::default());
        let report = Report::default();
        let mut engine = Self { features, depth: "sd", pings: 0, limit, game, next: None, report };
        check(&setup.call(), &setup.settings.options, &introduction.options, &[])?;
        for (name, value) in &setup.settings.options {
            let is_button =
                introduction.options.iter().any(|option| option.name == *name && option.kind == Kind::Button);
            match value {
                Value::Bool(false) if is_button => {}
                Value::Bool(true) if is_button => process.write(&format!("option {name}")),
                Value::Bool(is_on) => process.write(&format!("option {name}={}", u8::from(*is_on))),
                Value::Int(number) if feature::COMMANDS.contains(&name.as_str()) => {
                    process.write(&format!("{name} {number}"));
                }
                Value::Text(text) => process.write(&format!("option {name}={text}")),
                value => process.write(&format!("option {name}={value}")),
            }
        }
        process.write("new");
        process.write("force");
        engine.synchronise(process, setup, |_| {})?;
        if matches!(engine.limit, Limit::Nodes(_)) && !engine.features.nps {
            let message =
                "the program has no such limit (feature nps); use depth, move_time or clock".to_owned();
            return Err(wrong(setup, "nodes", message));
        }
        if let Limit::Depth(depth) = engine.limit {
            engine.probe_depth(process, setup, depth)?;
        }
        // Nothing else shows that a program without `ping` plays chess.
        if !engine.features.ping && setup.introduction.is_none() {
            process.write("new");
            process.write("easy");
            process.write("st 1");
            let move_of = |line: &str| move_text(line).is_some();
            setup.request(process, ("go", "move …"), HINT, move_of)?;
        }
        Ok((engine, introduction))
    }

    fn can_play_again(&self) -> bool {
        self.features.reuse
    }

    fn begin(&mut self, process: &Process, setup: &Setup) -> Result<(), OpponentError> {
        self.reset(process);
        self.synchronise(process, setup, |_| {})
    }

    fn prepare(&mut self, process: &Process, game: &Game) -> Result<bool, String> {
        let start = game.start();
        let start = (*start != Position::initial()).then(|| start.fen());
        let moves = game.moves();
        if self.is_one_behind(start.as_deref(), moves) {
            self.next = game.position_before(1).cloned().zip(moves.last().copied());
        } else {
            if self.game.is_playing || !self.game.moves.is_empty() {
                self.reset(process);
            }
            self.set_up(process, game.start())?;
            self.game.start = start;
            for (before, mv) in game.positions().zip(moves) {
                self.send(process, before, *mv);
            }
            self.next = None;
        }
        if self.features.ping {
            self.pings += 1;
            process.write(&format!("ping {}", self.pings));
        }
        Ok(self.features.ping)
    }

    fn is_confirmed(&mut self, line: &str) -> Result<bool, String> {
        match self.rejected(line) {
            Some(what) => Err(what),
            None => {
                Ok(line.strip_prefix("pong ").is_some_and(|number| number.trim() == self.pings.to_string()))
            }
        }
    }

    fn go(&mut self, process: &Process, order: &Order<'_>) {
        self.report = Report::default();
        if self.features.time {
            let long = f64::from(LONG);
            let (own, opponent) =
                order.clocks.map_or((long, long), |(clock, opponent)| (clock.left, opponent.left));
            process.write(&format!("time {}", (own * 100.0) as u64));
            process.write(&format!("otim {}", (opponent * 100.0) as u64));
        }
        match self.next.take() {
            Some((before, mv)) => self.send(process, &before, mv),
            None => process.write("go"),
        }
        self.game.is_playing = true;
    }

    fn stop(&mut self, process: &Process) {
        process.write("?");
    }

    fn resigns(&self, line: &str, side: Side) -> Option<String> {
        // Before its first move of a game, the line is about the end of the last one.
        if self.game.is_playing { resignation(line, side) } else { None }
    }

    fn read(&mut self, line: &str, position: &Position) -> Option<Reply> {
        if let Some(text) = move_text(line) {
            return Some(self.reply(text, position));
        }
        if let Some(report) = thinking::parse(line) {
            self.report = report;
            return None;
        }
        let resigned = resignation(line, position.side_to_move()).map(Reply::Resigns);
        resigned.or_else(|| self.rejected(line).map(Reply::Illegal))
    }

    fn report(&self) -> Report {
        self.report
    }
}

/// The features that a program declares; those of version 1, which has none, if it is silent or rejects the command.
fn features(process: &Process, setup: &Setup) -> Result<(Features, Introduction), OpponentError> {
    let mut features = Features::of_version_one();
    process.write("xboard");
    let started = Stopwatch::start();
    let full = Duration::from_secs_f64(setup.settings.start_timeout);
    let mut patience = FEATURES.min(full);
    let request = ("protover 2", "feature … done=1");
    process.write(request.0);
    let (mut requests, mut is_silent) = (1, true);
    loop {
        let wait = if is_silent { patience.min(requests * SILENCE) } else { patience };
        match process.next(wait.saturating_sub(started.elapsed())) {
            Next::Line(line) => {
                is_silent &= !is_answer(feature::without_prompt(&line.text));
                for (name, value) in feature::parse(&line.text) {
                    process.write(&format!(
                        "{} {name}",
                        if KNOWN.contains(&name.as_str()) { "accepted" } else { "rejected" }
                    ));
                    features.set(&name, &value);
                    if name == "done" && value == "0" {
                        patience = full;
                    }
                }
                if features.done {
                    break;
                }
                // Usually of version 1; GNU Chess rejects the command, too, and declares its features later.
                if is_rejection(&line.text) && line.text.contains("protover") {
                    patience = patience.min(REJECTED);
                }
            }
            Next::Ended => return Err(setup.ended(process, request, HINT)),
            Next::Nothing if started.elapsed() < patience => {
                process.write(request.0);
                requests += 1;
            }
            Next::Nothing => {}
        }
        if started.elapsed() >= patience {
            break;
        }
    }
    let introduction = features.introduction();
    Ok((features, introduction))
}

/// An error of one parameter.
fn wrong(setup: &Setup, path: &str, message: String) -> OpponentError {
    let mut problems = Problems::default();
    problems.add(path, message);
    problems.into_errors(&setup.call()).into()
}

/// The commands that limit each move. Each of them that is not the limit is out of the way.
fn limits(limit: &Limit, depth: &str) -> Vec<String> {
    match limit {
        Limit::Nodes(nodes) => vec!["st 1".to_owned(), format!("nps {nodes}")],
        Limit::Depth(plies) => vec![format!("st {LONG}"), format!("{depth} {plies}")],
        Limit::MoveTime(seconds) => vec![format!("st {seconds}")],
        Limit::Clock(ClockParams { seconds, increment, moves }) => {
            let seconds = *seconds as u64;
            let (minutes, rest) = (seconds / 60, seconds % 60);
            let base = if rest == 0 { minutes.to_string() } else { format!("{minutes}:{rest:02}") };
            vec![format!("level {} {base} {increment}", moves.unwrap_or(0))]
        }
    }
}

/// The commands of version 1 that set up a position, for programs without `setboard`. They cannot express everything: the kings and
/// rooks that stand on their squares can castle, nothing can be taken en passant, and no moves were made without a capture.
fn edit(position: &Position) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    if position.side_to_move() == Side::Black {
        // The editor keeps the side to move.
        lines.push("a2a3".to_owned());
    }
    lines.extend(["edit".to_owned(), "#".to_owned()]);
    for side in [Side::White, Side::Black] {
        for (piece, letter) in Piece::ALL.into_iter().zip("PNBRQK".chars()) {
            let squares = position.pieces(side, piece);
            let squares = (0..64u8).filter(|square| squares >> square & 1 == 1);
            lines.extend(squares.map(|square| {
                format!("{letter}{}{}", char::from(b'a' + square % 8), char::from(b'1' + square / 8))
            }));
        }
        lines.push(if side == Side::White { "c" } else { "." }.to_owned());
    }
    let can_castle = |side, castling| {
        let rank = if side == Side::White { 0 } else { 56 };
        let rook = rank + if castling == Castling::KingSide { 7 } else { 0 };
        let stands = |piece, square: u8| position.pieces(side, piece) >> square & 1 == 1;
        stands(Piece::King, rank + 4) && stands(Piece::Rook, rook)
    };
    let sides = [Side::White, Side::Black];
    let mut rights = sides
        .into_iter()
        .flat_map(|side| [Castling::KingSide, Castling::QueenSide].map(|castling| (side, castling)));
    let is_exact =
        rights.all(|(side, castling)| can_castle(side, castling) == position.may_castle(side, castling));
    if is_exact && position.legal_en_passant().is_none() {
        Ok(lines)
    } else {
        let fen = position.fen();
        Err(format!(
            "has no feature setboard, without which it cannot be given {fen}; begin its games with moves from the initial position"
        ))
    }
}

/// Whether a line resigns for a side, in words that follow the program's name: it says so, or that this side has lost.
fn resignation(line: &str, side: Side) -> Option<String> {
    let lost = if side == Side::White { "0-1" } else { "1-0" };
    match line.split_whitespace().next()? {
        "resign" => Some("resigned".to_owned()),
        claim if claim == lost => Some(format!("resigned: \"{}\"", shortened(line))),
        _ => None,
    }
}

/// The move in `move e2e4`, or in `1. ... e2e4` of version 1.
fn move_text(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if first == "move" {
        return words.next();
    }
    let number = first.strip_suffix('.')?;
    (number.parse::<u32>().is_ok() && words.next() == Some("...")).then(|| words.next())?
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Position, Side};

    use super::{
        ClockParams, Features, Known, Limit, Protocol as _, Report, Xboard, edit, is_answer, limits,
        move_text,
    };

    #[test]
    fn positions_are_edited_where_that_can_express_them() {
        let edited = |fen: &str| edit(&Position::from_fen(fen).expect("is legal"));
        let lines = edited("4k3/p7/8/8/8/8/8/4K2R b K - 0 1").unwrap();
        assert_eq!(lines, ["a2a3", "edit", "#", "Rh1", "Ke1", "c", "Pa7", "Ke8", "."]);
        assert!(
            edited("4k3/p7/8/8/8/8/8/4K2R w - - 0 1").unwrap_err().starts_with("has no feature setboard")
        );
        assert!(edited("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1").is_err());
    }

    #[test]
    fn moves_are_read_as_both_versions_write_them() {
        assert_eq!(move_text("move e2e4"), Some("e2e4"));
        assert_eq!(move_text("12. ... Nf6"), Some("Nf6"));
        for line in ["12. e2e4", "1 17 3 20 e2e4", "My move is : e2e4", "move", ""] {
            assert_eq!(move_text(line), None, "{line}");
        }
        assert!(is_answer("move e2e4") && is_answer("3. ... e5") && is_answer("Illegal move: e2e5"));
        assert!(!is_answer("4 15 1 312 d4 d5") && !is_answer(""));
    }

    #[test]
    fn a_resignation_counts_after_a_move_of_the_same_game() {
        let (features, game, report) = (Features::of_version_one(), Known::default(), Report::default());
        let limit = Limit::Depth(4);
        let mut engine = Xboard { features, depth: "sd", pings: 0, limit, game, next: None, report };
        assert_eq!(engine.resigns("0-1 {Black mates}", Side::White), None, "of the game before");
        engine.game.is_playing = true;
        assert!(engine.resigns("0-1 {White resigns}", Side::White).is_some());
        assert!(engine.resigns("resign", Side::Black).is_some());
        assert_eq!(engine.resigns("0-1 {White resigns}", Side::Black), None);
    }

    #[test]
    fn limits_are_sent_as_the_protocol_writes_them() {
        let clock = |seconds, increment, moves| Limit::Clock(ClockParams { seconds, increment, moves });
        assert_eq!(limits(&clock(300.0, 2.0, None), "sd"), ["level 0 5 2"]);
        assert_eq!(limits(&clock(65.0, 0.5, Some(40)), "sd"), ["level 40 1:05 0.5"]);
        assert_eq!(limits(&Limit::MoveTime(3.0), "sd"), ["st 3"]);
        assert_eq!(limits(&Limit::Depth(4), "depth"), ["st 86400", "depth 4"]);
        assert_eq!(limits(&Limit::Nodes(5000), "sd"), ["st 1", "nps 5000"]);
    }
}
