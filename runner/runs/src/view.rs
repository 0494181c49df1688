//! What a run's folder says of its finished steps.

use std::collections::BTreeMap;
use std::fs;

use crate::error::RunError;
use crate::folder::Folder;
use crate::identity::Identity;
use crate::manifest::Manifest;
use crate::record::Record;

/// Finished steps by what they are.
pub type FinishedSteps = BTreeMap<Identity, Manifest>;

/// Every finished step of a run.
pub fn finished_steps(folder: &Folder) -> Result<FinishedSteps, RunError> {
    let mut finished = FinishedSteps::new();
    collect(folder, &mut finished)?;
    Ok(finished)
}

/// Adds the finished steps of a run whose files are all there. A run that is not there has none.
pub fn collect(folder: &Folder, finished: &mut FinishedSteps) -> Result<(), RunError> {
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

/// Adds the finished steps of a run that other steps have put aside: it takes them back where the script comes to them again.
pub fn collect_aside(folder: &Folder, finished: &mut FinishedSteps) -> Result<(), RunError> {
    let Ok(entries) = fs::read_dir(folder.superseded()) else { return Ok(()) };
    for entry in entries {
        let entry = entry.map_err(RunError::io("list", &folder.superseded()))?;
        collect(&Folder::of_run(&folder.superseded(), &entry.file_name().to_string_lossy())?, finished)?;
    }
    Ok(())
}

/// The seed that a run was created with, if it is there.
pub fn seed_of(folder: &Folder) -> Result<Option<u64>, RunError> {
    Ok(Record::read(folder)?.map(|record| record.seed))
}
