//! Runs that begin with the steps of another run, up to one of its iterations.
//!
//! `run.json` of a fork names those steps, so that it stays the same fork whatever becomes of the other run. Each of them is
//! taken over like a step that another run has finished; once all are, the other run is not needed any more.

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::folder::Folder;
use super::generations::Generation;
use super::identity::Identity;
use super::slot::{Numbers, Series, Slot};

/// What a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkRecord {
    /// The other run, by its path beside this one.
    pub from: String,
    /// Its last iteration that the fork has.
    pub iteration: u32,
    /// A digest of all that follows and of every file of the steps.
    pub digest: String,
    /// The steps, in their order.
    pub steps: Vec<ForkStep>,
    /// The nets that were promoted until then, in their order.
    pub promotions: Vec<Generation>,
}

/// One step that a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkStep {
    /// Its identity, 64 hex digits.
    pub step: String,
    /// What was done.
    pub kind: String,
}

impl ForkRecord {
    /// As messages name it.
    pub fn named(from: &str, iteration: u32) -> String {
        format!("{from} at iteration {iteration}")
    }

    /// Whether an existing run is the fork that is asked for, or none where none is.
    pub fn check(folder: &Folder, found: Option<&Self>, asked: Option<(&str, u32)>) -> Result<(), RunError> {
        let folder = folder.root().to_owned();
        let fixed = found.map(|fork| Self::named(&fork.from, fork.iteration));
        let asked = asked.map(|(from, iteration)| Self::named(from, iteration));
        match (fixed, asked) {
            (None, None) => Ok(()),
            (Some(fixed), None) => Err(RunError::IsFork { folder, fixed }),
            (None, Some(_)) => Err(RunError::NoFork { folder }),
            (Some(fixed), Some(asked)) if fixed == asked => Ok(()),
            (Some(fixed), Some(asked)) => Err(RunError::OtherFork { folder, fixed, asked }),
        }
    }

    /// The identities of the steps with their places, in their order.
    pub fn places(&self, folder: &Folder) -> Result<Vec<(Identity, Slot)>, RunError> {
        let damaged = |step: &ForkStep| {
            let cause = format!("its fork has an unknown step, {} {}", step.kind, step.step);
            RunError::damaged(&folder.record(), cause)
        };
        let mut numbers = Numbers::default();
        let mut place = |step: &ForkStep| {
            let (_, series) = Series::of_kind(&step.kind)?;
            Some((Identity::from_digits(&step.step)?, numbers.next(series)))
        };
        self.steps.iter().map(|step| place(step).ok_or_else(|| damaged(step))).collect()
    }
}
