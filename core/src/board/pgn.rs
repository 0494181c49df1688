//! Games as PGN, in the export format of the standard (Edwards 1994), section 8.

use super::{Game, GameResult, Move, Position, Side};

/// Characters in a line; the standard asks for fewer than 80.
const MAX_LINE: usize = 79;

/// The tags that every game has (section 8.1.1), except the site, which is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnRoster {
    /// The match or other event that the game belongs to.
    pub event: String,
    /// `YYYY.MM.DD`, if it is known.
    pub date: Option<String>,
    /// The game's number, or `-`.
    pub round: String,
    /// The player of White.
    pub white: String,
    /// The player of Black.
    pub black: String,
    /// How the game ended; `None` while it is in progress.
    pub result: Option<GameResult>,
}

/// Writes one game: its tags, then its moves with comments.
#[derive(Debug, Clone)]
pub struct PgnWriter {
    /// One line per tag.
    tags: Vec<String>,
    /// Moves, numbers and parts of comments, between which a line may break.
    tokens: Vec<String>,
    /// Whether a move of Black needs a number: at the start of the game and after a comment.
    needs_number: bool,
    result: &'static str,
}

impl PgnWriter {
    /// Starts a game from a position, without moves yet.
    pub fn new(roster: &PgnRoster, start: &Position) -> Self {
        let result = roster.result.map_or("*", GameResult::symbol);
        let mut writer = Self { tags: Vec::new(), tokens: Vec::new(), needs_number: true, result };
        writer.tag("Event", &roster.event);
        writer.tag("Site", "?");
        writer.tag("Date", roster.date.as_deref().unwrap_or("????.??.??"));
        writer.tag("Round", &roster.round);
        writer.tag("White", &roster.white);
        writer.tag("Black", &roster.black);
        writer.tag("Result", result);
        if start.is_chess960() {
            writer.tag("Variant", "Chess960");
        }
        if start.fen() != Position::initial().fen() {
            writer.tag("SetUp", "1");
            writer.tag("FEN", &start.fen());
        }
        writer
    }

    /// Adds a tag, or replaces the one of this name; control characters are removed from its value.
    pub fn tag(&mut self, name: &str, value: &str) {
        let tag = format!("[{name} \"{}\"]\n", escaped(value));
        let before = format!("[{name} ");
        match self.tags.iter_mut().find(|known| known.starts_with(&before)) {
            Some(known) => *known = tag,
            None => self.tags.push(tag),
        }
    }

    /// Adds a legal move with a comment on it.
    pub fn play(&mut self, before: &Position, mv: Move, comment: Option<&str>) {
        let number = before.fullmove_number();
        match before.side_to_move() {
            Side::White => self.tokens.push(format!("{number}.")),
            Side::Black if self.needs_number => self.tokens.push(format!("{number}...")),
            Side::Black => {}
        }
        self.tokens.push(before.san(mv));
        self.needs_number = false;
        if let Some(comment) = comment {
            self.comment(comment);
        }
    }

    /// Adds a comment, which must not contain braces; a command in brackets, such as `[%eval 0.3]`, stays on one line.
    pub fn comment(&mut self, text: &str) {
        let mut depth = 0;
        let is_break = |letter: char| {
            depth += i32::from(letter == '[') - i32::from(letter == ']');
            letter == ' ' && depth == 0
        };
        self.tokens.extend(format!("{{{text}}}").split(is_break).map(ToOwned::to_owned));
        self.needs_number = true;
    }

    /// The finished PGN text.
    pub fn finish(mut self) -> String {
        self.tokens.push(self.result.to_owned());
        format!("{}\n{}", self.tags.concat(), wrapped(&self.tokens))
    }
}

/// Legal moves from a position in SAN with their numbers, one text per move: `12... Nf6`, `13. Bd3`, `O-O`.
pub fn numbered_moves(start: &Position, moves: &[Move]) -> Vec<String> {
    let mut game = Game::from_position(start.clone());
    let mut texts = Vec::with_capacity(moves.len());
    for (index, mv) in moves.iter().enumerate() {
        let position = game.position();
        let (number, san) = (position.fullmove_number(), position.san(*mv));
        texts.push(match position.side_to_move() {
            Side::White => format!("{number}. {san}"),
            Side::Black if index == 0 => format!("{number}... {san}"),
            Side::Black => san,
        });
        game.play_unchecked(*mv);
    }
    texts
}

/// A tag's value with quotes and backslashes escaped, and without control characters.
fn escaped(value: &str) -> String {
    let printed = value.chars().filter(|letter| !letter.is_control());
    printed
        .flat_map(|letter| ['\\'].into_iter().filter(move |_| "\\\"".contains(letter)).chain([letter]))
        .collect()
}

/// Tokens joined to lines, each with a line end.
fn wrapped(tokens: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for token in tokens {
        let length = token.chars().count();
        if column > 0 && column + 1 + length > MAX_LINE {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(token);
        column += length;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::{PgnRoster, PgnWriter, escaped, numbered_moves};
    use crate::board::{Game, GameResult};

    fn pgn(
        text: &str,
        result: Option<GameResult>,
        comment: impl Fn(usize) -> Option<&'static str>,
    ) -> String {
        let game = Game::from_text(text).unwrap();
        let roster = PgnRoster {
            event: "A \"test\"".to_owned(),
            date: None,
            round: "7".to_owned(),
            white: "one".to_owned(),
            black: "two".to_owned(),
            result,
        };
        let mut writer = PgnWriter::new(&roster, game.start());
        writer.tag("PlyCount", &game.ply().to_string());
        for (ply, (before, mv)) in game.positions().zip(game.moves()).enumerate() {
            writer.play(before, *mv, comment(ply));
        }
        writer.finish()
    }

    #[test]
    fn a_game_has_tags_comments_and_a_result() {
        let comment = |ply| [None, Some("[%eval -0.31] a blunder"), None, Some("mate")][ply];
        let text = pgn("startpos moves f2f3 e7e5 g2g4 d8h4", Some(GameResult::BlackWins), comment);
        let expected = "\
[Event \"A \\\"test\\\"\"]
[Site \"?\"]
[Date \"????.??.??\"]
[Round \"7\"]
[White \"one\"]
[Black \"two\"]
[Result \"0-1\"]
[PlyCount \"4\"]

1. f3 e5 {[%eval -0.31] a blunder} 2. g4 Qh4# {mate} 0-1
";
        assert_eq!(text, expected);
    }

    #[test]
    fn another_start_has_a_fen_tag_and_black_a_number_first_and_after_comments() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17";
        let text = pgn(&format!("{fen} moves e8d7 e2e4 d7d6"), None, |ply| (ply == 1).then_some("so"));
        assert!(text.contains(&format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")), "{text}");
        assert!(text.ends_with("\n\n17... Kd7 18. e4 {so} 18... Kd6 *\n"), "{text}");
    }

    #[test]
    fn a_start_of_chess960_is_marked_as_one() {
        let fen = "rnbbqkrn/pppppppp/8/8/8/8/PPPPPPPP/RNBBQKRN w KQkq - 0 1";
        let castling = pgn(&format!("{fen} moves f1g1 e7e5"), None, |_| None);
        let tags = format!("[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n");
        assert!(castling.contains(&tags), "{castling}");
        assert!(castling.ends_with("1. O-O e5 *\n"), "{castling}");
    }

    #[test]
    fn lines_have_fewer_than_80_characters_and_keep_commands_whole() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(40);
        let text = pgn(&format!("startpos moves {shuffle}"), None, |_| {
            Some("[%eval 0.00] level again, and neither side has made any progress so far")
        });
        assert!(text.lines().all(|line| line.len() < 80));
        assert!(text.lines().any(|line| line.len() > 70));
        assert!(text.lines().all(|line| line.matches('[').count() == line.matches(']').count()), "{text}");
        assert!(text.lines().any(|line| line.matches('{').count() != line.matches('}').count()), "{text}");
    }

    #[test]
    fn quotes_in_tags_are_escaped_and_control_characters_removed() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\cd");
    }

    #[test]
    fn moves_are_numbered() {
        let game = Game::from_text("startpos moves e2e4 e7e5 g1f3").unwrap();
        assert_eq!(numbered_moves(game.start(), game.moves()).join(" "), "1. e4 e5 2. Nf3");
        let second = game.position_before(2).unwrap();
        assert_eq!(numbered_moves(second, &game.moves()[1..]).join(" "), "1... e5 2. Nf3");
    }
}
