//! Which root moves keep the result of perfect play, with the fifty-move rule and repetitions taken into account.
//!
//! The rule is Ronald de Man's (`root_probe_dtz` of his probing tool, <https://github.com/syzygy1/probetool>), which
//! Stockfish and Leela Chess Zero use too: the tables restrict *which* moves are searched and do not choose the move, because
//! always playing for the next capture or pawn move looks unnatural. When the clock runs out, or once a position has been
//! repeated, only the moves with the shortest distance remain, so that play makes progress.

use std::cmp::Ordering;

use shakmaty::Position as _;

use super::{Tablebase, TablebaseError, TablebaseResult};
use crate::board::{Game, Move};

/// The rank of a certain win. The ranks of other results lie between this and its negative.
const CERTAIN: i32 = 1 << 18;

/// A root move and the result of perfect play after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedMove {
    /// The move.
    pub mv: Move,
    /// The result for the side that plays it, at the root's halfmove clock. If `dtz` and the clock add up to exactly 100, the
    /// win or loss may turn out a draw, since stored distances may be one ply too low.
    pub result: TablebaseResult,
    /// Plies from the root to the next capture, pawn move or mate: positive if the side to move wins, negative if it
    /// loses, 0 for a draw, 100 more if the fifty-move rule saves the loser later.
    pub dtz: i32,
    /// Larger is better; moves of equal rank lead to equally good results.
    pub rank: i32,
}

impl RankedMove {
    fn new(mv: Move, dtz: i32, clock: i32, repeated: bool) -> Self {
        Self { mv, result: result(dtz, clock), dtz, rank: rank(dtz, clock, repeated) }
    }
}

impl Tablebase {
    /// Every legal move with its rank, in the order of [`crate::board::Position::legal_moves`].
    ///
    /// `None` if WDL or DTZ tables do not cover the position, or the position after any of its moves.
    pub fn rank_root(&self, game: &Game) -> Result<Option<Vec<RankedMove>>, TablebaseError> {
        if !self.covers(game.position()) {
            return Ok(None);
        }
        let (clock, repeated) = (game.position().halfmove_clock() as i32, game.has_repeated());
        let (root, mut game) = (game.ply(), game.clone());
        let mut ranked = Vec::new();
        for mv in game.position().legal_moves() {
            game.play_unchecked(mv);
            let Some(dtz) = self.dtz_after(&game)? else { return Ok(None) };
            ranked.push(RankedMove::new(mv, dtz, clock, repeated));
            game.take_back_to(root);
        }
        Ok(Some(ranked))
    }

    /// The moves of the highest rank: a search restricted to them keeps the result of perfect play and, over a game, achieves it.
    /// `None` as for [`Tablebase::rank_root`]; empty if the game is over.
    pub fn best_moves(&self, game: &Game) -> Result<Option<Vec<Move>>, TablebaseError> {
        let Some(ranked) = self.rank_root(game)? else { return Ok(None) };
        let best = ranked.iter().map(|ranked| ranked.rank).max();
        let kept = ranked.iter().filter(|ranked| Some(ranked.rank) == best);
        Ok(Some(kept.map(|ranked| ranked.mv).collect()))
    }

    /// The DTZ of the last move, for the side that played it.
    fn dtz_after(&self, game: &Game) -> Result<Option<i32>, TablebaseError> {
        let position = game.position();
        if position.0.is_checkmate() {
            return Ok(Some(1));
        }
        if game.repetitions() >= 2 || position.halfmove_clock() >= 100 {
            return Ok(Some(0));
        }
        if position.halfmove_clock() == 0 {
            return Ok(self.probe_wdl(position)?.map(|result| dtz_of_zeroing(-result)));
        }
        Ok(self.probe_dtz(position)?.map(|dtz| -dtz - dtz.signum()))
    }
}

/// The DTZ of a capture or pawn move with this result.
fn dtz_of_zeroing(result: TablebaseResult) -> i32 {
    match result {
        TablebaseResult::Loss => -1,
        TablebaseResult::BlessedLoss => -101,
        TablebaseResult::Draw => 0,
        TablebaseResult::CursedWin => 101,
        TablebaseResult::Win => 1,
    }
}

/// A win counts only if the clock is reset by its hundredth ply.
fn result(dtz: i32, clock: i32) -> TablebaseResult {
    let in_time = dtz.abs() + clock <= 100;
    match (dtz.cmp(&0), in_time) {
        (Ordering::Greater, true) => TablebaseResult::Win,
        (Ordering::Greater, false) => TablebaseResult::CursedWin,
        (Ordering::Equal, _) => TablebaseResult::Draw,
        (Ordering::Less, false) => TablebaseResult::BlessedLoss,
        (Ordering::Less, true) => TablebaseResult::Loss,
    }
}

/// Wins with a ply to spare rank equal; among the others, and among all after a repetition, shorter is better. Losses that are
/// far from the fifty-move rule rank equal; near it, longer is better.
fn rank(dtz: i32, clock: i32, repeated: bool) -> i32 {
    match dtz.cmp(&0) {
        Ordering::Greater if dtz + clock <= 99 && !repeated => CERTAIN,
        Ordering::Greater => CERTAIN - (dtz + clock),
        Ordering::Equal => 0,
        Ordering::Less if clock - 2 * dtz < 100 => -CERTAIN,
        Ordering::Less => clock - dtz - CERTAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::{CERTAIN, rank, result};
    use crate::board::TablebaseResult::{BlessedLoss, CursedWin, Draw, Loss, Win};

    #[test]
    fn the_clock_decides_whether_a_win_counts() {
        let cases = [(1, 99, Win), (2, 99, CursedWin), (50, 50, Win), (101, 0, CursedWin), (0, 99, Draw)];
        for (dtz, clock, expected) in cases {
            assert_eq!(result(dtz, clock), expected, "{dtz} {clock}");
            assert_eq!(result(-dtz, clock), -expected, "{dtz} {clock}");
        }
        assert_eq!((result(-100, 0), result(-100, 1)), (Loss, BlessedLoss));
    }

    #[test]
    fn ranks_follow_results_then_distances() {
        assert_eq!(rank(3, 10, false), rank(40, 10, false));
        assert!(rank(3, 10, true) > rank(40, 10, true));
        assert!(rank(20, 79, false) > rank(21, 79, false));
        assert!(rank(100, 0, false) > rank(101, 0, false));
        assert!(rank(101, 0, false) > 0 && rank(-101, 0, false) < 0);
        assert_eq!(rank(-2, 0, false), -CERTAIN);
        assert!(rank(-60, 60, false) > rank(-30, 60, false));
    }
}
