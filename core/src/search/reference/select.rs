//! Selection in the reference search, and the results of its Gumbel root.

use super::super::params::{Fpu, FpuParams};
use super::{Child, Choice, Node, ROOT, Reference, ScoredMove};
use crate::board::Move;
use crate::math::{exp, ln};

impl Reference<'_> {
    /// argmax over a of `Q(s, a) + c · P(s, a) · √N(s) / (1 + N(s, a))`; the larger prior wins ties (Silver et al. 2018).
    pub(in crate::search) fn select_puct(&self, id: usize, depth: u32) -> Choice {
        let moves = self.puct_scores(id, depth);
        let forced = moves.iter().position(|mv| mv.is_open && mv.is_forced);
        self.choice(id, depth, moves, forced)
    }

    /// The choice of the open move with the largest score, unless another one is `preferred`.
    fn choice(&self, id: usize, depth: u32, moves: Vec<ScoredMove>, preferred: Option<usize>) -> Choice {
        let open = (0..moves.len()).filter(|index| moves[*index].is_open);
        let best = open.reduce(|a, b| if moves[b].score > moves[a].score { b } else { a });
        Choice { depth, visits: self.nodes[id].visits, moves, chosen: preferred.or(best).unwrap_or(0) }
    }

    fn puct_scores(&self, id: usize, depth: u32) -> Vec<ScoredMove> {
        let (node, params) = (&self.nodes[id], self.params);
        let at_root = depth == 0;
        let init = params.root.c_puct.filter(|_| at_root).unwrap_or(params.c_puct);
        let n = f64::from(node.visits);
        let c = init + params.c_puct_factor * ln((n + params.c_puct_base + 1.0) / params.c_puct_base);
        let fpu_params = params.root.fpu.as_ref().filter(|_| at_root).unwrap_or(&params.fpu);
        let unvisited = fpu_value(fpu_params, node);
        let scored = |child: &Child| {
            let q = self.q(child, depth).unwrap_or(unvisited);
            let u = c * n.sqrt() * child.prior / f64::from(1 + child.visits);
            let plies = child.node.map_or(0.0, |child_id| self.moves_left_utility(id, child_id, depth));
            let lost = params.solver && self.proven(child) == Some(-1);
            ScoredMove {
                played: child.played,
                prior: child.prior,
                visits: child.visits,
                q,
                terms: [("u", u), ("plies", plies)],
                score: q + u + plies,
                is_open: !lost && (!at_root || self.is_allowed(child)),
                is_forced: at_root && self.forces && self.is_forced(child, node.visits),
            }
        };
        node.children.iter().map(scored).collect()
    }

    /// `−sign(Q) · clamp(slope · (M(s') − M(s)), ±max) · (a + b · q + c · q²)`, q the part of |Q(s, a)| beyond the threshold, if
    /// |P(win) − P(loss)| of s is beyond it too (Leela Chess Zero, `MEvaluator` in `src/search/classic/search.cc`).
    fn moves_left_utility(&self, id: usize, child_id: usize, depth: u32) -> f64 {
        let Some(params) = &self.params.moves_left else { return 0.0 };
        let (node, after) = (self.estimate(id, depth), self.estimate(child_id, depth + 1));
        let (q, threshold) = (-after.value, params.threshold);
        if (node.value - node.draw * self.draw_value(depth)).abs() <= threshold || q == 0.0 {
            return 0.0;
        }
        let longer = params.slope * (after.moves_left - node.moves_left);
        let effect = longer.max(-params.max_effect).min(params.max_effect);
        let part = (q.abs() - threshold).max(0.0) / (1.0 - threshold);
        let weight =
            params.constant_factor + params.scaled_factor * part + params.quadratic_factor * part.powi(2);
        if q > 0.0 { -effect * weight } else { effect * weight }
    }

    pub(super) fn is_allowed(&self, child: &Child) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&child.played)
    }

    /// Whether a visited move has fewer than `n_forced(c) = √(k · P(c) · Σ N)` visits (Wu 2020, section 3.2).
    fn is_forced(&self, child: &Child, parent_visits: u32) -> bool {
        let edge_visits = f64::from(parent_visits - 1);
        let forced = (self.params.root.forced_playouts * child.prior * edge_visits).sqrt();
        child.visits > 0 && f64::from(child.visits) < forced
    }

    /// Among the moves with `due` visits, as sequential halving requires, argmax of `g(a) + logit(a) + σ(q(a))` (Danihelka et al.
    /// 2022, algorithm 2).
    pub(in crate::search) fn select_gumbel(&self, due: u32) -> Choice {
        let root = self.root();
        let (completed, improved) = self.completed_and_improved(root, 0);
        let scored = |(index, child): (usize, &Child)| ScoredMove {
            played: child.played,
            prior: child.prior,
            visits: child.visits,
            q: completed[index],
            terms: [("noise", child.noise), ("improved", improved[index])],
            score: improved[index] + child.noise,
            is_open: self.is_allowed(child) && self.proven(child) != Some(-1),
            is_forced: false,
        };
        let moves: Vec<ScoredMove> = root.children.iter().enumerate().map(scored).collect();
        let scores: Vec<f64> = moves.iter().map(|mv| mv.score).collect();
        let scheduled = |index: &usize| moves[*index].is_open && moves[*index].visits == due;
        let due = argmax((0..moves.len()).filter(scheduled), &scores);
        self.choice(ROOT, 0, moves, due)
    }

    /// argmax of `π'(a) − N(a) / (1 + Σ N)` (Danihelka et al. 2022, section 5).
    pub(super) fn select_improved(&self, id: usize, depth: u32) -> Choice {
        let node = &self.nodes[id];
        let (completed, improved) = self.completed_and_improved(node, depth);
        let policy = softmax(&improved);
        let edge_visits: u32 = node.children.iter().map(|child| child.visits).sum();
        let scored = |(index, child): (usize, &Child)| {
            let share = f64::from(child.visits) / f64::from(1 + edge_visits);
            ScoredMove {
                played: child.played,
                prior: child.prior,
                visits: child.visits,
                q: completed[index],
                terms: [("policy", policy[index]), ("share", share)],
                score: policy[index] - share,
                is_open: self.proven(child) != Some(-1),
                is_forced: false,
            }
        };
        let moves = node.children.iter().enumerate().map(scored).collect();
        self.choice(id, depth, moves, None)
    }

    /// Completed Q, q(a), with the mixed value for unvisited moves, and `logit(a) + (c_visit + max N) · c_scale · q(a)` (equation 8
    /// and appendix D).
    fn completed_and_improved(&self, node: &Node, depth: u32) -> (Vec<f64>, Vec<f64>) {
        let params = &self.params.improved_policy;
        let visited = || node.children.iter().filter(|child| child.visits > 0);
        let total: f64 = visited().map(|child| f64::from(child.visits)).sum();
        let prior: f64 = visited().map(|child| child.prior).sum();
        let weighted: f64 = visited().map(|child| child.prior * self.q(child, depth).unwrap_or(0.0)).sum();
        let mixed = if prior > 0.0 {
            (node.own_value + total * weighted / prior) / (1.0 + total)
        } else {
            node.own_value
        };
        let completed: Vec<f64> =
            node.children.iter().map(|child| self.q(child, depth).unwrap_or(mixed)).collect();
        let mut q = completed.clone();
        if params.rescale {
            let low = q.iter().copied().fold(f64::INFINITY, f64::min);
            let high = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            q = q.into_iter().map(|q| (q - low) / (high - low).max(1e-8)).collect();
        }
        let most = visited().map(|child| child.visits).max().unwrap_or(0);
        let scale = (params.c_visit + f64::from(most)) * params.c_scale;
        let logit = |child: &Child| ln(child.prior.max(f64::from(f32::MIN_POSITIVE)));
        let improved = q.into_iter().zip(&node.children).map(|(q, child)| logit(child) + scale * q).collect();
        (completed, improved)
    }

    /// `g(a) + logit(a) + σ(completed q(a))`.
    fn scores(&self) -> Vec<f64> {
        let (_, logits) = self.completed_and_improved(self.root(), 0);
        logits.into_iter().zip(&self.root().children).map(|(logit, child)| logit + child.noise).collect()
    }

    /// The move that a Gumbel root plays: among the most visited ones, argmax of `g(a) + logit(a) + σ(q(a))`.
    pub fn gumbel_choice(&self) -> Move {
        let (root, scores) = (self.root(), self.scores());
        let most = root.children.iter().map(|child| child.visits).max();
        let most_visited = (0..scores.len()).filter(|index| Some(root.children[*index].visits) == most);
        root.children[argmax(most_visited, &scores).unwrap_or(0)].played
    }

    /// The improved policy of the root, in the order of its children.
    pub fn improved_policy(&self) -> Vec<f64> {
        softmax(&self.completed_and_improved(self.root(), 0).1)
    }
}

/// First-play urgency (FPU): the Q of moves without a visit.
fn fpu_value(params: &FpuParams, node: &Node) -> f64 {
    let parent = node.value_sum / f64::from(node.visits);
    let visited = node.children.iter().filter(|child| child.node.is_some());
    let visited_prior: f64 = visited.map(|child| child.prior).sum();
    match params.kind {
        Fpu::Absolute => params.value,
        Fpu::Reduction => parent - params.value * visited_prior.sqrt(),
    }
}

/// The number of visits that the move of each descent must already have: sequential halving (Karnin et al. 2013) as one list.
pub(in crate::search) fn considered_visits(considered: u32, descents: u32) -> Vec<u32> {
    // The logarithm to base 2, rounded up.
    let phases = f64::from((considered.max(2) - 1).ilog2() + 1);
    let (mut list, mut visits, mut left) = (Vec::new(), 0, considered.max(1));
    while list.len() < descents as usize {
        let passes = (f64::from(descents) / (phases * f64::from(left))).floor().max(1.0) as u32;
        for _ in 0..passes {
            list.extend(std::iter::repeat_n(visits, left as usize));
            visits += 1;
        }
        left = (left / 2).max(2).min(left);
    }
    list.truncate(descents as usize);
    list
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logits.iter().map(|logit| exp(logit - largest)).sum();
    logits.iter().map(|logit| exp(logit - largest) / total).collect()
}

/// The index of the largest score; the first one wins ties.
fn argmax(indices: impl Iterator<Item = usize>, scores: &[f64]) -> Option<usize> {
    indices.reduce(|a, b| if scores[b] > scores[a] { b } else { a })
}
