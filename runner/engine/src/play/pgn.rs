//! A game as PGN, with the evaluations of its searches.

use dc0_core::board::{PgnRoster, PgnWriter, Side};

use super::record::Record;
use dc0_process::clock;

/// Who played, and when.
#[derive(Debug, Clone)]
pub struct Tags {
    /// The tag `Event`.
    pub event: &'static str,
    /// `YYYY.MM.DD`.
    pub date: String,
    /// The name of the engine.
    pub engine: String,
    /// The human's side.
    pub side: Side,
    /// Whether the human moves for both sides.
    pub plays_both: bool,
    /// The net and the simulations, as one line.
    pub net: String,
    /// The simulations of a move.
    pub simulations: u32,
}

/// The date of today as PGN has it.
pub fn today() -> String {
    clock::timestamp()[..10].replace('-', ".")
}

/// The game with its tags, followed by an empty line.
pub fn pgn(record: &Record, tags: &Tags) -> String {
    let player = |side: Side| {
        let is_human = tags.plays_both || tags.side == side;
        if is_human { ("Human".to_owned(), "human") } else { (tags.engine.clone(), "program") }
    };
    let [(white, white_type), (black, black_type)] = [Side::White, Side::Black].map(player);
    let roster = PgnRoster {
        event: tags.event.to_owned(),
        date: Some(tags.date.clone()),
        round: "-".to_owned(),
        white,
        black,
        result: record.game_result(),
    };
    let mut pgn = PgnWriter::new(&roster, record.game.start());
    let termination = if record.is_over() { "normal" } else { "unterminated" };
    for (name, value) in [
        ("WhiteType", white_type),
        ("BlackType", black_type),
        ("PlyCount", &record.game.ply().to_string()),
        ("Termination", termination),
        ("DC0Net", &tags.net),
        ("DC0Simulations", &tags.simulations.to_string()),
    ] {
        pgn.tag(name, value);
    }
    for (position, played, score) in record.plies() {
        let evaluation = score.and_then(|score| score.after_move(position.side_to_move()));
        let comment = evaluation.map(|evaluation| format!("[%eval {evaluation}]"));
        pgn.play(position, played, comment.as_deref());
    }
    if let Some(reason) = record.reason() {
        pgn.comment(&reason);
    }
    pgn.finish() + "\n"
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Game, Side};

    use super::super::score::{Evaluation, Score};
    use super::{Record, Tags, pgn};

    fn tags(side: Side) -> Tags {
        Tags {
            event: "Game in the terminal",
            date: "2026.08.01".to_owned(),
            engine: "dc0 0.1.0 (small net)".to_owned(),
            side,
            plays_both: false,
            net: "small net".to_owned(),
            simulations: 50,
        }
    }

    #[test]
    fn a_game_has_its_tags_evaluations_and_result() {
        let mut record = Record::new(Game::initial());
        let score = Score { chances: [200, 300, 500], evaluation: Evaluation::Centipawns(-31) };
        for (text, score) in [("f3", None), ("e5", Some(score)), ("g4", None), ("Qh4", None)] {
            let mv = record.game.position().read_move(text).unwrap();
            record.play(mv, score);
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
    fn a_game_from_a_position_has_its_fen_and_move_number() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17";
        let mut record = Record::new(Game::from_text(fen).unwrap());
        let score = Score { chances: [1000, 0, 0], evaluation: Evaluation::Mate(9) };
        for (text, score) in [("Kd7", None), ("e4", Some(score)), ("Kd6", None)] {
            let mv = record.game.position().read_move(text).unwrap();
            record.play(mv, score);
        }
        let text = pgn(&record, &tags(Side::Black));
        assert!(text.contains(&format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")), "{text}");
        assert!(text.contains("[White \"dc0 0.1.0 (small net)\"]\n[Black \"Human\"]"), "{text}");
        assert!(text.ends_with("\n\n17... Kd7 18. e4 {[%eval #8]} 18... Kd6 *\n\n"), "{text}");
    }
}
