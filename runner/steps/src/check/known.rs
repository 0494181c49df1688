//! What a planned run has come to: the numbers of its nets and iterations, and the steps that are finished or begun already.

use std::collections::BTreeMap;
use std::sync::Arc;

use dc0_core::store::FileEntry;

use dc0_runs::view::FinishedSteps;
use dc0_runs::{Begun, Folder, Identity, Manifest, Occurrences, RunError, Series, Slot, StepCall, Workplace};

/// A run while it is planned.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Where it is, or would be.
    folder: Option<Folder>,
    /// Its folder as scripts know it.
    pub(super) name: Arc<str>,
    /// The seed of all randomness.
    seed: u64,
    occurrences: Occurrences,
    /// Of the run itself and of those that it takes steps over from.
    finished: Arc<FinishedSteps>,
    /// The steps so far, with their results where they are finished.
    steps: Vec<Option<Manifest>>,
    /// How many there are of each.
    numbers: BTreeMap<&'static str, u32>,
}

/// One step as the plan knows it.
#[derive(Debug)]
pub(super) struct Placed {
    /// The folder of its run, as scripts know it.
    pub(super) run: Arc<str>,
    pub(super) identity: Identity,
    /// The result, if the step is finished.
    pub(super) manifest: Option<Manifest>,
    /// What a kill left of it, if that is something.
    pub(super) begun: Option<Begun>,
}

impl Known {
    pub(super) fn new(folder: Folder, name: &str, seed: u64, finished: Arc<FinishedSteps>) -> Self {
        Self { folder: Some(folder), name: name.into(), seed, finished, ..Self::default() }
    }

    /// The steps so far; `None` for those whose files do not lie in the run's own folder.
    pub(super) fn steps(&self) -> Result<Vec<Option<Manifest>>, RunError> {
        let here = |manifest: &Option<Manifest>| match (manifest, &self.folder) {
            (Some(manifest), Some(folder)) => {
                Ok(manifest.missing_file(folder)?.is_none().then(|| manifest.clone()))
            }
            _ => Ok(None),
        };
        self.steps.iter().map(here).collect()
    }

    /// The next number of a series.
    pub(super) fn next(&mut self, series: Series) -> u32 {
        let count = self.numbers.entry(series.folders()[0]).or_default();
        *count += 1;
        *count - 1
    }

    /// Begins with steps that are finished.
    pub(super) fn begin(&mut self, steps: &[(Slot, Manifest)]) {
        for (slot, manifest) in steps {
            self.numbers.insert(slot.series.folders()[0], slot.number + 1);
            self.steps.push(Some(manifest.clone()));
            if let Some(call) = manifest.call() {
                self.occurrences.next(&call, manifest.seed);
            }
        }
    }

    /// The step that a call becomes; `begun` looks at what a kill left of it.
    pub(super) fn place(
        &mut self,
        call: &StepCall,
        begun: impl FnOnce(&Workplace) -> Result<Begun, RunError>,
    ) -> Result<Placed, RunError> {
        let identity = self.occurrences.next(call, self.seed);
        let manifest = self.finished.get(&identity).cloned();
        self.steps.push(manifest.clone());
        let unfinished = match (&manifest, &self.folder) {
            (None, Some(folder)) => Workplace::of_unfinished(folder, &identity, self.seed)?,
            _ => None,
        };
        let begun = unfinished.as_ref().map(begun).transpose()?.filter(|begun| begun.parts > 0);
        Ok(Placed { run: Arc::clone(&self.name), identity, manifest, begun })
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
