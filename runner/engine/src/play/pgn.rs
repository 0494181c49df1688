//! A game as PGN, in the export format of the standard (Edwards 1994), section 8.

use dc0_core::board::Side;

use super::record::Record;

/// Longest line; the standard wants fewer than 80 characters.
const LONGEST: usize = 79;

/// Who played, and when.
#[derive(Debug, Clone)]
pub struct Tags {
    /// `YYYY.MM.DD`.
    pub(super) date: String,
    pub(super) human: String,
    pub(super) engine: String,
    /// The human's side.
    pub(super) side: Side,
    /// The net and the simulations, as one line.
    pub(super) net: String,
    pub(super) simulations: u32,
}

/// The game with its tags, and an empty line at its end.
pub fn pgn(record: &Record, tags: &Tags) -> String {
    let all = pairs(record, tags);
    let tags: String = all.iter().map(|(name, value)| format!("[{name} \"{}\"]\n", escaped(value))).collect();
    format!("{tags}\n{}\n", wrapped(&words(record)))
}

fn pairs(record: &Record, tags: &Tags) -> Vec<(&'static str, String)> {
    let players = [(tags.human.clone(), "human"), (tags.engine.clone(), "program")];
    let [(white, white_type), (black, black_type)] =
        if tags.side == Side::White { players } else { [players[1].clone(), players[0].clone()] };
    let mut all = vec![
        ("Event", "Game in the terminal".to_owned()),
        ("Site", "?".to_owned()),
        ("Date", tags.date.clone()),
        ("Round", "-".to_owned()),
        ("White", white),
        ("Black", black),
        ("Result", record.result().to_owned()),
    ];
    let start = record.game.start();
    if start.fen() != dc0_core::board::Position::initial().fen() {
        all.extend([("SetUp", "1".to_owned()), ("FEN", start.fen())]);
    }
    let termination = if record.is_over() { "normal" } else { "unterminated" };
    all.extend([
        ("WhiteType", white_type.to_owned()),
        ("BlackType", black_type.to_owned()),
        ("PlyCount", record.game.ply().to_string()),
        ("Termination", termination.to_owned()),
        ("DC0Net", tags.net.clone()),
        ("DC0Simulations", tags.simulations.to_string()),
    ]);
    all
}

/// A tag's value in quotes may hold anything that can be printed.
pub fn escaped(value: &str) -> String {
    let printed = value.chars().filter(|letter| !letter.is_control());
    printed
        .flat_map(|letter| ['\\'].into_iter().filter(move |_| "\\\"".contains(letter)).chain([letter]))
        .collect()
}

/// The movetext's words; a Black move has its number at the start and after a comment.
fn words(record: &Record) -> Vec<String> {
    let mut words = Vec::new();
    let mut needs_number = true;
    for (position, san, score) in record.plies() {
        let (number, side) = (position.fullmove_number(), position.side_to_move());
        match side {
            Side::White => words.push(format!("{number}.")),
            Side::Black if needs_number => words.push(format!("{number}...")),
            Side::Black => {}
        }
        words.push(san);
        let evaluation = score.and_then(|score| score.after_move(side));
        needs_number = evaluation.is_some();
        words.extend(evaluation.map(|evaluation| format!("{{[%eval {evaluation}]}}")));
    }
    if let Some(reason) = record.reason() {
        words.extend(format!("{{{reason}}}").split(' ').map(ToOwned::to_owned));
    }
    words.push(record.result().to_owned());
    words
}

/// Words in lines, each with its end.
pub fn wrapped(words: &[String]) -> String {
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
    use dc0_core::board::{Game, Side};

    use super::super::score::{Score, Worth};
    use super::{Record, Tags, escaped, pgn};

    fn tags(side: Side) -> Tags {
        Tags {
            date: "2026.08.01".to_owned(),
            human: "Human".to_owned(),
            engine: "dc0 0.1.0 (small net)".to_owned(),
            side,
            net: "small net".to_owned(),
            simulations: 50,
        }
    }

    #[test]
    fn a_game_has_its_roster_its_evaluations_and_its_result() {
        let mut record = Record::new(Game::initial());
        let score = Score { chances: [200, 300, 500], worth: Worth::Centipawns(-31) };
        for (text, score) in [("f3", None), ("e5", Some(score)), ("g4", None), ("Qh4", None)] {
            let played = record.game.position().read_move(text).unwrap();
            record.play(played, score);
        }
        let expected = "\
[Event \"Game in the terminal\"]
[Site \"?\"]
[Date \"2026.08.01\"]
[Round \"-\"]
[White \"Human\"]
[Black \"dc0 0.1.0 (small net)\"]
[Result \"0-1\"]
[WhiteType \"human\"]
[BlackType \"program\"]
[PlyCount \"4\"]
[Termination \"normal\"]
[DC0Net \"small net\"]
[DC0Simulations \"50\"]

1. f3 e5 {[%eval -0.31]} 2. g4 Qh4# {Black won by checkmate} 0-1

";
        assert_eq!(pgn(&record, &tags(Side::White)), expected);
    }

    #[test]
    fn a_game_from_a_position_says_so_and_begins_with_blacks_number() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17";
        let mut record = Record::new(Game::from_text(fen).unwrap());
        let score = Score { chances: [1000, 0, 0], worth: Worth::Mate(9) };
        for (text, score) in [("Kd7", None), ("e4", Some(score)), ("Kd6", None)] {
            let played = record.game.position().read_move(text).unwrap();
            record.play(played, score);
        }
        let text = pgn(&record, &tags(Side::Black));
        assert!(text.contains(&format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")), "{text}");
        assert!(text.contains("[White \"dc0 0.1.0 (small net)\"]\n[Black \"Human\"]"), "{text}");
        assert!(text.ends_with("\n\n17... Kd7 18. e4 {[%eval #8]} 18... Kd6 *\n\n"), "{text}");
    }

    #[test]
    fn lines_are_shorter_than_eighty() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 ";
        let text = format!("startpos moves {shuffle}{}", "g1f3 g8f6 f3g1 f6g8 ".repeat(40));
        let text = pgn(&Record::new(Game::from_text(&text).unwrap()), &tags(Side::White));
        assert!(text.lines().all(|line| line.len() < 80));
        assert!(text.lines().any(|line| line.len() > 70));
    }

    #[test]
    fn quotes_in_tags_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\cd");
    }
}
