//! A net as an [`Evaluator`] on ONNX Runtime.

use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::TensorRef;

use super::{InputForm, MOVES_LEFT, OnnxError, OnnxLibrary, OnnxModel, POLICY, VALUE, WDL};
use crate::encoding::{Encoding, POLICY_SIZE};
use crate::network::softmax;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, Wdl};

/// Options for running a net with ONNX Runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnnxOptions {
    /// Threads per evaluation, at least 1; they sleep between evaluations.
    pub threads: u32,
}

impl Default for OnnxOptions {
    fn default() -> Self {
        Self { threads: 1 }
    }
}

/// A net on ONNX Runtime's CPU provider, in 32-bit floats.
#[derive(Debug)]
pub struct OnnxEvaluator {
    encoding: Encoding,
    form: InputForm,
    session: Session,
    /// The memory of the input as planes.
    planes: Vec<f32>,
}

impl OnnxEvaluator {
    /// Loads a net into ONNX Runtime.
    pub fn new(library: &OnnxLibrary, model: &OnnxModel, options: OnnxOptions) -> Result<Self, OnnxError> {
        let session = session(library, model, options).map_err(|cause| OnnxError::Session {
            net: model.name().to_owned(),
            version: library.version().to_owned(),
            cause: cause.to_string(),
        })?;
        let encoding = model.encoding();
        Ok(Self { encoding, form: model.form(), session, planes: Vec::new() })
    }

    /// Runs the net and fills `out`, with logits in place of the policy.
    fn run(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), ort::Error> {
        let rows = batch.len();
        let outputs = match self.form {
            InputForm::Planes => {
                let shape = [rows, self.encoding.planes().len(), 8, 8];
                self.planes.clear();
                self.encoding.expand(&batch.binary, &batch.scalars, &mut self.planes);
                self.session
                    .run(ort::inputs![TensorRef::from_array_view((shape, self.planes.as_slice()))?])?
            }
            InputForm::Packed => self.session.run(packed(&self.encoding, batch)?.as_slice())?,
        };
        extract(batch, &outputs, out)
    }
}

fn session(library: &OnnxLibrary, model: &OnnxModel, options: OnnxOptions) -> Result<Session, ort::Error> {
    Session::builder(library.environment())?
        .with_intra_threads(options.threads as usize)?
        .with_intra_op_spinning(false)?
        // Memory patterns are stored per batch size, and batch sizes vary all the time.
        .with_memory_pattern(false)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .commit_from_memory(model.bytes())
}

/// The packed inputs, which borrow the batch's memory.
fn packed<'a>(encoding: &Encoding, batch: &'a Batch) -> Result<Vec<SessionInputValue<'a>>, ort::Error> {
    let shape = |planes| [batch.len(), planes];
    let bits = TensorRef::from_array_view((shape(encoding.binary_count()), batch.binary.as_slice()))?;
    let mut inputs = vec![SessionInputValue::from(bits)];
    if encoding.scalar_count() > 0 {
        let scalars = TensorRef::from_array_view((shape(encoding.scalar_count()), batch.scalars.as_slice()))?;
        inputs.push(scalars.into());
    }
    Ok(inputs)
}

/// Extracts the legal moves' logits and the other heads' outputs of every row.
fn extract(batch: &Batch, outputs: &SessionOutputs<'_>, out: &mut Evaluations) -> Result<(), ort::Error> {
    let rows = batch.len();
    let logits = values(outputs, POLICY, [rows, POLICY_SIZE])?.unwrap_or_default();
    for (row, logits) in logits.chunks_exact(POLICY_SIZE).enumerate() {
        let legal = &batch.legal[batch.legal_range(row)];
        out.policy.extend(legal.iter().map(|index| logits[index.get() as usize]));
    }
    if let Some(wdl) = values(outputs, WDL, [rows, 3])? {
        out.wdl.extend(wdl.as_chunks().0.iter().map(|&[win, draw, loss]| Wdl { win, draw, loss }));
    }
    if let Some(scalars) = values(outputs, VALUE, [rows, 1])? {
        out.wdl.extend(scalars.iter().map(|value| Wdl::from_value(*value, 0.0)));
    }
    out.moves_left.extend_from_slice(values(outputs, MOVES_LEFT, [rows, 1])?.unwrap_or_default());
    Ok(())
}

/// Turns logits into probabilities and checks that all outputs are finite.
fn finish(batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
    for (row, wdl) in out.wdl.iter().enumerate() {
        let is_policy_finite = softmax(&mut out.policy[batch.legal_range(row)]);
        let moves_left = out.moves_left.get(row).copied().unwrap_or_default();
        let mut others = [wdl.win, wdl.draw, wdl.loss, moves_left].into_iter();
        if !(is_policy_finite && others.all(f32::is_finite)) {
            return Err(EvaluatorError::NotFinite { row });
        }
    }
    Ok(())
}

/// The values of an output, if the net has it.
fn values<'a>(
    outputs: &'a SessionOutputs<'_>,
    name: &str,
    shape: [usize; 2],
) -> Result<Option<&'a [f32]>, ort::Error> {
    let Some(output) = outputs.get(name) else { return Ok(None) };
    let (_, values) = output.try_extract_tensor::<f32>()?;
    check_count(name, shape, values.len()).map_err(ort::Error::new)?;
    Ok(Some(values))
}

/// A changed file may compute an output of another shape than it declares.
fn check_count(name: &str, [rows, width]: [usize; 2], found: usize) -> Result<(), String> {
    if found == rows * width {
        return Ok(());
    }
    let expected = format!("expected {rows} rows of {width} numbers, found {found} numbers");
    Err(format!("the output {name}: {expected}; the file was changed, export the net again"))
}

impl Evaluator for OnnxEvaluator {
    fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        out.clear();
        if batch.is_empty() {
            return Ok(());
        }
        batch.refuse_quiescence()?;
        let failed =
            |cause: ort::Error| EvaluatorError::Device { rows: batch.len(), cause: cause.to_string() };
        self.run(batch, out).map_err(failed)?;
        finish(batch, out)
    }
}

#[cfg(test)]
mod tests {
    use super::check_count;

    #[test]
    fn an_output_has_a_row_for_each_position() {
        assert!(check_count("wdl", [2, 3], 6).is_ok());
        for found in [0, 3, 9] {
            let error = check_count("wdl", [2, 3], found).expect_err("another count");
            assert!(
                error.contains(&format!("the output wdl: expected 2 rows of 3 numbers, found {found}")),
                "{error}"
            );
        }
    }
}
