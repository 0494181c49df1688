//! A net in the ONNX format.

use std::path::Path;

use super::OnnxError;
use super::export::export;
use super::metadata::{self, Heading, InputForm, Tensor};
use super::proto::OPSET;
use crate::encoding::Encoding;
use crate::network::{NetworkSpec, Weights};
use crate::{durable, regular};

/// An ONNX file of dc0 in memory, with its metadata.
#[derive(Debug)]
pub struct OnnxModel {
    name: String,
    bytes: Vec<u8>,
    heading: Heading,
}

impl OnnxModel {
    /// The version of the standard operator set that files use.
    pub const OPERATOR_SET: i64 = OPSET;

    /// Exports a net in memory; the same net gives the same bytes.
    ///
    /// `digest` is the blake3 digest of the stored weights, for people and tools; `None` if the net was never stored.
    pub fn export(
        spec: &NetworkSpec,
        weights: &Weights,
        digest: Option<&str>,
        form: InputForm,
    ) -> Result<Self, OnnxError> {
        let bytes = export(spec, weights, digest, form)?;
        let heading = Heading { spec: spec.clone(), form, digest: digest.map(str::to_owned) };
        Ok(Self { name: "the exported net".to_owned(), bytes, heading })
    }

    /// Reads a file that dc0 wrote; a file from another program, of another version or with an unknown net is an error.
    pub fn load(path: &Path) -> Result<Self, OnnxError> {
        let bytes =
            regular::read(path).map_err(|source| OnnxError::Read { file: path.to_owned(), source })?;
        let name = path.display().to_string();
        let heading = Heading::read(&name, &bytes)?;
        Ok(Self { name, bytes, heading })
    }

    /// Writes the file atomically.
    pub fn save(&self, path: &Path) -> Result<(), OnnxError> {
        durable::write(path, &self.bytes).map_err(|source| OnnxError::Write { file: path.to_owned(), source })
    }

    /// The file's name for errors.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The content of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The net's architecture.
    pub fn spec(&self) -> &NetworkSpec {
        &self.heading.spec
    }

    /// The format of the net's input.
    pub fn form(&self) -> InputForm {
        self.heading.form
    }

    /// The blake3 digest of the stored weights that the net was exported from, if it was stored.
    pub fn weights_digest(&self) -> Option<&str> {
        self.heading.digest.as_deref()
    }

    /// The encoding of the net's input.
    pub fn encoding(&self) -> Encoding {
        self.heading.spec.input()
    }

    /// The net's inputs, in order.
    pub fn inputs(&self) -> Vec<Tensor> {
        metadata::inputs(&self.encoding(), self.form()).iter().map(metadata::described).collect()
    }

    /// The net's outputs, in order.
    pub fn outputs(&self) -> Vec<Tensor> {
        metadata::outputs(self.spec()).iter().map(metadata::described).collect()
    }
}
