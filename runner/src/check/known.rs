//! What a planned run has come to: the numbers of its nets and iterations, and the steps that are finished already.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use dc0_core::store::FileEntry;

use crate::run::{Folder, Identity, Manifest, Occurrences, Record, RunError, StepCall};

/// Finished steps by what they are.
pub(crate) type Finished = BTreeMap<Identity, Manifest>;

/// A run while it is planned.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The seed of all randomness.
    seed: u64,
    occurrences: Occurrences,
    /// Of the run itself and of those that it takes steps over from.
    finished: Arc<Finished>,
    networks: u32,
    iterations: u32,
    analyses: u32,
}

/// One step as the plan knows it.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) identity: Identity,
    /// The result, if the step is finished.
    pub(super) manifest: Option<Manifest>,
}

impl Known {
    pub(super) fn new(seed: u64, finished: Arc<Finished>) -> Self {
        Self { seed, finished, ..Self::default() }
    }

    pub(super) fn next_network(&mut self) -> u32 {
        self.networks += 1;
        self.networks - 1
    }

    pub(super) fn next_iteration(&mut self) -> u32 {
        self.iterations += 1;
        self.iterations - 1
    }

    pub(super) fn next_analysis(&mut self) -> u32 {
        self.analyses += 1;
        self.analyses - 1
    }

    /// The step that a call becomes.
    pub(super) fn place(&mut self, call: &StepCall) -> Placed {
        let identity = self.occurrences.next(call, self.seed);
        let manifest = self.finished.get(&identity).cloned();
        Placed { identity, manifest }
    }
}

impl Placed {
    /// The files of the step's result; stand-ins with digests of their own, so that later steps differ as they will in earnest.
    pub(super) fn files(&self, names: &[String]) -> Vec<FileEntry> {
        if let Some(manifest) = &self.manifest {
            return manifest.files.clone();
        }
        let entry = |name: &String| {
            let blake3 = dc0_core::durable::digest(format!("{} {name}", self.identity.digits()).as_bytes());
            FileEntry { path: name.clone(), rows: 0, bytes: 0, blake3 }
        };
        names.iter().map(entry).collect()
    }
}

/// Adds the finished steps of a run whose files are all there. A run that is not there has none.
pub(super) fn collect(folder: &Folder, finished: &mut Finished) -> Result<(), RunError> {
    let Ok(entries) = fs::read_dir(folder.steps()) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(RunError::io("list", &folder.steps()))?.path();
        if path.extension().is_some_and(|kind| kind == "json") {
            let manifest = Manifest::read(&path)?;
            if manifest.missing_file(folder)?.is_none() {
                finished.insert(manifest.identity(), manifest);
            }
        }
    }
    Ok(())
}

/// The seed that a run was created with, if it is there.
pub(super) fn seed_of(folder: &Folder) -> Result<Option<u64>, RunError> {
    Ok(Record::read(folder)?.map(|record| record.seed))
}
