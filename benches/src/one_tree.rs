//! One tree, parallel leaves, several threads: how busy the net is while one position is searched, as in play.
//!
//! `cargo run --release -p dc0-benches -- one-tree --blocks 4 --filters 64 --leaves 64 --threads 2`

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, value_parser};
use dc0_core::board::{Game, Rules};
use dc0_core::network::torch::{TorchEvaluator, TorchOptions};
use dc0_core::network::{NetworkSpec, TowerSpec, Weights, initial_weights};
use dc0_core::rng::Seed;
use dc0_core::search::{Search, SearchParams, SharedSearch};

use crate::timing::{Timed, now};

/// Searches the initial position with random weights; every thread has a copy of the net and one libtorch thread.
#[derive(Args)]
pub(crate) struct Options {
    /// Residual blocks.
    #[arg(long, default_value_t = 4)]
    blocks: u32,
    /// Filters.
    #[arg(long, default_value_t = 64)]
    filters: u32,
    /// Leaves per batch.
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u32).range(1..))]
    leaves: u32,
    /// Threads that gather and evaluate.
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    threads: u32,
    /// Simulations.
    #[arg(long, default_value_t = 40_000)]
    simulations: u32,
    /// Whether transpositions share nodes (graph search).
    #[arg(long)]
    graph: bool,
}

/// Sums over all threads.
#[derive(Default)]
struct Sums {
    nanos: AtomicU64,
    rows: AtomicU64,
    batches: AtomicU64,
}

pub(crate) fn run(options: &Options) {
    let tower = TowerSpec { blocks: options.blocks, filters: options.filters, ..TowerSpec::default() };
    let spec = NetworkSpec { tower, ..NetworkSpec::default() };
    let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
    let params = SearchParams {
        simulations: options.simulations,
        leaf_batch: options.leaves,
        graph: options.graph,
        ..SearchParams::default()
    };
    let search = Search::with_tablebases(Game::initial(), Rules { max_plies: 512 }, params, None);
    let shared = SharedSearch::new(search).expect("the fast engine takes threads");
    let sums = Sums::default();
    let start = now();
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| work(&shared, (&spec, &weights), &sums));
        }
    });
    report(options, start.elapsed(), &sums);
}

fn work(shared: &SharedSearch, (spec, weights): (&NetworkSpec, &Weights), sums: &Sums) {
    let inner = TorchEvaluator::new(spec, weights, TorchOptions::default()).expect("a CPU evaluator");
    let mut timed = Timed { inner, nanos: &sums.nanos, rows: &sums.rows, batches: &sums.batches };
    shared.work(&mut timed).expect("random weights are finite");
}

fn report(options: &Options, elapsed: Duration, sums: &Sums) {
    let [nanos, rows, batches] =
        [&sums.nanos, &sums.rows, &sums.batches].map(|sum| sum.load(Ordering::Relaxed));
    let wall = elapsed.as_secs_f64();
    println!(
        "{}×{}, one tree, {} threads: {:.0} simulations/s, {:.0} evaluations/s in batches of {:.1}; the evaluators are busy {:.1} % of the time",
        options.blocks,
        options.filters,
        options.threads,
        f64::from(options.simulations) / wall,
        rows as f64 / wall,
        rows as f64 / batches as f64,
        100.0 * nanos as f64 / 1e9 / (wall * f64::from(options.threads)),
    );
}
