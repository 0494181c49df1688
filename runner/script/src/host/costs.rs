//! What steps cost, from what is known of their results: the same whether they are done now or were finished before.

use dc0_core::params::Value;

use dc0_runs::sweep::events::Spent;
use dc0_steps::handles::{Analysis, Games, Network, Opponent, Verdict};

fn number(summary: &Value, name: &str) -> f64 {
    summary.member(name).and_then(Value::as_f64).unwrap_or(0.0)
}

/// Floating-point operations of one evaluation.
fn flops(network: &Network) -> f64 {
    number(&network.0.summary, "flops")
}

pub(super) fn of_games(games: &Games, network: &Network) -> Spent {
    let evaluations = number(&games.0.summary, "evaluations");
    let flops = evaluations * flops(network);
    Spent { games: number(&games.0.summary, "games"), evaluations, flops, ..Spent::default() }
}

/// A sample's backward pass takes twice its forward pass.
pub(super) fn of_training(network: &Network) -> Spent {
    let summary = &network.0.summary;
    let flops = 3.0 * number(summary, "samples_seen") * flops(network);
    Spent { updates: number(summary, "updates"), flops, ..Spent::default() }
}

/// Each net makes about half of the evaluations.
pub(super) fn of_match(verdict: &Verdict, first: &Network, second: &Opponent) -> Spent {
    let evaluations = number(&verdict.0.summary, "evaluations");
    let each = match second {
        Opponent::Network(second) => f64::midpoint(flops(first), flops(second)),
        Opponent::Random | Opponent::Greedy => flops(first),
    };
    let games = number(&verdict.0.summary, "games");
    Spent { games, evaluations, flops: evaluations * each, ..Spent::default() }
}

pub(super) fn of_search(analysis: &Analysis, network: &Network) -> Spent {
    let evaluations = number(&analysis.0.summary, "evaluations");
    Spent { evaluations, flops: evaluations * flops(network), ..Spent::default() }
}
