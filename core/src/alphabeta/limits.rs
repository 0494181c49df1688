//! What bounds a search, and what it found.

use super::score::Score;
use crate::board::Move;

/// What one search is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Iterations at most; `None` for no limit.
    pub depth: Option<u32>,
    /// Positions that are visited at most, by all threads; exact with one thread. `None` for no limit.
    pub nodes: Option<u64>,
    /// Ends the search once a mate in this many moves is found.
    pub mate: Option<u32>,
    /// The legal moves of the root to search; all if empty.
    pub root_moves: Vec<Move>,
    /// The best root moves whose scores are wanted, each with a line; 0 counts as 1.
    pub lines: usize,
}

/// The caller's clock, and its hand on the search: the core reads no clock. All calls come from the thread that called the search.
pub trait Control {
    /// Whether to stop at once. Asked about every thousand positions; `nodes` is what all threads have visited.
    fn should_stop(&mut self, nodes: u64) -> bool;

    /// An iteration is complete. Whether to begin another one.
    fn goes_on(&mut self, found: &Found) -> bool;
}

/// Searches up to the limits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Control for Unwatched {
    fn should_stop(&mut self, _: u64) -> bool {
        false
    }

    fn goes_on(&mut self, _: &Found) -> bool {
        true
    }
}

/// What a search has found so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The best root moves, the best first; at least one.
    pub lines: Vec<Line>,
    /// Whether tablebases know the result, which is then the score of all lines without a mate.
    pub is_known: bool,
    /// The iterations that are complete.
    pub depth: u32,
    /// The deepest position visited, in plies from the root.
    pub selective_depth: u32,
    /// Positions visited, by all threads.
    pub nodes: u64,
    /// Evaluations of positions, by all threads.
    pub evaluations: u64,
    /// Tablebase probes that found a result, by all threads.
    pub tablebase_hits: u64,
    /// How full the table is with this search's entries, in thousandths.
    pub hash_permill: u32,
}

/// A root move, with what is expected to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The score for the side to move.
    pub score: Score,
    /// Whether the score is only a lower bound: the search was stopped before it knew how much better the move is.
    pub is_lower_bound: bool,
    /// The principal variation; its first move is the root move.
    pub moves: Vec<Move>,
}

impl Found {
    /// The move to play.
    pub fn best(&self) -> Move {
        self.lines[0].moves[0]
    }

    /// The score of the move to play.
    pub fn score(&self) -> Score {
        self.lines[0].score
    }
}
