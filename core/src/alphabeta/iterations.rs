//! Iterative deepening at the root, with a narrow window around the last score
//! (<https://www.chessprogramming.org/Iterative_Deepening>, <https://www.chessprogramming.org/Aspiration_Windows>).

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use super::limits::{Found, Limits, Line};
use super::score::{INFINITE, MAX_PLY, Score, is_decisive, is_loss, is_mate, of_tablebase};
use super::thread::{Node, Thread};
use crate::board::{KnownMove, Move, TablebaseResult};

/// Half of the first window, in centipawns. Chosen.
const WINDOW: i32 = 20;

/// A window wider than this is opened altogether, in centipawns. Chosen.
const WIDEST: i32 = 1000;

/// The depth from which windows are narrow. Chosen: earlier scores say little.
const ASPIRATION_DEPTH: i32 = 5;

/// A move of the root.
#[derive(Debug, Clone)]
pub(super) struct RootMove {
    mv: KnownMove,
    /// The score in this window; `-INFINITE` if it is not known to be within it.
    score: i32,
    /// The last score that is known; `None` before the first.
    known: Option<i32>,
    /// Whether `known` is only a lower bound.
    is_lower_bound: bool,
    /// The principal variation that begins with it.
    line: Vec<Move>,
}

impl RootMove {
    pub(super) fn new(mv: KnownMove) -> Self {
        Self { mv, score: -INFINITE, known: None, is_lower_bound: false, line: vec![mv.played] }
    }
}

/// A search from its root, by one thread.
pub(super) struct Iterations<'a, 't> {
    thread: &'a mut Thread<'t>,
    root: Node<'a>,
    /// The moves to search, the best first.
    moves: Vec<RootMove>,
    /// The same after the last iteration, or with the best move of one whose score is still to be found.
    finished: Vec<RootMove>,
    /// The result of perfect play by the tablebases.
    result: Option<TablebaseResult>,
    limits: &'a Limits,
}

impl<'a, 't> Iterations<'a, 't> {
    /// A search that has not begun.
    pub(super) fn new(
        thread: &'a mut Thread<'t>,
        root: Node<'a>,
        moves: Vec<RootMove>,
        result: Option<TablebaseResult>,
        limits: &'a Limits,
    ) -> Self {
        Self { thread, root, finished: moves.clone(), moves, result, limits }
    }

    /// What the caller gets: the best moves with their lines, the best first. A move without a score has the evaluation of the root. None
    /// has more than the move before it, which may be known from a deeper iteration. Where the tablebases know the result, it is the score
    /// of all lines without a mate, as in Stockfish.
    pub(super) fn lines(&mut self) -> Vec<Line> {
        let lines = self.limits.lines.clamp(1, self.moves.len());
        let is_scored = self.moves[..lines].iter().all(|root| root.known.is_some());
        let evaluation = if is_scored { 0 } else { self.thread.evaluate(self.root) };
        let mut most = INFINITE;
        let result = self.result.map(|result| of_tablebase(result.outcome(), 0));
        let line = |root: &RootMove| {
            let found = root.known.unwrap_or(evaluation);
            let result = result.filter(|_| !is_mate(found));
            let score = most.min(result.unwrap_or(found));
            most = score;
            let is_lower_bound = root.is_lower_bound && result.is_none();
            Line { score: Score::of(score), is_lower_bound, moves: root.line.clone() }
        };
        self.moves[..lines].iter().map(line).collect()
    }

    /// Deepens until a limit or the caller ends it, beginning with a depth of at least 1. Returns the number of complete iterations;
    /// `self.moves` are as good as they are known then.
    pub(super) fn run(&mut self, first_depth: i32) -> u32 {
        let lines = self.limits.lines.clamp(1, self.moves.len());
        let deepest = self.limits.depth.map_or(MAX_PLY as i32 - 1, |depth| depth as i32);
        let mut completed = 0;
        for depth in first_depth.min(deepest)..=deepest {
            self.thread.root_depth = depth;
            self.finished.clone_from(&self.moves);
            for number in 0..lines {
                if !self.deepen(depth, number, completed == 0) {
                    return completed;
                }
                self.keep_line(number);
            }
            // Lines come in the order of their scores, though each was found below the one before.
            self.moves[..lines].sort_by_key(|root| Reverse(root.known));
            completed = depth as u32;
            let nodes = self.thread.flush();
            let found = self.found(completed, nodes);
            let is_mate = self.limits.mate.is_some_and(|most| found.score().is_mate_in(most));
            let goes_on = self.thread.control.as_mut().is_none_or(|control| control.goes_on(&found));
            if is_mate || !goes_on || self.thread.is_stopped {
                return completed;
            }
        }
        completed
    }

    /// Finds the best move of those from `first` on, and puts it there; false once the search has stopped. `is_new` says that no
    /// iteration is complete.
    fn deepen(&mut self, depth: i32, first: usize, is_new: bool) -> bool {
        let last = self.moves[first].known.unwrap_or(0);
        let is_narrow =
            self.thread.shared.selectivity.aspiration && depth >= ASPIRATION_DEPTH && !is_decisive(last);
        let mut half = WINDOW;
        let (mut alpha, mut beta) =
            if is_narrow { (last - half, last + half) } else { (-INFINITE, INFINITE) };
        loop {
            let best = self.search_moves(depth, first, alpha, beta);
            // Moves that were not reached keep their order.
            self.moves[first..].sort_by_key(|root| -root.score);
            if self.thread.is_stopped {
                // Until a move is known to be as good as the last iteration's, that one stands. A loss proves nothing while other moves
                // are left to be searched.
                let best = self.moves[first].score;
                if best <= alpha || is_loss(best) {
                    self.restore(first, is_new);
                }
                return false;
            }
            if best <= alpha {
                (alpha, beta) = (best - half, i32::midpoint(alpha, beta));
            } else if best >= beta {
                beta = best + half;
                self.finished.clone_from(&self.moves);
            } else {
                return true;
            }
            half *= 2;
            if half > WIDEST {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
            (alpha, beta) = (alpha.max(-INFINITE), beta.min(INFINITE));
        }
    }

    /// Notes that the lines up to this one are found: they stand, whatever ends the search of the others.
    fn keep_line(&mut self, number: usize) {
        let found = &self.moves[..=number];
        let is_found = |other: &RootMove| found.iter().any(|root| root.mv.played == other.mv.played);
        let others: Vec<RootMove> = self.finished.drain(..).filter(|root| !is_found(root)).collect();
        self.finished.extend(found.iter().cloned().chain(others));
    }

    /// Puts the moves from `first` on back in the order of the last iteration; those before it are lines that this one has found. If there
    /// was no iteration, moves that are known to lose come last.
    fn restore(&mut self, first: usize, is_new: bool) {
        let losing = self.moves[first..].iter().filter(|root| is_loss(root.score)).map(|root| root.mv.played);
        let losing: Vec<Move> = losing.filter(|_| is_new).collect();
        self.moves.clone_from(&self.finished);
        self.moves[first..].sort_by_key(|root| losing.contains(&root.mv.played));
    }

    /// Searches the moves from `first` on, and returns the best score; a bound of it outside the window.
    fn search_moves(&mut self, depth: i32, first: usize, mut alpha: i32, beta: i32) -> i32 {
        let Self { thread, root, moves, .. } = self;
        for root in &mut moves[first..] {
            root.score = -INFINITE;
        }
        if !thread.visit(0) {
            return 0;
        }
        thread.worker.frames[0].evaluation = (!root.is_check).then(|| thread.evaluate(*root));
        thread.worker.history.clear_killers(1);
        let mut best = -INFINITE;
        for (number, chosen) in (1..).zip(&mut moves[first..]) {
            let reached = thread.play(*root, chosen.mv);
            let child = reached.node();
            let is_extended = thread.shared.selectivity.check_extensions && child.is_check;
            let deeper = depth - 1 + i32::from(is_extended);
            let mut score = -INFINITE;
            if number > 1 {
                let reduction = thread.root_reduction(*root, chosen.mv, depth, number, child.is_check);
                score = -thread.search(child, deeper - reduction, -alpha - 1, -alpha, true);
                if score > alpha && reduction > 0 {
                    score = -thread.search(child, deeper, -alpha - 1, -alpha, true);
                }
            }
            if number == 1 || score > alpha {
                score = -thread.search(child, deeper, -beta, -alpha, false);
            }
            thread.take_back();
            if thread.is_stopped {
                break;
            }
            best = best.max(score);
            if number == 1 || score > alpha {
                (chosen.score, chosen.known, chosen.is_lower_bound) = (score, Some(score), score >= beta);
                thread.extend_line(0, chosen.mv.played);
                chosen.line.clone_from(&thread.worker.lines[0]);
            }
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// What is known after some iterations, with this thread's counts.
    fn found(&mut self, depth: u32, nodes: u64) -> Found {
        let (lines, shared) = (self.lines(), self.thread.shared);
        Found {
            lines,
            is_known: self.result.is_some(),
            depth,
            selective_depth: self.thread.selective_depth as u32,
            nodes,
            evaluations: shared.evaluations.load(Ordering::Relaxed),
            tablebase_hits: shared.hits.load(Ordering::Relaxed),
            hash_permill: shared.table.permill(),
        }
    }
}

impl Thread<'_> {
    /// How much less deep a late quiet move of the root is searched at first.
    fn root_reduction(
        &self,
        root: Node<'_>,
        mv: KnownMove,
        depth: i32,
        number: usize,
        gives_check: bool,
    ) -> i32 {
        let is_reduced = self.shared.selectivity.late_move_reductions
            && depth >= 3
            && number > 3
            && mv.is_quiet()
            && !root.is_check
            && !gives_check;
        if is_reduced { (self.shared.reductions.of(depth, number) - 1).clamp(0, depth - 2) } else { 0 }
    }
}
