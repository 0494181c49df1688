//! A net's health: what its layers and heads put out for some positions.

use tch::{Device, Kind, TchError, Tensor};

use super::input::Input;
use super::{BatchNorm, Net, TorchError};
use crate::board::{Rules, random_opening};
use crate::encoding::Encoding;
use crate::network::{Batch, NetworkSpec, Weights};
use crate::params;
use crate::rng::{Purpose, Seed};

/// What one layer puts out.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerStatistics {
    /// The layer's name, as in [`Graph`](crate::network::graph::Graph).
    pub name: String,
    /// Mean of its numbers.
    pub mean: f64,
    /// Their standard deviation; near 0 says that the layer tells positions and squares apart no more.
    pub deviation: f64,
    /// The largest absolute number; 16-bit floats end at 65,504.
    pub largest: f64,
    /// Share of numbers that are exactly 0: what relu cuts off.
    pub zeros: f64,
    /// Share of channels that are 0 on every square of every position: units that have died.
    pub dead: f64,
}

/// What a net puts out.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Standard deviation of the legal moves' logits; at most 1.5 in a fresh net.
    pub logit_deviation: f64,
    /// Mean of P(win) − P(loss).
    pub value_mean: f64,
    /// Standard deviation of P(win) − P(loss); near 0 says that the value does not tell positions apart.
    pub value_deviation: f64,
    /// Every layer in its order.
    pub layers: Vec<LayerStatistics>,
}

params! {
    /// A look at a net's health.
    pub struct InspectParams {
        /// Positions to show it: the ends of random games of 0 to 79 plies, always the same.
        positions: u32 = 256, in 2..=65_536;
        /// Whether to tell of every layer.
        layers: bool = true;
    }
}

impl InspectParams {
    /// The positions as a net sees them.
    pub fn batch(&self, encoding: &Encoding) -> Batch {
        let (rules, seed) = (Rules { max_plies: 512 }, Seed { run: 0, step: 0 });
        let mut batch = Batch::default();
        for number in 0..self.positions {
            let mut stream = seed.stream(number.into(), Purpose::Opening);
            batch.push(encoding, &random_opening(number % 80, &rules, &mut stream));
        }
        batch
    }
}

/// Runs a net in 32 bits over a batch and looks at every layer.
pub fn inspect(spec: &NetworkSpec, weights: &Weights, batch: &Batch) -> Result<Inspection, TorchError> {
    let net = Net::from_weights(spec, weights, Device::Cpu)?;
    let _no_grad = tch::no_grad_guard();
    look(&net, batch).map_err(|source| TorchError::Library { doing: "inspecting a net", source })
}

fn look(net: &Net, batch: &Batch) -> Result<Inspection, TchError> {
    let mut input = Input::new(&net.spec.input(), Device::Cpu)?;
    let rows = batch.len() as i64;
    let squares = input.expand_here(batch, batch.len(), Kind::Float)?;
    let planes = squares.f_reshape([rows, 8, 8, -1])?.f_permute([0, 3, 1, 2])?;
    let mut layers = Vec::new();
    let heads = net.forward_watched(&planes, BatchNorm::Eval, |layer, made| {
        layers.push(statistics(&layer.name, made)?);
        Ok(())
    })?;
    let value = match heads.value.size()[1] {
        3 => {
            let shares = heads.value.f_softmax(1, Kind::Float)?;
            shares.f_select(1, 0)?.f_sub(&shares.f_select(1, 2)?)?
        }
        _ => heads.value.f_tanh()?,
    };
    Ok(Inspection {
        logit_deviation: deviation(&legal_logits(&heads.policy, batch)?)?,
        value_mean: number(&value.f_mean(Kind::Double)?)?,
        value_deviation: deviation(&value)?,
        layers,
    })
}

/// The logits of all rows' legal moves, one after the other.
pub(super) fn legal_logits(policy: &Tensor, batch: &Batch) -> Result<Tensor, TchError> {
    let rows = (0..batch.len()).flat_map(|row| batch.legal_range(row).map(move |_| row as i64));
    let width = policy.size()[1];
    let places: Vec<i64> =
        rows.zip(&batch.legal).map(|(row, index)| row * width + i64::from(index.get())).collect();
    policy.f_take(&Tensor::f_from_slice(&places)?)
}

pub(super) fn statistics(name: &str, made: &Tensor) -> Result<LayerStatistics, TchError> {
    let zero = made.f_eq(0.0)?;
    // Over everything but the channels, which come second.
    let others: Vec<i64> = (0..made.dim() as i64).filter(|axis| *axis != 1).collect();
    let share_of_channels =
        zero.f_to_kind(Kind::Double)?.f_mean_dim(others.as_slice(), false, Kind::Double)?;
    Ok(LayerStatistics {
        name: name.to_owned(),
        mean: number(&made.f_mean(Kind::Double)?)?,
        deviation: deviation(made)?,
        largest: number(&made.f_abs()?.f_max()?)?,
        zeros: number(&zero.f_mean(Kind::Double)?)?,
        dead: number(&share_of_channels.f_eq(1.0)?.f_mean(Kind::Double)?)?,
    })
}

fn deviation(numbers: &Tensor) -> Result<f64, TchError> {
    number(&numbers.f_to_kind(Kind::Double)?.f_std(false)?)
}

fn number(scalar: &Tensor) -> Result<f64, TchError> {
    scalar.f_double_value(&[])
}
