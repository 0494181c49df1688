//! Principal variation search below the root (Marsland and Campbell 1982): the first move of a position gets the whole window,
//! the others a window without width, which only asks whether they are better, and again the whole one if they are.
//!
//! What is left out, and by how much, follows the pages of <https://www.chessprogramming.org> named at each rule; the numbers are
//! chosen near those of published engines.

use super::history::bonus;
use super::ordering::{self, Buffers, Picked};
use super::score::{INFINITE, MATE, MAX_EVALUATION, MAX_PLY, is_decisive, is_win, mated};
use super::see::gains_at_least;
use super::table::{Bound, Entry, table_key};
use super::thread::{Frame, Node, Thread};
use crate::board::{KnownMove, Move, PossibleChecks};

/// From this halfmove clock on the table decides nothing: the fifty-move rule is so near that a few plies of the clock, which share a key
/// ([`table_key`]), matter. Chosen.
pub(super) const TABLE_CLOCK: u32 = 90;

/// The deepest search that each kind of pruning applies to, in plies.
mod deepest {
    pub(super) const FUTILITY: i32 = 8;
    pub(super) const RAZORING: i32 = 3;
    pub(super) const LATE_MOVES: i32 = 8;
    pub(super) const EXCHANGE: i32 = 8;
}

/// Centipawns, mostly for each ply.
mod margin {
    /// Reverse futility: above the window by this much for each ply.
    pub(super) const REVERSE_FUTILITY: i32 = 80;
    /// Futility: below the window by this much, and as much again for each ply.
    pub(super) const FUTILITY: i32 = 90;
    /// Razoring: below the window by this much, and as much again for each ply.
    pub(super) const RAZORING: i32 = 200;
    /// A capture may lose this for each ply.
    pub(super) const CAPTURE: i32 = 90;
    /// A quiet move may lose this for each ply squared.
    pub(super) const QUIET: i32 = 25;
    /// A null move reduces by one ply more for each of these above the window.
    pub(super) const NULL_MOVE: i32 = 200;
    /// A singular move is better than the others by this for each ply.
    pub(super) const SINGULAR: i32 = 2;
}

/// The depth from which a null move is verified by a search without one, against zugzwang.
const VERIFIED_DEPTH: i32 = 12;

/// The depth from which a side with a single piece may pass, verified at any depth.
const SPARSE_DEPTH: i32 = 9;

/// The depth from which a move may be singular.
const SINGULAR_DEPTH: i32 = 7;

/// What is known of a node before its moves are tried.
struct Prospect {
    depth: i32,
    is_pv: bool,
    /// Whether a move is expected to refute this position.
    is_cut: bool,
    /// The evaluation, corrected by the table's score; meaningless in check.
    evaluation: i32,
    /// Whether the evaluation rose since this side's last move.
    is_improving: bool,
    /// The table's entry, unless the fifty-move rule is near.
    trusted: Option<Entry>,
    /// By how many plies the search of the table's move is deeper.
    extension: i32,
}

impl Thread<'_> {
    /// The score of a position below the root for the side to move; a bound of it outside the window.
    pub(super) fn search(
        &mut self,
        at: Node<'_>,
        depth: i32,
        mut alpha: i32,
        mut beta: i32,
        is_cut: bool,
    ) -> i32 {
        if depth <= 0 {
            return self.quiescence(at, alpha, beta);
        }
        let is_pv = beta - alpha > 1;
        let selectivity = self.shared.selectivity;
        self.worker.lines[at.ply].clear();
        if !self.visit(at.ply) {
            return 0;
        }
        if let Some(score) = self.drawn(at) {
            return score;
        }
        if at.ply >= MAX_PLY {
            return if at.is_check { 0 } else { self.evaluate(at) };
        }
        if selectivity.mate_distance {
            // Nothing is worse than being mated here, nor better than to mate with the next move.
            (alpha, beta) = (alpha.max(mated(at.ply)), beta.min(MATE - at.ply as i32 - 1));
            if alpha >= beta {
                return alpha;
            }
        }
        let Frame { excluded, is_verified, .. } = self.worker.frames[at.ply];
        let key = table_key(at.position, at.key);
        let stored = self.shared.table.probe(key, at.ply).filter(|_| excluded.is_none());
        let trusted = stored.filter(|_| at.position.halfmove_clock() < TABLE_CLOCK);
        if let Some(entry) = trusted
            && !is_pv
            && entry.depth >= depth
            && entry.bound.decides(entry.score, alpha, beta)
        {
            return entry.score;
        }
        if let Some(score) = self.tablebase_score(at) {
            return score;
        }
        if self.is_stopped {
            return 0;
        }
        let static_evaluation = self.static_evaluation(at, stored, excluded);
        let prospect = Prospect {
            depth,
            is_pv,
            is_cut,
            evaluation: corrected(static_evaluation, trusted),
            is_improving: self.is_improving(at.ply),
            trusted,
            extension: 0,
        };
        if !is_pv
            && !at.is_check
            && excluded.is_none()
            && !is_verified
            && let Some(score) = self.without_moves(at, &prospect, alpha, beta)
        {
            return if self.is_stopped { 0 } else { score };
        }
        let best_stored = stored.and_then(|entry| entry.best);
        let is_blind = best_stored.is_none() && excluded.is_none() && (is_pv || is_cut);
        let depth = if selectivity.internal_reductions && is_blind && depth >= 4 { depth - 1 } else { depth };
        let prospect = Prospect { depth, ..prospect };
        let extension = match self.singularity(at, &prospect, beta) {
            Singularity::Extended(plies) => plies,
            // A shallower search without the table's move is no result of this depth for the table.
            Singularity::Refuted(score) => return score,
        };
        let mut buffers = std::mem::take(&mut self.worker.buffers[at.ply]);
        at.position.known_moves_into(&mut buffers.generated);
        self.rank(at, best_stored, &mut buffers);
        self.worker.history.clear_killers(at.ply + 1);
        let prospect = Prospect { extension, ..prospect };
        let found = self.try_moves(at, &prospect, alpha, beta, &mut buffers);
        self.worker.buffers[at.ply] = buffers;
        if self.is_stopped {
            return 0;
        }
        let Some((best, best_move)) = found else {
            // Without the excluded move there is nothing to compare.
            return match excluded {
                Some(_) => alpha,
                None if at.is_check => mated(at.ply),
                None => 0,
            };
        };
        if excluded.is_none() {
            let bound = match (best >= beta, is_pv && best_move.is_some()) {
                (true, _) => Bound::Lower,
                (false, true) => Bound::Exact,
                (false, false) => Bound::Upper,
            };
            let entry = Entry { best: best_move, score: best, evaluation: static_evaluation, depth, bound };
            self.shared.table.store(key, at.ply, &entry);
        }
        best
    }

    /// The evaluation of a position without a check, from the table if that has it.
    fn static_evaluation(
        &mut self,
        at: Node<'_>,
        stored: Option<Entry>,
        excluded: Option<Move>,
    ) -> Option<i32> {
        if at.is_check {
            self.worker.frames[at.ply].evaluation = None;
            return None;
        }
        if excluded.is_some() {
            return self.worker.frames[at.ply].evaluation;
        }
        let evaluation = stored.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluate(at));
        self.worker.frames[at.ply].evaluation = Some(evaluation);
        Some(evaluation)
    }

    /// Whether the side to move is better off than at its last move, or the one before if it was in check then.
    fn is_improving(&self, ply: usize) -> bool {
        let frames = &self.worker.frames;
        let earlier = |back: usize| ply.checked_sub(back).and_then(|ply| frames[ply].evaluation);
        frames[ply]
            .evaluation
            .is_some_and(|now| earlier(2).or_else(|| earlier(4)).is_some_and(|then| now > then))
    }

    /// The score of a position that is decided without trying its moves: far above or below the window by its evaluation, or above
    /// it even if the side to move passes.
    fn without_moves(&mut self, at: Node<'_>, prospect: &Prospect, alpha: i32, beta: i32) -> Option<i32> {
        let Prospect { depth, evaluation, is_improving, .. } = *prospect;
        let selectivity = self.shared.selectivity;
        // https://www.chessprogramming.org/Razoring
        if selectivity.razoring
            && depth <= deepest::RAZORING
            && evaluation + margin::RAZORING * (depth + 1) <= alpha
            && !is_decisive(alpha)
        {
            let score = self.quiescence(at, alpha, beta);
            if score <= alpha || self.is_stopped {
                return Some(score);
            }
        }
        // https://www.chessprogramming.org/Reverse_Futility_Pruning
        let plies = depth - i32::from(is_improving);
        if selectivity.futility
            && depth <= deepest::FUTILITY
            && evaluation - margin::REVERSE_FUTILITY * plies >= beta
            && !is_decisive(evaluation)
            && !is_decisive(beta)
        {
            return Some(i32::midpoint(evaluation, beta));
        }
        if selectivity.null_move { self.by_null_move(at, prospect, beta) } else { None }
    }

    /// A score of at least `beta` if the position keeps it even after a pass (Donninger 1993, "Null move and deep search").
    fn by_null_move(&mut self, at: Node<'_>, prospect: &Prospect, beta: i32) -> Option<i32> {
        let Prospect { depth, evaluation, is_cut, .. } = *prospect;
        let passed_before = at.ply > 0 && self.worker.frames[at.ply - 1].placement.is_none();
        // The fewer pieces a side has, the more often having to move is a disadvantage.
        let pieces = at.position.pieces_besides_pawns(at.position.side_to_move());
        let has_pieces = pieces > 1 || (pieces == 1 && depth >= SPARSE_DEPTH);
        let may_pass = !passed_before && at.ply >= self.no_pass_before && has_pieces;
        if depth < 3 || evaluation < beta || !may_pass || is_decisive(beta) {
            return None;
        }
        let reduced = depth - (3 + depth / 3 + ((evaluation - beta) / margin::NULL_MOVE).min(3));
        let score =
            -self.with_pass(at, |thread, passed| thread.search(passed, reduced, -beta, 1 - beta, !is_cut))?;
        if self.is_stopped {
            return Some(0);
        }
        if score < beta {
            return None;
        }
        // A mate after a pass is none.
        let score = if is_win(score) { beta } else { score };
        if (depth < VERIFIED_DEPTH && pieces > 1) || self.no_pass_before > 0 {
            return Some(score);
        }
        // A search of depth 0 may stand pat, which is another pass.
        let verifying = reduced.max(1);
        self.no_pass_before = at.ply + (3 * verifying / 4).max(1) as usize;
        self.worker.frames[at.ply].is_verified = true;
        let verified = self.search(at, verifying, beta - 1, beta, false);
        self.worker.frames[at.ply].is_verified = false;
        self.no_pass_before = 0;
        (verified >= beta).then_some(score)
    }

    /// Tries the moves of a position, and returns the best score with the move that raised it into the window; `None` if there is
    /// no move.
    fn try_moves(
        &mut self,
        at: Node<'_>,
        prospect: &Prospect,
        mut alpha: i32,
        beta: i32,
        buffers: &mut Buffers,
    ) -> Option<(i32, Option<Move>)> {
        let Prospect { depth, is_pv, is_cut, .. } = *prospect;
        let excluded = self.worker.frames[at.ply].excluded;
        let checks = at.position.possible_checks();
        let (mut best, mut best_move) = (-INFINITE, None);
        let (mut taken, mut number, mut quiets) = (0, 0, 0);
        buffers.tried.clear();
        while let Some(picked) = ordering::next(at.position, &mut buffers.ranked, taken) {
            taken += 1;
            let mv = picked.mv;
            if excluded == Some(mv.played) {
                continue;
            }
            number += 1;
            quiets += i32::from(mv.is_quiet());
            // Nothing is left out where a side is mated or a win is proven already, so that shorter mates are found.
            if best > -MAX_EVALUATION
                && !is_win(alpha)
                && let Some(bound) =
                    self.left_out(at, prospect, &picked, number, quiets, alpha, checks.as_ref())
            {
                best = best.max(bound);
                continue;
            }
            let is_stored = prospect.trusted.and_then(|entry| entry.best) == Some(mv.played);
            let extension = if is_stored { prospect.extension } else { 0 };
            let reached = self.play(at, mv);
            let child = reached.node();
            let is_extended = self.shared.selectivity.check_extensions
                && extension == 0
                && child.is_check
                && !picked.loses
                && (at.ply as i32) < 2 * self.root_depth;
            let deeper = depth - 1 + extension + i32::from(is_extended);
            let mut score = -INFINITE;
            let mut is_open = number == 1;
            if number > 1 {
                let reduction = self
                    .reduction(at, prospect, &picked, number, child.is_check)
                    .clamp(0, (deeper - 1).max(0));
                score = -self.search(child, deeper - reduction, -alpha - 1, -alpha, true);
                if score > alpha && reduction > 0 {
                    score = -self.search(child, deeper, -alpha - 1, -alpha, !is_cut);
                }
                is_open = score > alpha && is_pv;
            }
            if is_open {
                let is_cut_below = !is_pv && !is_cut;
                score = -self.search(child, deeper, -beta, -alpha, is_cut_below);
            }
            self.take_back();
            if self.is_stopped {
                return Some((0, None));
            }
            if score > best {
                best = score;
                if score > alpha {
                    (alpha, best_move) = (score, Some(mv.played));
                    if is_pv {
                        self.extend_line(at.ply, mv.played);
                    }
                    if score >= beta {
                        self.refuted(at, depth, mv, &buffers.tried);
                        break;
                    }
                }
            }
            buffers.tried.push(mv);
        }
        (number > 0).then_some((best, best_move))
    }

    /// Whether a move is left out of a shallow search: a score that it will hardly exceed.
    fn left_out(
        &self,
        at: Node<'_>,
        prospect: &Prospect,
        picked: &Picked,
        number: usize,
        quiets: i32,
        alpha: i32,
        checks: Option<&PossibleChecks<'_>>,
    ) -> Option<i32> {
        let Prospect { depth, is_improving, evaluation, .. } = *prospect;
        let (selectivity, mv) = (self.shared.selectivity, picked.mv);
        if !mv.is_quiet() {
            let may_lose = -margin::CAPTURE * depth;
            let is_bad = selectivity.exchange
                && depth <= deepest::EXCHANGE
                && picked.loses
                && !gains_at_least(at.position, mv, may_lose);
            return is_bad.then_some(-MAX_EVALUATION);
        }
        if picked.is_killer || at.is_check || checks.is_none_or(|checks| checks.may_come_from(mv.played)) {
            return None;
        }
        // https://www.chessprogramming.org/Futility_Pruning#MoveCountBasedPruning
        let most = (3 + depth * depth) / (2 - i32::from(is_improving));
        if selectivity.late_move_pruning && depth <= deepest::LATE_MOVES && quiets > most {
            return Some(-MAX_EVALUATION);
        }
        let reduced = (depth - self.shared.reductions.of(depth, number)).max(1);
        // https://www.chessprogramming.org/Futility_Pruning
        if selectivity.futility && reduced <= deepest::FUTILITY && !is_decisive(alpha) {
            let reach = evaluation + margin::FUTILITY * (reduced + 1);
            if reach <= alpha {
                return Some(reach);
            }
        }
        let may_lose = -margin::QUIET * reduced * reduced;
        let is_bad = selectivity.exchange
            && reduced <= deepest::EXCHANGE
            && !gains_at_least(at.position, mv, may_lose);
        is_bad.then_some(-MAX_EVALUATION)
    }

    /// How much less deep a move is searched at first.
    fn reduction(
        &self,
        at: Node<'_>,
        prospect: &Prospect,
        picked: &Picked,
        number: usize,
        gives_check: bool,
    ) -> i32 {
        let Prospect { depth, is_pv, is_cut, is_improving, .. } = *prospect;
        let mv = picked.mv;
        let is_late = number > 2 + usize::from(is_pv);
        if !self.shared.selectivity.late_move_reductions
            || depth < 3
            || !is_late
            || !(mv.is_quiet() || picked.loses)
        {
            return 0;
        }
        let mut reduction = self.shared.reductions.of(depth, number);
        reduction += i32::from(is_cut) + i32::from(!is_improving);
        reduction -=
            i32::from(is_pv) + i32::from(gives_check) + i32::from(at.is_check) + i32::from(picked.is_killer);
        if mv.is_quiet() {
            let history = self.worker.history.of_quiet(at.position.side_to_move(), self.before(at.ply), mv);
            reduction -= history / 8192;
        }
        reduction
    }

    /// Whether the table's move is better than all others, which a shallower search without it shows
    /// (Anantharaman, Campbell and Hsu 1990, "Singular extensions"; in this form on
    /// <https://www.chessprogramming.org/Singular_Extensions>).
    fn singularity(&mut self, at: Node<'_>, prospect: &Prospect, beta: i32) -> Singularity {
        let Prospect { depth, is_cut, is_pv, trusted, .. } = *prospect;
        let may_be = self.shared.selectivity.singular_extensions
            && depth >= SINGULAR_DEPTH
            && (at.ply as i32) < 2 * self.root_depth;
        let candidate = trusted.filter(|entry| {
            may_be
                && entry.depth >= depth - 3
                && matches!(entry.bound, Bound::Lower | Bound::Exact)
                && !is_decisive(entry.score)
        });
        let Some((entry, best)) = candidate.and_then(|entry| Some((entry, entry.best?))) else {
            return Singularity::Extended(0);
        };
        // An entry of another position with this key may have any move.
        if !at.position.is_legal(best) {
            return Singularity::Extended(0);
        }
        let lower = entry.score - margin::SINGULAR * depth;
        self.worker.frames[at.ply].excluded = Some(best);
        let others = self.search(at, (depth - 1) / 2, lower - 1, lower, is_cut);
        self.worker.frames[at.ply].excluded = None;
        if self.is_stopped {
            return Singularity::Refuted(0);
        }
        if others < lower {
            return Singularity::Extended(1);
        }
        // Another move is as good: the position is refuted in any case, or the move is nothing special.
        if lower >= beta && !is_pv {
            return Singularity::Refuted(lower);
        }
        Singularity::Extended(if entry.score >= beta { -1 } else { 0 })
    }

    /// Learns from a move that refuted a position after others did not.
    fn refuted(&mut self, at: Node<'_>, depth: i32, mv: KnownMove, tried: &[KnownMove]) {
        let (side, before) = (at.position.side_to_move(), self.before(at.ply));
        let (gain, history) = (bonus(depth), &mut self.worker.history);
        if mv.is_quiet() {
            history.add_killer(at.ply, mv.played);
            history.add_quiet(side, before, mv, gain);
            for other in tried.iter().filter(|other| other.is_quiet()) {
                history.add_quiet(side, before, *other, -gain);
            }
        } else {
            history.add_capture(side, mv, gain);
        }
        for other in tried.iter().filter(|other| !other.is_quiet()) {
            history.add_capture(side, *other, -gain);
        }
    }
}

/// What a search without the table's move says of it.
enum Singularity {
    /// It is searched this many plies deeper; below 0 less deep.
    Extended(i32),
    /// The position is refuted without it, with at least this score.
    Refuted(i32),
}

/// The evaluation, or the table's score where that says more.
fn corrected(evaluation: Option<i32>, stored: Option<Entry>) -> i32 {
    let evaluation = evaluation.unwrap_or(-INFINITE);
    match stored {
        Some(entry) if !is_decisive(entry.score) => match entry.bound {
            Bound::Exact => entry.score,
            Bound::Lower => evaluation.max(entry.score),
            Bound::Upper => evaluation.min(entry.score),
        },
        _ => evaluation,
    }
}
