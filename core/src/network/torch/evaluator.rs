//! A net as an [`Evaluator`] on libtorch.

use tch::{Device, Kind, TchError, Tensor};

use super::inference::{Answers, Inference, policy_place};
use super::input::Input;
use super::{TorchError, runtime};
use crate::encoding::Encoding;
use crate::network::graph::Graph;
use crate::network::outputs::{expected_result, plies_left, value_width};
use crate::network::softmax::softmax;
use crate::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, ValueHead, Weights, check_against, layout,
};
use crate::param_enum;

param_enum! {
    /// The numbers that an inference copy calculates with.
    pub enum Precision {
        /// bf16 where the device multiplies it by itself, otherwise 32-bit floats.
        Auto = "auto",
        /// 32-bit floats.
        F32 = "f32",
        /// 16-bit floats with 8 bits of precision; the last layers stay in 32 bits.
        Bf16 = "bf16",
    }
}

impl Precision {
    fn kind(self, device: Device) -> Kind {
        let bf16 = match self {
            Self::Auto => device.is_cuda() || device == Device::Cpu && runtime::cpu_has_bf16(),
            Self::F32 => false,
            Self::Bf16 => true,
        };
        if bf16 { Kind::BFloat16 } else { Kind::Float }
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
}

impl Default for TorchOptions {
    fn default() -> Self {
        Self { device: Device::Cpu, precision: Precision::Auto, threads: 1 }
    }
}

/// The inference copy of a net. A row's answer depends on that row and the batch's size only.
#[derive(Debug)]
pub struct TorchEvaluator {
    encoding: Encoding,
    options: TorchOptions,
    kind: Kind,
    inference: Inference,
    input: Input,
    value_head: ValueHead,
    /// Where each legal move's logit lies among all logits.
    places: Vec<i64>,
    /// What the value head puts out, `[B, 3]` or `[B, 1]`.
    value: Vec<f32>,
}

impl TorchEvaluator {
    /// Puts a copy of a net on its device; the weights must be exactly those of the spec.
    pub fn new(spec: &NetworkSpec, weights: &Weights, options: TorchOptions) -> Result<Self, TorchError> {
        check_against(weights, &layout(spec))?;
        let _no_grad = tch::no_grad_guard();
        let library = |source| TorchError::Library { doing: "putting a net on its device", source };
        let encoding = spec.input();
        let kind = options.precision.kind(options.device);
        let inference = Inference::new(&Graph::new(spec), weights, kind, options.device).map_err(library)?;
        let input = Input::new(&encoding, options.device).map_err(library)?;
        let value_head = spec.value_head.kind;
        Ok(Self {
            encoding,
            options,
            kind,
            inference,
            input,
            value_head,
            places: Vec::new(),
            value: Vec::new(),
        })
    }

    /// Runs the stem and the blocks only and forgets what they say: how much of an evaluation they are, for benches.
    pub fn run_tower(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        let _no_grad = tch::no_grad_guard();
        let body = self.expand(batch).and_then(|input| self.inference.tower(input));
        body.map(drop).map_err(|cause| device_error(batch, &cause))
    }

    /// `[B, 64, P]` on the device.
    fn expand(&mut self, batch: &Batch) -> Result<Tensor, TchError> {
        if self.options.device == Device::Cpu {
            runtime::set_threads(self.options.threads);
            self.input.expand_here(batch, self.kind)
        } else {
            self.input.expand_there(batch, self.kind, self.options.device)
        }
    }

    /// Runs the net and fills `out` and `self.value` with what it puts out.
    fn run(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), TchError> {
        let input = self.expand(batch)?;
        let answers = self.inference.forward(input)?;
        self.take_logits(batch, &answers, out)?;
        let rows = batch.len();
        copy_to(&answers.value, value_width(self.value_head) * rows, &mut self.value)?;
        answers.moves_left.map_or(Ok(()), |plies| copy_to(&plies, rows, &mut out.moves_left))
    }

    fn take_logits(
        &mut self,
        batch: &Batch,
        answers: &Answers,
        out: &mut Evaluations,
    ) -> Result<(), TchError> {
        self.places.clear();
        for row in 0..batch.len() {
            let legal = &batch.legal[batch.legal_range(row)];
            self.places.extend(legal.iter().map(|index| policy_place(row, *index)));
        }
        let places = Tensor::f_from_slice(&self.places)?.f_to_device(self.options.device)?;
        copy_to(&answers.policy.f_take(&places)?, batch.legal.len(), &mut out.policy)
    }

    /// Turns numbers into probabilities and plies.
    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let width = value_width(self.value_head);
        for (row, value) in self.value.chunks_exact_mut(width).enumerate() {
            let broken = || EvaluatorError::NotFinite { row };
            if !softmax(&mut out.policy[batch.legal_range(row)]) {
                return Err(broken());
            }
            out.wdl.push(expected_result(self.value_head, value).ok_or_else(broken)?);
            if let Some(plies) = out.moves_left.get_mut(row) {
                *plies = plies_left(*plies).ok_or_else(broken)?;
            }
        }
        Ok(())
    }
}

/// Copies numbers from the device.
fn copy_to(tensor: &Tensor, count: usize, out: &mut Vec<f32>) -> Result<(), TchError> {
    out.resize(count, 0.0);
    tensor.f_to_kind(Kind::Float)?.f_to_device(Device::Cpu)?.f_contiguous()?.f_copy_data(out, count)
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
        self.run(batch, out).map_err(|cause| device_error(batch, &cause))?;
        self.finish(batch, out)
    }
}
