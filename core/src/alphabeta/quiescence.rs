//! Quiescence: captures, promotions to a queen and answers to checks are followed to their end, so that evaluations are of quiet
//! positions only (<https://www.chessprogramming.org/Quiescence_Search>).

use super::descent::TABLE_CLOCK;
use super::ordering::{self, Buffers, Known};
use super::score::{INFINITE, MAX_EVALUATION, MAX_PLY, mated};
use super::see::largest_gain;
use super::table::{Bound, Entry, table_key};
use super::thread::{Node, Thread};
use crate::board::Move;

/// What a capture may gain beyond its victim, in centipawns (delta pruning, <https://www.chessprogramming.org/Delta_Pruning>).
const DELTA_MARGIN: i32 = 200;

impl Thread<'_> {
    /// The score for the side to move once only quiet moves are left; a bound of it outside the window.
    pub(super) fn quiescence(&mut self, at: Node<'_>, mut alpha: i32, beta: i32) -> i32 {
        let is_pv = beta - alpha > 1;
        self.worker.lines[at.ply].clear();
        if !self.visit(at.ply) {
            return 0;
        }
        if let Some(score) = self.drawn(at) {
            return score;
        }
        let side = at.position.side_to_move();
        // A side with pawns alone may be stalemated; with pieces that is too rare to look for at every leaf.
        if !at.is_check && !at.position.has_pieces(side) && !at.position.has_legal_move() {
            return 0;
        }
        if at.ply >= MAX_PLY {
            return if at.is_check { 0 } else { self.evaluate(at) };
        }
        let key = table_key(at.position, at.key);
        let stored = self.shared.table.probe(key, at.ply);
        if let Some(entry) = stored
            && !is_pv
            && entry.bound.decides(entry.score, alpha, beta)
            && at.position.halfmove_clock() < TABLE_CLOCK
        {
            return entry.score;
        }
        let (mut best, evaluation) = if at.is_check {
            (-INFINITE, None)
        } else {
            let known = stored.and_then(|entry| entry.evaluation);
            let evaluation = known.unwrap_or_else(|| self.evaluate(at));
            (evaluation, Some(evaluation))
        };
        let entry = |best, score, bound| Entry { best, score, evaluation, depth: 0, bound };
        if best >= beta {
            if stored.is_none() {
                self.shared.table.store(key, at.ply, &entry(None, best, Bound::Lower));
            }
            return best;
        }
        alpha = alpha.max(best);
        let mut buffers = std::mem::take(&mut self.worker.buffers[at.ply]);
        if at.is_check {
            at.position.known_moves_into(&mut buffers.generated);
        } else {
            at.position.known_captures_into(&mut buffers.generated);
        }
        self.rank(at, stored.and_then(|entry| entry.best), &mut buffers);
        let (mut found, mut refuting) = (0, None);
        while let Some(picked) = ordering::next(at.position, &mut buffers.ranked, found) {
            found += 1;
            let mv = picked.mv;
            if !at.is_check || (best > -MAX_EVALUATION && !mv.is_quiet()) {
                let selectivity = self.shared.selectivity;
                if selectivity.exchange && picked.loses {
                    continue;
                }
                if let Some(evaluation) = evaluation
                    && selectivity.futility
                {
                    let reach = evaluation + largest_gain(mv) + DELTA_MARGIN;
                    if reach <= alpha {
                        best = best.max(reach);
                        continue;
                    }
                }
            }
            let reached = self.play(at, mv);
            let score = -self.quiescence(reached.node(), -beta, -alpha);
            self.take_back();
            if self.is_stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    (alpha, refuting) = (score, Some(mv.played));
                    if is_pv {
                        self.extend_line(at.ply, mv.played);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        self.worker.buffers[at.ply] = buffers;
        if self.is_stopped {
            return 0;
        }
        if at.is_check && found == 0 {
            return mated(at.ply);
        }
        let bound = match (best >= beta, is_pv && refuting.is_some()) {
            (true, _) => Bound::Lower,
            (false, true) => Bound::Exact,
            (false, false) => Bound::Upper,
        };
        self.shared.table.store(key, at.ply, &entry(refuting, best, bound));
        best
    }

    /// Ranks the generated moves of a position.
    pub(super) fn rank(&self, at: Node<'_>, best: Option<Move>, buffers: &mut Buffers) {
        let history = &self.worker.history;
        let known = Known {
            position: at.position,
            history,
            best,
            killers: history.killers(at.ply),
            before: self.before(at.ply),
        };
        ordering::rank(&known, buffers);
    }
}
