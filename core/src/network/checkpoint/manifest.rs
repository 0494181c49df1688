//! The JSON file beside the weights.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CheckpointError, tensors};
use crate::network::{NetworkSpec, parameter_count};
use crate::params::{self, Param, Value};

const FORMAT: &str = "dc0-network";
const VERSION: u32 = 1;

/// What makes a checkpoint's JSON file one.
#[derive(Debug, Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

/// The content of the JSON file; names are sorted, so that equal nets have equal files.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: String,
    parameters: usize,
    pub(super) provenance: Value,
    pub(super) spec: Value,
    version: u32,
    pub(super) weights_blake3: String,
}

impl Manifest {
    pub(super) fn new(spec: &NetworkSpec, provenance: &Value, digest: &str) -> Self {
        Self {
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

    /// The version is looked at before the rest, so that a newer file is not called damaged.
    pub(super) fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = tensors::read(path)?;
        let damaged = |source| CheckpointError::Manifest { file: path.to_owned(), source };
        let heading: Heading = serde_json::from_slice(&bytes).map_err(damaged)?;
        if (heading.format.as_str(), heading.version) != (FORMAT, VERSION) {
            return Err(CheckpointError::Version {
                file: path.to_owned(),
                expected: format!("format {FORMAT} version {VERSION}"),
                found: format!("format {} version {}", heading.format, heading.version),
            });
        }
        serde_json::from_slice(&bytes).map_err(damaged)
    }
}

pub(super) fn spec(path: &Path, value: &Value) -> Result<NetworkSpec, CheckpointError> {
    params::read("network", value).map_err(|source| CheckpointError::Spec { file: path.to_owned(), source })
}
