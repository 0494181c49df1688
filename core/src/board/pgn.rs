//! Games as PGN, in the export format of the standard (Edwards 1994), section 8.

use super::{Game, GameResult, Move, Position, Side};

/// Longest line; the standard wants fewer than 80 characters.
const LONGEST: usize = 79;

/// The tags that every game has (section 8.1.1); the site is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnRoster {
    /// The match, or where else the game belongs.
    pub event: String,
    /// `YYYY.MM.DD`, if it is known.
    pub date: Option<String>,
    /// The game's number, or `-`.
    pub round: String,
    /// Who has White.
    pub white: String,
    /// Who has Black.
    pub black: String,
    /// How the game ended; `None` if it goes on.
    pub result: Option<GameResult>,
}

/// Writes one game: its tags, then its moves with comments.
#[derive(Debug, Clone)]
pub struct PgnWriter {
    /// A line each.
    tags: Vec<String>,
    words: Vec<String>,
    /// Whether a move of Black must say its number: the first one, and one behind a comment.
    needs_number: bool,
    result: &'static str,
}

impl PgnWriter {
    /// A game from a start position, without moves yet.
    pub fn new(roster: &PgnRoster, start: &Position) -> Self {
        let result = roster.result.map_or("*", GameResult::symbol);
        let mut writer = Self { tags: Vec::new(), words: Vec::new(), needs_number: true, result };
        writer.tag("Event", &roster.event);
        writer.tag("Site", "?");
        writer.tag("Date", roster.date.as_deref().unwrap_or("????.??.??"));
        writer.tag("Round", &roster.round);
        writer.tag("White", &roster.white);
        writer.tag("Black", &roster.black);
        writer.tag("Result", result);
        if start.fen() != Position::initial().fen() {
            writer.tag("SetUp", "1");
            writer.tag("FEN", &start.fen());
        }
        writer
    }

    /// Adds a tag; its value may hold anything, of which control characters are left out.
    pub fn tag(&mut self, name: &str, value: &str) {
        self.tags.push(format!("[{name} \"{}\"]\n", escaped(value)));
    }

    /// Adds a legal move with what is said of it.
    pub fn play(&mut self, before: &Position, played: Move, comment: Option<&str>) {
        let number = before.fullmove_number();
        match before.side_to_move() {
            Side::White => self.words.push(format!("{number}.")),
            Side::Black if self.needs_number => self.words.push(format!("{number}...")),
            Side::Black => {}
        }
        self.words.push(before.san(played));
        self.needs_number = false;
        if let Some(comment) = comment {
            self.comment(comment);
        }
    }

    /// Adds a comment, which has no brace; a command in brackets, such as `[%eval 0.3]`, stays on one line.
    pub fn comment(&mut self, text: &str) {
        let mut depth = 0;
        let is_break = |letter: char| {
            depth += i32::from(letter == '[') - i32::from(letter == ']');
            letter == ' ' && depth == 0
        };
        self.words.extend(format!("{{{text}}}").split(is_break).map(ToOwned::to_owned));
        self.needs_number = true;
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        self.words.push(self.result.to_owned());
        format!("{}\n{}", self.tags.concat(), wrapped(&self.words))
    }
}

/// Moves from a position in SAN with their numbers, a word each: `12... Nf6`, `13. Bd3`, `O-O`. They must be legal.
pub fn numbered_moves(start: &Position, moves: &[Move]) -> Vec<String> {
    let mut game = Game::from_position(start.clone());
    let mut words = Vec::with_capacity(moves.len());
    for (index, played) in moves.iter().enumerate() {
        let position = game.position();
        let (number, san) = (position.fullmove_number(), position.san(*played));
        words.push(match position.side_to_move() {
            Side::White => format!("{number}. {san}"),
            Side::Black if index == 0 => format!("{number}... {san}"),
            Side::Black => san,
        });
        game.play_unchecked(*played);
    }
    words
}

/// A tag's value in quotes may hold anything that can be printed.
fn escaped(value: &str) -> String {
    let printed = value.chars().filter(|letter| !letter.is_control());
    printed
        .flat_map(|letter| ['\\'].into_iter().filter(move |_| "\\\"".contains(letter)).chain([letter]))
        .collect()
}

/// Words in lines, each with its end.
fn wrapped(words: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > LONGEST {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::{PgnRoster, PgnWriter, escaped, numbered_moves};
    use crate::board::{Game, GameResult};

    fn written(
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
        for (ply, (before, played)) in game.positions().zip(game.moves()).enumerate() {
            writer.play(before, *played, comment(ply));
        }
        writer.finish()
    }

    #[test]
    fn a_game_has_its_roster_its_comments_and_its_result() {
        let comment = |ply| [None, Some("[%eval -0.31] a blunder"), None, Some("mate")][ply];
        let text = written("startpos moves f2f3 e7e5 g2g4 d8h4", Some(GameResult::BlackWins), comment);
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
    fn a_game_from_a_position_says_so_and_black_has_a_number_first_and_after_comments() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17";
        let text = written(&format!("{fen} moves e8d7 e2e4 d7d6"), None, |ply| (ply == 1).then_some("so"));
        assert!(text.contains(&format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")), "{text}");
        assert!(text.ends_with("\n\n17... Kd7 18. e4 {so} 18... Kd6 *\n"), "{text}");
    }

    #[test]
    fn lines_are_shorter_than_eighty_and_commands_stay_whole() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(40);
        let text = written(&format!("startpos moves {shuffle}"), None, |_| {
            Some("[%eval 0.00] level again, and neither side has made any progress so far")
        });
        assert!(text.lines().all(|line| line.len() < 80));
        assert!(text.lines().any(|line| line.len() > 70));
        assert!(text.lines().all(|line| line.matches('[').count() == line.matches(']').count()), "{text}");
        assert!(text.lines().any(|line| line.matches('{').count() != line.matches('}').count()), "{text}");
    }

    #[test]
    fn quotes_in_tags_are_escaped_and_control_characters_left_out() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\cd");
    }

    #[test]
    fn lines_of_moves_have_numbers() {
        let game = Game::from_text("startpos moves e2e4 e7e5 g1f3").unwrap();
        assert_eq!(numbered_moves(game.start(), game.moves()).join(" "), "1. e4 e5 2. Nf3");
        let second = game.position_before(2).unwrap();
        assert_eq!(numbered_moves(second, &game.moves()[1..]).join(" "), "1... e5 2. Nf3");
    }
}
