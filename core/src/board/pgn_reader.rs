//! Games read from PGN: the moves that were played. Comments, variations and glyphs are skipped.

use std::iter::Peekable;
use std::str::CharIndices;

use super::text_file::{TextFileError, TextProblem, decoded, quoted};
use super::{Game, Position};

/// A game of a PGN file.
#[derive(Debug, Clone)]
pub struct PgnGame {
    /// The line that it begins on, from 1.
    pub line: usize,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The moves from its start, as many as were read.
    pub game: Game,
}

/// Parses the games of a file up to `plies` each; moves after them are not looked at. A file without games is an error.
pub fn read_pgn(file: &str, content: &[u8], plies: Option<usize>) -> Result<Vec<PgnGame>, TextFileError> {
    let text = decoded(file, content)?;
    let mut reader = Reader::new(plies);
    for token in Tokens::new(&text) {
        reader.take(token);
    }
    reader.end_game();
    TextFileError::check(file, reader.problems)?;
    if reader.games.is_empty() {
        return Err(TextFileError::of_file(
            file,
            "has no games; expected PGN, such as \"1. e4 e5 2. Nf3 *\"",
        ));
    }
    Ok(reader.games)
}

/// A part of PGN, with its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    line: usize,
    kind: Kind<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    /// What is between brackets.
    Tag(&'a str),
    /// The start of a variation.
    Open,
    /// The end of a variation.
    Close,
    /// A move, a number, a glyph or a result.
    Word(&'a str),
    /// A comment or a tag that does not end.
    NoEnd(&'static str),
}

/// Splits a file into tokens, without comments.
struct Tokens<'a> {
    text: &'a str,
    letters: Peekable<CharIndices<'a>>,
    line: usize,
    is_line_start: bool,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, letters: text.char_indices().peekable(), line: 1, is_line_start: true }
    }

    fn next_letter(&mut self) -> Option<(usize, char)> {
        let (at, letter) = self.letters.next()?;
        self.is_line_start = letter == '\n';
        self.line += usize::from(letter == '\n');
        Some((at, letter))
    }

    /// Reads up to and including a letter; the text before it, or `None` if the file ends first.
    fn up_to(&mut self, start: usize, end: char) -> Option<&'a str> {
        while let Some((at, letter)) = self.next_letter() {
            if letter == end {
                return Some(&self.text[start..at]);
            }
        }
        None
    }

    /// The content of a tag: up to the bracket that is not in quotes; `None` if the line ends first.
    fn tag(&mut self, start: usize) -> Option<&'a str> {
        let (mut is_quoted, mut is_escaped) = (false, false);
        while let Some((at, letter)) = self.letters.next_if(|(_, letter)| *letter != '\n') {
            match letter {
                ']' if !is_quoted => return Some(&self.text[start..at]),
                '"' if !is_escaped => is_quoted = !is_quoted,
                _ => {}
            }
            is_escaped = letter == '\\' && !is_escaped;
        }
        None
    }

    fn word(&mut self, start: usize) -> &'a str {
        let is_part = |letter: char| !letter.is_whitespace() && !"{}()[];".contains(letter);
        let mut end = self.text.len();
        while let Some((at, letter)) = self.letters.peek().copied() {
            if !is_part(letter) {
                end = at;
                break;
            }
            self.next_letter();
        }
        &self.text[start..end]
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (line, is_line_start) = (self.line, self.is_line_start);
            let (at, letter) = self.next_letter()?;
            let kind = match letter {
                letter if letter.is_whitespace() => continue,
                '%' if is_line_start => {
                    self.up_to(at, '\n');
                    continue;
                }
                ';' => {
                    self.up_to(at, '\n');
                    continue;
                }
                '{' => match self.up_to(at, '}') {
                    Some(_) => continue,
                    None => Kind::NoEnd("a comment that begins here does not end; expected a }"),
                },
                '[' => self.tag(at + 1).map_or(
                    Kind::NoEnd("a tag does not end on its line; expected one such as [White \"name\"]"),
                    Kind::Tag,
                ),
                '(' => Kind::Open,
                ')' => Kind::Close,
                '}' | ']' => Kind::Word(&self.text[at..=at]),
                _ => Kind::Word(self.word(at)),
            };
            return Some(Token { line, kind });
        }
    }
}

/// The game that is read.
struct Current {
    line: usize,
    white: String,
    black: String,
    game: Game,
    /// Whether moves or a result followed the tags.
    has_moves: bool,
    /// Whether the rest of the game cannot be read, or is not needed.
    is_skipped: bool,
    /// The lines on which the open variations begin.
    variations: Vec<usize>,
}

/// Collects games and problems.
struct Reader {
    plies: Option<usize>,
    current: Option<Current>,
    count: usize,
    games: Vec<PgnGame>,
    problems: Vec<TextProblem>,
}

impl Reader {
    fn new(plies: Option<usize>) -> Self {
        Self { plies, current: None, count: 0, games: Vec::new(), problems: Vec::new() }
    }

    fn take(&mut self, Token { line, kind }: Token<'_>) {
        match kind {
            Kind::Tag(content) => self.tag(line, content),
            Kind::Open => self.current(line).variations.push(line),
            Kind::Close => {
                if self.current(line).variations.pop().is_none() {
                    self.problem(line, "a ) without a ( before it");
                }
            }
            Kind::Word(word) => self.word(line, word),
            Kind::NoEnd(message) => {
                self.current(line);
                self.problem(line, message);
            }
        }
    }

    /// The game that is read, which begins here if there is none.
    fn current(&mut self, line: usize) -> &mut Current {
        if self.current.is_none() {
            self.count += 1;
        }
        self.current.get_or_insert_with(|| Current {
            line,
            white: String::new(),
            black: String::new(),
            game: Game::initial(),
            has_moves: false,
            is_skipped: false,
            variations: Vec::new(),
        })
    }

    /// Adds a problem of the current game, whose rest is skipped.
    fn problem(&mut self, line: usize, message: &str) {
        let number = self.count;
        let current = self.current(line);
        current.is_skipped = true;
        let players = match (current.white.as_str(), current.black.as_str()) {
            ("" | "?", "" | "?") => String::new(),
            (white, black) => format!(" ({white} – {black})"),
        };
        self.problems.push(TextProblem { line, message: format!("game {number}{players}: {message}") });
    }

    fn end_game(&mut self) {
        if let Some(line) = self.current.as_ref().and_then(|current| current.variations.first().copied()) {
            self.problem(line, "a variation that begins here does not end; expected a )");
        }
        if let Some(current) = self.current.take() {
            self.games.push(PgnGame { line: current.line, number: self.count, game: current.game });
        }
    }

    fn tag(&mut self, line: usize, content: &str) {
        if self.current.as_ref().is_some_and(|current| current.has_moves || !current.variations.is_empty()) {
            self.end_game();
        }
        let (name, value) = content.trim().split_once(char::is_whitespace).unwrap_or((content.trim(), ""));
        let value = value.trim().trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        let current = self.current(line);
        match name {
            "White" => current.white = short(&value),
            "Black" => current.black = short(&value),
            "FEN" => match Position::from_fen(&value) {
                Ok(position) => current.game = Game::from_position(position),
                Err(error) => self.problem(line, &error.to_string()),
            },
            "Variant" if !is_standard(&value) => {
                let message = format!("is a game of {}; dc0 plays standard chess only", quoted(&value));
                self.problem(line, &message);
            }
            _ => {}
        }
    }

    fn word(&mut self, line: usize, word: &str) {
        let plies = self.plies;
        let current = self.current(line);
        if !current.variations.is_empty() {
            return;
        }
        current.has_moves = true;
        if matches!(word, "1-0" | "0-1" | "1/2-1/2" | "*") {
            return self.end_game();
        }
        let played = without_number(word);
        let is_glyph = word.starts_with('$') || played.chars().all(|letter| "!?".contains(letter));
        if is_glyph || played == "e.p." {
            return;
        }
        current.is_skipped |= plies.is_some_and(|plies| current.game.ply() >= plies);
        if current.is_skipped {
            return;
        }
        match current.game.position().read_move(played) {
            Ok(played) => current.game.play_unchecked(played),
            Err(cause) => {
                let message = format!("ply {}: {}", current.game.ply() + 1, short(&cause.to_string()));
                let fen = current.game.position().fen();
                self.problem(line, &format!("{message} in {fen}"));
            }
        }
    }
}

/// A move without its number: `12...Nf6` is `Nf6`; castling with zeros stays whole.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.is_empty() || rest.starts_with('.') { rest.trim_start_matches('.') } else { word }
}

/// The variants that are standard chess, as programs name them.
fn is_standard(variant: &str) -> bool {
    ["", "standard", "chess", "normal", "from position"].contains(&variant.to_ascii_lowercase().as_str())
}

/// A text of a message that a file decides.
fn short(text: &str) -> String {
    const LONGEST: usize = 200;
    text.chars().take(LONGEST).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::read_pgn;
    use crate::board::{Game, PgnRoster, PgnWriter, Rules, random_opening};
    use crate::rng::{Purpose, Seed};

    fn moves(game: &Game) -> String {
        game.moves().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    fn read(text: &str, plies: Option<usize>) -> Vec<String> {
        let games = read_pgn("x.pgn", text.as_bytes(), plies).unwrap_or_else(|error| panic!("{error}"));
        games.iter().map(|read| moves(&read.game)).collect()
    }

    fn error(text: &str) -> String {
        read_pgn("x.pgn", text.as_bytes(), None).expect_err("an error").to_string()
    }

    #[test]
    fn comments_variations_and_glyphs_are_skipped() {
        let text = "% escaped (\n[Event \"a ] b\"]\n[White \"x\"]\n\n1.e4! {good (} e5 $1 (1... c5 2. Nf3 {a ) b} (2. c3) d6) 2. Nf3 ; the rest (\n\
                    2... Nc6?! 3 Bb5 ?! a6 !! 4. O-O 1/2-1/2\n";
        assert_eq!(read(text, None), ["e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1"]);
        assert_eq!(read(text, Some(3)), ["e2e4 e7e5 g1f3"]);
        assert_eq!(read(text, Some(0)), [""]);
    }

    #[test]
    fn games_end_at_results_and_at_tags() {
        let text = "[White \"a\"]\n\n1. e4 *\n\n[White \"b\"]\n\n1. d4\n[White \"c\"]\n1. c4 c5 0-1 1. b3 e5 1-0\r\n[White \"d\"]\r\n*";
        assert_eq!(read(text, None), ["e2e4", "d2d4", "c2c4 c7c5", "b2b3 e7e5", ""]);
        assert_eq!(read("\u{feff}e4 e5", None), ["e2e4 e7e5"]);
    }

    #[test]
    fn a_game_may_start_elsewhere_and_captures_may_be_marked_en_passant() {
        let fen = "4k3/8/8/8/4p3/8/3P4/4K3 w - - 0 9";
        let text = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n9. d4 exd3 e.p. 10.Kd2 *");
        let games = read_pgn("x.pgn", text.as_bytes(), None).expect("a game");
        assert_eq!((games[0].game.start().fen().as_str(), games[0].line), (fen, 1));
        assert_eq!(moves(&games[0].game), "d2d4 e4d3 e1d2");
    }

    #[test]
    fn problems_name_game_line_and_ply_and_later_games_are_read_too() {
        let text = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5\n2. Ke3 Ke6 3. Kf9 *\n\n[FEN \"8/8 w\"]\n\n1. e4 *\n\n1. e4 -- *\n1. d5 *\n";
        let error = error(text);
        assert!(
            error.starts_with("x.pgn: 4 problems\n  line 5: game 1 (A – B): ply 3: Ke3 is not legal: "),
            "{error}"
        );
        assert!(
            error.contains(" in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n"),
            "{error}"
        );
        assert!(error.contains("\n  line 7: game 2: \"8/8 w\" is not"), "{error}");
        assert!(error.contains("\n  line 11: game 3: ply 2: \"--\" is not a move"), "{error}");
        assert!(error.contains("\n  line 12: game 4: ply 1: d5 is not legal"), "{error}");
    }

    #[test]
    fn what_does_not_end_is_named_with_its_line() {
        assert!(
            error("1. e4 *\n\n1. e4 {a\nb")
                .contains("line 3: game 2: a comment that begins here does not end")
        );
        assert!(
            error("1. e4 (1. d4\n*\n[White \"x\"]\n1. e4 *")
                .contains("line 1: game 1: a variation that begins here")
        );
        assert!(error("1. e4 ) e5 *").contains("line 1: game 1: a ) without a ( before it"));
        assert!(error("[White \"x\"\n1. e4 *").contains("line 1: game 1: a tag does not end on its line"));
        assert!(
            error("[Variant \"Atomic\"]\n1. e4 *").contains("game 1: is a game of \"Atomic\"; dc0 plays")
        );
        assert!(error("").contains("x.pgn: 1 problem\n  has no games; expected PGN"));
        assert!(error("; nothing").contains("has no games"));
    }

    #[test]
    fn written_games_are_read_back() {
        let rules = Rules { max_plies: 512 };
        let (mut text, mut written) = (String::new(), Vec::new());
        for number in 0..60 {
            let mut stream = Seed { run: 5, step: 0 }.stream(number, Purpose::Opening);
            let game = random_opening(number as u32 * 2, &rules, &mut stream);
            let roster = PgnRoster {
                event: "[a] \"b\" \\ {c}".to_owned(),
                date: None,
                round: number.to_string(),
                white: "x".to_owned(),
                black: "y".to_owned(),
                result: None,
            };
            let mut writer = PgnWriter::new(&roster, game.start());
            for (before, mv) in game.positions().zip(game.moves()) {
                writer.play(before, *mv, Some("[%eval 0.1] (so"));
            }
            text += &writer.finish();
            text += "\n";
            written.push(moves(&game));
        }
        assert_eq!(read(&text, None), written);
    }

    #[test]
    fn no_text_panics() {
        use rand::RngExt;
        let parts = [
            "[", "]", "\"", "\\", "{", "}", "(", ")", ";", "%", "\n", " ", "e4", "1.", "é", "*", "1-0", "$",
            "--", "[FEN \"", ".",
        ];
        let mut stream = Seed { run: 6, step: 0 }.stream(0, Purpose::Opening);
        for _ in 0..20_000 {
            let count = stream.random_range(0..16);
            let text: String = (0..count).map(|_| parts[stream.random_range(0..parts.len())]).collect();
            let _ = read_pgn("x.pgn", text.as_bytes(), Some(4));
        }
    }
}
