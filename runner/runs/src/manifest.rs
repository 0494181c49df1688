//! The manifest of a finished step: what was done, from what, and which files came of it.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use dc0_core::params::Value;
use dc0_core::store::FileEntry;

use super::document;
use super::error::RunError;
use super::folder::Folder;
use super::identity::{Identity, Input, StepCall};
use super::slot::{Series, Slot};

/// The version of manifests and shard notes.
pub(super) const VERSION: u32 = 1;

/// A finished step. Names are sorted and nothing depends on time, so equal steps have equal manifests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// The step's identity, 64 hex digits.
    pub step: String,
    /// What was done.
    pub kind: String,
    /// The version of doing it.
    pub kind_version: u32,
    /// All parameters, the defaults included.
    pub params: Value,
    /// Everything that was read.
    pub inputs: Vec<Input>,
    /// The run's seed.
    pub seed: u64,
    /// Every file that was written, relative to the run.
    pub files: Vec<FileEntry>,
    /// The result in a few numbers.
    pub summary: Value,
}

/// What a step hands over when it is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Every file that was written.
    pub files: Vec<FileEntry>,
    /// The result in a few numbers.
    pub summary: Value,
}

impl Manifest {
    /// Of a step that has just been done.
    pub fn new(call: &StepCall, identity: &Identity, seed: u64, product: Product) -> Self {
        Self {
            version: VERSION,
            step: identity.digits().to_owned(),
            kind: call.kind.to_owned(),
            kind_version: call.version,
            params: call.params.clone(),
            inputs: call.inputs.clone(),
            seed,
            files: product.files,
            summary: product.summary,
        }
    }

    /// The call that became the step; none for a kind that this program does not know.
    pub fn call(&self) -> Option<StepCall> {
        let (kind, _) = Series::of_kind(&self.kind)?;
        let (params, inputs) = (self.params.clone(), self.inputs.clone());
        Some(StepCall { kind, version: self.kind_version, params, inputs })
    }

    /// The digest of something that was read, by its name.
    pub fn input(&self, name: &str) -> Option<&str> {
        self.inputs.iter().find(|input| input.name == name).map(|input| input.digest.as_str())
    }

    /// Reads a manifest.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let text = fs::read_to_string(path).map_err(RunError::io("read", path))?;
        let manifest: Self = document::parsed(&text, path)?;
        match Identity::from_digits(&manifest.step) {
            Some(_) => Ok(manifest),
            None => Err(RunError::damaged(path, "the step is not 64 hex digits")),
        }
    }

    /// Writes the manifest whole; the step is finished from then on.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        document::write(path, self)
    }

    /// The step's identity.
    pub fn identity(&self) -> Identity {
        Identity::from_digits(&self.step).expect("checked when the manifest was read")
    }

    /// The name of the manifest's file; `order` is the step's place in the script.
    pub fn file_name(&self, order: u32) -> String {
        format!("{order:04}-{}-{}.json", self.kind, self.identity().short())
    }

    /// The step's place in the script, as the name of its manifest's file says.
    pub fn order_of(path: &Path) -> Option<u32> {
        path.file_name()?.to_str()?.split('-').next()?.parse().ok()
    }

    /// What was done, as the name of a manifest's file says.
    pub fn kind_of(path: &Path) -> Option<&str> {
        let (kind, _) = path.file_name()?.to_str()?.split_once('-')?.1.rsplit_once('-')?;
        Some(kind)
    }

    /// The weights of the net that the step made, if it made one.
    pub fn weights(&self) -> Option<&FileEntry> {
        let (_, series) = Series::of_kind(&self.kind)?;
        self.files.first().filter(|_| series == Series::Networks)
    }

    /// The place of its files; `None` where they are not those of a step.
    pub fn slot(&self) -> Option<Slot> {
        Slot::of(&self.files.first()?.path).map(|(slot, _, _)| slot)
    }

    /// Looks whether every file is there, and gives the first that is not. A file of another size is an error: something
    /// else wrote it. Contents are compared with their digests when they are read.
    pub fn missing_file(&self, folder: &Folder) -> Result<Option<String>, RunError> {
        for entry in &self.files {
            let path = folder.path(&entry.path);
            match size(&path)? {
                None => return Ok(Some(entry.path.clone())),
                Some(found) if found != entry.bytes => {
                    return Err(RunError::Changed { path, expected: entry.bytes, found });
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }
}

/// The size of a file, if it is there.
pub(super) fn size(path: &Path) -> Result<Option<u64>, RunError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(RunError::io("look at", path)(cause)),
    }
}
