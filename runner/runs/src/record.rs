//! `run.json`: the record of a run. Written when the run is created, and never changed.

use std::collections::BTreeMap;
use std::fs;

use dc0_core::param_enum;
use serde::{Deserialize, Serialize};

use dc0_core::params::Value;

use super::document;
use super::error::RunError;
use super::folder::Folder;
use super::fork::ForkRecord;

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
pub const FORMAT_VERSION: u32 = 1;

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
        format!("{backend} on {device} in {precision}, batches of {pad_to}, {threads} training threads")
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
}

impl Record {
    /// Reads the record of an existing run; `None` if the folder is empty or missing.
    pub fn read(folder: &Folder) -> Result<Option<Self>, RunError> {
        let path = folder.record();
        let Some(text) = document::text(&path)? else { return absent(folder) };
        let Version { version } = document::parsed(&text, &path)?;
        if version > FORMAT_VERSION {
            return Err(RunError::Newer {
                folder: folder.root().to_owned(),
                found: version,
                known: FORMAT_VERSION,
            });
        }
        document::parsed(&text, &path).map(Some)
    }

    /// Writes the record; from then on the run exists.
    pub fn write(&self, folder: &Folder) -> Result<(), RunError> {
        document::write(&folder.record(), self)
    }
}

/// Checks that a folder without a record holds nothing but files that opening a run creates before the record.
fn absent(folder: &Folder) -> Result<Option<Record>, RunError> {
    let Ok(entries) = fs::read_dir(folder.root()) else {
        return Ok(None);
    };
    let ours = ["run.lock", "run.log", "journal.jsonl"];
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let foreign = entries
        .flatten()
        .map(name)
        .any(|name| !ours.contains(&name.as_str()) && !super::files::is_unfinished(&name));
    if foreign { Err(RunError::NoRun { folder: folder.root().to_owned() }) } else { Ok(None) }
}
