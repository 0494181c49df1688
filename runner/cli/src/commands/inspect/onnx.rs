//! Describes the net of an ONNX file, and tries it with ONNX Runtime.

use std::path::Path;

use dc0_core::board::Game;
use dc0_core::network::onnx::{OnnxError, OnnxEvaluator, OnnxModel, OnnxOptions, Tensor};
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use dc0_core::params::Param;
use serde_json::json;
use thiserror::Error;

use super::InspectArgs;
use crate::commands::export::lines_of;
use dc0_backend::onnxruntime::{self, OnnxRuntimeError};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// An ONNX file cannot be used.
#[derive(Debug, Error)]
pub(super) enum OnnxFileError {
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    #[error(transparent)]
    OnnxRuntime(#[from] OnnxRuntimeError),
    #[error("{file}: {source}")]
    Evaluator { file: String, source: EvaluatorError },
}

impl Fault for OnnxFileError {
    fn exit(&self) -> Exit {
        match self {
            Self::OnnxRuntime(_) => Exit::BadInput,
            Self::Onnx(_) | Self::Evaluator { .. } => Exit::Storage,
        }
    }
}

/// Describes a file, with its net's value of the initial position if ONNX Runtime is installed.
pub(super) fn shown(file: &Path, args: &InspectArgs) -> Result<String, OnnxFileError> {
    let model = OnnxModel::load(file)?;
    let trial = tried(file, &model, args.onnxruntime.as_deref())?;
    if args.json {
        return Ok(json(&model, trial.ok().as_ref()));
    }
    let runs = match trial {
        Ok(Trial { version, value }) => {
            format!("on ONNX Runtime {version}: value of the initial position {value:+.4}")
        }
        Err(cause) => format!("not tried: {cause}"),
    };
    let mut lines = lines_of(&model);
    lines.push(format!("runs     {runs}"));
    Ok(lines.join("\n"))
}

/// A net that ONNX Runtime has evaluated.
struct Trial {
    /// The version of ONNX Runtime.
    version: String,
    /// The value of the initial position.
    value: f32,
}

fn json(model: &OnnxModel, trial: Option<&Trial>) -> String {
    let lines = |tensors: Vec<Tensor>| tensors.iter().map(ToString::to_string).collect::<Vec<_>>();
    let value = json!({
        "spec": model.spec().to_value(),
        "inputs": lines(model.inputs()),
        "outputs": lines(model.outputs()),
        "weights_blake3": model.weights_digest(),
        "onnxruntime": trial.map(|trial| &trial.version),
        "initial_value": trial.map(|trial| trial.value),
    });
    serde_json::to_string_pretty(&value).expect("a value tree has text keys only")
}

/// Runs a net, unless there is no ONNX Runtime; a library that the user names must be usable.
fn tried(
    file: &Path,
    model: &OnnxModel,
    onnxruntime: Option<&Path>,
) -> Result<Result<Trial, OnnxRuntimeError>, OnnxFileError> {
    let library = match onnxruntime::load(onnxruntime) {
        Ok(library) => library,
        Err(cause @ OnnxRuntimeError::Nowhere { .. }) => return Ok(Err(cause)),
        Err(cause) => return Err(cause.into()),
    };
    let mut evaluator = OnnxEvaluator::new(&library, model, OnnxOptions::default())?;
    let wrong = |source| OnnxFileError::Evaluator { file: file.display().to_string(), source };
    let value = initial_value(&mut evaluator).map_err(wrong)?;
    Ok(Ok(Trial { version: library.version().to_owned(), value }))
}

fn initial_value(evaluator: &mut OnnxEvaluator) -> Result<f32, EvaluatorError> {
    let (mut batch, mut out) = (Batch::default(), Evaluations::default());
    batch.push(&evaluator.encoding().clone(), &Game::initial());
    evaluator.evaluate(&batch, &mut out)?;
    Ok(out.wdl[0].value())
}
