//! Averages of a net's weights over the updates.

use tch::TchError;

use super::flat::FlatNet;
use crate::trainer::{AverageKind, WeightAverage};

/// The average so far.
#[derive(Debug)]
pub(super) struct Average<'a> {
    params: &'a WeightAverage,
    net: FlatNet,
    /// Steps that it has made.
    steps: u32,
}

impl<'a> Average<'a> {
    /// An average that begins with a net after some steps.
    pub(super) fn new(params: &'a WeightAverage, net: FlatNet, steps: u32) -> Self {
        Self { params, net, steps }
    }

    /// The averaged net.
    pub(super) fn net(&self) -> &FlatNet {
        &self.net
    }

    /// How it averages.
    pub(super) fn kind(&self) -> AverageKind {
        self.params.kind
    }

    /// Steps that it has made.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    /// Takes the weights after an update, counted from 1, into the average if it is one of its steps.
    pub(super) fn update(&mut self, net: &FlatNet, update: u64) -> Result<(), TchError> {
        let is_step = update.is_multiple_of(self.params.every.into());
        let is_before = self.params.kind == AverageKind::Swa && update <= self.params.start.into();
        if !is_step || is_before {
            return Ok(());
        }
        let steps = f64::from(self.steps);
        let kept = match self.params.kind {
            AverageKind::Ema => self.params.decay.min((1.0 + steps) / (10.0 + steps)),
            AverageKind::Swa => steps / (steps + 1.0),
        };
        let _guard = tch::no_grad_guard();
        for (average, current) in self.net.tensors().iter().zip(net.tensors()) {
            let _ = average.numbers.shallow_clone().f_lerp_(&current.numbers, 1.0 - kept)?;
        }
        self.steps += 1;
        Ok(())
    }
}
