//! Checkpoints: weights as safetensors, with a JSON file of the spec, the provenance and the weights' digest beside them.
//!
//! Saving the same net gives the same bytes. Loading is strict: any mismatch is an error that says where it is, what was
//! expected, what was found and what to do.

mod error;
mod manifest;
mod tensors;

use std::path::Path;

pub use error::CheckpointError;
use manifest::Manifest;
pub use tensors::{load_tensors, save_tensors};

use super::{NetworkSpec, Weights, check_against, layout};
use crate::durable;
use crate::params::Value;

/// A net with its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The net's architecture.
    pub spec: NetworkSpec,
    /// Its weights, as given by [`layout`].
    pub weights: Weights,
    /// Where the net comes from, for people and tools; dc0 does not read it.
    pub provenance: Value,
}

/// A loaded checkpoint and its digest.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The blake3 digest of its weights file, 64 hex digits.
    pub digest: String,
}

impl Checkpoint {
    /// Writes `path`, which ends in `.safetensors`, and its `.json`; returns the blake3 digest of the weights file.
    ///
    /// The JSON file is written last, since a checkpoint needs one with the digest of its weights. Weights that do not match the
    /// spec or are not finite are an error, and nothing is written.
    pub fn save(&self, path: &Path) -> Result<String, CheckpointError> {
        self.save_as(path, save_tensors)
    }

    /// Like [`save`](Self::save), rounded to 16-bit floats in half the space: numbers of up to 65,504 with 11 binary digits, more than the
    /// integers of an `nnue` and than bf16 have.
    pub fn save_rounded(&self, path: &Path) -> Result<String, CheckpointError> {
        self.save_as(path, tensors::save_rounded)
    }

    fn save_as(
        &self,
        path: &Path,
        save: fn(&Path, &Weights) -> Result<String, CheckpointError>,
    ) -> Result<String, CheckpointError> {
        self.check(path)?;
        let manifest_path = manifest_path(path)?;
        let digest = save(path, &self.weights)?;
        let manifest = Manifest::new(&self.spec, &self.provenance, &digest);
        let written = durable::write(&manifest_path, manifest.text().as_bytes());
        written.map_err(|source| CheckpointError::Write { file: manifest_path, source })?;
        Ok(digest)
    }

    /// The weights file and the JSON file as [`save`](Self::save) writes them; `path` is the name of the weights file for errors.
    pub fn to_bytes(&self, path: &Path) -> Result<[Vec<u8>; 2], CheckpointError> {
        self.check(path)?;
        let weights = tensors::encode(path, &self.weights)?;
        let manifest = Manifest::new(&self.spec, &self.provenance, &durable::digest(&weights));
        Ok([weights, manifest.text().into_bytes()])
    }

    /// Reads `path`, which ends in `.safetensors`, and its `.json`.
    pub fn load(path: &Path) -> Result<LoadedCheckpoint, CheckpointError> {
        let manifest = tensors::read(&manifest_path(path)?)?;
        Self::from_bytes(path, &manifest, &tensors::read(path)?)
    }

    /// Like [`load`](Self::load), from files in memory; `path` is the name of the weights file for errors.
    pub fn from_bytes(
        path: &Path,
        manifest: &[u8],
        bytes: &[u8],
    ) -> Result<LoadedCheckpoint, CheckpointError> {
        let manifest_path = manifest_path(path)?;
        let manifest = Manifest::parse(&manifest_path, manifest)?;
        let digest = durable::digest(bytes);
        if digest != manifest.weights_blake3 {
            let (file, expected) = (path.to_owned(), manifest.weights_blake3);
            return Err(CheckpointError::Digest { file, manifest: manifest_path, expected, found: digest });
        }
        let spec = manifest::spec(&manifest_path, &manifest)?;
        let weights = tensors::parse(path, bytes)?;
        let checkpoint = Self { spec, weights, provenance: manifest.provenance };
        checkpoint.check(path)?;
        Ok(LoadedCheckpoint { checkpoint, digest })
    }

    fn check(&self, path: &Path) -> Result<(), CheckpointError> {
        check_against(&self.weights, &layout(&self.spec))
            .map_err(|source| CheckpointError::Tensors { file: path.to_owned(), source })
    }
}

fn manifest_path(path: &Path) -> Result<std::path::PathBuf, CheckpointError> {
    if path.extension().is_some_and(|extension| extension == "safetensors") {
        Ok(path.with_extension("json"))
    } else {
        Err(CheckpointError::Extension { file: path.to_owned() })
    }
}

#[cfg(test)]
mod tests;
