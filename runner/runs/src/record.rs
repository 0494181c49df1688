//! `run.json`: the record of a run. Written when the run is created, and never changed.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dc0_core::param_enum;
use dc0_process::format::counted;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use dc0_core::params::Value;
use dc0_core::store::Provenance;
use dc0_core::{durable, regular};

use super::document;
use super::error::{Remedy, RunError};
use super::folder::Folder;
use super::fork::ForkRecord;
use super::history::History;

param_enum! {
    /// The library that evaluates nets during play.
    pub enum Backend {
        /// On a CPU, whichever a short measurement finds faster on this machine; libtorch on other devices.
        Auto = "auto",
        /// libtorch.
        Torch = "torch",
        /// ONNX Runtime on the CPU, in 32-bit floats.
        Onnx = "onnx",
    }
}

/// The format version of everything in a run's folder but the tables.
pub const FORMAT_VERSION: u32 = 2;

/// The script of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScriptRecord {
    /// The name of its file, without the folder.
    pub file: String,
    /// blake3 of its text.
    pub blake3: String,
    /// Its text.
    pub text: String,
}

/// What results may depend on besides script and seed. Fixed when the run is created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The library that evaluates nets during play: `torch` or `onnx`.
    pub backend: String,
    /// The devices: `cpu`, `cuda:0`, `cuda:0,cuda:1`, …
    pub device: String,
    /// The precision of nets during play: `f32`, `bf16`, …
    pub precision: String,
    /// During play, batches are padded to a multiple of this.
    pub pad_to: u32,
    /// libtorch threads of a training step.
    pub threads: u32,
    /// The program's version.
    pub dc0: String,
    /// Versions of libraries and features of the processor that affect the results of nets.
    pub libraries: String,
}

impl Environment {
    /// The part that can change the results of equal steps by rounding, in one line. Versions are left out: a step's own version
    /// covers them.
    pub fn rounding(&self) -> String {
        let Self { backend, precision, pad_to, threads, .. } = self;
        let device = device_kind(&self.device);
        let threads = counted(*threads as usize, "training thread");
        format!("{backend} on {device} in {precision}, batches of {pad_to}, {threads}")
    }
}

/// The kind of a device, `cuda` for `cuda:0,cuda:1`: results depend on the kind, not on which of a machine's devices it is.
pub fn device_kind(device: &str) -> &str {
    device.split([':', ',']).next().unwrap_or(device)
}

/// The content of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT_VERSION`] of the program that created the run.
    pub version: u32,
    /// The run's name.
    pub name: String,
    /// The script that created it.
    pub script: ScriptRecord,
    /// The texts of the files that the script had imported at creation, by path relative to its folder.
    #[serde(default)]
    pub modules: BTreeMap<String, String>,
    /// The parameters that the script declared, with their values at creation.
    pub params: Value,
    /// The command line's values for them at creation, as typed; `None` if the program did not store them.
    #[serde(default)]
    pub given: Option<BTreeMap<String, String>>,
    /// The seed of all randomness.
    pub seed: u64,
    /// Backend, device, precision, threads, versions.
    pub environment: Environment,
    /// For a fork, the steps of another run that this one begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkRecord>,
}

/// The fields of a record that lists of runs show, read leniently from damaged records and those of newer programs, too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordHead {
    /// The script's file, without the folder.
    pub script: Option<String>,
    /// The seed of all randomness.
    pub seed: Option<u64>,
    /// The devices.
    pub device: Option<String>,
}

impl RecordHead {
    /// Parses the text of `run.json`.
    pub fn parse(text: &[u8]) -> Self {
        let record: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        Self {
            script: text(&record["script"]["file"]),
            seed: record["seed"].as_u64(),
            device: text(&record["environment"]["device"]),
        }
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
    blake3: Option<IgnoredAny>,
}

/// Reads the record of a run or sweep; `None` if there is none. A record of another format version is refused with both versions.
pub(super) fn read_versioned<T: DeserializeOwned>(
    folder: &Folder,
    path: &Path,
    known: u32,
) -> Result<Option<T>, RunError> {
    let folder = || folder.root().to_owned();
    let content: Option<serde_json::Value> =
        document::read_sealed(path, Remedy::Restore).map_err(|damaged| {
            // The first versions had no digest.
            let stored =
                regular::read(path).ok().and_then(|text| serde_json::from_slice::<Version>(&text).ok());
            match stored.filter(|stored| stored.blake3.is_none() && stored.version < known) {
                Some(Version { version, .. }) => RunError::Older { folder: folder(), found: version, known },
                None => damaged,
            }
        })?;
    let Some(content) = content else { return Ok(None) };
    let found = content["version"].as_u64().unwrap_or_default() as u32;
    match found.cmp(&known) {
        Ordering::Greater => Err(RunError::Newer { folder: folder(), found, known }),
        Ordering::Less => Err(RunError::Older { folder: folder(), found, known }),
        Ordering::Equal => {
            serde_json::from_value(content).map(Some).map_err(|cause| RunError::damaged(path, cause))
        }
    }
}

impl Record {
    /// Reads the record of an existing run; `None` if the folder is empty or missing.
    pub fn read(folder: &Folder) -> Result<Option<Self>, RunError> {
        let record = read_versioned(folder, &folder.record(), FORMAT_VERSION)?;
        if record.is_some() { Ok(record) } else { absent(folder) }
    }

    /// What the run's table of costs says where it comes from.
    pub fn of_costs(&self) -> Provenance {
        [("run", self.name.clone()), ("seed", self.seed.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// The digest by which the journal knows the record.
    pub(super) fn digest(&self) -> String {
        durable::digest(serde_json::to_string(self).expect("records have text keys only").as_bytes())
    }

    /// Checks that the journal is that of the run, not of another one.
    pub(super) fn check(&self, folder: &Folder, history: &History) -> Result<(), RunError> {
        let found = self.digest();
        match history.record() {
            Some(expected) if expected != found => {
                let cause = format!(
                    "its digest is {found}, not {expected} as journal.jsonl says: one of the two is another run's"
                );
                Err(RunError::damaged(&folder.record(), cause))
            }
            _ => Ok(()),
        }
    }

    /// Writes the record, sealed with its digest; from then on the run exists.
    pub fn write(&self, folder: &Folder) -> Result<(), RunError> {
        document::write_sealed(&folder.record(), self)
    }

    /// Writes the record, and returns what the file then says.
    pub(super) fn written(&self, folder: &Folder) -> Result<Self, RunError> {
        self.write(folder)?;
        let gone = || RunError::Removed { folder: folder.root().to_owned() };
        Self::read(folder)?.ok_or_else(gone)
    }
}

/// Checks that a folder without a record holds nothing but files that opening a run creates before the record.
fn absent(folder: &Folder) -> Result<Option<Record>, RunError> {
    // The record is written first.
    if folder.journal().exists() {
        let (file, journal) = ("run.json", "journal.jsonl");
        return Err(RunError::RecordLost { folder: folder.root().to_owned(), file, journal });
    }
    let Ok(entries) = fs::read_dir(folder.root()) else {
        return Ok(None);
    };
    let ours = ["run.lock", "run.log"];
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let foreign = entries
        .flatten()
        .map(name)
        .any(|name| !ours.contains(&name.as_str()) && !super::files::is_unfinished(&name));
    if foreign { Err(RunError::NoRun { folder: folder.root().to_owned() }) } else { Ok(None) }
}
