//! The lines that stay: how a run was opened, what each step came to, what was promoted.

use dc0_core::params::Value;

use crate::Shop;
use crate::handles::Network;
use dc0_runs::{Finished, Record, Series, Slot};

/// How a run was opened.
pub fn opened(folder: &str, record: &Record, shop: &Shop, finished: usize) -> String {
    let environment = &record.environment;
    let steps = match finished {
        0 => "nothing done yet".to_owned(),
        1 => "1 step done before".to_owned(),
        steps => format!("{steps} steps done before"),
    };
    let lanes = if shop.lanes == 1 { "1 lane".to_owned() } else { format!("{} lanes", shop.lanes) };
    format!(
        "run {folder}: seed {}, {} on {} in {}, {lanes}, {} training threads; {steps}",
        record.seed, environment.backend, environment.device, environment.precision, environment.threads
    )
}

/// What a step came to; `who` played, where there were two players, and `closing` has its time and rates.
pub fn finished(slot: Slot, who: &str, finished: &Finished, closing: &str) -> String {
    let summary = &finished.manifest.summary;
    let figures = match (slot.series, finished.manifest.kind.as_str()) {
        (Series::Iterations, _) => games(summary),
        (Series::Matches, _) => score(summary),
        (Series::Searches, _) => searches(summary),
        (Series::Networks, "train") => losses(summary),
        (Series::Networks, _) => parameters(summary),
    };
    let end = match &finished.from {
        Some(run) => format!("taken over from {run}"),
        None if finished.before => "done before".to_owned(),
        None => closing.to_owned(),
    };
    let end = if end.is_empty() { String::new() } else { format!("  ({end})") };
    let who = if who.is_empty() { String::new() } else { format!("{who}: ") };
    format!("{}  {who}{figures}{end}", slot.name())
}

/// A promotion.
pub fn promoted(network: &Network, generation: u32) -> String {
    format!("generation {generation}  network {} is promoted", network.name())
}

fn number(summary: &Value, name: &str) -> f64 {
    summary.member(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn games(summary: &Value) -> String {
    let [games, positions, drawn, plies] =
        ["games", "positions", "draw_rate", "mean_plies"].map(|name| number(summary, name));
    format!("{games} games, {positions} positions, {:.1}% drawn, {plies:.1} plies each", 100.0 * drawn)
}

fn searches(summary: &Value) -> String {
    let [positions, simulations, proven] =
        ["positions", "simulations", "proven"].map(|name| number(summary, name));
    format!(
        "{positions} positions searched, {} simulations, {proven} proven",
        dc0_process::figures::amount(simulations)
    )
}

fn losses(summary: &Value) -> String {
    let [updates, loss, policy, value] =
        ["updates", "loss", "policy_loss", "value_loss"].map(|name| number(summary, name));
    format!("{updates} updates, loss {loss:.3} (policy {policy:.3}, value {value:.3})")
}

fn parameters(summary: &Value) -> String {
    format!("{} parameters, random weights", dc0_process::figures::amount(number(summary, "parameters")))
}

fn score(summary: &Value) -> String {
    let [wins, draws, losses, score] = ["wins", "draws", "losses", "score"].map(|name| number(summary, name));
    // Adding 0 makes an even match +0 instead of -0.
    let elo = |name| summary.member(name).and_then(Value::as_f64).map(|elo| elo + 0.0);
    let elo = match (elo("elo_low"), elo("elo"), elo("elo_high")) {
        (Some(low), Some(elo), Some(high)) => format!(", Elo {elo:+.0} [{low:+.0}, {high:+.0}]"),
        _ => String::new(),
    };
    format!("score {score:.3} (+{wins} ={draws} -{losses}{elo})")
}
