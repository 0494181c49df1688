//! The JSON file beside the weights.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::CheckpointError;
use crate::network::{NetworkSpec, parameter_count};
use crate::params::{self, Param, Value};

const FORMAT: &str = "dc0-network";
const VERSION: u32 = 1;

/// The fields that identify a checkpoint's JSON file.
#[derive(Debug, Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

/// The content of the JSON file; fields are sorted by name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// The version of the encoding; files without this field have version 1.
    #[serde(default = "first_version")]
    encoding_version: u32,
    format: String,
    /// The number of trainable parameters, for people; it must be that of the spec.
    parameters: usize,
    pub(super) provenance: Value,
    pub(super) spec: Value,
    version: u32,
    pub(super) weights_blake3: String,
}

impl Manifest {
    pub(super) fn new(spec: &NetworkSpec, provenance: &Value, digest: &str) -> Self {
        Self {
            encoding_version: spec.encoding.version(),
            format: FORMAT.to_owned(),
            parameters: parameter_count(spec),
            provenance: provenance.clone(),
            spec: spec.to_value(),
            version: VERSION,
            weights_blake3: digest.to_owned(),
        }
    }

    pub(super) fn text(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("a value tree has text keys only");
        json + "\n"
    }

    /// Checks the version before the rest, so that a newer file is not reported as damaged.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let damaged = |source| CheckpointError::Manifest { file: path.to_owned(), source };
        let heading: Heading = serde_json::from_slice(bytes).map_err(damaged)?;
        if (heading.format.as_str(), heading.version) != (FORMAT, VERSION) {
            return Err(CheckpointError::Version {
                file: path.to_owned(),
                expected: format!("format {FORMAT} version {VERSION}"),
                found: format!("format {} version {}", heading.format, heading.version),
            });
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }
}

fn first_version() -> u32 {
    1
}

/// The spec, if its encoding still has the version that the net was trained with, and the file's count of parameters is its own.
pub(super) fn spec(path: &Path, manifest: &Manifest) -> Result<NetworkSpec, CheckpointError> {
    let spec: NetworkSpec = params::read("network", &manifest.spec)
        .map_err(|source| CheckpointError::Spec { file: path.to_owned(), source })?;
    let (expected, found) = (spec.encoding.version(), manifest.encoding_version);
    if found != expected {
        let version = |number| format!("version {number} of the encoding {}", spec.encoding.name());
        let (expected, found) = (version(expected), version(found));
        return Err(CheckpointError::Version { file: path.to_owned(), expected, found });
    }
    let (expected, found) = (parameter_count(&spec), manifest.parameters);
    if found != expected {
        return Err(CheckpointError::Parameters { file: path.to_owned(), expected, found });
    }
    Ok(spec)
}
