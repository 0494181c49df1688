//! Evaluations per second, alone and in self-play.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dc0_core::event::Silent;
use dc0_core::network::torch::{TorchEvaluator, TorchOptions};
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, ShardResult, play, shards_of};

use super::{BenchError, Net};
use crate::commands::bench::{all_lanes, rate};
use dc0_process::clock::Stopwatch;

fn evaluator(net: &Net, options: TorchOptions) -> Result<Box<dyn Evaluator>, EvaluatorError> {
    let made = TorchEvaluator::new(&net.spec, &net.weights, options);
    Ok(Box::new(made.map_err(|cause| EvaluatorError::Make { cause: cause.to_string() })?))
}

/// Evaluations per second of all lanes together, each repeating the same batch.
pub(super) fn evaluations(
    net: &Net,
    options: TorchOptions,
    lanes: u32,
    batch: &Batch,
    least: Duration,
) -> Result<f64, EvaluatorError> {
    all_lanes(lanes, || {
        let (mut evaluator, mut out) = (evaluator(net, options)?, Evaluations::default());
        for _ in 0..3 {
            evaluator.evaluate(batch, &mut out)?;
        }
        rate(least, || evaluator.evaluate(batch, &mut out).map(|()| batch.len() as u64))
    })
}

/// Evaluations per second of whole self-play. Each lane plays one shard with as many games as a batch has rows.
pub(super) fn self_play(
    net: &Net,
    options: TorchOptions,
    lanes: u32,
    rows: u32,
    plies: u32,
    simulations: u32,
) -> Result<f64, BenchError> {
    let params = SelfPlayParams {
        games: rows * lanes,
        shard_games: rows,
        game_slots: rows,
        max_plies: plies,
        search: SearchParams { simulations, ..SearchParams::default() }.into(),
        ..SelfPlayParams::default()
    };
    let make_evaluator = || evaluator(net, options);
    let job = SelfPlayJob::new(&params, Seed { run: 1, step: 3 }, "bench", &make_evaluator);
    let evaluations = AtomicU64::new(0);
    let keep = |_, played: ShardResult| {
        evaluations.fetch_add(played.stats.evaluations, Ordering::Relaxed);
        Ok(())
    };
    let watch = Stopwatch::start();
    play(&job, &shards_of(params.games, params.shard_games), lanes, &keep, &Silent)?;
    Ok(evaluations.load(Ordering::Relaxed) as f64 / watch.elapsed().as_secs_f64())
}
