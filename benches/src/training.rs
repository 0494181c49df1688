//! Where the time of a training goes: reading stored games, replaying them into samples, packing batches, and libtorch.
//!
//! `cargo run --release -p dc0-benches -- training --run az_small --blocks 4 --filters 64`

use std::error::Error;

use clap::Args;
use dc0_core::event::Silent;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::TorchOptions;
use dc0_core::network::torch::runtime;
use dc0_core::network::{NetworkSpec, Tower, TowerSpec, initial_weights};
use dc0_core::params::{Schedule, Value};
use dc0_core::rng::Seed;
use dc0_core::store::{GameRow, PositionRow, ShardFiles, read_entry};
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{Loader, TrainJob, TrainParams, TrainPrecision, train};

use crate::stored_games::files;
use crate::timing::now;

/// Measures where the time of a training goes: reading stored games, replaying them into samples, packing batches, updates.
#[derive(Args)]
pub(crate) struct Options {
    /// The run or dataset whose games are read: its folder, or its name in `datasets`.
    #[arg(long)]
    run: String,
    /// Blocks of the net that is trained, with random weights.
    #[arg(long, default_value_t = 4)]
    blocks: u32,
    /// An nnue instead of a residual net; it has no blocks.
    #[arg(long)]
    nnue: bool,
    /// Its filters.
    #[arg(long, default_value_t = 64)]
    filters: u32,
    /// Samples in a batch.
    #[arg(long, default_value_t = 256)]
    batch: u32,
    /// Updates that are measured.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    updates: u32,
    /// Threads of libtorch.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Updates in bf16 instead of f32.
    #[arg(long)]
    bf16: bool,
}

/// The seed of weights and batches.
const SEED: Seed = Seed { run: 1, step: 0 };

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    runtime::set_threads(options.threads);
    let (kind, blocks) = if options.nnue { (Tower::Nnue, 0) } else { (Tower::SeResnet, options.blocks) };
    let tower = TowerSpec { kind, blocks, filters: options.filters, ..TowerSpec::default() };
    let spec = NetworkSpec { tower, ..NetworkSpec::default() };
    let params = TrainParams {
        updates: options.updates,
        batch: options.batch,
        learning_rate: Schedule::constant(0.001),
        precision: if options.bf16 { TrainPrecision::BFloat16 } else { TrainPrecision::Float32 },
        validation_fraction: 0.0,
        checkpoint_every: options.updates,
        keep_state: false,
        ..TrainParams::default()
    };
    println!("{:<44}  {:>12}", "stage", "positions/s");
    let samples = load(options, &spec, &params)?;
    let packing = pack(options, &spec, &params, &samples)?;
    let training = updates(options, spec, &params, &samples)?;
    let bytes = samples.bytes() as f64 / samples.training_count() as f64;
    println!("{:<44}  {bytes:>12.0}", "bytes of memory a sample");
    println!("{:<44}  {:>11.1}%", "packing's share of a training's time", 100.0 * training / packing);
    Ok(())
}

/// Reads the run's games on one thread, and replays them on all cores.
fn load(options: &Options, spec: &NetworkSpec, params: &TrainParams) -> Result<Samples, Box<dyn Error>> {
    let (folder, files) = files(&options.run, &["self_play", "reanalyze", "import_pgn", "import_lc0"], &[])?;
    let mut samples = Samples::new(spec.input(), params)?;
    let (mut reading, mut replaying, mut positions) = (0.0, 0.0, 0);
    for shard in ShardFiles::of_iteration(&files) {
        let start = now();
        let games: Vec<GameRow> = read_entry(folder.root(), shard.games)?;
        let rows: Vec<PositionRow> = read_entry(folder.root(), shard.positions)?;
        reading += start.elapsed().as_secs_f64();
        let start = now();
        samples.add(Part { name: shard.name(), source: 0, weight: 1.0, games: &games, positions: &rows })?;
        replaying += start.elapsed().as_secs_f64();
        positions += rows.len();
    }
    row("reading and checking Parquet files", positions as f64 / reading);
    row("replaying games into samples, on all cores", positions as f64 / replaying);
    Ok(samples.finish())
}

/// Packs batches, on one thread; the samples a second.
fn pack(
    options: &Options,
    spec: &NetworkSpec,
    params: &TrainParams,
    samples: &Samples,
) -> Result<f64, Box<dyn Error>> {
    let mut loader = Loader::new(samples, spec, params, SEED, TorchOptions::default().device)?;
    // The first batch shuffles the samples.
    loader.batch(0)?;
    let start = now();
    for update in 1..=options.updates {
        loader.batch(update)?;
    }
    let rate = f64::from(options.updates) * f64::from(options.batch) / start.elapsed().as_secs_f64();
    row("packing batches, on one core", rate);
    Ok(rate)
}

/// Trains a net; the samples a second, batches included.
fn updates(
    options: &Options,
    spec: NetworkSpec,
    params: &TrainParams,
    samples: &Samples,
) -> Result<f64, Box<dyn Error>> {
    let start_net = Checkpoint { weights: initial_weights(&spec, SEED), spec, provenance: Value::group() };
    let folder = tempfile::tempdir()?;
    let job = TrainJob {
        params,
        start: &start_net,
        samples,
        seed: SEED,
        threads: options.threads,
        device: TorchOptions::default().device,
        carried: None,
        state_path: &folder.path().join("state"),
    };
    let start = now();
    train(job, &Silent)?;
    let rate = f64::from(options.updates) * f64::from(options.batch) / start.elapsed().as_secs_f64();
    row("training", rate);
    Ok(rate)
}

fn row(stage: &str, rate: f64) {
    println!("{stage:<44}  {rate:>12.0}");
}
