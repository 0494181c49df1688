//! The choice of the move to play from the statistics of the root.

use rand::RngExt;

use super::proof::Proof;
use crate::board::Move;
use crate::math::pow;
use crate::params::{Advice, advice};
use crate::rng::Stream;
use crate::{param_enum, params};

param_enum! {
    /// Which move is best at temperature 0.
    pub enum ChooseBy {
        /// The most visited one (Silver et al. 2018).
        Visits = "visits",
        /// The one with the largest mean value.
        Value = "value",
        /// The one with the largest lower confidence bound, its mean less `deviations` standard errors (LCB, as in Leela Zero and
        /// KataGo).
        Bound = "lcb",
    }
}

params! {
    /// How a `puct` root chooses the move from its statistics.
    pub struct ChoiceParams {
        /// Which move is best at temperature 0.
        by: ChooseBy = ChooseBy::Visits;
        /// Share of the most visited move's visits that a move needs for `value` and `lcb` to consider it (KataGo's 0.15).
        trusted_share: f64 = 0.15, in 0.0..=1.0;
        /// Standard errors that `lcb` subtracts from the mean (KataGo's 5).
        deviations: f64 = 5.0, in 0.0..=100.0;
        /// Added to the visits before they become probabilities; below 0 excludes moves with few visits (Leela Chess Zero). Moves
        /// without a visit are never drawn.
        visit_offset: f64 = 0.0, in -1000.0..=1000.0;
        /// Moves this much worse than the most visited one are not drawn (Leela Chess Zero); 2 excludes none.
        value_cutoff: f64 = 2.0, in 0.0..=2.0;
    }
    check |params| {
        let declared = ChoiceParams::default();
        let trusts = params.trusted_share != declared.trusted_share;
        let deviates = params.deviations != declared.deviations;
        let message = |others: &str| {
            format!("has no effect with by \"{}\"; leave it out, or set by to {others}", params.by.name())
        };
        advice([
            ("trusted_share", trusts && params.by == ChooseBy::Visits, &message("\"value\" or \"lcb\"")),
            ("deviations", deviates && params.by != ChooseBy::Bound, &message("\"lcb\"")),
        ])
    };
}

impl ChoiceParams {
    /// The parameters `choice.…` that differ from their defaults and have no effect if every temperature is 0, with the reason.
    pub(crate) fn of_temperatures(&self) -> Advice {
        let declared = Self::default();
        let message =
            "has no effect at temperature 0, where no move is drawn; leave it out, or set a temperature";
        advice([
            ("choice.visit_offset", self.visit_offset != declared.visit_offset, message),
            ("choice.value_cutoff", self.value_cutoff != declared.value_cutoff, message),
        ])
    }
}

/// A legal move of the root after a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootMove {
    /// The move.
    pub played: Move,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its prior, noise included.
    pub prior: f32,
    /// Its value in [−1, 1] for the side that makes it: the proven one, else the mean; `None` without a visit.
    pub value: Option<f64>,
    /// The standard error of the mean; 0 if the move is proven or has no visit.
    pub standard_error: f64,
    /// Its proven result for the side that makes it.
    pub proof: Option<Proof>,
    /// Moves left after it, in plies: the proven number, else the mean; `None` unless the search's `moves_left` is set, and
    /// without a visit.
    pub moves_left: Option<f64>,
}

/// A move of the policy target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The move.
    pub played: Move,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its share of the target, in [0, 1].
    pub share: f64,
}

/// Chooses a move with probability `(visits + visit_offset)^(1/temperature)`, normalised (Silver et al. 2017, Methods), among
/// those no more than `value_cutoff` worse than the most visited one.
///
/// A proven win is always played, and a proven loss only if all moves lose; with moves left known, the shortest win and the
/// longest loss. Temperature 0 takes the best move according to `params.by`; the larger prior breaks ties, and decides if no
/// move has a visit. Draws one random number, and only if the temperature is above 0 and no win is proven.
pub fn choose_move(moves: &[RootMove], params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move {
    let moves = candidates(moves);
    let best = best_move(&moves, params);
    if temperature == 0.0 || best.visits == 0 || best.proof == Some(Proof::Win) {
        return best.played;
    }
    let most_visited = moves.iter().reduce(|a, b| if a.visits >= b.visits { a } else { b });
    let top = most_visited.and_then(|mv| mv.value).unwrap_or(-1.0);
    let open = |mv: &&RootMove| mv.value.is_some_and(|value| value >= top - params.value_cutoff);
    let weights: Vec<(Move, f64)> =
        moves.iter().filter(open).map(|mv| (mv.played, f64::from(mv.visits) + params.visit_offset)).collect();
    sample(&weights, temperature, stream).unwrap_or(best.played)
}

/// Draws one of the moves by `weight^(1/temperature)`; weights below 0 count as 0.
fn sample(weights: &[(Move, f64)], temperature: f64, stream: &mut Stream) -> Option<Move> {
    let largest = weights.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    // Relative to the largest weight, so that no power overflows.
    let power =
        |weight: f64| if largest > 0.0 { pow(weight.max(0.0) / largest, 1.0 / temperature) } else { 0.0 };
    let total: f64 = weights.iter().map(|(_, weight)| power(*weight)).sum();
    let mut left = stream.random::<f64>() * total;
    for (mv, weight) in weights {
        left -= power(*weight);
        if left < 0.0 {
            return Some(*mv);
        }
    }
    None
}

fn best_move(moves: &[RootMove], params: &ChoiceParams) -> RootMove {
    let most = moves.iter().map(|mv| mv.visits).max().unwrap_or(0);
    let trusted =
        |mv: &RootMove| f64::from(mv.visits) >= params.trusted_share * f64::from(most) && mv.visits > 0;
    let score = |mv: &RootMove| match params.by {
        ChooseBy::Visits => f64::from(mv.visits),
        ChooseBy::Value if trusted(mv) => mv.value.unwrap_or(-1.0),
        ChooseBy::Bound if trusted(mv) => mv.value.unwrap_or(-1.0) - params.deviations * mv.standard_error,
        ChooseBy::Value | ChooseBy::Bound => f64::NEG_INFINITY,
    };
    let better = |a: &RootMove, b: &RootMove| {
        (distance_score(a), score(a), a.prior) >= (distance_score(b), score(b), b.prior)
    };
    let best = moves.iter().copied().reduce(|a, b| if better(&a, &b) { a } else { b });
    best.expect("a position that is searched has a legal move")
}

/// Larger for shorter proven wins and longer proven losses; 0 for other moves, and without moves left.
fn distance_score(mv: &RootMove) -> f64 {
    match mv.proof {
        Some(Proof::Win) => -mv.moves_left.unwrap_or(0.0),
        Some(Proof::Loss) => mv.moves_left.unwrap_or(0.0),
        Some(Proof::Draw) | None => 0.0,
    }
}

/// Ranks proven wins above all other moves, and proven losses below.
pub(super) fn rank(mv: &RootMove) -> u8 {
    match mv.proof {
        Some(Proof::Win) => 2,
        Some(Proof::Draw) | None => 1,
        Some(Proof::Loss) => 0,
    }
}

/// The moves with the best rank.
fn candidates(moves: &[RootMove]) -> Vec<RootMove> {
    let best = moves.iter().map(rank).max();
    moves.iter().filter(|mv| Some(rank(mv)) == best).copied().collect()
}
