//! Trains a small net on games of self-play on the CPU, for one update and for fifty.
//!
//! `cargo run --release -p dc0-core --example train_batch`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use dc0_core::event::Silent;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::fake::Material;
use dc0_core::network::torch::{Device, TorchEvaluator, TorchOptions};
use dc0_core::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, TowerSpec, ValueHeadSpec, initial_weights,
};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, Shard, play_shard};
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{TrainJob, TrainParams, train};

const SEED: Seed = Seed { run: 1, step: 0 };

fn main() -> Result<(), Box<dyn Error>> {
    let spec = NetworkSpec {
        tower: TowerSpec { blocks: 1, filters: 16, ..TowerSpec::default() },
        value_head: ValueHeadSpec { filters: 4, hidden: 32, ..ValueHeadSpec::default() },
        ..NetworkSpec::default()
    };
    let start = Checkpoint { weights: initial_weights(&spec, SEED), spec, provenance: Value::group() };

    // Training games, played with a material evaluator.
    let encoding = start.spec.input();
    let make =
        || -> Result<Box<dyn Evaluator>, EvaluatorError> { Ok(Box::new(Material::new(encoding.clone()))) };
    let search = SearchParams { simulations: 32, ..SearchParams::default() };
    let params = SelfPlayParams { search: search.into(), max_plies: 100, ..SelfPlayParams::default() };
    let job = SelfPlayJob::new(&params, SEED, "material", &make);
    let played = play_shard(&job, Shard { index: 0, first_game: 0, games: 16 }, &mut [make()?], &Silent)?;

    let folder = tempfile::tempdir()?;
    for updates in [1, 50] {
        let params = TrainParams { updates, batch: 64, validation_fraction: 0.2, ..TrainParams::default() };
        let mut samples = Samples::new(start.spec.input(), &params)?;
        samples.add(Part {
            name: "example",
            source: 0,
            weight: 1.0,
            games: &played.games,
            positions: &played.positions,
        })?;
        let trained = train(
            TrainJob {
                params: &params,
                start: &start,
                samples: &samples,
                seed: SEED,
                threads: 1,
                device: Device::Cpu,
                carried: None,
                state_path: &folder.path().join(format!("{updates}.state")),
            },
            &Silent,
        )?;
        let last = trained.summary.last;
        println!(
            "{updates} updates on {} positions: policy loss {:.3}, value loss {:.3}, gradient {:.2}",
            trained.summary.training_samples, last.policy_loss, last.value_loss, last.gradient_norm
        );

        // An inference copy of the trained net.
        let mut evaluator = TorchEvaluator::new(&start.spec, &trained.weights, TorchOptions::default())?;
        let (mut batch, mut evaluations) = (Batch::default(), Evaluations::default());
        batch.push(evaluator.encoding(), &dc0_core::board::Game::initial());
        evaluator.evaluate(&batch, &mut evaluations)?;
        println!("  the initial position: {:?}", evaluations.wdl[0]);
    }
    Ok(())
}
