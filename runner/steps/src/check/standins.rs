//! Plausible results for a script that is only checked. What they assume is written under the plan.

use dc0_core::arena::{ArenaParams, MatchSummary};
use dc0_core::network::graph::{Graph, Layer};
use dc0_core::network::torch::{InspectParams, Inspection, LayerStatistics};
use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::params::Value;
use dc0_core::selfplay::{SelfPlayParams, SelfPlayStats};
use dc0_core::store::{TrainingRow, ValidationRow};
use dc0_core::trainer::{TrainParams, TrainSummary};

use crate::handles::Window;
use crate::{inspection_value, summary_members, summary_value};
use dc0_process::figures::amount;

/// Plies of a game, where `max_plies` allows; about what untrained nets play.
const PLIES: u32 = 150;

/// What is assumed, for people.
pub(super) const ASSUMPTIONS: &str = "assumed: games of 150 plies (or max_plies), 30% of them drawn, every simulation evaluates, matches end even, a table has one row of zeros";

fn plies(max_plies: u32, opening_plies: u32) -> u64 {
    u64::from(max_plies.min(PLIES).max(opening_plies) - opening_plies)
}

/// What is known of a net before it is made.
pub(super) fn network(spec: &NetworkSpec) -> Value {
    Value::Group(summary_members(spec).into())
}

/// A net's size and work in a few words.
pub(super) fn described(spec: &NetworkSpec) -> String {
    let (tower, giga) = (&spec.tower, 2.0 * Graph::new(spec).multiply_adds() as f64 / 1e9);
    let (kind, parameters) = (tower.kind.word(), amount(parameter_count(spec) as f64));
    format!(
        "{}×{} {kind}, {parameters} parameters, {giga:.3} GFLOP an evaluation",
        tower.blocks, tower.filters
    )
}

/// What a healthy net's layers say.
pub(super) fn inspection(spec: &NetworkSpec, params: &InspectParams) -> Value {
    let layer = |layer: Layer| LayerStatistics {
        name: layer.name,
        mean: 0.0,
        deviation: 1.0,
        largest: 5.0,
        zeros: 0.0,
        dead: 0.0,
    };
    let layers = Graph::new(spec).layers.into_iter().map(layer).collect();
    let seen = Inspection { logit_deviation: 1.0, value_mean: 0.0, value_deviation: 0.3, layers };
    inspection_value(&seen, params.layers)
}

/// Games as they might end.
pub(super) fn self_play(params: &SelfPlayParams) -> SelfPlayStats {
    let games = u64::from(params.games);
    let draws = games * 3 / 10;
    let white_wins = (games - draws).div_ceil(2);
    let positions = games * plies(params.max_plies, params.opening_plies);
    let simulations = positions * u64::from(params.search.simulations);
    SelfPlayStats {
        games,
        white_wins,
        draws,
        black_wins: games - draws - white_wins,
        reasons: [("checkmate".to_owned(), games - draws)].into(),
        plies: positions + games * u64::from(params.opening_plies),
        positions,
        evaluations: simulations,
        cache_hits: 0,
        batches: simulations.div_ceil(u64::from(params.seats)),
        simulations,
        entropy_sum: positions as f64,
    }
}

/// A training as it might end.
pub(super) fn training(params: &TrainParams, window: &Window, spec: &NetworkSpec) -> Value {
    let (loss, policy_loss, value_loss, moves_left_loss) = (3.0, 2.2, 0.8, 0.0);
    let (policy_accuracy, policy_entropy, update) = (0.4, 1.5, params.updates);
    let last = TrainingRow {
        update,
        learning_rate: params.learning_rate.at(update - 1),
        loss,
        policy_loss,
        value_loss,
        moves_left_loss,
        policy_accuracy,
        policy_entropy,
        gradient_norm: 1.0,
    };
    let held_out = |count: i64| (count as f64 * params.validation_fraction) as u64;
    let (games, positions) = (window.sum("games"), window.sum("positions"));
    let validation = ValidationRow {
        update,
        loss,
        policy_loss,
        value_loss,
        moves_left_loss,
        policy_accuracy,
        policy_entropy,
    };
    let summary = TrainSummary {
        updates: update,
        samples_seen: u64::from(update) * u64::from(params.batch),
        training_samples: positions as u64 - held_out(positions),
        validation_samples: held_out(positions),
        training_games: (games as u64 - held_out(games)) as u32,
        validation_games: held_out(games) as u32,
        last,
        validation: (held_out(games) > 0).then_some(validation),
    };
    let mut members = summary_value(&summary);
    members.extend(summary_members(spec));
    Value::Group(members)
}

/// Positions of a match.
pub(super) fn match_positions(params: &ArenaParams) -> u64 {
    u64::from(params.games) * plies(params.max_plies, params.opening_plies)
}

/// An even match that takes so many evaluations.
pub(super) fn verdict(params: &ArenaParams, evaluations: u64) -> MatchSummary {
    let (games, pairs) = (params.games, params.games / 2);
    let wins = games / 4;
    MatchSummary {
        games,
        wins,
        draws: games - 2 * wins,
        losses: wins,
        score: 0.5,
        score_low: 0.45,
        score_high: 0.55,
        pentanomial: [0, 0, pairs, 0, 0],
        evaluations,
    }
}
