//! A net as an [`Evaluator`] on libtorch.

use tch::{Device, Kind, TchError, Tensor};

use super::graph::{Answers, Graph, policy_place};
use super::input::Input;
use super::{TorchError, runtime};
use crate::encoding::Encoding;
use crate::network::fold::FoldedNet;
use crate::network::softmax::softmax;
use crate::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Wdl, Weights, check_against, layout,
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
    graph: Graph,
    input: Input,
    /// Where each legal move's logit lies among all logits.
    places: Vec<i64>,
    /// Logits of win, draw and loss, `[B, 3]`.
    wdl: Vec<f32>,
}

impl TorchEvaluator {
    /// Puts a copy of a net on its device; the weights must be exactly those of the spec.
    pub fn new(spec: &NetworkSpec, weights: &Weights, options: TorchOptions) -> Result<Self, TorchError> {
        check_against(weights, &layout(spec))?;
        let _no_grad = tch::no_grad_guard();
        let library = |source| TorchError::Library { doing: "putting a net on its device", source };
        let encoding = Encoding::new(spec.encoding, spec.orientation);
        let kind = options.precision.kind(options.device);
        let graph = Graph::new(&FoldedNet::new(spec, weights), kind, options.device).map_err(library)?;
        let input = Input::new(&encoding, options.device).map_err(library)?;
        Ok(Self { encoding, options, kind, graph, input, places: Vec::new(), wdl: Vec::new() })
    }

    /// Runs the stem and the blocks only and forgets what they say: how much of an evaluation they are, for benches.
    pub fn run_tower(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        let _no_grad = tch::no_grad_guard();
        let body = self.expand(batch).and_then(|input| self.graph.tower(&input));
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

    /// Runs the graph and fills `out.policy` and `self.wdl` with logits.
    fn run(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), TchError> {
        let input = self.expand(batch)?;
        let answers = self.graph.forward(&input)?;
        self.take_logits(batch, &answers, out)
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
        let logits = answers.policy.f_take(&places)?.f_to_kind(Kind::Float)?.f_to_device(Device::Cpu)?;
        let wdl = answers.wdl.f_to_device(Device::Cpu)?;
        out.policy.resize(batch.legal.len(), 0.0);
        self.wdl.resize(3 * batch.len(), 0.0);
        logits.f_copy_data(&mut out.policy, batch.legal.len())?;
        wdl.f_copy_data(&mut self.wdl, 3 * batch.len())
    }

    /// Turns logits into probabilities.
    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        for row in 0..batch.len() {
            let policy = &mut out.policy[batch.legal_range(row)];
            let wdl = &mut self.wdl[3 * row..3 * row + 3];
            if !(softmax(policy) && softmax(wdl)) {
                return Err(EvaluatorError::NotFinite { row });
            }
            out.wdl.push(Wdl { win: wdl[0], draw: wdl[1], loss: wdl[2] });
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
        out.policy.clear();
        out.wdl.clear();
        if batch.is_empty() {
            return Ok(());
        }
        let _no_grad = tch::no_grad_guard();
        self.run(batch, out)
            .map_err(|cause| EvaluatorError::Device { rows: batch.len(), cause: cause.to_string() })?;
        self.finish(batch, out)
    }
}
