//! A run, loaded from its folder.

use std::collections::BTreeMap;
use std::io;

use dc0_core::{durable, regular};

use super::CompareError;
use dc0_runs::view::FinishedStep;
use dc0_runs::{Folder, Ledger, Manifest, Record, RunError, RunView, ScriptSnapshot, Slot};

/// A finished step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The slot of its files.
    pub slot: Slot,
    /// Its manifest.
    pub manifest: Manifest,
}

impl Step {
    /// Its name for people, such as `iteration 0003`.
    pub fn name(&self) -> String {
        self.slot.name()
    }
}

/// The names of the steps that made files, by the digests by which other steps may refer to them: of each file, and of all files of a
/// step together.
pub type MadeBy = BTreeMap<String, String>;

/// A run with its record, script, steps and costs.
#[derive(Debug)]
pub struct Loaded {
    /// The name given by the user.
    pub name: String,
    /// Its folder.
    pub folder: Folder,
    /// Its record.
    pub record: Record,
    /// The script snapshot of its last opening.
    pub snapshot: ScriptSnapshot,
    /// Its finished steps, in script order.
    pub steps: Vec<Step>,
    /// What made the files of the steps.
    pub made_by: MadeBy,
    /// The costs of the steps.
    pub ledger: Ledger,
    /// The number of its last generation, if any.
    pub generation: Option<u32>,
}

impl Loaded {
    /// Reads a run.
    pub fn read(name: &str, folder: Folder) -> Result<Self, CompareError> {
        let run = RunView::new(folder.clone());
        let record = run.record()?.ok_or_else(|| RunError::Absent { folder: folder.root().to_owned() })?;
        let history = run.history()?;
        let snapshot = ScriptSnapshot::last(&folder, &record, &history)?;
        let mut steps = run.steps()?;
        steps.sort_by(|a, b| (a.order(), &a.manifest.step).cmp(&(b.order(), &b.manifest.step)));
        let steps: Vec<Step> = steps.into_iter().map(with_slot).collect::<Result<_, _>>()?;
        let made_by = steps.iter().flat_map(made_by).collect();
        let ledger = Ledger::from_history(&history);
        let generation = run.generations()?.last().map(|last| last.generation);
        Ok(Self { name: name.to_owned(), folder, record, snapshot, steps, made_by, ledger, generation })
    }
}

impl Loaded {
    /// Fails if a file of a finished step is missing or has changed.
    pub fn check_files(&self) -> Result<(), RunError> {
        for entry in self.steps.iter().flat_map(|step| &step.manifest.files) {
            let path = self.folder.path(&entry.path);
            let content = match regular::read(&path) {
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

/// A finished step with its slot, which is needed to compare steps.
fn with_slot(FinishedStep { path, manifest }: FinishedStep) -> Result<Step, RunError> {
    let damaged = |cause: &str| RunError::damaged(&path, cause);
    Manifest::order_of(&path).ok_or_else(|| damaged("its name does not begin with a number"))?;
    let slot = manifest.slot().ok_or_else(|| damaged("its files are not those of a step"))?;
    Ok(Step { slot, manifest })
}

/// The digests of a step's files, each with the step's name.
fn made_by(step: &Step) -> impl Iterator<Item = (String, String)> + use<> {
    let files: Vec<String> = step.manifest.files.iter().map(|entry| entry.blake3.clone()).collect();
    let together = durable::digest(files.join("\n").as_bytes());
    let name = step.name();
    files.into_iter().chain([together]).map(move |digest| (digest, name.clone()))
}
