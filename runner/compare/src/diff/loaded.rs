//! A run as its folder tells it.

use std::{fs, io};

use dc0_core::durable;

use super::CompareError;
use dc0_runs::{Edition, Folder, Generations, Journal, Ledger, Manifest, Record, RunError, Slot};

/// A finished step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its place in the script.
    pub order: u32,
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
        let absent = || RunError::Absent { folder: folder.root().to_owned() };
        let record = Record::read(&folder)?.ok_or_else(absent)?;
        let edition = Edition::last(&folder, &record)?;
        let (steps, ledger) = (steps(&folder)?, Journal::ledger(&folder)?);
        let generation = Generations::open(&folder)?.all().last().map(|last| last.generation);
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
                let cause = "its content is not what the finished step wrote".to_owned();
                return Err(RunError::Damaged { path, cause });
            }
        }
        Ok(())
    }
}

fn steps(folder: &Folder) -> Result<Vec<Step>, RunError> {
    let path = folder.steps();
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(RunError::io("list", &path)(cause)),
    };
    let mut steps = Vec::new();
    for entry in entries {
        let path = entry.map_err(RunError::io("list", &path))?.path();
        if path.extension().is_some_and(|kind| kind == "json") {
            let manifest = Manifest::read(&path)?;
            let damaged = |cause: &str| RunError::Damaged { path: path.clone(), cause: cause.to_owned() };
            let order =
                Manifest::order_of(&path).ok_or_else(|| damaged("its name does not begin with a number"))?;
            let slot =
                manifest.files.first().and_then(|entry| Slot::of(&entry.path)).map(|(slot, _, _)| slot);
            let slot = slot.ok_or_else(|| damaged("its files are not those of a step"))?;
            steps.push(Step { order, slot, manifest });
        }
    }
    steps.sort_by(|a, b| (a.order, &a.manifest.step).cmp(&(b.order, &b.manifest.step)));
    Ok(steps)
}
