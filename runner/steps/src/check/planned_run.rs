//! The state of a planned run: the numbers of its nets and iterations, and its finished and begun steps.

use std::sync::Arc;

use dc0_core::store::FileEntry;

use dc0_runs::view::FinishedSteps;
use dc0_runs::{
    Folder, Identity, Manifest, Numbers, Occurrences, PartialProgress, RunError, Series, Slot, StepCall,
    StepWorkspace,
};

/// A run in a dry run.
#[derive(Debug, Default)]
pub(super) struct PlannedRun {
    /// Its folder, which may not exist.
    folder: Option<Folder>,
    /// Its folder as scripts know it.
    pub(super) name: Arc<str>,
    /// The run's seed.
    seed: u64,
    occurrences: Occurrences,
    /// Finished steps of the run, and of the runs from which it takes over steps.
    finished: Arc<FinishedSteps>,
    /// The steps so far; `None` for those that are not finished.
    steps: Vec<Option<Manifest>>,
    numbers: Numbers,
    /// Estimated seconds of the steps so far.
    pub(super) seconds: f64,
}

/// A step of a planned run.
#[derive(Debug)]
pub(super) struct PlannedStep {
    /// The folder of its run, as scripts know it.
    pub(super) run: Arc<str>,
    pub(super) identity: Identity,
    /// The result, if the step is finished.
    pub(super) manifest: Option<Manifest>,
    /// The parts of it that a killed process had done, if any.
    pub(super) begun: Option<PartialProgress>,
}

impl PlannedRun {
    pub(super) fn new(folder: Folder, name: &str, seed: u64, finished: Arc<FinishedSteps>) -> Self {
        Self { folder: Some(folder), name: name.into(), seed, finished, ..Self::default() }
    }

    /// The steps so far; `None` for those whose files are not all in the run's own folder.
    pub(super) fn steps(&self) -> Result<Vec<Option<Manifest>>, RunError> {
        let in_folder = |manifest: &Option<Manifest>| match (manifest, &self.folder) {
            (Some(manifest), Some(folder)) => {
                Ok(manifest.missing_file(folder)?.is_none().then(|| manifest.clone()))
            }
            _ => Ok(None),
        };
        self.steps.iter().map(in_folder).collect()
    }

    /// The number of steps so far.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The next number of a series.
    pub(super) fn next(&mut self, series: Series) -> u32 {
        self.numbers.next(series).number
    }

    /// Adds the finished steps that a fork begins with.
    pub(super) fn begin(&mut self, steps: &[(Slot, Manifest)]) {
        for (slot, manifest) in steps {
            self.numbers.next(slot.series);
            self.steps.push(Some(manifest.clone()));
            if let Some(call) = manifest.call() {
                self.occurrences.next(&call, manifest.seed);
            }
        }
    }

    /// Adds the step of a call; `begun` reads what a killed process had done of it.
    pub(super) fn plan_step(
        &mut self,
        call: &StepCall,
        begun: impl FnOnce(&StepWorkspace) -> Result<PartialProgress, RunError>,
    ) -> Result<PlannedStep, RunError> {
        let identity = self.occurrences.next(call, self.seed);
        let manifest = self.finished.get(&identity).cloned();
        self.steps.push(manifest.clone());
        let unfinished = match (&manifest, &self.folder) {
            (None, Some(folder)) => StepWorkspace::of_unfinished(folder, &identity, self.seed)?,
            _ => None,
        };
        let begun = unfinished.as_ref().map(begun).transpose()?.filter(|begun| begun.parts > 0);
        Ok(PlannedStep { run: Arc::clone(&self.name), identity, manifest, begun })
    }
}

impl PlannedStep {
    /// The files of the step's result. Mocked files have digests that depend on the step, so that later steps get distinct
    /// identities, as they do in a real run.
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
