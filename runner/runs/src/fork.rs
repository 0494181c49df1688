//! Forks: runs that begin with the steps of another run, up to one of its iterations.
//!
//! `run.json` of a fork lists those steps, so the fork stays the same whatever happens to the other run. Each step is taken
//! over like any step that another run has finished; once all are, the other run is no longer needed.

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::folder::Folder;
use super::generations::Generation;
use super::identity::Identity;
use super::kind::StepKind;
use super::slot::{Numbers, Slot};

/// The steps that a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkRecord {
    /// The other run, by its path relative to the folder of runs.
    pub from: String,
    /// The last of its iterations that the fork includes.
    pub iteration: u32,
    /// A digest of the steps, their files and the promotions.
    pub digest: String,
    /// The steps in order.
    pub steps: Vec<ForkStep>,
    /// The nets promoted up to that iteration, in order.
    pub promotions: Vec<Generation>,
}

/// One step that a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkStep {
    /// Its identity, 64 hex digits.
    pub step: String,
    /// Its kind.
    pub kind: String,
}

impl ForkRecord {
    /// A fork's origin, as messages name it.
    pub fn named(from: &str, iteration: u32) -> String {
        format!("{from} at iteration {iteration}")
    }

    /// Checks that an existing run is the requested fork, or not a fork if none is requested.
    pub fn check(
        folder: &Folder,
        found: Option<&Self>,
        requested: Option<(&str, u32)>,
    ) -> Result<(), RunError> {
        let folder = folder.root().to_owned();
        let fixed = found.map(|fork| Self::named(&fork.from, fork.iteration));
        let requested = requested.map(|(from, iteration)| Self::named(from, iteration));
        match (fixed, requested) {
            (None, None) => Ok(()),
            (Some(fixed), None) => Err(RunError::IsFork { folder, fixed }),
            (None, Some(_)) => Err(RunError::NoFork { folder }),
            (Some(fixed), Some(requested)) if fixed == requested => Ok(()),
            (Some(fixed), Some(requested)) => Err(RunError::OtherFork { folder, fixed, requested }),
        }
    }

    /// The identities of the steps with their slots, in order.
    pub fn slots(&self, folder: &Folder) -> Result<Vec<(Identity, Slot)>, RunError> {
        let damaged = |step: &ForkStep| {
            let cause = format!("its fork has an unknown step, {} {}", step.kind, step.step);
            RunError::damaged(&folder.record(), cause)
        };
        let mut numbers = Numbers::default();
        let mut with_slot = |step: &ForkStep| {
            let series = StepKind::named(&step.kind)?.series();
            Some((Identity::from_digits(&step.step)?, numbers.next(series)))
        };
        self.steps.iter().map(|step| with_slot(step).ok_or_else(|| damaged(step))).collect()
    }
}
