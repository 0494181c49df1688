//! Sweeps: hyperparameter search over a space with many runs of one script, each a trial.
//!
//! Everything here is plain data and pure functions, except [`folder`], which writes the journal. The next action of a sweep
//! depends on its journal alone ([`schedule`]), so it resumes after a kill as if nothing had happened.

pub mod alone;
pub mod board;
pub mod devices;
pub mod events;
#[cfg(test)]
mod fixtures;
pub mod folder;
pub mod importance;
pub mod observation;
pub mod opening;
pub mod optuna;
pub mod params;
pub mod pruner;
pub mod sampler;
pub mod schedule;
pub mod space;
pub mod table;
pub mod tensorboard;
pub mod trials;

/// The problem of a parameter that the chosen kind does not have; `other` has it.
fn of_another_kind(kind: &str, other: &str) -> String {
    format!("has no effect with kind \"{kind}\"; leave it out, or set kind to \"{other}\"")
}
