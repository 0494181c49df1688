//! A net as an [`Evaluator`] on libtorch.

use tch::{Device, Kind, TchError, Tensor};

use super::inference::{Inference, policy_offset};
use super::input::Input;
use super::transfer::send;
use super::{TorchError, runtime};
use crate::encoding::Encoding;
use crate::network::graph::Graph;
use crate::network::softmax;
use crate::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Precision, Tower, ValueHead, Weights,
    check_against, layout,
};
use crate::network::{expected_result, moves_left, value_width};

impl Precision {
    /// The precision used on a device: `auto` is resolved.
    pub fn resolved(self, device: Device) -> Self {
        let has_bf16 = device.is_cuda() || device == Device::Cpu && runtime::cpu_has_bf16();
        match self {
            Self::Auto if has_bf16 => Self::Bf16,
            Self::Auto => Self::F32,
            given => given,
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

/// Options of an inference copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TorchOptions {
    /// The device of the net.
    pub device: Device,
    /// The precision of its weights and activations.
    pub precision: Precision,
    /// libtorch's threads per evaluation, at least 1; used only on the CPU.
    pub threads: u32,
    /// Batches are padded with empty rows to a multiple of this, at least 1: a device has setup costs for every new shape, and a
    /// row's rounding depends on the shape of its batch.
    pub pad_to: u32,
}

impl Default for TorchOptions {
    fn default() -> Self {
        Self { device: Device::Cpu, precision: Precision::Auto, threads: 1, pad_to: 1 }
    }
}

/// The inference copy of a net. A row's evaluation depends only on that row and the batch size after padding.
///
/// Each row is sent to a device as bits of its binary planes, its scalars, and 4 bytes per legal move; 4 bytes per legal move and
/// the other heads' outputs come back. Evaluators of several threads share a device: while one waits for its results, the batches
/// of the others are already queued.
#[derive(Debug)]
pub struct TorchEvaluator {
    encoding: Encoding,
    options: TorchOptions,
    kind: Kind,
    inference: Inference,
    input: Input,
    value_head: ValueHead,
    /// The offset of each legal move's logit among all logits.
    offsets: Vec<i32>,
    /// The outputs for a batch: the legal moves' logits, the value head's, then the moves-left head's.
    outputs: Vec<f32>,
}

impl TorchEvaluator {
    /// Puts a copy of a net on its device; the weights must match the spec exactly. Nets of the kind `nnue` are refused.
    pub fn new(spec: &NetworkSpec, weights: &Weights, options: TorchOptions) -> Result<Self, TorchError> {
        if spec.tower.kind == Tower::Nnue {
            return Err(TorchError::Nnue);
        }
        check_against(weights, &layout(spec))?;
        if options.device == Device::Cpu {
            dc0_libtorch::load()?;
            runtime::set_threads(options.threads);
        } else {
            runtime::load()?;
        }
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
            offsets: Vec::new(),
            outputs: Vec::new(),
        })
    }

    /// Runs only the stem and the blocks and discards the result, to measure their share of an evaluation in benches.
    pub fn run_tower(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        let _no_grad = tch::no_grad_guard();
        let tower = self.expand(batch).and_then(|input| self.inference.tower(input));
        tower.map(drop).map_err(|cause| device_error(batch, &cause))
    }

    /// `[R, 64, P]` on the device.
    fn expand(&mut self, batch: &Batch) -> Result<Tensor, TchError> {
        let rows = batch.len().next_multiple_of(self.options.pad_to.max(1) as usize);
        if self.options.device == Device::Cpu {
            runtime::set_threads(self.options.threads);
            self.input.expand_on_cpu(batch, rows, self.kind)
        } else {
            self.input.expand_on_device(batch, rows, self.kind, self.options.device)
        }
    }

    /// Runs the net and fills `self.outputs`.
    fn run(&mut self, batch: &Batch) -> Result<(), TchError> {
        let input = self.expand(batch)?;
        let heads = self.inference.forward(input)?;
        let legal = self.legal_logits(batch, &heads.policy)?;
        let rows = |head: &Tensor| head.f_narrow(0, 0, batch.len() as i64)?.f_flatten(0, -1);
        let mut parts = vec![legal, rows(&heads.value)?];
        parts.extend(heads.moves_left.as_ref().map(rows).transpose()?);
        // One copy for all heads, because every copy from a device waits for it.
        let outputs = Tensor::f_cat(&parts, 0)?.f_to_device(Device::Cpu)?;
        let count = outputs.numel();
        self.outputs.resize(count, 0.0);
        outputs.f_copy_data(&mut self.outputs, count)
    }

    /// `[L]` 32-bit floats: the logits of the legal moves of all rows.
    fn legal_logits(&mut self, batch: &Batch, policy: &Tensor) -> Result<Tensor, TchError> {
        self.offsets.clear();
        for row in 0..batch.len() {
            let legal = &batch.legal[batch.legal_range(row)];
            self.offsets.extend(legal.iter().map(|index| policy_offset(row, *index)));
        }
        let offsets =
            send(&Tensor::f_from_slice(&self.offsets)?, self.options.device)?.f_to_kind(Kind::Int64)?;
        policy.f_take(&offsets)?.f_to_kind(Kind::Float)
    }

    /// Turns outputs into probabilities and plies left.
    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let width = value_width(self.value_head);
        let (logits, heads) = self.outputs.split_at_mut(batch.legal.len());
        let (values, moves_left_outputs) = heads.split_at_mut(width * batch.len());
        out.policy.extend_from_slice(logits);
        for (row, value) in values.chunks_exact_mut(width).enumerate() {
            let not_finite = || EvaluatorError::NotFinite { row };
            if !softmax(&mut out.policy[batch.legal_range(row)]) {
                return Err(not_finite());
            }
            out.wdl.push(expected_result(self.value_head, value).ok_or_else(not_finite)?);
            if let Some(output) = moves_left_outputs.get(row) {
                out.moves_left.push(moves_left(*output).ok_or_else(not_finite)?);
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
        batch.refuse_quiescence()?;
        let _no_grad = tch::no_grad_guard();
        self.run(batch).map_err(|cause| device_error(batch, &cause))?;
        self.finish(batch, out)
    }
}
