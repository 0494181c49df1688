//! What the steps that a fork begins with came to, as scripts hold it.

use std::sync::Arc;

use dc0_core::network::{GrowParams, NetworkSpec};
use dc0_core::params::{Params, read};

use crate::handles::{Games, GamesFields, Network, NetworkFields, Verdict, VerdictFields};
use crate::host::Past;
use dc0_runs::{Folder, Generation, Manifest, RunError, Slot};

/// The nets, games, matches and promotions of a run in their order; `run` is its name as scripts know it.
pub(crate) fn past(
    run: &Arc<str>,
    folder: &Folder,
    steps: &[(Slot, Manifest)],
    promotions: &[Generation],
) -> Result<Vec<Past>, RunError> {
    let mut told = Told { run, folder, networks: Vec::new(), past: Vec::new() };
    let mut promotions = promotions.iter().peekable();
    for (at, (slot, manifest)) in steps.iter().enumerate() {
        while let Some(promoted) =
            promotions.next_if(|next| next.steps.is_some_and(|steps| steps as usize <= at))
        {
            told.promote(promoted)?;
        }
        told.step(*slot, manifest)?;
    }
    promotions.try_for_each(|promoted| told.promote(promoted))?;
    Ok(told.past)
}

struct Told<'a> {
    run: &'a Arc<str>,
    folder: &'a Folder,
    networks: Vec<Network>,
    past: Vec<Past>,
}

impl Told<'_> {
    fn damaged(&self, cause: impl std::fmt::Display) -> RunError {
        RunError::Damaged { path: self.folder.root().to_owned(), cause: cause.to_string() }
    }

    /// The last net with a digest.
    fn network(&self, digest: &str) -> Result<&Network, RunError> {
        let found = self.networks.iter().rfind(|network| network.0.digest == digest);
        found.ok_or_else(|| self.damaged(format!("none of its first steps made the net {digest}")))
    }

    /// The net that a step has read.
    fn read(&self, manifest: &Manifest, name: &str) -> Result<&Network, RunError> {
        let digest = manifest.input(name);
        self.network(
            digest.ok_or_else(|| self.damaged(format!("step {} does not say its {name}", manifest.step)))?,
        )
    }

    fn promote(&mut self, promoted: &Generation) -> Result<(), RunError> {
        let network = self.network(&promoted.blake3)?.clone();
        self.past.push(Past::Promoted { network, generation: promoted.generation });
        Ok(())
    }

    fn step(&mut self, slot: Slot, manifest: &Manifest) -> Result<(), RunError> {
        let happened = match manifest.kind.as_str() {
            "self_play" => self.games(slot, manifest)?,
            "arena" => self.verdict(manifest)?,
            "search" => Past::Analysis,
            _ => {
                let network = self.made(slot, manifest)?;
                self.networks.push(network.clone());
                Past::Network(network)
            }
        };
        self.past.push(happened);
        Ok(())
    }

    fn made(&self, slot: Slot, manifest: &Manifest) -> Result<Network, RunError> {
        let spec = match manifest.kind.as_str() {
            "network" => self.params::<NetworkSpec>(manifest)?,
            "grow" => {
                let start = self.read(manifest, "start")?;
                self.params::<GrowParams>(manifest)?
                    .target(&start.0.spec)
                    .map_err(|error| self.damaged(error))?
            }
            _ => self.read(manifest, "start")?.0.spec.clone(),
        };
        let weights = manifest.files.first().ok_or_else(|| self.damaged("a net has no file"))?;
        Ok(Network(Arc::new(NetworkFields {
            run: Arc::clone(self.run),
            number: slot.number,
            digest: weights.blake3.clone(),
            spec,
            file: weights.path.clone(),
            summary: manifest.summary.clone(),
        })))
    }

    fn params<P: Params>(&self, manifest: &Manifest) -> Result<P, RunError> {
        read(&manifest.kind, &manifest.params).map_err(|errors| self.damaged(errors))
    }

    fn games(&self, slot: Slot, manifest: &Manifest) -> Result<Past, RunError> {
        let fields = GamesFields {
            run: Arc::clone(self.run),
            iteration: slot.number,
            network: self.read(manifest, "network")?.0.number,
            step: manifest.identity().short().to_owned(),
            files: manifest.files.clone(),
            summary: manifest.summary.clone(),
        };
        Ok(Past::Games(Games(Arc::new(fields))))
    }

    fn verdict(&self, manifest: &Manifest) -> Result<Past, RunError> {
        let first = self.read(manifest, "first")?.name();
        let second = manifest.input("second").unwrap_or_default();
        let second = self.network(second).map_or_else(|_| second.to_owned(), Network::name);
        let summary = manifest.summary.clone();
        Ok(Past::Match(Verdict(Arc::new(VerdictFields { first, second, summary }))))
    }
}
