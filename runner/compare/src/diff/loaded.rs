//! A run as its folder tells it.

use std::{fs, io};

use dc0_core::durable;

use super::CompareError;
use dc0_runs::view::FinishedStep;
use dc0_runs::{Edition, Folder, Ledger, Manifest, Record, RunError, RunView, Slot};

/// A finished step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where its files lie.
    pub slot: Slot,
    /// What was done.
    pub manifest: Manifest,
}

impl Step {
    /// As people name it: `iteration 0003`.
    pub fn name(&self) -> String {
        self.slot.name()
    }
}

/// All that is known of a run.
#[derive(Debug)]
pub struct Loaded {
    /// As the user named it.
    pub name: String,
    /// Its folder.
    pub folder: Folder,
    /// What it is.
    pub record: Record,
    /// Its script when it was last opened.
    pub edition: Edition,
    /// Its finished steps in the order of the script.
    pub steps: Vec<Step>,
    /// What they cost.
    pub ledger: Ledger,
    /// The number of its last generation, if a net was made.
    pub generation: Option<u32>,
}

impl Loaded {
    /// Reads a run.
    pub fn read(name: &str, folder: Folder) -> Result<Self, CompareError> {
        let run = RunView::new(folder.clone());
        let record = run.record()?.ok_or_else(|| RunError::Absent { folder: folder.root().to_owned() })?;
        let history = run.history()?;
        let edition = Edition::last(&folder, &record, &history)?;
        let mut steps = run.steps()?;
        steps.sort_by(|a, b| (a.order(), &a.manifest.step).cmp(&(b.order(), &b.manifest.step)));
        let steps = steps.into_iter().map(placed).collect::<Result<_, _>>()?;
        let ledger = Ledger::of(&history);
        let generation = run.generations()?.last().map(|last| last.generation);
        Ok(Self { name: name.to_owned(), folder, record, edition, steps, ledger, generation })
    }
}

impl Loaded {
    /// An error if a file of a finished step is gone, or not as it was written.
    pub fn check_files(&self) -> Result<(), RunError> {
        for entry in self.steps.iter().flat_map(|step| &step.manifest.files) {
            let path = self.folder.path(&entry.path);
            let content = match fs::read(&path) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Err(RunError::Lost { path }),
                other => other.map_err(RunError::io("read", &path))?,
            };
            let found = content.len() as u64;
            if found != entry.bytes {
                return Err(RunError::Changed { path, expected: entry.bytes, found });
            }
            if durable::digest(&content) != entry.blake3 {
                return Err(RunError::damaged(&path, "its content is not what the finished step wrote"));
            }
        }
        Ok(())
    }
}

/// A finished step in its place, which compared steps must have.
fn placed(FinishedStep { path, manifest }: FinishedStep) -> Result<Step, RunError> {
    let damaged = |cause: &str| RunError::damaged(&path, cause);
    Manifest::order_of(&path).ok_or_else(|| damaged("its name does not begin with a number"))?;
    let slot = manifest.slot().ok_or_else(|| damaged("its files are not those of a step"))?;
    Ok(Step { slot, manifest })
}
