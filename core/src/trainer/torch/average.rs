//! Averages of a net's weights over the updates.

use std::collections::BTreeMap;

use tch::{TchError, Tensor};

use crate::network::torch::Net;
use crate::trainer::{AverageKind, WeightAverage};

/// The average so far.
#[derive(Debug)]
pub(super) struct Average<'a> {
    params: &'a WeightAverage,
    net: Net,
    /// Steps that it has made.
    steps: u32,
}

impl<'a> Average<'a> {
    /// An average that begins with the weights of `net` after some steps.
    pub(super) fn new(params: &'a WeightAverage, net: &Net, steps: u32) -> Result<Self, TchError> {
        Ok(Self { params, net: net.with_tensors(|_, tensor| Ok(tensor.detach().copy()))?, steps })
    }

    /// The averaged net.
    pub(super) fn net(&self) -> &Net {
        &self.net
    }

    /// Steps that it has made.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    /// Takes the weights after an update, counted from 1, into the average if it is one of its steps.
    pub(super) fn update(&mut self, tensors: &BTreeMap<String, Tensor>, update: u32) {
        let is_step = update.is_multiple_of(self.params.every);
        let is_before = self.params.kind == AverageKind::Swa && update <= self.params.start;
        if !is_step || is_before {
            return;
        }
        let steps = f64::from(self.steps);
        let kept = match self.params.kind {
            AverageKind::Ema => self.params.decay.min((1.0 + steps) / (10.0 + steps)),
            AverageKind::Swa => steps / (steps + 1.0),
        };
        let _guard = tch::no_grad_guard();
        for (name, average) in &mut self.net.tensors {
            let _ = average.lerp_(&tensors[name], 1.0 - kept);
        }
        self.steps += 1;
    }
}
