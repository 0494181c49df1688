//! Compares samplers on objectives whose optimum is known.

use dc0_core::params::Value;

use super::{search, space};
use crate::sweep::sampler::{SamplerKind, SamplerParams};
use crate::sweep::space::Point;

/// An objective to minimize, 0 at its optimum.
struct Landscape {
    space: &'static str,
    regret: fn(&Point) -> f64,
}

fn number(point: &Point, name: &str) -> f64 {
    point[name].as_f64().expect("a number")
}

fn text<'a>(point: &'a Point, name: &str) -> &'a str {
    let Value::Text(text) = &point[name] else { panic!("{name} is text") };
    text
}

/// A quadratic bowl over every kind of numeric dimension.
const BOWL: Landscape = Landscape {
    space: r#"{
        "rate": {"kind": "log_uniform", "low": 1e-5, "high": 1},
        "blocks": {"kind": "int", "low": 1, "high": 32},
        "filters": {"kind": "int", "low": 8, "high": 512, "log": true},
        "share": {"kind": "uniform", "low": 0, "high": 1}
    }"#,
    regret: |point| {
        let rate = (number(point, "rate").log10() + 2.3) / 5.0;
        let blocks = (number(point, "blocks") - 12.3) / 31.0;
        let filters = (number(point, "filters") / 100.0).ln() / 64_f64.ln();
        let share = number(point, "share") - 0.75;
        rate.powi(2) + blocks.powi(2) + filters.powi(2) + share.powi(2)
    },
};

/// Branches with parameters of their own; the optimum lies in one of them.
const BRANCHES: Landscape = Landscape {
    space: r#"{
        "rule": {"kind": "choice", "values": ["puct", "gumbel", "uniform"]},
        "c_puct": {"kind": "log_uniform", "low": 0.1, "high": 10, "when": {"rule": ["puct", "uniform"]}},
        "considered": {"kind": "int", "low": 1, "high": 64, "log": true, "when": {"rule": "gumbel"}},
        "scale": {"kind": "uniform", "low": 0, "high": 10, "when": {"rule": "gumbel"}},
        "wdl": {"kind": "choice", "values": [true, false]}
    }"#,
    regret: |point| {
        let wdl = if point["wdl"] == Value::Bool(true) { 0.0 } else { 0.3 };
        let branch = match text(point, "rule") {
            "gumbel" => {
                let considered = (number(point, "considered") / 16.3).log2() / 6.0;
                let scale = (number(point, "scale") - 3.0) / 10.0;
                considered.powi(2) + scale.powi(2)
            }
            rule => {
                let worse = if rule == "puct" { 0.05 } else { 0.5 };
                worse + (number(point, "c_puct").log10() - 0.2).powi(2)
            }
        };
        wdl + branch
    },
};

/// Trials of each search.
const TRIALS: u32 = 50;

/// Student's t for a 95 % interval of a mean of 20.
const T_OF_20: f64 = 2.093;

/// The 95 % interval of the mean difference, over 20 seeds, between the log best regrets of two samplers. The other sampler uses
/// other seeds.
fn log_regret_ratio(landscape: &Landscape, one: &SamplerParams, other: &SamplerParams) -> (f64, f64) {
    let space = space(landscape.space);
    let log_regret = |params: &SamplerParams, seed| {
        let trials = search(&space, params, seed, TRIALS, landscape.regret);
        trials.iter().filter_map(|trial| trial.value).fold(f64::INFINITY, f64::min).max(1e-12).ln()
    };
    let differences: Vec<f64> =
        (0..20).map(|seed| log_regret(one, seed) - log_regret(other, seed + 1000)).collect();
    let mean = differences.iter().sum::<f64>() / 20.0;
    let variance = differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>() / 19.0;
    let half = T_OF_20 * (variance / 20.0).sqrt();
    (mean - half, mean + half)
}

fn of_kind(kind: SamplerKind) -> SamplerParams {
    SamplerParams { kind, ..SamplerParams::default() }
}

#[test]
fn tpe_gets_nearer_to_the_optimum_than_random_search() {
    let (tpe, random) = (of_kind(SamplerKind::Tpe), of_kind(SamplerKind::Random));
    for landscape in [BOWL, BRANCHES] {
        let (low, high) = log_regret_ratio(&landscape, &tpe, &random);
        assert!(high < -0.3, "{low:.2} to {high:.2}");
    }
}

#[test]
fn the_comparison_finds_no_difference_between_equal_samplers() {
    let random = of_kind(SamplerKind::Random);
    let untrained = SamplerParams { startup: 1000, ..of_kind(SamplerKind::Tpe) };
    for landscape in [BOWL, BRANCHES] {
        let (low, high) = log_regret_ratio(&landscape, &untrained, &random);
        assert!(low < 0.0 && high > 0.0, "{low:.2} to {high:.2}");
    }
}
