//! Reads the manifests of a run's finished steps.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use crate::error::{Remedy, RunError};
use crate::files::names_if_there;
use crate::folder::Folder;
use crate::history::RecordedManifests;
use crate::manifest::Manifest;

/// A finished step, with the file of its manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedStep {
    /// The manifest's file, whose name begins with the step's position in the script.
    pub path: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
}

impl FinishedStep {
    /// Reads a manifest; `None` if it is gone, since a run in progress moves those of superseded steps.
    pub fn read(path: PathBuf) -> Result<Option<Self>, RunError> {
        let Some(step) = Self::read_any(path)? else { return Ok(None) };
        let expected = step.manifest.file_name(step.order().unwrap_or_default());
        if step.path.file_name().is_none_or(|name| *name != *expected) {
            let (kind, step_name) = (&step.manifest.kind, step.manifest.identity());
            let cause = format!("it is the manifest of another step, {kind} {}", step_name.short());
            return Err(Remedy::Step.damaged(&step.path, cause));
        }
        Ok(Some(step))
    }

    /// As [`read`](Self::read), from a file of any name.
    pub(crate) fn read_any(path: PathBuf) -> Result<Option<Self>, RunError> {
        match Manifest::read(&path) {
            Err(RunError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(Self { path, manifest: read? })),
        }
    }

    /// The error of a manifest that is there twice: only one can have the step's position in the script.
    pub(crate) fn repeated(&self) -> RunError {
        let step = self.manifest.identity();
        let cause = format!("the step {} has another manifest, too", step.short());
        Remedy::Repeated.damaged(&self.path, cause)
    }

    /// Checks that the manifest is the one that the journal has recorded for the step, if it has recorded any.
    pub(crate) fn check(&self, recorded: &RecordedManifests) -> Result<(), RunError> {
        let found = self.manifest.digest();
        match recorded.digest(self.manifest.identity().short()) {
            Some(expected) if expected != found => {
                let cause = format!("its digest is {found}, not {expected} as journal.jsonl says");
                Err(Remedy::Step.damaged(&self.path, cause))
            }
            _ => Ok(()),
        }
    }

    /// The step's position in the script; `None` if the file name does not begin with a number.
    pub fn order(&self) -> Option<u32> {
        Manifest::order_of(&self.path)
    }
}

/// The manifests of steps that have an earlier one, too, in the order of the script. A kill can leave both while a step moves.
pub(crate) fn twice(steps: &[FinishedStep]) -> Vec<&FinishedStep> {
    let mut seen = BTreeSet::new();
    steps.iter().filter(|step| !seen.insert(&step.manifest.step)).collect()
}

/// The manifest files of a run's finished steps, in the order of its script; this differs from the order of names from step
/// 10,000 on. A run that does not exist has none.
pub fn manifest_files(folder: &Folder) -> Result<Vec<PathBuf>, RunError> {
    let steps = folder.steps();
    let paths = names_if_there(&steps)?.into_iter().map(|name| steps.join(name));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    paths.sort_by_key(|path| Manifest::order_of(path).unwrap_or_default());
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::manifest_files;
    use crate::folder::Folder;
    use crate::manifest::Manifest;

    #[test]
    fn steps_beyond_ten_thousand_are_sorted_by_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = Folder::at(folder.path());
        assert!(manifest_files(&run).expect("no run has no steps").is_empty());
        std::fs::create_dir_all(run.all_work()).expect("a folder");
        for name in ["0002-train-b.json", "10000-arena-c.json", "9999-self_play-a.json", "notes.txt"] {
            std::fs::write(run.steps().join(name), "").expect("a file");
        }
        let files = manifest_files(&run).expect("lists");
        let found = files.iter().map(|path| (Manifest::order_of(path), Manifest::kind_of(path)));
        let expected = [(2, "train"), (9999, "self_play"), (10_000, "arena")]
            .map(|(order, kind)| (Some(order), Some(kind)));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
