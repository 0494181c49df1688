//! Errors of training.

use std::io;
use std::path::PathBuf;

use tch::TchError;
use thiserror::Error;

use crate::event::Cancelled;
use crate::network::torch::TorchError;
use crate::text_table::figure;

/// Why training failed or stopped.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TrainError {
    #[error(
        "no samples to train on: of {games} games {held_out} are held out and {unused} have no position to train on; give more games, a larger weight or a smaller validation_fraction, look at phase_weights, or set positions to \"all\" if their searches were no policy targets"
    )]
    NoSamples { games: u32, held_out: u32, unused: u32 },
    /// There are more samples than can be numbered.
    #[error(
        "an epoch has {count} samples, copies by weight included, and may have at most {most}; use fewer games or smaller weights"
    )]
    TooManySamples { count: usize, most: usize },
    #[error(
        "the net's input is {net}, but the samples are encoded as {samples}; build the samples for this net"
    )]
    Encoding {
        /// Name and orientation of the net's encoding.
        net: String,
        /// Name and orientation of the samples' encoding.
        samples: String,
    },
    #[error(
        "the samples were made for other positions, targets, tablebases or another validation_fraction; build them with this training's parameters"
    )]
    OtherTargets,
    /// No update of the training is a step of its average, which would be the start net.
    #[error(
        "nothing would be averaged: average.every = {every}, the optimiser has made {before} updates before, and updates = {updates}; lower average.every, or make more updates"
    )]
    NothingAveraged { every: u32, before: u64, updates: u32 },
    /// The training diverged. Only the last stored state is kept.
    #[error(
        "update {update} is not finite (loss {}, of which policy loss {}, value loss {}; gradient norm {}); {}",
        figure(*loss, 3), figure(*policy_loss, 3), figure(*value_loss, 3), figure(*gradient_norm, 3), advice(*update)
    )]
    NotFinite {
        /// The update, counted from 0.
        update: u32,
        /// The weighted sum of all losses.
        loss: f64,
        /// Cross-entropy of the policy; not a number if no sample has a policy target, either.
        policy_loss: f64,
        /// Cross-entropy of win, draw and loss; not a number if all samples have the weight 0, either.
        value_loss: f64,
        /// L2 norm of the gradient.
        gradient_norm: f64,
    },
    /// An update made the net useless, though its loss was finite. Only the last stored state is kept.
    #[error(
        "update {update} made a net that is not finite ({tensor} holds {value}); lower learning_rate or set clip_norm"
    )]
    NetNotFinite {
        /// The last update, counted from 0.
        update: u32,
        /// The first such tensor: weights, running statistics of batch norm, or the optimiser's averages.
        tensor: String,
        value: f32,
    },
    /// The net is useless, though no update and no weight shows it. Only the last stored state is kept.
    #[error("the net's outputs after {updates} updates are not finite; {}", advice(*updates))]
    OutputsNotFinite { updates: u32 },
    /// The net could not be put on the device or read from it.
    #[error(transparent)]
    Net(#[from] TorchError),
    #[error("libtorch failed while training; a smaller batch needs less memory")]
    Library(#[from] TchError),
    #[error("{}: the training state cannot be read; check its permissions and the disk", path.display())]
    StateRead { path: PathBuf, source: io::Error },
    #[error("{}: the training state cannot be written; check permissions and free space", path.display())]
    StateWrite { path: PathBuf, source: io::Error },
    #[error("{}: the training state is damaged ({cause}); delete the file to have this training start over from its first update", path.display())]
    StateDamaged { path: PathBuf, cause: String },
    #[error("{}: the training state has version {found}, and this dc0 resumes from version {expected}; finish the training with the dc0 that began it, or delete the file to have it start over from its first update", path.display())]
    StateVersion { path: PathBuf, found: u32, expected: u32 },
    /// The state has momentum where this optimiser needs `AdamW`'s means.
    #[error("{}: the training state has version {found}, in which `muon` trained first and last layers like hidden ones, and can be carried on from version {expected}; set optimizer.state to \"fresh\" to start with an empty one", path.display())]
    MuonState { path: PathBuf, found: u32, expected: u32 },
    #[error("{}: the training state belongs to other parameters, samples, net, seed, threads or device; delete the file to have this training start over from its first update", path.display())]
    OtherState { path: PathBuf },
    /// The user asked to stop; the state is stored.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What to do about a net that is not finite after some updates.
fn advice(updates: u32) -> &'static str {
    match updates {
        0 => "the start net's own outputs are too large, train an earlier one",
        _ => "lower learning_rate or set clip_norm",
    }
}
