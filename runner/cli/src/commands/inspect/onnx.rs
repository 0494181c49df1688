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
use dc0_backend::onnxruntime;

/// An ONNX file cannot be used.
#[derive(Debug, Error)]
pub(super) enum OnnxFileError {
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    #[error("{file}: {source}")]
    Evaluator { file: String, source: EvaluatorError },
}

/// Describes a file, with its net's value of the initial position if ONNX Runtime is installed.
pub(super) fn shown(file: &Path, args: &InspectArgs) -> Result<String, OnnxFileError> {
    let model = OnnxModel::load(file)?;
    if args.json {
        return Ok(json(&model));
    }
    let mut lines = lines_of(&model);
    lines.push(format!("runs     {}", try_run(file, &model, args.onnxruntime.as_deref())?));
    Ok(lines.join("\n"))
}

fn json(model: &OnnxModel) -> String {
    let lines = |tensors: Vec<Tensor>| tensors.iter().map(ToString::to_string).collect::<Vec<_>>();
    let value = json!({
        "spec": model.spec().to_value(),
        "inputs": lines(model.inputs()),
        "outputs": lines(model.outputs()),
        "weights_blake3": model.weights_digest(),
    });
    serde_json::to_string_pretty(&value).expect("a value tree has text keys only")
}

fn try_run(file: &Path, model: &OnnxModel, onnxruntime: Option<&Path>) -> Result<String, OnnxFileError> {
    let library = match onnxruntime::load(onnxruntime) {
        Ok(library) => library,
        Err(cause) => return Ok(format!("not tried: {cause}")),
    };
    let mut evaluator = OnnxEvaluator::new(&library, model, OnnxOptions::default())?;
    let wrong = |source| OnnxFileError::Evaluator { file: file.display().to_string(), source };
    let value = initial_value(&mut evaluator).map_err(wrong)?;
    Ok(format!("on ONNX Runtime {}: value of the initial position {value:+.4}", library.version()))
}

fn initial_value(evaluator: &mut OnnxEvaluator) -> Result<f32, EvaluatorError> {
    let (mut batch, mut out) = (Batch::default(), Evaluations::default());
    batch.push(&evaluator.encoding().clone(), &Game::initial());
    evaluator.evaluate(&batch, &mut out)?;
    Ok(out.wdl[0].value())
}
