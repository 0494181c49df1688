//! Tensors in safetensors files: sorted names and floats of one width, so that equal tensors give equal bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, View};

use super::CheckpointError;
use crate::network::weights::not_finite;
use crate::network::{TensorProblem, TensorProblems, WeightTensor, Weights};
use crate::{durable, regular};

impl View for &WeightTensor {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.data.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>().into()
    }

    fn data_len(&self) -> usize {
        self.data.len() * size_of::<f32>()
    }
}

/// A tensor rounded to 16-bit floats.
struct Rounded<'a> {
    shape: &'a [usize],
    data: Vec<f16>,
}

impl View for &Rounded<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F16
    }

    fn shape(&self) -> &[usize] {
        self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.data.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>().into()
    }

    fn data_len(&self) -> usize {
        self.data.len() * size_of::<f16>()
    }
}

/// Writes tensors atomically and returns the file's blake3 digest. Non-finite values are an error.
pub fn save_tensors(path: &Path, tensors: &Weights) -> Result<String, CheckpointError> {
    write(path, &encode(path, tensors)?)
}

/// Like [`save_tensors`], rounded to 16-bit floats; larger values than those hold are an error, too.
pub(super) fn save_rounded(path: &Path, tensors: &Weights) -> Result<String, CheckpointError> {
    check_finite(path, tensors)?;
    let mut rounded = BTreeMap::new();
    for (name, tensor) in tensors {
        let data: Vec<f16> = tensor.data.iter().map(|value| f16::from_f32(*value)).collect();
        if let Some(index) = data.iter().position(|value| !value.is_finite()) {
            let (file, tensor, value) = (path.to_owned(), name.clone(), tensor.data[index]);
            return Err(CheckpointError::TooLarge { file, tensor, index, value });
        }
        rounded.insert(name, Rounded { shape: &tensor.shape, data });
    }
    let bytes = safetensors::serialize(&rounded, None);
    write(path, &bytes.map_err(|source| CheckpointError::Format { file: path.to_owned(), source })?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<String, CheckpointError> {
    durable::write(path, bytes).map_err(|source| CheckpointError::Write { file: path.to_owned(), source })?;
    Ok(durable::digest(bytes))
}

/// The bytes of a weights file; `path` is its name for errors.
pub(super) fn encode(path: &Path, tensors: &Weights) -> Result<Vec<u8>, CheckpointError> {
    check_finite(path, tensors)?;
    safetensors::serialize(tensors, None)
        .map_err(|source| CheckpointError::Format { file: path.to_owned(), source })
}

/// Reads tensors and the file's blake3 digest; anything but finite floats of 32 or 16 bits is an error.
///
/// The caller checks names and shapes with [`crate::network::check_against`].
pub fn load_tensors(path: &Path) -> Result<(Weights, String), CheckpointError> {
    let bytes = read(path)?;
    Ok((parse(path, &bytes)?, durable::digest(&bytes)))
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, CheckpointError> {
    regular::read(path).map_err(|source| {
        let file = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => CheckpointError::Missing { file },
            _ => CheckpointError::Read { file, source },
        }
    })
}

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Weights, CheckpointError> {
    let stored = SafeTensors::deserialize(bytes)
        .map_err(|source| CheckpointError::Format { file: path.to_owned(), source })?;
    let (mut weights, mut problems) = (Weights::new(), Vec::new());
    for (name, view) in stored.tensors() {
        match parse_one(&name, &view) {
            Ok(tensor) => drop(weights.insert(name, tensor)),
            Err(problem) => problems.push(problem),
        }
    }
    check_problems(path, problems)?;
    Ok(weights)
}

fn parse_one(name: &str, view: &TensorView<'_>) -> Result<WeightTensor, TensorProblem> {
    let data: Vec<f32> = match view.dtype() {
        Dtype::F32 => view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        Dtype::F16 => {
            view.data().as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()
        }
        other => return Err(TensorProblem::Dtype { name: name.to_owned(), found: other.to_string() }),
    };
    match not_finite(name, &data) {
        Some(problem) => Err(problem),
        None => Ok(WeightTensor { shape: view.shape().to_vec(), data }),
    }
}

fn check_finite(path: &Path, tensors: &Weights) -> Result<(), CheckpointError> {
    let problems = tensors.iter().filter_map(|(name, tensor)| not_finite(name, &tensor.data)).collect();
    check_problems(path, problems)
}

fn check_problems(path: &Path, mut problems: Vec<TensorProblem>) -> Result<(), CheckpointError> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort_by(|a, b| a.name().cmp(b.name()));
    Err(CheckpointError::Tensors { file: path.to_owned(), source: TensorProblems(problems) })
}
