//! A net as an [`Evaluator`] on libtorch.

use tch::{Device, Kind, TchError, Tensor};

use super::inference::{Inference, policy_place};
use super::input::{Input, send};
use super::{TorchError, runtime};
use crate::encoding::Encoding;
use crate::network::graph::Graph;
use crate::network::softmax;
use crate::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Precision, ValueHead, Weights, check_against,
    layout,
};
use crate::network::{expected_result, plies_left, value_width};

impl Precision {
    /// What `auto` comes to on a device; never `auto`.
    pub fn resolved(self, device: Device) -> Self {
        let has_bf16 = device.is_cuda() || device == Device::Cpu && runtime::cpu_has_bf16();
        match self {
            Self::Auto if has_bf16 => Self::Bf16,
            Self::Auto => Self::F32,
            asked => asked,
        }
    }

    pub(super) fn kind(self, device: Device) -> Kind {
        match self.resolved(device) {
            Self::Bf16 => Kind::BFloat16,
            Self::F16 => Kind::Half,
            Self::F32 | Self::Auto => Kind::Float,
        }
    }
}

/// How an inference copy runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TorchOptions {
    /// Where the net lies.
    pub device: Device,
    /// The numbers it calculates with.
    pub precision: Precision,
    /// libtorch's threads for one evaluation, at least 1; of no meaning on other devices than the CPU.
    pub threads: u32,
    /// Batches are filled up with empty rows to a multiple of this, at least 1: a device prepares itself for every new shape, and
    /// a row's rounding depends on the shape that it came in.
    pub pad_to: u32,
}

impl Default for TorchOptions {
    fn default() -> Self {
        Self { device: Device::Cpu, precision: Precision::Auto, threads: 1, pad_to: 1 }
    }
}

/// The inference copy of a net. A row's answer depends on that row and the batch's size (filled up, if it is) only.
///
/// To a device go, for each row, its binary planes as bits, its scalars, and 4 bytes for each legal move; back come 4 bytes for
/// each legal move and the value. Evaluators of several threads share a device: while one waits for its answers, the others'
/// batches are in the queue already.
#[derive(Debug)]
pub struct TorchEvaluator {
    encoding: Encoding,
    options: TorchOptions,
    kind: Kind,
    inference: Inference,
    input: Input,
    value_head: ValueHead,
    /// Where each legal move's logit lies among all logits.
    places: Vec<i32>,
    /// What the net puts out for a batch: the legal moves' logits, the value's numbers, the plies left.
    numbers: Vec<f32>,
}

impl TorchEvaluator {
    /// Puts a copy of a net on its device; the weights must be exactly those of the spec.
    pub fn new(spec: &NetworkSpec, weights: &Weights, options: TorchOptions) -> Result<Self, TorchError> {
        check_against(weights, &layout(spec))?;
        let _no_grad = tch::no_grad_guard();
        let library = |source| TorchError::Library { doing: "putting a net on its device", source };
        let (encoding, kind) = (spec.input(), options.precision.kind(options.device));
        Ok(Self {
            inference: Inference::new(&Graph::new(spec), weights, kind, options.device).map_err(library)?,
            input: Input::new(&encoding, options.device).map_err(library)?,
            encoding,
            options,
            kind,
            value_head: spec.value_head.kind,
            places: Vec::new(),
            numbers: Vec::new(),
        })
    }

    /// Runs the stem and the blocks only and forgets what they say: how much of an evaluation they are, for benches.
    pub fn run_tower(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        let _no_grad = tch::no_grad_guard();
        let body = self.expand(batch).and_then(|input| self.inference.tower(input));
        body.map(drop).map_err(|cause| device_error(batch, &cause))
    }

    /// `[R, 64, P]` on the device.
    fn expand(&mut self, batch: &Batch) -> Result<Tensor, TchError> {
        let rows = batch.len().next_multiple_of(self.options.pad_to.max(1) as usize);
        if self.options.device == Device::Cpu {
            runtime::set_threads(self.options.threads);
            self.input.expand_here(batch, rows, self.kind)
        } else {
            self.input.expand_there(batch, rows, self.kind, self.options.device)
        }
    }

    /// Runs the net and fills `self.numbers`.
    fn run(&mut self, batch: &Batch) -> Result<(), TchError> {
        let input = self.expand(batch)?;
        let answers = self.inference.forward(input)?;
        let legal = self.legal_logits(batch, &answers.policy)?;
        let rows = |head: &Tensor| head.f_narrow(0, 0, batch.len() as i64)?.f_flatten(0, -1);
        let mut parts = vec![legal, rows(&answers.value)?];
        parts.extend(answers.moves_left.as_ref().map(rows).transpose()?);
        // All at once: every copy from a device waits for it.
        let numbers = Tensor::f_cat(&parts, 0)?.f_to_device(Device::Cpu)?;
        let count = numbers.numel();
        self.numbers.resize(count, 0.0);
        numbers.f_copy_data(&mut self.numbers, count)
    }

    /// `[L]` 32-bit floats: the logits of all rows' legal moves.
    fn legal_logits(&mut self, batch: &Batch, policy: &Tensor) -> Result<Tensor, TchError> {
        self.places.clear();
        for row in 0..batch.len() {
            let legal = &batch.legal[batch.legal_range(row)];
            self.places.extend(legal.iter().map(|index| policy_place(row, *index)));
        }
        let places = send(&self.places, self.options.device)?.f_to_kind(Kind::Int64)?;
        policy.f_take(&places)?.f_to_kind(Kind::Float)
    }

    /// Turns numbers into probabilities and plies.
    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let width = value_width(self.value_head);
        let (logits, heads) = self.numbers.split_at_mut(batch.legal.len());
        let (values, plies) = heads.split_at_mut(width * batch.len());
        out.policy.extend_from_slice(logits);
        for (row, value) in values.chunks_exact_mut(width).enumerate() {
            let broken = || EvaluatorError::NotFinite { row };
            if !softmax(&mut out.policy[batch.legal_range(row)]) {
                return Err(broken());
            }
            out.wdl.push(expected_result(self.value_head, value).ok_or_else(broken)?);
            if let Some(plies) = plies.get(row) {
                out.moves_left.push(plies_left(*plies).ok_or_else(broken)?);
            }
        }
        Ok(())
    }
}

fn device_error(batch: &Batch, cause: &TchError) -> EvaluatorError {
    EvaluatorError::Device { rows: batch.len(), cause: cause.to_string() }
}

impl Evaluator for TorchEvaluator {
    fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        out.clear();
        if batch.is_empty() {
            return Ok(());
        }
        let _no_grad = tch::no_grad_guard();
        self.run(batch).map_err(|cause| device_error(batch, &cause))?;
        self.finish(batch, out)
    }
}
