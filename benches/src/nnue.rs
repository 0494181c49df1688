//! Evaluations per second of an `nnue` in integers on one core, by inputs, width and instructions.
//!
//! `cargo run --release -p dc0-benches -- nnue`
//!
//! The rows of a batch are games; from batch to batch each game goes a few plies back and forth, as the leaves of a tree search do.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, value_parser};
use dc0_core::board::{Game, Rules, random_opening};
use dc0_core::network::nnue::{Instructions, NnueEvaluator, NnueNet};
use dc0_core::network::{
    Batch, Evaluations, Evaluator, NetworkSpec, NnueInputs, PolicyHeadSpec, Tower, TowerSpec, ValueHeadSpec,
    initial_weights,
};
use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

use crate::timing::{now, positive_seconds};

/// Measures nets with random weights on one thread.
#[derive(Args)]
pub(crate) struct Options {
    /// Outputs of the first layer on each side.
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256, 512, 1024])]
    widths: Vec<u32>,
    /// Width of the value head's hidden layer.
    #[arg(long, default_value_t = 32)]
    hidden: u32,
    /// Rows of a batch.
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u64).range(1..))]
    batch: u64,
    /// Seconds per cell of the table.
    #[arg(long, default_value_t = 1.0, value_parser = positive_seconds)]
    seconds: f64,
}

const RULES: Rules = Rules { max_plies: 512 };
/// Batches of the walk, which is repeated.
const BATCHES: usize = 200;

/// Goes up to two plies back, then up to three forward.
fn step(game: &mut Game, stream: &mut Stream) {
    let back = stream.random_range(0..=2.min(game.ply()));
    game.take_back_to(game.ply() - back);
    for _ in 0..stream.random_range(1..=3) {
        let moves = game.position().legal_moves();
        if moves.is_empty() || game.outcome(&RULES).is_some() {
            break;
        }
        game.play_unchecked(moves[stream.random_range(0..moves.len())]);
    }
}

fn walk(spec: &NetworkSpec, rows: u64) -> Vec<Batch> {
    let encoding = spec.input();
    let mut stream = Seed { run: 1, step: 1 }.stream(0, Purpose::Opening);
    let mut games: Vec<Game> =
        (0..rows).map(|row| random_opening((row % 60) as u32 + 4, &RULES, &mut stream)).collect();
    let mut next = || {
        let mut batch = Batch::default();
        for game in &mut games {
            step(game, &mut stream);
            batch.push(&encoding, game);
        }
        batch
    };
    (0..BATCHES).map(|_| next()).collect()
}

/// The same positions without their moves: values alone.
fn without_moves(batch: &Batch) -> Batch {
    Batch { legal: Vec::new(), legal_ends: vec![0; batch.len()], ..batch.clone() }
}

fn rate(net: &Arc<NnueNet>, instructions: Instructions, batches: &[Batch], seconds: f64) -> f64 {
    let mut evaluator = NnueEvaluator::with_instructions(Arc::clone(net), instructions);
    let (mut out, mut evaluations) = (Evaluations::default(), 0);
    let start = now();
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        for batch in batches {
            evaluator.evaluate(batch, &mut out).expect("finite");
            evaluations += batch.len();
        }
    }
    evaluations as f64 / start.elapsed().as_secs_f64()
}

pub(crate) fn run(options: &Options) {
    println!("evaluations/s of one thread, batches of {} rows", options.batch);
    println!(
        "{:>8} {:>6} {:>12} {:>12} {:>16}",
        "inputs", "width", "instructions", "values", "with policies"
    );
    // The third has pieces for its values and threats for its policy; in the last a king is in another bucket on every rank.
    let (pieces, threats) = (NnueInputs::Pieces, NnueInputs::Threats);
    let ranks: Vec<u32> = (0..32).map(|square| square / 4).collect();
    let kinds = [
        ("pieces", pieces, None, None),
        ("threats", threats, None, None),
        ("divided", pieces, Some(threats), None),
        ("mirrored", pieces, None, Some(Vec::new())),
        ("buckets", pieces, None, Some(ranks)),
    ];
    let cells = kinds.iter().flat_map(|kind| options.widths.iter().map(move |width| (kind, *width)));
    for ((name, inputs, policy, buckets), width) in cells {
        let tower = TowerSpec { kind: Tower::Nnue, filters: width, inputs: *inputs, ..TowerSpec::default() };
        let spec = NetworkSpec {
            tower: TowerSpec {
                mirrored: buckets.is_some(),
                king_buckets: buckets.clone().unwrap_or_default(),
                ..tower
            },
            policy_head: PolicyHeadSpec { inputs: *policy, ..PolicyHeadSpec::default() },
            value_head: ValueHeadSpec { hidden: options.hidden, ..ValueHeadSpec::default() },
            ..NetworkSpec::default()
        };
        let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
        let net = Arc::new(NnueNet::new(&spec, &weights).expect("a net of this width"));
        let batches = walk(&spec, options.batch);
        let values: Vec<Batch> = batches.iter().map(without_moves).collect();
        for instructions in Instructions::available() {
            let rate = |batches: &[Batch]| rate(&net, instructions, batches, options.seconds);
            let set = format!("{instructions:?}");
            let (values, both) = (rate(&values), rate(&batches));
            println!("{name:>8} {width:>6} {set:>12} {values:>12.0} {both:>16.0}");
        }
    }
}
