//! Statistics of a net's layer and head outputs on sample positions, to diagnose its health.

use tch::{Device, Kind, TchError, Tensor};

use super::input::Input;
use super::model::expand_policy;
use super::{BatchNorm, Net, NetInput, TorchError};
use crate::board::random_games;
use crate::encoding::Encoding;
use crate::network::{Batch, NetworkSpec, Tower, Weights};
use crate::params;
use crate::rng::Seed;

/// Statistics of one layer's output.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerStatistics {
    /// The layer's name, as in [`Graph`](crate::network::graph::Graph).
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; near 0 if the layer no longer distinguishes positions and squares.
    pub deviation: f64,
    /// Largest absolute value; 16-bit floats (f16) reach 65,504.
    pub largest: f64,
    /// Share of values that are exactly 0, such as those that relu cuts off.
    pub zeros: f64,
    /// Share of channels that are 0 on every square of every position: dead units.
    pub dead: f64,
}

/// Statistics of a net's outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Standard deviation of the legal moves' logits; at most 1.5 in an untrained net.
    pub logit_deviation: f64,
    /// Mean of P(win) − P(loss).
    pub value_mean: f64,
    /// Standard deviation of P(win) − P(loss); near 0 if the value does not distinguish positions.
    pub value_deviation: f64,
    /// The layers in order.
    pub layers: Vec<LayerStatistics>,
}

params! {
    /// Parameters of an inspection of a net.
    pub struct InspectParams {
        /// Sample positions: the ends of random games of 0 to 79 plies, always the same.
        positions: u32 = 256, in 2..=65_536;
        /// Whether to report every layer.
        layers: bool = true;
    }
}

impl InspectParams {
    /// The encoded sample positions.
    pub fn batch(&self, encoding: &Encoding) -> Batch {
        let mut batch = Batch::default();
        for game in random_games(Seed { run: 0, step: 0 }, 80).take(self.positions as usize) {
            batch.push(encoding, &game);
        }
        batch
    }
}

/// Runs a net in f32 on a batch, part by part, and collects statistics of every layer; numbers that are not finite are an error.
pub fn inspect(spec: &NetworkSpec, weights: &Weights, batch: &Batch) -> Result<Inspection, TorchError> {
    let net = Net::from_weights(spec, weights, Device::Cpu)?;
    let _no_grad = tch::no_grad_guard();
    let inspection =
        run(&net, batch).map_err(|source| TorchError::Library { doing: "inspecting a net", source })?;
    match inspection.layers.iter().find(|layer| !layer.mean.is_finite()) {
        Some(layer) => Err(TorchError::NotFinite { layer: layer.name.clone() }),
        None => Ok(inspection),
    }
}

/// Rows that run through the net at a time: the outputs of all its layers are in memory together. Chosen.
const PART_ROWS: usize = 256;

fn run(net: &Net, batch: &Batch) -> Result<Inspection, TchError> {
    let encoding = net.spec.input();
    let mut input = Input::new(&encoding, Device::Cpu)?;
    let (mut layers, mut logits, mut values) = (Vec::new(), Spread::default(), Spread::default());
    for start in (0..batch.len()).step_by(PART_ROWS) {
        let mut part = Batch::default();
        (start..batch.len().min(start + PART_ROWS)).for_each(|row| part.push_row(batch, row, &encoding));
        let outputs = run_part(net, &mut input, &part)?;
        logits.add(outputs.logits);
        values.add(outputs.values);
        if layers.is_empty() {
            layers = outputs.layers;
        } else {
            layers.iter_mut().zip(&outputs.layers).try_for_each(|(sum, part)| sum.add(part))?;
        }
    }
    Ok(Inspection {
        logit_deviation: logits.deviation(),
        value_mean: values.mean,
        value_deviation: values.deviation(),
        layers: layers.iter().map(LayerPart::statistics).collect::<Result<_, _>>()?,
    })
}

/// The outputs for some rows of a batch.
struct Part {
    logits: Spread,
    values: Spread,
    layers: Vec<LayerPart>,
}

fn run_part(net: &Net, input: &mut Input, batch: &Batch) -> Result<Part, TchError> {
    let rows = batch.len() as i64;
    let squares = input.expand_on_cpu(batch, batch.len(), Kind::Float)?;
    let planes = NetInput::Planes(squares.f_reshape([rows, 8, 8, -1])?.f_permute([0, 3, 1, 2])?);
    let mut layers = Vec::new();
    let heads = net.forward_with(&planes, BatchNorm::Eval, |layer, output| {
        layers.push(LayerPart::of(&layer.name, output)?);
        Ok(())
    })?;
    let value = match heads.value.size()[1] {
        3 => {
            let wdl = heads.value.f_softmax(1, Kind::Float)?;
            wdl.f_select(1, 0)?.f_sub(&wdl.f_select(1, 2)?)?
        }
        _ => heads.value.f_tanh()?,
    };
    let policy = match net.spec.tower.kind {
        Tower::Nnue => {
            let king = || squares.f_select(2, 5)?.f_reshape([-1, 8, 8]);
            expand_policy(net.spec.tower.mirrored, &heads.policy, king)?
        }
        _ => heads.policy,
    };
    let logits = Spread::of(&legal_logits(&policy, batch)?)?;
    Ok(Part { logits, values: Spread::of(&value)?, layers })
}

/// The logits of the legal moves of all rows, concatenated.
pub(super) fn legal_logits(policy: &Tensor, batch: &Batch) -> Result<Tensor, TchError> {
    let rows = (0..batch.len()).flat_map(|row| batch.legal_range(row).map(move |_| row as i64));
    let width = policy.size()[1];
    let indices: Vec<i64> =
        rows.zip(&batch.legal).map(|(row, index)| row * width + i64::from(index.get())).collect();
    policy.f_take(&Tensor::f_from_slice(&indices)?)
}

/// The statistics of a layer's whole output.
pub(super) fn statistics(name: &str, output: &Tensor) -> Result<LayerStatistics, TchError> {
    LayerPart::of(name, output)?.statistics()
}

/// What is known of a layer's output for some rows, to which those of others can be added.
pub(super) struct LayerPart {
    name: String,
    spread: Spread,
    largest: f64,
    /// Values that are exactly 0.
    zeros: f64,
    /// Whether each channel is 0 on every square of every position.
    dead: Tensor,
}

impl LayerPart {
    pub(super) fn of(name: &str, output: &Tensor) -> Result<Self, TchError> {
        let spread = Spread::of(output)?;
        let zero = output.f_eq(0.0)?;
        // All axes except the channels, which are axis 1.
        let others: Vec<i64> = (0..output.dim() as i64).filter(|axis| *axis != 1).collect();
        let zero_shares = zero.f_to_kind(Kind::Double)?.f_mean_dim(others.as_slice(), false, Kind::Double)?;
        Ok(Self {
            name: name.to_owned(),
            largest: number(&output.f_abs()?.f_max()?)?,
            zeros: number(&zero.f_mean(Kind::Double)?)? * spread.count,
            dead: zero_shares.f_eq(1.0)?,
            spread,
        })
    }

    /// Adds what is known for other rows.
    pub(super) fn add(&mut self, other: &Self) -> Result<(), TchError> {
        self.spread.add(other.spread);
        self.largest = self.largest.max(other.largest);
        self.zeros += other.zeros;
        self.dead = self.dead.f_logical_and(&other.dead)?;
        Ok(())
    }

    pub(super) fn statistics(&self) -> Result<LayerStatistics, TchError> {
        Ok(LayerStatistics {
            name: self.name.clone(),
            mean: self.spread.mean,
            deviation: self.spread.deviation(),
            largest: self.largest,
            zeros: self.zeros / self.spread.count,
            dead: number(&self.dead.f_mean(Kind::Double)?)?,
        })
    }
}

/// Mean and deviation of numbers that come in parts.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    count: f64,
    mean: f64,
    /// The sum of squared differences from the mean.
    squares: f64,
}

impl Spread {
    fn of(values: &Tensor) -> Result<Self, TchError> {
        let (count, mean) = (values.numel() as f64, number(&values.f_mean(Kind::Double)?)?);
        let deviation = number(&values.f_to_kind(Kind::Double)?.f_std(false)?)?;
        Ok(Self { count, mean, squares: deviation * deviation * count })
    }

    /// Adds other numbers (Chan, Golub and `LeVeque` 1979, "Updating formulae", section 2).
    fn add(&mut self, other: Self) {
        let count = self.count + other.count;
        let difference = other.mean - self.mean;
        self.mean += difference * other.count / count;
        self.squares += other.squares + difference * difference * self.count * other.count / count;
        self.count = count;
    }

    fn deviation(self) -> f64 {
        (self.squares / self.count).sqrt()
    }
}

fn number(scalar: &Tensor) -> Result<f64, TchError> {
    scalar.f_double_value(&[])
}
