//! What xboard engines report while they search.

use crate::player::{Report, evaluation, mate};

/// The score of a mate in 0 moves, to which the protocol adds the moves.
const PROTOCOL_MATE: i64 = 100_000;

/// Parses `DEPTH SCORE TIME NODES MOVES…`; `None` for other lines. The depth may have a mark of the search's stage.
pub(super) fn parse(line: &str) -> Option<Report> {
    let mut words = line.split_whitespace();
    let depth = words.next()?;
    let depth = depth.trim_end_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()?;
    let score: i64 = words.next()?.parse().ok()?;
    let _centiseconds: u64 = words.next()?.parse().ok()?;
    let nodes = words.next()?.parse().ok()?;
    Some(Report { score: Some(centipawns(score)), depth: Some(depth), nodes: Some(nodes) })
}

/// Engines older than this rule count down to some round number of thousands, which is recognised as in cutechess.
fn centipawns(score: i64) -> f64 {
    let size = score.saturating_abs();
    let (moves, down) = (size - PROTOCOL_MATE, 1000 - size % 1000);
    let moves = if (0..100).contains(&moves) {
        moves
    } else if size > 9900 && down < 100 {
        down
    } else {
        return evaluation(score);
    };
    mate(moves).copysign(score as f64)
}

#[cfg(test)]
mod tests {
    use super::{mate, parse};

    #[test]
    fn reports_have_depth_score_and_nodes() {
        let report = parse("4. +15 1 312 d4 d5 Nc3").unwrap();
        assert_eq!((report.depth, report.score, report.nodes), (Some(4), Some(15.0), Some(312)));
        let score = |text: &str| parse(&format!("9 {text} 0 1")).unwrap().score;
        assert_eq!((score("100003"), score("-100002")), (Some(mate(3)), Some(mate(-2))));
        // Sjeng's, Phalanx', and a large evaluation.
        assert_eq!((score("999998"), score("-29999")), (Some(mate(2)), Some(mate(-1))));
        assert_eq!(score("-99500"), Some(-31_000.0));
        for line in ["1. ... e5", "4 15 1", "# times", "4 x 1 2", ""] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
