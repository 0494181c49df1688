//! Plays a net against itself and fits the scores that `dc0-run uci` shows: a [`ValueCalibration`] to the results (the options
//! `score.value_factor`, `score.value_exponent` and `score.draw_exponent`), and `score.scale` to the material, so that a queen more reads 9 pawns.
//!
//! `cargo run --release -p dc0-core --example calibrate -- net.safetensors 1000 100`: games, simulations of a search
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use dc0_core::alphabeta::QuiescentNnue;
use dc0_core::event::Silent;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::NnueNet;
use dc0_core::network::torch::{TorchEvaluator, TorchOptions};
use dc0_core::network::{
    CalibrationSample, Evaluator, EvaluatorError, PositionValue, ValueCalibration, centipawns,
};
use dc0_core::params::Schedule;
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{PositionRow, SelfPlayJob, SelfPlayParams, Shard, play_shard};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [net, games, simulations] = &arguments[..] else {
        return Err("expected a weights file (.safetensors), a number of games and one of simulations".into());
    };
    let (path, games, simulations) = (Path::new(net), games.parse()?, simulations.parse()?);
    let net = Checkpoint::load(path)?.checkpoint;
    let integers = NnueNet::new(&net.spec, &net.weights).ok().map(Arc::new);
    let make_evaluator = || -> Result<Box<dyn Evaluator>, EvaluatorError> {
        if let Some(net) = &integers {
            return Ok(Box::new(QuiescentNnue::new(Arc::clone(net))));
        }
        let evaluator = TorchEvaluator::new(&net.spec, &net.weights, TorchOptions::default());
        let failed = |cause: &dyn Error| EvaluatorError::Device { rows: 0, cause: cause.to_string() };
        Ok(Box::new(evaluator.map_err(|error| failed(&error))?))
    };

    // The best moves after a random opening, which often loses material: positions of every value, played out as well as this net
    // can.
    let search = SearchParams { simulations, mate_in_one: true, ..SearchParams::default() };
    let params = SelfPlayParams {
        search: search.into(),
        root_noise: None,
        temperature: Schedule::constant(0.0),
        opening_plies: 12,
        cache: 500_000,
        ..SelfPlayParams::default()
    };
    let job = SelfPlayJob::new(&params, Seed { run: 1, step: 0 }, "calibrated", &make_evaluator);
    let shard = Shard { index: 0, first_game: 0, games };
    let played = play_shard(&job, shard, &mut [make_evaluator()?], &Silent)?;

    let samples: Vec<CalibrationSample> = played
        .positions
        .iter()
        .map(|row| {
            let (value, draw) = (f64::from(row.root_q), f64::from(row.root_d));
            CalibrationSample { value, draw, result: row.result }
        })
        .collect();
    println!("{games} games, {} positions", samples.len());
    let before = ValueCalibration::NONE.surprise(&samples);
    let Some(found) = ValueCalibration::fit(&samples) else { return Err("no game was decided".into()) };
    let ValueCalibration { factor, value, draw } = found;
    println!(
        "score.value_factor {factor:.2}, score.value_exponent {value:.2}, score.draw_exponent {draw:.2}"
    );
    println!("mean -ln P(result): {before:.3} before, {:.3} after", found.surprise(&samples));
    let ahead = ahead(&played.positions, found);
    let median = |pawns: i32| ahead.get(&pawns).map(|chances| chances[chances.len() / 2]);
    let queen = median(QUEEN).ok_or("no position with a queen more")?;
    let scale = f64::from(100 * QUEEN) / centipawns(queen, 1.0);
    println!("score.scale {scale:.0}");
    println!("\npawns ahead   positions   median score cp");
    for pawns in [1, 3, 5, QUEEN, 12] {
        if let Some(chance) = median(pawns) {
            println!("{pawns:11} {:11} {:17.0}", ahead[&pawns].len(), centipawns(chance, scale));
        }
    }
    println!("\nvalue            positions   P(win) P(draw) P(loss)   predicted");
    for bin in -10..10 {
        let (low, high) = (f64::from(bin) / 10.0, f64::from(bin + 1) / 10.0);
        let inside: Vec<_> = samples.iter().filter(|sample| (low..high).contains(&sample.value)).collect();
        let share = |result: i8| {
            inside.iter().filter(|sample| sample.result == result).count() as f64 / inside.len() as f64
        };
        let mean = |part: &dyn Fn(&CalibrationSample) -> f64| {
            inside.iter().map(|sample| part(sample)).sum::<f64>() / inside.len() as f64
        };
        if !inside.is_empty() {
            let predicted = [1.0, 0.0, -1.0].map(|sign| {
                mean(&|sample| {
                    let PositionValue { value, draw } = found.apply(sample.value, sample.draw);
                    if sign == 0.0 { draw } else { 0.5 * (1.0 - draw + sign * value) }
                })
            });
            let [win, draw, loss] = predicted;
            println!(
                "{low:+.1} to {high:+.1} {:12}   {:.3}  {:.3}  {:.3}    {win:.3} {draw:.3} {loss:.3}",
                inside.len(),
                share(1),
                share(0),
                share(-1),
            );
        }
    }
    Ok(())
}

/// The chances of the side that has more material, in order, by how many pawns' worth it has more.
fn ahead(positions: &[PositionRow], fit: ValueCalibration) -> BTreeMap<i32, Vec<f64>> {
    let mut ahead: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
    for row in positions {
        let balance = balance(&row.fen);
        let found = fit.apply(f64::from(row.root_q) * f64::from(balance.signum()), 0.0);
        ahead.entry(balance.abs()).or_default().push(found.value);
    }
    for chances in ahead.values_mut() {
        chances.sort_by(f64::total_cmp);
    }
    ahead
}

/// A queen in pawns.
const QUEEN: i32 = 9;

/// The material of the side to move less the other's, in pawns.
fn balance(fen: &str) -> i32 {
    let mut words = fen.split(' ');
    let (board, side) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let worth = |piece: char| match piece.to_ascii_lowercase() {
        'p' => 1,
        'n' | 'b' => 3,
        'r' => 5,
        'q' => QUEEN,
        _ => 0,
    };
    let white: i32 = board.chars().map(|c| if c.is_ascii_uppercase() { worth(c) } else { -worth(c) }).sum();
    if side == "w" { white } else { -white }
}
