//! Self-play with a net on the CPU: positions per second, and the share of time spent outside the net.
//!
//! `cargo run --release -p dc0-benches -- self-play --blocks 4 --filters 64`

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, value_parser};
use dc0_core::event::Silent;
use dc0_core::network::torch::{TorchEvaluator, TorchOptions};
use dc0_core::network::{Evaluator, EvaluatorError, NetworkSpec, TowerSpec, ValueHeadSpec, initial_weights};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{self, SelfPlayJob, SelfPlayParams, shards_of};

use crate::timing::{Timed, now};

/// Self-play with random weights; every lane has one libtorch thread.
#[derive(Args)]
pub(crate) struct Options {
    /// Residual blocks.
    #[arg(long, default_value_t = 4)]
    blocks: u32,
    /// Filters.
    #[arg(long, default_value_t = 64)]
    filters: u32,
    /// Simulations per move.
    #[arg(long, default_value_t = 32, value_parser = value_parser!(u32).range(1..))]
    simulations: u32,
    /// Games, in shards of `game_slots`.
    #[arg(long, default_value_t = 128, value_parser = value_parser!(u32).range(1..))]
    games: u32,
    /// Game slots: games that a lane plays at once.
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u32).range(1..))]
    game_slots: u32,
    /// Lanes.
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    lanes: u32,
    /// The ply at which games end, to keep the benchmark short.
    #[arg(long, default_value_t = 60, value_parser = value_parser!(u32).range(1..))]
    max_plies: u32,
}

pub(crate) fn run(options: &Options) {
    let spec = NetworkSpec {
        tower: TowerSpec { blocks: options.blocks, filters: options.filters, ..TowerSpec::default() },
        value_head: ValueHeadSpec::default(),
        ..NetworkSpec::default()
    };
    let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
    let params = SelfPlayParams {
        games: options.games,
        search: SearchParams { simulations: options.simulations, ..SearchParams::default() }.into(),
        max_plies: options.max_plies,
        shard_games: options.game_slots,
        game_slots: options.game_slots,
        ..SelfPlayParams::default()
    };
    let [nanos, rows, batches] = [(); 3].map(|()| -> &'static AtomicU64 { Box::leak(Box::default()) });
    let make = || -> Result<Box<dyn Evaluator>, EvaluatorError> {
        let inner = TorchEvaluator::new(&spec, &weights, TorchOptions::default()).expect("a CPU evaluator");
        Ok(Box::new(Timed { inner, nanos, rows, batches }))
    };
    let job = SelfPlayJob::new(&params, Seed { run: 1, step: 2 }, "bench", &make);
    let (positions, evaluations) = (AtomicU64::new(0), AtomicU64::new(0));
    let keep = |_, result: selfplay::ShardResult| {
        positions.fetch_add(result.stats.positions, Ordering::Relaxed);
        evaluations.fetch_add(result.stats.evaluations, Ordering::Relaxed);
        Ok(())
    };
    let start = now();
    let shards = shards_of(params.games, params.shard_games);
    selfplay::play(&job, &shards, options.lanes, &keep, &Silent).expect("self-play");
    report(
        options,
        start.elapsed(),
        [&positions, &evaluations, nanos].map(|sum| sum.load(Ordering::Relaxed)),
    );
}

fn report(options: &Options, elapsed: Duration, [positions, evaluations, net_nanos]: [u64; 3]) {
    let wall = elapsed.as_secs_f64();
    let lanes_time = wall * f64::from(options.lanes);
    let in_net = net_nanos as f64 / 1e9;
    println!(
        "{}×{}, {} simulations, {} lanes × {} games: {:.0} positions/s, {:.0} evaluations/s, {:.1} % of the lanes' time outside the net",
        options.blocks,
        options.filters,
        options.simulations,
        options.lanes,
        options.game_slots,
        positions as f64 / wall,
        evaluations as f64 / wall,
        100.0 * (1.0 - in_net / lanes_time),
    );
}
