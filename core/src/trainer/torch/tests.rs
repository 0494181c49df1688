//! Tests of losses, optimisers and whole trainings.

mod loss;
mod mirror;
mod nnue;
mod optimizer;
mod state;
mod training;

use tch::{Device, Kind, Tensor};

use super::batch::{BatchSetup, NnueSetup, Row, TrainingBatch};
use crate::network::torch::Expansion;
use crate::trainer::samples::Samples;
use crate::trainer::tests::{
    SEED, added, all_trained, encoding, material, problems, random_games, rows, rows_from, samples, uci,
};

/// The training samples, some of them mirrored where they can be.
fn training_rows(samples: &Samples, is_mirrored: impl Fn(usize) -> bool) -> Vec<Row<'_>> {
    let row = |index| match samples.training_row(index) {
        sample if is_mirrored(index) => Row::mirrored(sample, samples.encoding()),
        sample => Row::played(sample),
    };
    (0..samples.training_count()).map(row).collect()
}

fn batch_of(rows: &[Row<'_>], nnue: Option<&NnueSetup>, expansion: Option<&Expansion>) -> TrainingBatch {
    let (encoding, device) = (&encoding(), Device::Cpu);
    let setup = BatchSetup { encoding, nnue, has_reply_head: true, expansion, device };
    TrainingBatch::new(rows, setup).expect("a batch")
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    Vec::try_from(tensor.reshape([-1]).to_kind(Kind::Double)).expect("numbers")
}
