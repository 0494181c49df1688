//! What UCI engines report while they search.

use crate::player::{Report, evaluation, mate};

/// What was reported in a search so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Infos {
    /// The last exact score.
    exact: Option<f64>,
    /// The last bound of a score, for searches that end without an exact one.
    bound: Option<f64>,
    depth: Option<u32>,
    nodes: Option<u64>,
}

impl Infos {
    /// Reads a line. What cannot be read is skipped, as the protocol demands.
    pub(super) fn read(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let mut score = None;
        let mut is_bound = false;
        let mut read = *self;
        while let Some(word) = words.next() {
            match word {
                "depth" => read.depth = words.next().and_then(|word| word.parse().ok()).or(read.depth),
                "nodes" => read.nodes = words.next().and_then(|word| word.parse().ok()).or(read.nodes),
                // Further lines are of worse moves.
                "multipv" if words.next() != Some("1") => return,
                "score" => {
                    let kind = words.next();
                    score = kind.and_then(|kind| value(kind, words.next()?)).or(score);
                }
                "lowerbound" | "upperbound" => is_bound = true,
                // Moves and free text follow.
                "pv" | "string" | "refutation" | "currline" => break,
                _ => {}
            }
        }
        if is_bound {
            read.bound = score.or(read.bound);
        } else {
            read.exact = score.or(read.exact);
        }
        *self = read;
    }

    pub(super) fn report(&self) -> Report {
        Report { score: self.exact.or(self.bound), depth: self.depth, nodes: self.nodes }
    }
}

/// A score in centipawns.
fn value(kind: &str, number: &str) -> Option<f64> {
    let number: i64 = number.parse().ok()?;
    match kind {
        "cp" => Some(evaluation(number)),
        "mate" => Some(mate(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Infos, Report, mate};

    fn report(lines: &[&str]) -> Report {
        let mut infos = Infos::default();
        for line in lines {
            infos.read(line);
        }
        infos.report()
    }

    #[test]
    fn the_last_exact_score_counts_and_bounds_only_without_one() {
        let lines = [
            "info depth 7 seldepth 9 multipv 1 score cp 25 nodes 100 nps 5 pv e2e4 e7e5",
            "info depth 8 multipv 2 score cp 90 nodes 120 pv d2d4",
            "info depth 8 score cp 50 lowerbound nodes 150 pv e2e4",
            "info string score cp 9000 depth 99",
            "info nodes 160 time 3",
        ];
        assert_eq!(report(&lines), Report { score: Some(25.0), depth: Some(8), nodes: Some(160) });
        assert_eq!(report(&lines[2..3]).score, Some(50.0));
        assert_eq!(report(&["info depth x score cp", "info"]), Report::default());
    }

    #[test]
    fn mates_count_from_the_largest_score() {
        let score = |text: &str| report(&[&format!("info score {text}")]).score;
        assert_eq!(score("mate 3"), Some(mate(3)));
        assert_eq!(score("mate -2"), Some(mate(-2)));
        assert_eq!(score("mate 0"), Some(mate(0)));
        assert_eq!(score("cp -31"), Some(-31.0));
    }
}
