//! Samplers against each other on objectives whose best point is known.

use dc0_core::params::Value;

use super::{search, space};
use crate::sweep::sampler::{SamplerKind, SamplerParams};
use crate::sweep::space::Point;

/// An objective to make small: 0 at its best point.
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

/// A bowl over numbers of every kind.
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

/// Two rules with a number of their own each; only the better rule's best number is the best.
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

/// The 95 % interval of the mean, over 20 seeds, of the logarithm of one sampler's best regret less that of the other,
/// which draws from another seed.
fn log_regret_ratio(landscape: &Landscape, one: &SamplerParams, other: &SamplerParams) -> (f64, f64) {
    let space = space(landscape.space);
    let log_regret = |params: &SamplerParams, seed| {
        let told = search(&space, params, seed, TRIALS, landscape.regret);
        told.iter().filter_map(|told| told.value).fold(f64::INFINITY, f64::min).max(1e-12).ln()
    };
    let differences: Vec<f64> =
        (0..20).map(|seed| log_regret(one, seed) - log_regret(other, seed + 1000)).collect();
    let mean = differences.iter().sum::<f64>() / 20.0;
    let variance = differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>() / 19.0;
    let half = T_OF_20 * (variance / 20.0).sqrt();
    (mean - half, mean + half)
}

fn of(kind: SamplerKind) -> SamplerParams {
    SamplerParams { kind, ..SamplerParams::default() }
}

#[test]
fn tpe_ends_nearer_to_the_optimum_than_chance_in_as_many_trials() {
    let (tpe, chance) = (of(SamplerKind::Tpe), of(SamplerKind::Random));
    for landscape in [BOWL, BRANCHES] {
        let (low, high) = log_regret_ratio(&landscape, &tpe, &chance);
        assert!(high < -0.3, "{low:.2} to {high:.2}");
    }
}

#[test]
fn the_comparison_sees_no_difference_where_there_is_none() {
    let chance = of(SamplerKind::Random);
    let untaught = SamplerParams { startup: 1000, ..of(SamplerKind::Tpe) };
    for landscape in [BOWL, BRANCHES] {
        let (low, high) = log_regret_ratio(&landscape, &untaught, &chance);
        assert!(low < 0.0 && high > 0.0, "{low:.2} to {high:.2}");
    }
}
