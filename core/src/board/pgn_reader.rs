//! Games read from PGN (Edwards 1994): tags, moves, and what comments say about clocks and evaluations. Variations and glyphs are
//! skipped.

use std::borrow::Cow;

use shakmaty::san::San;

use super::moves::Move;
use super::pgn_comment::{MoveNote, ScoreView};
use super::pgn_tokens::{Kind, Token, Tokens};
use super::position::pack;
use super::text_file::{TextFileError, TextProblem, decoded, quoted};
use super::{Game, GameResult, Position};

/// Plies without a capture or a pawn's move at which a game is drawn without a claim (FIDE Laws of Chess, 9.6.2).
const MAX_CLOCK: u32 = 150;

/// The most bytes of a tag.
const MAX_TAG: usize = 4096;

/// The letters of glyphs that are written as text: marks of moves, and judgements of positions such as `+-`, `=/+` and `±`.
const GLYPHS: [char; 13] = ['!', '?', '+', '-', '=', '/', '~', '±', '∓', '⩲', '⩱', '∞', '□'];

/// What marks a capture as en passant, after the move (FIDE Laws of Chess, appendix C) or alone.
const EN_PASSANT: [&str; 2] = ["e.p.", "ep"];

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
    let mut reader = PgnReader::new(text.as_bytes(), 1);
    reader.plies = plies;
    let (mut games, mut problems) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next_game(&|_| true) {
        let number = games.len() + 1;
        if let Some(PgnFault { line, message, .. }) = &record.fault {
            let message = format!("game {number}{}: {message}", record.players());
            problems.push(TextProblem { line: *line, message });
        }
        games.push(PgnGame { line: record.line, number, game: record.game });
    }
    TextFileError::check(file, problems)?;
    if games.is_empty() {
        return Err(TextFileError::of_file(
            file,
            "has no games; expected PGN, such as \"1. e4 e5 2. Nf3 *\"",
        ));
    }
    Ok(games)
}

/// The tags of a game in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PgnTags(Vec<(String, String)>);

impl PgnTags {
    /// The value of a tag; empty if the game does not have it, or has `?` for unknown.
    pub fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
        if found == "?" { "" } else { found }
    }

    /// Whether dc0 wrote the game.
    fn is_of_dc0(&self) -> bool {
        self.0.iter().any(|(name, _)| name.starts_with("DC0"))
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is wrong with a game, so that it cannot be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnFault {
    /// The kind of fault.
    pub kind: PgnFaultKind,
    /// The line, from 1.
    pub line: usize,
    /// What was expected, and what was found.
    pub message: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgnFaultKind {
    /// A comment, tag or variation that does not end, or one too many ends.
    Syntax,
    /// The tag `FEN` holds no legal position.
    Fen,
    /// It is a game of neither standard chess nor Chess960.
    Variant,
    /// A move is not legal, or is none.
    Move,
    /// A player passes.
    NullMove,
    /// What its tag `Result` has, and follows its moves, is no result of PGN.
    Result,
}

/// What ends the moves of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgnEnd {
    /// A result.
    Result(GameResult),
    /// `*`: the result is not known.
    Unknown,
}

impl PgnEnd {
    /// From what PGN writes after the last move, and in the tag `Result`.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "1-0" => Self::Result(GameResult::WhiteWins),
            "0-1" => Self::Result(GameResult::BlackWins),
            "1/2-1/2" | "1/2" | "½-½" => Self::Result(GameResult::Draw),
            "*" => Self::Unknown,
            _ => return None,
        })
    }
}

/// A game as it was read.
#[derive(Debug, Clone)]
pub struct PgnRecord {
    /// The line that it begins on.
    pub line: usize,
    /// Its tags.
    pub tags: PgnTags,
    /// The moves from its start, as many as were read.
    pub game: Game,
    /// What is said about each move.
    pub notes: Vec<MoveNote>,
    /// What ends its moves; `None` if the next game or the end of the text does.
    pub end: Option<PgnEnd>,
    /// Why the rest of it was not read.
    pub fault: Option<PgnFault>,
}

impl PgnRecord {
    fn new(line: usize) -> Self {
        let (tags, notes) = (PgnTags::default(), Vec::new());
        Self { line, tags, game: Game::initial(), notes, end: None, fault: None }
    }

    /// The players for messages, if they are known.
    fn players(&self) -> String {
        match (self.tags.get("White"), self.tags.get("Black")) {
            ("", "") => String::new(),
            (white, black) => format!(" ({} – {})", short(white), short(black)),
        }
    }

    /// Records a fault; only the first counts.
    fn fail(&mut self, kind: PgnFaultKind, line: usize, message: impl Into<String>) {
        self.fault.get_or_insert_with(|| PgnFault { kind, line, message: message.into() });
    }
}

/// Reads the games of a text one after the other.
#[derive(Debug, Clone)]
pub struct PgnReader<'a> {
    tokens: Tokens<'a>,
    /// The token with which the next game begins.
    ahead: Option<Token<'a>>,
    /// The most moves to read of a game.
    plies: Option<usize>,
    /// Whose the scores are that comments begin with.
    pub scores: ScoreView,
}

/// Where in a game the reader is.
struct Progress {
    record: PgnRecord,
    /// The line of the last tag; 0 before the first.
    last_tag: usize,
    /// Whether moves or a result followed the tags.
    has_moves: bool,
    /// Whether the moves are read.
    is_wanted: bool,
    /// Whether a move's number was the last word, so that a move is next.
    expects_move: bool,
    /// The lines on which the open variations begin.
    variations: Vec<usize>,
}

impl<'a> PgnReader<'a> {
    /// A reader of a text whose first line has this number.
    pub fn new(text: &'a [u8], line: usize) -> Self {
        Self { tokens: Tokens::new(text, line), ahead: None, plies: None, scores: ScoreView::Mover }
    }

    /// The next game; `None` at the end of the text. Moves are read only of games whose tags are `wanted`.
    pub fn next_game(&mut self, wanted: &dyn Fn(&PgnTags) -> bool) -> Option<PgnRecord> {
        let mut progress: Option<Progress> = None;
        while let Some(token) = self.ahead.take().or_else(|| self.tokens.next()) {
            // A comment between two games belongs to neither.
            if progress.is_none() && matches!(token.kind, Kind::Comment(_)) {
                continue;
            }
            let current = progress.get_or_insert_with(|| Progress::new(token.line));
            if current.ends_at(&token) {
                self.ahead = Some(token);
                break;
            }
            current.take(token, self.plies, self.scores, wanted);
            if let Some(end) = current.record.end {
                self.pass_end(&mut current.record, end);
                break;
            }
        }
        progress.map(Progress::finish)
    }

    /// Skips what follows a game's result and belongs to it: comments, glyphs, variations, and the result once more. Another result there,
    /// or moves that go on, are a fault of the game, and are skipped up to the next one: read as a game, they would begin elsewhere.
    fn pass_end(&mut self, record: &mut PgnRecord, end: PgnEnd) {
        let (mut depth, mut goes_on) = (0_usize, false);
        for token in self.tokens.by_ref() {
            match token.kind {
                Kind::Comment(_) => {}
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                Kind::Word(_) if depth > 0 => {}
                Kind::Word(word) => {
                    let text = text_of(word);
                    let (result, number) = (PgnEnd::from_symbol(&text), move_number(word));
                    let is_of_next = result.is_none() && (number == Some(1) || number.is_none() && !goes_on);
                    if word[0] == b'$' || is_glyph(&text) || result == Some(end) {
                        continue;
                    }
                    if is_of_next {
                        self.ahead = Some(token);
                        return;
                    }
                    goes_on = true;
                    let message = format!(
                        "{} follows its result; expected the next game, with tags or from move 1",
                        quoted(&text)
                    );
                    record.fail(PgnFaultKind::Syntax, token.line, message);
                }
                Kind::Tag(_) | Kind::OpenTag | Kind::OpenComment => {
                    self.ahead = Some(token);
                    return;
                }
            }
        }
    }
}

impl Progress {
    fn new(line: usize) -> Self {
        let (record, variations) = (PgnRecord::new(line), Vec::new());
        Self { record, last_tag: 0, has_moves: false, is_wanted: true, expects_move: false, variations }
    }

    /// Whether the next game begins with this: with a tag after moves, or after tags alone and an empty line with one that each game has
    /// once.
    fn ends_at(&self, token: &Token<'_>) -> bool {
        const ONCE: [&str; 2] = ["Event", "White"];
        match token.kind {
            Kind::Tag(content) if !self.has_moves => {
                let (name, is_apart) = (name_of(content), token.line > self.last_tag + 1);
                is_apart && ONCE.iter().any(|once| name == once.as_bytes() && self.record.tags.has(once))
            }
            Kind::Tag(_) | Kind::OpenTag => self.has_moves,
            _ => false,
        }
    }

    fn finish(mut self) -> PgnRecord {
        if let Some(line) = self.variations.first() {
            let message = "a variation that begins here does not end; expected a )";
            self.record.fail(PgnFaultKind::Syntax, *line, message);
        }
        self.record
    }

    fn take(
        &mut self,
        Token { line, kind }: Token<'_>,
        plies: Option<usize>,
        scores: ScoreView,
        wanted: &dyn Fn(&PgnTags) -> bool,
    ) {
        if matches!(kind, Kind::Open | Kind::Close | Kind::Word(_)) && !self.has_moves {
            self.has_moves = true;
            self.is_wanted = wanted(&self.record.tags);
        }
        match kind {
            Kind::Tag(content) => {
                self.last_tag = line;
                self.tag(line, content);
            }
            Kind::Comment(content) if self.variations.is_empty() => {
                let (mover, is_of_dc0) =
                    (self.record.game.position().side_to_move().other(), self.record.tags.is_of_dc0());
                if let Some(note) = self.record.notes.last_mut() {
                    note.read(content, mover, scores, is_of_dc0);
                }
            }
            Kind::Open => self.variations.push(line),
            Kind::Close => {
                if self.variations.pop().is_none() {
                    self.record.fail(PgnFaultKind::Syntax, line, "a ) without a ( before it");
                }
            }
            Kind::Word(word) if self.variations.is_empty() => self.word(line, word, plies),
            Kind::Comment(_) | Kind::Word(_) => {}
            Kind::OpenComment => {
                self.has_moves = true;
                let message = "a comment that begins here does not end; expected a }";
                self.record.fail(PgnFaultKind::Syntax, line, message);
            }
            Kind::OpenTag => {
                let message = "a tag does not end on its line; expected one such as [White \"name\"]";
                self.record.fail(PgnFaultKind::Syntax, line, message);
            }
        }
    }

    fn tag(&mut self, line: usize, content: &[u8]) {
        if content.len() > MAX_TAG {
            let message = format!("a tag of {} bytes; expected at most {MAX_TAG}", content.len());
            return self.record.fail(PgnFaultKind::Syntax, line, message);
        }
        let text = text_of(content);
        let (name, value) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let value = unquoted(value.trim());
        match name {
            // Some programs write the tag without a value where a game begins as usual.
            "FEN" if ["", "?"].contains(&value.as_str()) => {}
            "FEN" => match Position::from_fen(&value) {
                Ok(position) if position.halfmove_clock() > MAX_CLOCK => {
                    let message = format!(
                        "FEN {}: {} plies since a capture or a pawn's move; expected at most {MAX_CLOCK}, at which a game is drawn",
                        quoted(&value),
                        position.halfmove_clock()
                    );
                    self.record.fail(PgnFaultKind::Fen, line, message);
                }
                Ok(position) => self.record.game = Game::from_position(position),
                Err(error) => self.record.fail(PgnFaultKind::Fen, line, error.to_string()),
            },
            "Variant" if !is_known(&value) => {
                let message =
                    format!("is a game of {}; dc0 plays standard chess and Chess960", quoted(&value));
                self.record.fail(PgnFaultKind::Variant, line, message);
            }
            _ => {}
        }
        self.record.tags.0.push((name.to_owned(), value));
    }

    /// A word of the main line.
    fn word(&mut self, line: usize, word: &[u8], plies: Option<usize>) {
        // ½ is another byte in Latin-1 than in UTF-8.
        if b"01*\xbd\xc2".contains(&word[0])
            && let Some(end) = PgnEnd::from_symbol(&text_of(word))
        {
            self.record.end = Some(end);
            return;
        }
        let played = without_number(word);
        let follows_number = std::mem::replace(&mut self.expects_move, played.is_empty());
        let is_mark = word[0] == b'$' || played.iter().all(|letter| b"!?".contains(letter));
        let is_read = plies.is_none_or(|plies| self.record.game.ply() < plies);
        let is_skipped = is_mark || EN_PASSANT.iter().any(|mark| played == mark.as_bytes());
        if is_skipped || !self.is_wanted || !is_read || self.record.fault.is_some() {
            return;
        }
        if let Some(mv) = in_standard_form(self.record.game.position(), played) {
            self.play(mv);
        } else {
            self.read_leniently(line, played, follows_number);
        }
    }

    fn play(&mut self, mv: Move) {
        self.record.game.play_unchecked(mv);
        self.record.notes.push(MoveNote::default());
    }

    /// A glyph, or a move that is not written as the standard has it or is not legal.
    fn read_leniently(&mut self, line: usize, played: &[u8], follows_number: bool) {
        let text = text_of(played);
        let ply = self.record.game.ply() + 1;
        if is_null(&text) {
            let message = format!("ply {ply}: {} is a null move, which is no move of chess", quoted(&text));
            return self.record.fail(PgnFaultKind::NullMove, line, message);
        }
        if is_glyph(&text) || is_letter_glyph(&text) && !follows_number {
            return;
        }
        let position = self.record.game.position();
        let plain = text.trim_end_matches('#').trim_end_matches(GLYPHS);
        let plain = EN_PASSANT.iter().find_map(|mark| plain.strip_suffix(mark)).unwrap_or(plain);
        if plain.is_empty() {
            return;
        }
        match position.read_move(&text).or_else(|cause| position.read_move(plain).map_err(|_| cause)) {
            Ok(mv) => self.play(mv),
            Err(_) if text == self.record.tags.get("Result") => {
                let message = format!("{} is no result; expected 1-0, 0-1, 1/2-1/2 or *", quoted(&text));
                self.record.fail(PgnFaultKind::Result, line, message);
            }
            Err(cause) => {
                let fen = position.fen();
                let message = format!("ply {ply}: {} in {fen}", short(&cause.to_string()));
                self.record.fail(PgnFaultKind::Move, line, message);
            }
        }
    }
}

/// A legal move in the standard's form; `None` if it has to be read another way.
fn in_standard_form(position: &Position, text: &[u8]) -> Option<Move> {
    let plain = text.iter().rposition(|letter| !b"!?+#".contains(letter)).map(|last| &text[..=last])?;
    let full = San::from_ascii(plain).ok()?.to_move(&position.0).ok()?;
    Some(pack(&full))
}

/// Text in UTF-8 or, as the standard has it, in Latin-1.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// The value of a tag without its quotes and escapes.
fn unquoted(value: &str) -> String {
    let inner = value.strip_prefix('"').unwrap_or(value);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut is_escaped = false;
    let is_kept = |letter: &char| {
        is_escaped = *letter == '\\' && !is_escaped;
        !is_escaped
    };
    inner.chars().filter(is_kept).collect()
}

/// The name of a tag.
fn name_of(content: &[u8]) -> &[u8] {
    let content = content.trim_ascii_start();
    content.split(u8::is_ascii_whitespace).next().unwrap_or(content)
}

/// A move without its number: `12...Nf6` is `Nf6`; castling with zeros stays whole, and so does the null move of UCI.
fn without_number(word: &[u8]) -> &[u8] {
    if word == b"0000" {
        return word;
    }
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &word[digits..];
    if !rest.is_empty() && rest[0] != b'.' {
        return word;
    }
    &rest[rest.iter().take_while(|byte| **byte == b'.').count()..]
}

/// The number that a word consists of or begins with: 12 of `12.`, `12...` and `12.Nf3`.
fn move_number(word: &[u8]) -> Option<u32> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_number = word.get(digits).is_none_or(|next| *next == b'.');
    std::str::from_utf8(&word[..digits]).ok().filter(|_| is_number)?.parse().ok()
}

fn is_glyph(text: &str) -> bool {
    text.trim_end_matches(GLYPHS).is_empty()
}

/// Whether a text is a novelty or a diagram. After a move's number an `N` begins a move that is written in two.
fn is_letter_glyph(text: &str) -> bool {
    matches!(text, "N" | "D")
}

/// Whether a text says that a player passes.
fn is_null(text: &str) -> bool {
    ["--", "Z0", "null", "pass", "0000", "@@@@"].contains(&text.trim_end_matches(['!', '?']))
}

/// Whether a variant is standard chess or Chess960, as programs name them. Which of the two, the castling rights of the start say.
fn is_known(variant: &str) -> bool {
    let standard = ["", "standard", "chess", "normal", "from position"];
    let chess960 = [
        "chess960",
        "chess 960",
        "chess-960",
        "fischerandom",
        "fischerrandom",
        "fischer random",
        "fischerandom960",
        "960",
    ];
    let variant = variant.to_ascii_lowercase();
    standard.contains(&variant.as_str()) || chess960.contains(&variant.as_str())
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
    fn glyphs_that_are_text_are_skipped_alone_and_after_a_move() {
        let text =
            "1. e4 = e5 +/- 2. Nf3 N Nc6 -+ 3. Bb5+- a6 ± 4. O-O!⩲ D Nf6 =/+ 5. d3 +- 1/2-1/2 ~ 1. d4 ∞ *";
        assert_eq!(read(text, None), ["e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1 g8f6 d2d3", "d2d4"]);
        let latin = read_pgn("x.pgn", b"1. e4 \xb1 e5\xb1 *", None).expect("a game");
        assert_eq!(moves(&latin[0].game), "e2e4 e7e5");
        assert!(error("1. e4 -- *").contains("is a null move"));
        assert_eq!(read("1. e4 e5 --+ 2. Nf3 *", None), ["e2e4 e7e5 g1f3"]);
        assert!(error("1. e4 e5 2. N f3 d6 *").contains("ply 3: \"N\" is not a move"));
        assert!(error("1. e4 Ke6+- *").contains("ply 2: \"Ke6+-\" is not a move"));
    }

    #[test]
    fn halves_are_a_draw_and_what_the_tag_has_as_its_result_is_no_move() {
        assert_eq!(read("1. e4 e5 ½-½ 1. d4 *", None), ["e2e4 e7e5", "d2d4"]);
        assert_eq!(read_pgn("x.pgn", b"1. e4 \xbd-\xbd 1. d4 *", None).expect("games").len(), 2);
        let lost_by_both = error("[Result \"0-0\"]\n\n1. e4 e5 0-0\n");
        assert!(
            lost_by_both.contains("line 3: game 1: \"0-0\" is no result; expected 1-0, 0-1, 1/2-1/2 or *"),
            "{lost_by_both}"
        );
        assert!(error("[Result \"1-0\"]\n\n1. e4 e5 0-0\n").contains("0-0 is not legal"));
    }

    #[test]
    fn games_end_at_results_and_at_tags() {
        let text = "[White \"a\"]\n\n1. e4 *\n\n[White \"b\"]\n\n1. d4\n[White \"c\"]\n1. c4 c5 0-1 1. b3 e5 1-0\r\n[White \"d\"]\r\n*";
        assert_eq!(read(text, None), ["e2e4", "d2d4", "c2c4 c7c5", "b2b3 e7e5", ""]);
        assert_eq!(read("\u{feff}e4 e5", None), ["e2e4 e7e5"]);
        let after = "1. e4 1-0 (1. d4 (1. c4) d5 0-1) {end} $1 1-0\n[White \"b\"]\n1. d4 * d4 d5 * 1. c4 *";
        assert_eq!(read(after, None), ["e2e4", "d2d4", "d2d4 d7d5", "c2c4"]);
    }

    #[test]
    fn a_game_of_tags_alone_ends_at_the_first_tag_of_the_next() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        for name in ["Event", "White"] {
            let text =
                format!("[{name} \"a\"]\n[FEN \"{fen}\"]\n\n[{name} \"b\"]\n[Site \"c\"]\n\n1. d4 1-0\n");
            let games = read_pgn("x.pgn", text.as_bytes(), None).expect("games");
            let found: Vec<_> =
                games.iter().map(|read| (read.line, read.game.start().fen(), moves(&read.game))).collect();
            let initial = Game::initial().start().fen();
            assert_eq!(
                found,
                [(1, fen.to_owned(), String::new()), (4, initial, "d2d4".to_owned())],
                "{name}"
            );
        }
        // Another tag that is there twice begins no game, nor does one without an empty line before it.
        for twice in
            ["[Site \"b\"]\n\n[Site \"c\"]", "[White \"a\"]\n[Black \"b\"]", "[Event \"c\"]\r\n[White \"b\"]"]
        {
            let text = format!("[Event \"e\"]\n[White \"a\"]\n{twice}\n[FEN \"{fen}\"]\n\n1. e4 *\n");
            let games = read_pgn("x.pgn", text.as_bytes(), None).expect("a game");
            let found: Vec<_> =
                games.iter().map(|read| (read.game.start().fen(), moves(&read.game))).collect();
            assert_eq!(found, [(fen.to_owned(), "e2e4".to_owned())], "{twice}");
        }
    }

    #[test]
    fn moves_after_a_result_are_a_fault_of_their_game_and_no_other_game() {
        let error = |text: &str| read_pgn("x.pgn", text.as_bytes(), None).expect_err("a fault").to_string();
        let more = "1. e4 e5 1-0 2. Nf3\nNc6 1-0\n[White \"c\"]\n1. d4 d5 *\n1. c4 * 0-1 1. b3 *";
        let found = error(more);
        assert_eq!(found.matches("game ").count(), 2, "{found}");
        let ending = "follows its result; expected the next game, with tags or from move 1";
        assert!(found.contains(&format!("line 1: game 1: \"2.\" {ending}")), "{found}");
        assert!(found.contains(&format!("line 5: game 3: \"0-1\" {ending}")), "{found}");
        let late = error("[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 151 1\"]\n\n*");
        assert!(late.contains("151 plies since a capture or a pawn's move; expected at most 150"), "{late}");
    }

    #[test]
    fn a_game_may_start_elsewhere_and_captures_may_be_marked_en_passant() {
        let fen = "4k3/8/8/8/4p3/8/3P4/4K3 w - - 0 9";
        for capture in [
            "exd3 e.p.",
            "exd3e.p.",
            "exd3ep",
            "exd3 ep",
            "exd3e.p.!?",
            "exd3+e.p.",
            "exd3e.p.#",
            "exd3 e.p.+",
            "9...exd3e.p.+",
            "e4-d3ep",
        ] {
            let text = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n9. d4 {capture} 10.Kd2 *");
            let games = read_pgn("x.pgn", text.as_bytes(), None).expect(capture);
            assert_eq!((games[0].game.start().fen().as_str(), games[0].line), (fen, 1));
            assert_eq!(moves(&games[0].game), "d2d4 e4d3 e1d2", "{capture}");
        }
        assert!(error("1. e4 Ke6e.p. *").contains("ply 2: \"Ke6e.p.\" is not a move"));
    }

    #[test]
    fn a_start_without_a_value_is_the_initial_position() {
        for fen in ["", "?"] {
            assert_eq!(read(&format!("[FEN \"{fen}\"]\n\n1. e4 *"), None), ["e2e4"], "{fen:?}");
        }
        assert!(error("[FEN \"-\"]\n\n1. e4 *").contains("line 1: game 1: "));
    }

    #[test]
    fn marks_of_the_end_of_a_file_and_vertical_tabs_are_white_space() {
        for text in
            ["1. e4 e5 *\r\n\x1a", "1. e4 e5 *\x1a", "1. e4\x0be5 *", "1. e4 *\r\n\x1a1. e4 e5 *\x1a\x1a"]
        {
            let found = read(text, None);
            assert_eq!(found.last().map(String::as_str), Some("e2e4 e7e5"), "{text:?}");
            assert_eq!(found.len(), text.matches('*').count(), "{text:?}");
        }
    }

    #[test]
    fn comments_to_the_end_of_a_line_end_at_any_line_end() {
        let text =
            "[Event \"a\"]\n\n1. e4 ; good move\n1... e5 *\n% not a game\n\n[Event \"b\"]\n\n1. d4 *\n";
        for end in ["\n", "\r\n", "\r"] {
            assert_eq!(read(&text.replace('\n', end), None), ["e2e4 e7e5", "d2d4"], "{end:?}");
        }
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
        assert!(
            error.contains("\n  line 11: game 3: ply 2: \"--\" is a null move, which is no move of chess"),
            "{error}"
        );
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
