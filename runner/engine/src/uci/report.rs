//! The result of a search as `info` lines.

use std::time::Duration;

use dc0_core::board::{Game, Move};
use dc0_core::network::Calibration;
use dc0_core::search::{Line, Proof, Search};

use super::score::{ScoreFit, chances};

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
    infos.zip(&all).map(|(info, line)| format!("{info} pv {}", moves(&line_to_mate(search, line)))).collect()
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

fn moves(moves: &[Move]) -> String {
    moves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The score of a line, and its WDL where that is shown.
fn score(search: &Search, frame: &Frame, line: &Line) -> String {
    let (value, draw) = value(search, line, frame.fit.calibration);
    let score = match mate(search, line) {
        Some(moves) => format!("score mate {moves}"),
        None => format!("score cp {}", frame.fit.centipawns(value)),
    };
    let [win, draw, loss] = chances(value, draw);
    if frame.shows_wdl { format!("{score} wdl {win} {draw} {loss}") } else { score }
}

/// P(win) − P(loss) of a line with the draw score, and P(draw), as chances.
pub(super) fn value(search: &Search, line: &Line, calibration: Calibration) -> (f64, f64) {
    let value = line.first.value.unwrap_or_else(|| search.root_value().0);
    calibration.apply(value, line.draw)
}

/// The moves to a proven mate along a line, below 0 if the engine is mated. Wins that tablebases prove have none.
pub(super) fn mate(search: &Search, line: &Line) -> Option<i64> {
    let plies = mating_line(search, line)?.len() as i64;
    Some(if line.first.proof == Some(Proof::Win) { (plies + 1) / 2 } else { -(plies / 2) })
}

/// The moves of a line, up to the mate if it has one.
pub(super) fn line_to_mate(search: &Search, line: &Line) -> Vec<Move> {
    mating_line(search, line).unwrap_or_else(|| line.moves.clone())
}

/// The moves of a proven line up to the mate, if it ends in mate or one move before.
fn mating_line(search: &Search, line: &Line) -> Option<Vec<Move>> {
    let is_won = match line.first.proof {
        Some(Proof::Win) => true,
        Some(Proof::Loss) => false,
        _ => return None,
    };
    let mut moves = line.moves.clone();
    let mut game: Game = search.game().clone();
    for mv in &moves {
        game.play_unchecked(*mv);
    }
    let legal = game.position().legal_moves();
    if !legal.is_empty() {
        moves.push(game.position().mate_in_one(&legal)?);
    } else if !game.position().is_check() {
        return None;
    }
    let ends_with_own_move = moves.len() % 2 == 1;
    (ends_with_own_move == is_won).then_some(moves)
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
