//! The result of a search as `info` lines.

use std::time::Duration;

use dc0_core::search::{Line, Search};

use super::notation::Notation;
use crate::score::{ScoreFit, line_to_mate};

/// The depth to report: 1 for one simulation, and one more whenever the simulations of the tree double. A search that spends its
/// visits unevenly has no depth of its own.
pub(super) fn depth(visits: u32) -> u32 {
    visits.max(1).ilog2() + 1
}

/// Simulations that reach a depth.
pub(super) fn visits_of(depth: i64) -> u32 {
    1 << (depth.clamp(1, 32) - 1)
}

/// What `info` lines hold besides the search's result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// Lines at most.
    pub(super) lines: usize,
    pub(super) notation: Notation,
    pub(super) shows_wdl: bool,
    pub(super) fit: ScoreFit,
    /// How full the evaluation cache is, in thousandths.
    pub(super) hash_permill: u32,
    /// Simulations of this search.
    pub(super) nodes: u32,
    pub(super) elapsed: Duration,
}

/// The `info` lines of a search that has a visit.
pub(super) fn info(search: &Search, frame: &Frame) -> Vec<String> {
    let all = search.lines(usize::MAX);
    let deepest = all.iter().map(|line| line.moves.len()).max().unwrap_or(1);
    let start = format!("info depth {} seldepth {deepest}", depth(search.visits()));
    let work = work(search, frame);
    let line = |(number, line): (usize, &Line)| {
        format!("{start} multipv {number} {} {work}", score(search, frame, line))
    };
    let infos = (1..).zip(all.iter().take(frame.lines)).map(line);
    // Chess programs take what follows `pv` for moves to the end of the line.
    let root = search.game().position();
    let moves = |line: &Line| frame.notation.line(root, &line_to_mate(search, line)).join(" ");
    infos.zip(&all).map(|(info, line)| format!("{info} pv {}", moves(line))).collect()
}

fn work(search: &Search, frame: &Frame) -> String {
    let millis = frame.elapsed.as_millis().max(1);
    let speed = u128::from(frame.nodes) * 1000 / millis;
    format!(
        "nodes {} nps {speed} hashfull {} tbhits {} time {}",
        frame.nodes,
        frame.hash_permill,
        search.tablebase_hits(),
        frame.elapsed.as_millis()
    )
}

/// The score of a line, and its WDL where that is shown.
fn score(search: &Search, frame: &Frame, line: &Line) -> String {
    let shown = frame.fit.of_line(search, line);
    let score = match shown.mate {
        Some(moves) => format!("score mate {moves}"),
        None => format!("score cp {}", shown.centipawns),
    };
    let [win, draw, loss] = shown.thousandths();
    if frame.shows_wdl { format!("{score} wdl {win} {draw} {loss}") } else { score }
}

#[cfg(test)]
mod tests {
    use super::{depth, visits_of};

    #[test]
    fn depth_grows_as_simulations_double() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 800].map(depth), [1, 1, 2, 2, 3, 3, 4, 10]);
        for expected in 1..=32 {
            assert_eq!(depth(visits_of(expected)), expected as u32);
        }
        assert_eq!((visits_of(i64::MIN), visits_of(i64::MAX)), (1, 1 << 31));
    }
}
