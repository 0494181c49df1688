//! What the steps that a fork begins with came to, as scripts hold it.

use std::sync::Arc;

use dc0_runs::{Folder, Generation, Manifest, RunError, Slot};

use crate::handles::Network;
use crate::host::Past;
use crate::kinds::kind;
use crate::step::{Made, StepResult};

/// The results and promotions of a run's steps in their order; `run` is its name as scripts know it.
pub(crate) fn past(
    run: &Arc<str>,
    folder: &Folder,
    steps: &[(Slot, Manifest)],
    promotions: &[Generation],
) -> Result<Vec<Past>, RunError> {
    let mut networks = PastNetworks { folder, networks: Vec::new() };
    let mut past = Vec::new();
    let mut promotions = promotions.iter().peekable();
    for (index, (slot, manifest)) in steps.iter().enumerate() {
        while let Some(promoted) =
            promotions.next_if(|next| next.steps.is_some_and(|steps| steps as usize <= index))
        {
            past.push(networks.promoted(promoted)?);
        }
        let unknown = || networks.damaged(format!("it has a step of the unknown kind {}", manifest.kind));
        let kind = kind(&manifest.kind).ok_or_else(unknown)?;
        let result = kind.recall(manifest, Made::of(run, *slot, manifest), &networks)?;
        if let StepResult::Network(network) = &result {
            networks.networks.push(network.clone());
        }
        past.push(Past::Step(result));
    }
    for promoted in promotions {
        past.push(networks.promoted(promoted)?);
    }
    Ok(past)
}

/// The nets that the steps of a run have made so far.
pub struct PastNetworks<'a> {
    folder: &'a Folder,
    networks: Vec<Network>,
}

impl PastNetworks<'_> {
    /// An error of the run that the steps are of.
    pub fn damaged(&self, cause: impl std::fmt::Display) -> RunError {
        RunError::Damaged { path: self.folder.root().to_owned(), cause: cause.to_string() }
    }

    /// The net that a step has read under a name.
    pub fn read(&self, manifest: &Manifest, name: &str) -> Result<&Network, RunError> {
        let nameless = || self.damaged(format!("step {} does not say its {name}", manifest.step));
        self.network(manifest.input(name).ok_or_else(nameless)?)
    }

    /// The last net with a digest.
    fn network(&self, digest: &str) -> Result<&Network, RunError> {
        let found = self.networks.iter().rfind(|network| network.0.digest == digest);
        found.ok_or_else(|| self.damaged(format!("none of its first steps made the net {digest}")))
    }

    fn promoted(&self, promoted: &Generation) -> Result<Past, RunError> {
        let network = self.network(&promoted.blake3)?.clone();
        Ok(Past::Promoted { network, generation: promoted.generation })
    }
}
