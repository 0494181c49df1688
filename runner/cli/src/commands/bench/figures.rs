//! The measurements of `dc0-run bench search`.

use std::time::Duration;

use dc0_core::board::Game;
use dc0_core::network::EvaluatorError;

use super::args::BenchSearchArgs;
use super::{Kind, Load, games, in_lanes, memory, reference_search, reference_speed, search_games};
use dc0_backend::cores;
use dc0_process::clock::Stopwatch;

/// Everything that was measured.
pub(super) struct Comparison {
    pub(super) engines: Vec<Engine>,
    pub(super) scaling: Vec<Scaling>,
}

/// One engine with one evaluator.
pub(super) struct Engine {
    pub(super) name: &'static str,
    pub(super) evaluator: &'static str,
    /// Simulations per second of one lane.
    pub(super) speed: f64,
    /// Bytes per position, and bytes per legal move.
    pub(super) memory: [f64; 2],
    /// The time of the searches that run one after the other.
    pub(super) time: Duration,
}

/// The fast engine's simulations per second against the number of lanes, games or leaves.
pub(super) struct Scaling {
    /// What is varied: `lanes`, `games` or `leaves`.
    pub(super) variable: &'static str,
    pub(super) evaluator: &'static str,
    pub(super) points: Vec<(u32, f64)>,
}

pub(super) fn measure(args: &BenchSearchArgs) -> Result<Comparison, EvaluatorError> {
    let load = Load::new(args.games, args.simulations, args.seconds);
    let mut comparison = Comparison { engines: Vec::new(), scaling: Vec::new() };
    for kind in Kind::FAKES {
        comparison.engines.push(fast(args, &load, kind)?);
    }
    for kind in Kind::FAKES {
        comparison.engines.push(reference(args, &load, kind)?);
    }
    for kind in Kind::FAKES {
        comparison.scaling.extend(scaling(args, &load, kind)?);
    }
    Ok(comparison)
}

fn fast(args: &BenchSearchArgs, load: &Load, kind: Kind<'_>) -> Result<Engine, EvaluatorError> {
    Ok(Engine {
        name: "fast",
        evaluator: kind.name(),
        speed: in_lanes(load, kind, 1)?,
        memory: memory::of_fast_search(load, kind)?,
        time: time_of(args, |long, game| search_games(long, kind, &[game]).map(drop))?,
    })
}

fn reference(args: &BenchSearchArgs, load: &Load, kind: Kind<'_>) -> Result<Engine, EvaluatorError> {
    Ok(Engine {
        name: "reference",
        evaluator: kind.name(),
        speed: reference_speed(load, kind)?,
        memory: memory::of_reference_search(load, kind)?,
        time: time_of(args, |long, game| reference_search(&game, &long.params(), kind).map(drop))?,
    })
}

/// The time of the searches that run one after the other.
fn time_of(
    args: &BenchSearchArgs,
    search: impl Fn(&Load, Game) -> Result<(), EvaluatorError>,
) -> Result<Duration, EvaluatorError> {
    let long = Load::new(1, args.long_simulations, 0);
    let games: Vec<Game> = games(args.searches).collect();
    let watch = Stopwatch::start();
    games.into_iter().try_for_each(|game| search(&long, game))?;
    Ok(watch.elapsed())
}

/// How the fast engine's speed scales with lanes, with games that share a batch, and with parallel leaves of one game.
fn scaling(args: &BenchSearchArgs, load: &Load, kind: Kind<'_>) -> Result<Vec<Scaling>, EvaluatorError> {
    let most_lanes = args.lanes.unwrap_or_else(cores);
    let series = |variable, counts: &[u32], speed: &dyn Fn(u32) -> Result<f64, EvaluatorError>| {
        let points: Result<Vec<(u32, f64)>, EvaluatorError> =
            counts.iter().map(|count| Ok((*count, speed(*count)?))).collect();
        points.map(|points| Scaling { variable, evaluator: kind.name(), points })
    };
    let all_lanes: Vec<u32> = (1..=most_lanes).collect();
    Ok(vec![
        series("lanes", &all_lanes, &|lanes| in_lanes(load, kind, lanes))?,
        series("games", &args.rows, &|side_by_side| in_lanes(&Load { side_by_side, ..*load }, kind, 1))?,
        series("leaves", &args.rows, &|leaves| {
            let one_by_one = Load { side_by_side: 1, leaves, simulations: args.long_simulations, ..*load };
            in_lanes(&one_by_one, kind, 1)
        })?,
    ])
}
