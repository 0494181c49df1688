//! One position through a net, layer by layer, for people who want to see it.

use tch::{Device, Kind, TchError, Tensor};

use super::input::Input;
use super::inspect::{legal_logits, statistics};
use super::{BatchNorm, LayerStatistics, Net};
use crate::network::softmax;
use crate::network::{Batch, EvaluatorError, NetworkSpec, ValueHead, Wdl, Weights};
use crate::network::{expected_result, plies_left};

/// What a layer made of a position.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerSeen {
    /// The layer's numbers as a whole.
    pub statistics: LayerStatistics,
    /// For each square, a1 first as the net sees the board, the mean absolute number of its channels; of a board `[C, 8, 8]` only.
    pub squares: Option<Vec<f32>>,
}

/// What a net made of a position, in 32-bit floats.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardPass {
    /// Every layer in its order.
    pub layers: Vec<LayerSeen>,
    /// The logit of each legal move, in the order of move generation.
    pub logits: Vec<f32>,
    /// Their softmax.
    pub policy: Vec<f32>,
    /// What the value head puts out: logits of win, draw and loss, or the one number before tanh.
    pub value: Vec<f32>,
    /// What that means, for the side to move.
    pub wdl: Wdl,
    /// Plies left in the game, if the net has that head.
    pub moves_left: Option<f32>,
}

/// Runs a net on the CPU over a batch of one position and keeps what every layer makes. The weights must be those of the spec.
pub fn forward_pass(
    spec: &NetworkSpec,
    weights: &Weights,
    batch: &Batch,
) -> Result<ForwardPass, EvaluatorError> {
    debug_assert_eq!(batch.len(), 1, "one position is watched");
    let failed = |cause: String| EvaluatorError::Device { rows: 1, cause };
    let net = Net::from_weights(spec, weights, Device::Cpu).map_err(|cause| failed(cause.to_string()))?;
    let _no_grad = tch::no_grad_guard();
    let (layers, numbers) = run(&net, batch).map_err(|cause| failed(cause.to_string()))?;
    said(spec.value_head.kind, layers, numbers).ok_or(EvaluatorError::NotFinite { row: 0 })
}

/// What the heads put out: logits of the legal moves, numbers of the value, plies left.
type Numbers = [Vec<f32>; 3];

fn run(net: &Net, batch: &Batch) -> Result<(Vec<LayerSeen>, Numbers), TchError> {
    let mut input = Input::new(&net.spec.input(), Device::Cpu)?;
    let squares = input.expand_here(batch, 1, Kind::Float)?;
    let planes = squares.f_reshape([1, 8, 8, -1])?.f_permute([0, 3, 1, 2])?;
    let mut layers = Vec::new();
    let heads = net.forward_watched(&planes, BatchNorm::Eval, |layer, made| {
        layers.push(LayerSeen { statistics: statistics(&layer.name, made)?, squares: on_board(made)? });
        Ok(())
    })?;
    let plies = heads.moves_left.as_ref().map(numbers).transpose()?.unwrap_or_default();
    Ok((layers, [numbers(&legal_logits(&heads.policy, batch)?)?, numbers(&heads.value)?, plies]))
}

/// The mean absolute number of each square.
fn on_board(made: &Tensor) -> Result<Option<Vec<f32>>, TchError> {
    if made.dim() != 4 {
        return Ok(None);
    }
    let means = made.f_abs()?.f_mean_dim([1i64].as_slice(), false, Kind::Float)?;
    numbers(&means).map(Some)
}

fn numbers(tensor: &Tensor) -> Result<Vec<f32>, TchError> {
    let flat = tensor.f_contiguous()?.f_flatten(0, -1)?;
    let mut numbers = vec![0.0; flat.numel()];
    let count = numbers.len();
    flat.f_copy_data(&mut numbers, count)?;
    Ok(numbers)
}

/// `None` where something is not finite.
fn said(head: ValueHead, layers: Vec<LayerSeen>, [logits, value, plies]: Numbers) -> Option<ForwardPass> {
    let mut policy = logits.clone();
    let wdl = expected_result(head, &mut value.clone()).filter(|_| softmax(&mut policy))?;
    let moves_left = match plies.first() {
        Some(number) => Some(plies_left(*number)?),
        None => None,
    };
    Some(ForwardPass { layers, logits, policy, value, wdl, moves_left })
}
