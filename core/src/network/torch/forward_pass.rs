//! A forward pass of one position with every layer's output, for display.

use tch::{Device, Kind, TchError, Tensor};

use super::input::Input;
use super::inspect::{legal_logits, statistics};
use super::transfer::download;
use super::{BatchNorm, LayerStatistics, Net, NetInput};
use crate::network::softmax;
use crate::network::{Batch, EvaluatorError, NetworkSpec, ValueHead, Wdl, Weights};
use crate::network::{expected_result, moves_left};

/// A layer's output for a position.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerOutput {
    /// Statistics of the whole output.
    pub statistics: LayerStatistics,
    /// For outputs `[C, 8, 8]`: the mean absolute value over the channels of each square, a1 first as the net sees the board.
    pub squares: Option<Vec<f32>>,
}

/// A net's forward pass of one position, in f32.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardPass {
    /// The layers in order.
    pub layers: Vec<LayerOutput>,
    /// The logit of each legal move, in the order of move generation.
    pub logits: Vec<f32>,
    /// Their softmax.
    pub policy: Vec<f32>,
    /// The value head's outputs: logits of win, draw and loss, or one number before tanh.
    pub value: Vec<f32>,
    /// The WDL of these, for the side to move.
    pub wdl: Wdl,
    /// Plies left in the game, if the net has a moves-left head.
    pub moves_left: Option<f32>,
}

/// Runs a net on the CPU on a batch of one position and keeps every layer's output. The weights must match the spec.
pub fn forward_pass(
    spec: &NetworkSpec,
    weights: &Weights,
    batch: &Batch,
) -> Result<ForwardPass, EvaluatorError> {
    debug_assert_eq!(batch.len(), 1, "a forward pass is of one position");
    let failed = |cause: String| EvaluatorError::Device { rows: 1, cause };
    let net = Net::from_weights(spec, weights, Device::Cpu).map_err(|cause| failed(cause.to_string()))?;
    let _no_grad = tch::no_grad_guard();
    let net = net.for_evaluation();
    let (layers, outputs) = run(&net, batch).map_err(|cause| failed(cause.to_string()))?;
    forward_pass_of(spec.value_head.kind, layers, outputs).ok_or(EvaluatorError::NotFinite { row: 0 })
}

/// The heads' outputs: logits of the legal moves, value, moves left.
type HeadOutputs = [Vec<f32>; 3];

fn run(net: &Net, batch: &Batch) -> Result<(Vec<LayerOutput>, HeadOutputs), TchError> {
    let mut input = Input::new(&net.spec.input(), Device::Cpu)?;
    let squares = input.expand_on_cpu(batch, 1, Kind::Float)?;
    let planes = NetInput::Planes(squares.f_reshape([1, 8, 8, -1])?.f_permute([0, 3, 1, 2])?);
    let mut layers = Vec::new();
    let heads = net.forward_with(&planes, BatchNorm::Eval, |layer, output| {
        layers.push(LayerOutput {
            statistics: statistics(&layer.name, output)?,
            squares: square_means(output)?,
        });
        Ok(())
    })?;
    let moves_left = heads.moves_left.as_ref().map(values).transpose()?.unwrap_or_default();
    Ok((layers, [values(&legal_logits(&heads.policy, batch)?)?, values(&heads.value)?, moves_left]))
}

/// The mean absolute value of each square; `None` if the output is not a board.
fn square_means(output: &Tensor) -> Result<Option<Vec<f32>>, TchError> {
    if output.dim() != 4 {
        return Ok(None);
    }
    let means = output.f_abs()?.f_mean_dim([1i64].as_slice(), false, Kind::Float)?;
    values(&means).map(Some)
}

fn values(tensor: &Tensor) -> Result<Vec<f32>, TchError> {
    Ok(download(tensor)?.data)
}

/// `None` if an output is not finite.
fn forward_pass_of(
    head: ValueHead,
    layers: Vec<LayerOutput>,
    [logits, value, plies]: HeadOutputs,
) -> Option<ForwardPass> {
    let mut policy = logits.clone();
    let wdl = expected_result(head, &mut value.clone()).filter(|_| softmax(&mut policy))?;
    let moves_left = match plies.first() {
        Some(output) => Some(moves_left(*output)?),
        None => None,
    };
    Some(ForwardPass { layers, logits, policy, value, wdl, moves_left })
}
