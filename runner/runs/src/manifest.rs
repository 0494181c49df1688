//! The manifest of a finished step: its call, inputs, output files and result.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use dc0_core::durable;
use dc0_core::params::Value;
use dc0_core::store::FileEntry;

use super::document;
use super::error::{Remedy, RunError};
use super::folder::Folder;
use super::identity::{Identity, Input, StepCall};
use super::kind::{StepContent, StepKind};
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
    /// Its kind.
    pub kind: String,
    /// The version of the kind.
    pub kind_version: u32,
    /// All parameters, the defaults included.
    pub params: Value,
    /// Everything that the step read.
    pub inputs: Vec<Input>,
    /// The run's seed.
    pub seed: u64,
    /// Every file that it wrote, relative to the run.
    pub files: Vec<FileEntry>,
    /// The result in a few numbers.
    pub summary: Value,
}

/// The output of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Every file that it wrote.
    pub files: Vec<FileEntry>,
    /// The result in a few numbers.
    pub summary: Value,
}

impl Manifest {
    /// The manifest of a step that has just been done.
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

    /// The call that became the step; `None` if this program does not know the kind.
    pub fn call(&self) -> Option<StepCall> {
        let kind = StepKind::named(&self.kind)?.name;
        let (params, inputs) = (self.params.clone(), self.inputs.clone());
        Some(StepCall { kind, version: self.kind_version, params, inputs })
    }

    /// The digest of an input, by its name.
    pub fn input(&self, name: &str) -> Option<&str> {
        self.inputs.iter().find(|input| input.name == name).map(|input| input.digest.as_str())
    }

    /// Reads a manifest.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let gone = || RunError::io("read", path)(io::ErrorKind::NotFound.into());
        let manifest: Self = document::read_sealed(path, Remedy::Step)?.ok_or_else(gone)?;
        match Identity::from_digits(&manifest.step) {
            Some(_) => Ok(manifest),
            None => Err(Remedy::Step.damaged(path, "the step is not 64 hex digits")),
        }
    }

    /// Writes the manifest atomically, sealed with its digest; from then on the step counts as finished.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        document::write_sealed(path, self)
    }

    /// The digest by which the journal knows the manifest. It is the same in every slot, since a step that moves to another slot
    /// stays the same step.
    pub fn digest(&self) -> String {
        let mut plain = self.clone();
        for entry in &mut plain.files {
            entry.path = Slot::without_number(&entry.path);
        }
        durable::digest(serde_json::to_string(&plain).expect("manifests have text keys only").as_bytes())
    }

    /// The step's identity.
    pub fn identity(&self) -> Identity {
        Identity::from_digits(&self.step).expect("checked when the manifest was read")
    }

    /// The manifest's file name; `order` is the step's position in the script.
    pub fn file_name(&self, order: u32) -> String {
        format!("{order:04}-{}-{}.json", self.kind, self.identity().short())
    }

    /// The step's position in the script, from the manifest's file name.
    pub fn order_of(path: &Path) -> Option<u32> {
        path.file_name()?.to_str()?.split('-').next()?.parse().ok()
    }

    /// The step's kind, from the manifest's file name.
    pub fn kind_of(path: &Path) -> Option<&str> {
        let (kind, _) = path.file_name()?.to_str()?.split_once('-')?.1.rsplit_once('-')?;
        Some(kind)
    }

    /// The weights of the net that the step made, if it made one.
    pub fn weights(&self) -> Option<&FileEntry> {
        self.files.first().filter(|_| self.series() == Some(Series::Networks))
    }

    /// Whether its games are copies of other steps' games.
    pub fn has_copies(&self) -> bool {
        StepKind::named(&self.kind).is_some_and(|kind| kind.content == StepContent::GameCopies)
    }

    /// The series in which the step is numbered; `None` only for a step without files of a kind that this program does not know.
    pub fn series(&self) -> Option<Series> {
        StepKind::named(&self.kind).map(StepKind::series).or_else(|| Some(self.slot()?.series))
    }

    /// The slot of its files; `None` if they lie in none.
    pub fn slot(&self) -> Option<Slot> {
        Slot::parse(&self.files.first()?.path).map(|(slot, _, _)| slot)
    }

    /// The first file that is missing, if any. A file of another size is an error, because something else wrote it. Digests are
    /// not checked here, but when a file is read.
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

/// The size of a file in bytes; `None` if it does not exist.
pub(super) fn size(path: &Path) -> Result<Option<u64>, RunError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(RunError::io("inspect", path)(cause)),
    }
}
