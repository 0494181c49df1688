//! The nets that the first steps of a fork have made, for later steps that read them.

use dc0_core::network::checkpoint::{Checkpoint, LoadedCheckpoint};
use dc0_runs::{Folder, Manifest, RunError};

use crate::handles::Network;

/// The nets that the steps of a run have made so far.
pub struct PastNetworks<'a> {
    folder: &'a Folder,
    networks: Vec<Network>,
}

impl<'a> PastNetworks<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self { folder, networks: Vec::new() }
    }

    pub(crate) fn add(&mut self, network: Network) {
        self.networks.push(network);
    }

    /// An error that names the run as damaged.
    pub fn damaged(&self, cause: impl std::fmt::Display) -> RunError {
        RunError::damaged(self.folder.root(), cause)
    }

    /// The net that a step made.
    pub(crate) fn weights(&self, manifest: &Manifest) -> Result<LoadedCheckpoint, RunError> {
        let missing = || self.damaged(format!("step {} names no weights", manifest.step));
        let file = self.folder.path(&manifest.weights().ok_or_else(missing)?.path);
        Checkpoint::load(&file).map_err(|cause| self.damaged(cause))
    }

    /// The net that a step has as the input of this name.
    pub fn read(&self, manifest: &Manifest, name: &str) -> Result<&Network, RunError> {
        let missing = || self.damaged(format!("step {} does not say its {name}", manifest.step));
        self.network(manifest.input(name).ok_or_else(missing)?)
    }

    /// The last net with a digest.
    pub(crate) fn network(&self, digest: &str) -> Result<&Network, RunError> {
        let found = self.networks.iter().rfind(|network| network.0.digest == digest);
        found.ok_or_else(|| self.damaged(format!("none of its first steps made the net {digest}")))
    }
}
