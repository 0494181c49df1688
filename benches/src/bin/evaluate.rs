//! Evaluations a second of nets on libtorch, by net and batch size.
//!
//! `cargo run --release -p dc0-benches --bin evaluate -- --lanes 2`
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::Duration;

use clap::Parser;
use dc0_benches::now;
use dc0_core::board::{Game, Rules, random_opening};
use dc0_core::encoding::Encoding;
use dc0_core::network::torch::runtime::{self, Allocator};
use dc0_core::network::torch::{Precision, TorchEvaluator, TorchOptions};
use dc0_core::network::{
    Batch, Evaluations, Evaluator, NetworkSpec, Tower, TowerSpec, Weights, initial_weights,
};
use dc0_core::rng::{Purpose, Seed};

/// Evaluations a second of nets with random weights; each lane is a thread with its own copy of the net.
#[derive(Parser)]
struct Options {
    /// Nets, as `BLOCKSxFILTERS`.
    #[arg(long, value_delimiter = ',', default_values = ["2x32", "4x64", "6x128"], value_parser = net)]
    nets: Vec<(u32, u32)>,
    /// Batch sizes.
    #[arg(long, value_delimiter = ',', default_values_t = [16, 64, 256])]
    batch: Vec<u64>,
    /// libtorch's threads in each lane.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Evaluators at once.
    #[arg(long, default_value_t = 1)]
    lanes: usize,
    /// f32, bf16, or auto.
    #[arg(long, default_value = "auto", value_parser = precision)]
    precision: Precision,
    /// auto, cpu, or cuda:N.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Seconds for each cell.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Also measure the convolutions alone: a plain tower, nothing before or after it.
    #[arg(long)]
    tower_only: bool,
}

fn net(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}`: expected BLOCKSxFILTERS, such as 4x64"))
}

fn precision(text: &str) -> Result<Precision, String> {
    Precision::from_word(text)
        .ok_or_else(|| format!("`{text}`: expected one of {}", Precision::WORDS.join(", ")))
}

fn batch_of(encoding: &Encoding, rows: u64) -> Batch {
    let mut batch = Batch::default();
    for row in 0..rows {
        let mut stream = Seed { run: 1, step: 1 }.stream(row, Purpose::Opening);
        let game = random_opening((row % 80) as u32, &Rules { max_plies: 512 }, &mut stream);
        push(&mut batch, encoding, &game);
    }
    batch
}

fn push(batch: &mut Batch, encoding: &Encoding, game: &Game) {
    encoding.encode(game, &mut batch.binary, &mut batch.scalars);
    let position = game.position();
    let moves = position.legal_moves().into_iter();
    batch.legal.extend(moves.map(|played| encoding.policy_index(played, position.side_to_move())));
    batch.legal_ends.push(batch.legal.len() as u32);
    batch.keys.push(game.key());
}

/// What a lane does again and again.
#[derive(Clone, Copy)]
enum Work {
    Whole,
    Tower,
}

/// Evaluations a second of one lane.
fn lane(
    spec: &NetworkSpec,
    weights: &Weights,
    torch: TorchOptions,
    rows: u64,
    seconds: f64,
    work: Work,
) -> f64 {
    let mut evaluator = TorchEvaluator::new(spec, weights, torch).expect("the net fits");
    let batch = batch_of(&evaluator.encoding().clone(), rows);
    let mut out = Evaluations::default();
    let mut once = || match work {
        Work::Whole => evaluator.evaluate(&batch, &mut out).expect("evaluates"),
        Work::Tower => evaluator.run_tower(&batch).expect("evaluates"),
    };
    for _ in 0..3 {
        once();
    }
    let (start, mut evaluations) = (now(), 0);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        once();
        evaluations += rows;
    }
    evaluations as f64 / start.elapsed().as_secs_f64()
}

fn all_lanes(options: &Options, spec: &NetworkSpec, torch: TorchOptions, rows: u64, work: Work) -> f64 {
    let weights = initial_weights(spec, Seed { run: 1, step: 1 });
    std::thread::scope(|scope| {
        let run = || lane(spec, &weights, torch, rows, options.seconds, work);
        let lanes: Vec<_> = (0..options.lanes).map(|_| scope.spawn(run)).collect();
        lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic")).sum()
    })
}

fn row(options: &Options, torch: TorchOptions, (blocks, filters): (u32, u32), work: Work) {
    let (kind, name) = match work {
        Work::Whole => (Tower::SeResnet, "whole"),
        Work::Tower => (Tower::Resnet, "tower"),
    };
    let spec = NetworkSpec {
        tower: TowerSpec { kind, blocks, filters, ..TowerSpec::default() },
        ..NetworkSpec::default()
    };
    print!("{:>8} {name:>6}", format!("{blocks}x{filters}"));
    for rows in &options.batch {
        print!(" {:>10.0}", all_lanes(options, &spec, torch, *rows, work));
    }
    println!();
}

fn main() {
    let options = Options::parse();
    let prepared = runtime::prepare(Allocator::KeepPages);
    let device = runtime::parse_device(&options.device).unwrap_or_else(|error| panic!("{error}"));
    let torch = TorchOptions { device, precision: options.precision, threads: options.threads };
    println!("{}; allocator keeps pages: {}", runtime::versions(), prepared.keeps_pages);
    println!(
        "{} lanes of {} threads, {}; evaluations/s",
        options.lanes,
        options.threads,
        options.precision.word()
    );
    print!("{:>8} {:>6}", "net", "part");
    for rows in &options.batch {
        print!(" {:>10}", format!("b{rows}"));
    }
    println!();
    for net in &options.nets {
        row(&options, torch, *net, Work::Whole);
        if options.tower_only {
            row(&options, torch, *net, Work::Tower);
        }
    }
}
