//! The results of the steps that a fork begins with, as scripts hold them.

use std::sync::Arc;

use dc0_runs::{Folder, Generation, Manifest, RunError, Slot};

use crate::host::PastEvent;
use crate::kinds::kind;
use crate::past_networks::PastNetworks;
use crate::step::{StepOutput, StepResult};

/// The results of steps and the promotions in order; `run` is the folder of the run as scripts know it.
pub(crate) fn past(
    run: &Arc<str>,
    folder: &Folder,
    steps: &[(Slot, Manifest)],
    promotions: &[Generation],
) -> Result<Vec<PastEvent>, RunError> {
    let mut networks = PastNetworks::new(folder);
    let mut past = Vec::new();
    let mut promotions = promotions.iter().peekable();
    for (index, (slot, manifest)) in steps.iter().enumerate() {
        while let Some(promoted) =
            promotions.next_if(|next| next.steps.is_some_and(|steps| steps as usize <= index))
        {
            past.push(promoted_net(&networks, promoted)?);
        }
        let unknown = || networks.damaged(format!("it has a step of the unknown kind {}", manifest.kind));
        let kind = kind(&manifest.kind).ok_or_else(unknown)?;
        let result = kind.restore(manifest, StepOutput::of(run, *slot, manifest), &networks)?;
        if let StepResult::Network(network) = &result {
            networks.add(network.clone());
        }
        past.push(PastEvent::Step(result));
    }
    for promoted in promotions {
        past.push(promoted_net(&networks, promoted)?);
    }
    Ok(past)
}

fn promoted_net(networks: &PastNetworks<'_>, promoted: &Generation) -> Result<PastEvent, RunError> {
    let network = networks.network(&promoted.blake3)?.clone();
    Ok(PastEvent::Promoted { network, generation: promoted.generation })
}
