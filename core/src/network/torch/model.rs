//! The net for training on libtorch, and the reference for the inference copy.

use std::collections::BTreeMap;

use tch::{Device, Kind, TchError, Tensor};

use super::TorchError;
use super::layers::{
    Attention, ExpandPolicy, KingView, Norm, Threats, accumulated, activate, seen_from_the_other_side,
};
use super::transfer::{download, upload};
use crate::network::fold::{BATCH_NORM, BATCH_NORM_EPSILON};
use crate::network::graph::{AuxiliaryHeads, Graph, Layer, Op, Squeeze, ValueId};
use crate::network::king_buckets::KingBuckets;
use crate::network::{Accumulator, NetworkSpec, Weights, check_against, layout};

/// The statistics that batch norm uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BatchNorm {
    /// Those of the batch, which also update the running statistics.
    Train {
        /// The weight of the batch's statistics in the update, in [0, 1].
        momentum: f64,
    },
    /// Those of the batch; the running statistics stay as they are.
    Batch,
    /// The running statistics.
    Eval,
}

/// A net's outputs for `B` positions.
#[derive(Debug)]
pub struct Heads {
    /// `[B, 4672]`: logits of all moves, legal or not; index `plane · 64 + from`. In training an nnue has `[B, 1858]`, the
    /// [`possible_moves`](crate::encoding::possible_moves), mirrored as its inputs are.
    pub policy: Tensor,
    /// `[B, 3]`: logits of win, draw and loss for the side to move; or `[B, 1]`: P(win) − P(loss) before tanh.
    pub value: Tensor,
    /// `[B, 1]`: plies left / 20 before softplus, if the net has the head.
    pub moves_left: Option<Tensor>,
    /// Like `policy` for the policies, `[B, 1]` for material.
    pub auxiliary: AuxiliaryHeads<Tensor>,
}

/// `B` positions as a net reads them.
#[derive(Debug)]
pub enum NetInput {
    /// `[B, P, 8, 8]`: planes of floats.
    Planes(Tensor),
    /// The pieces alone, for an nnue.
    Pieces(Pieces),
}

/// The pieces of `B` positions as inputs of an nnue's first layers: those of the first position as its side to move sees them, of the
/// second, and so on; then all of them as the other side sees them.
#[derive(Debug)]
pub struct Pieces {
    /// `[N]`: the numbers of the inputs that are 1 without king buckets, mirrored if their side sees them so, with the states of pieces if
    /// any layer reads them. A layer without states takes the remainder, which is the piece on its square.
    pub squares: Tensor,
    /// `[2B]`: where those of each position start.
    pub starts: Tensor,
    /// `[N]`: for each of `squares` that of the king of the side that sees it, if any layer has king buckets.
    pub kings: Option<Tensor>,
    /// The dtype of the layers after the first.
    pub kind: Kind,
}

impl NetInput {
    fn tensor(&self) -> &Tensor {
        match self {
            Self::Planes(planes) => planes,
            Self::Pieces(pieces) => &pieces.squares,
        }
    }

    /// The same positions for layers of another dtype.
    pub fn to_kind(&self, kind: Kind) -> Result<Self, TchError> {
        Ok(match self {
            Self::Planes(planes) => Self::Planes(planes.f_to_kind(kind)?),
            Self::Pieces(Pieces { squares, starts, kings, .. }) => {
                let (squares, starts) = (squares.shallow_clone(), starts.shallow_clone());
                Self::Pieces(Pieces {
                    squares,
                    starts,
                    kings: kings.as_ref().map(Tensor::shallow_clone),
                    kind,
                })
            }
        })
    }
}

/// The mode of libtorch's `embedding_bag` that adds up.
const SUM: i64 = 0;

/// A net with 32-bit weights on a device.
#[derive(Debug)]
pub struct Net {
    /// The net's architecture.
    pub spec: NetworkSpec,
    /// The tensors of [`layout`] by name.
    pub tensors: BTreeMap<String, Tensor>,
    graph: Graph,
}

impl Net {
    /// The same net with the layers of an evaluation instead of those of a training.
    pub fn for_evaluation(self) -> Self {
        Self { graph: Graph::new(&self.spec), ..self }
    }

    /// Puts weights on a device; they must match the spec exactly.
    pub fn from_weights(spec: &NetworkSpec, weights: &Weights, device: Device) -> Result<Self, TorchError> {
        check_against(weights, &layout(spec))?;
        let tensors = weights
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), upload(tensor, device)?)))
            .collect::<Result<_, TchError>>()
            .map_err(|source| TorchError::Library { doing: "putting weights on the device", source })?;
        Ok(Self { spec: spec.clone(), tensors, graph: Graph::of_training(spec) })
    }

    /// The same net with each tensor replaced by `change` of its name and itself.
    pub fn with_tensors(
        &self,
        change: impl Fn(&str, &Tensor) -> Result<Tensor, TchError>,
    ) -> Result<Self, TchError> {
        let changed = self.tensors.iter().map(|(name, tensor)| Ok((name.clone(), change(name, tensor)?)));
        let tensors = changed.collect::<Result<_, TchError>>()?;
        Ok(Self { spec: self.spec.clone(), tensors, graph: self.graph.clone() })
    }

    /// The weights as plain numbers, sorted by name.
    pub fn to_weights(&self) -> Result<Weights, TorchError> {
        self.tensors
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), download(tensor)?)))
            .collect::<Result<_, TchError>>()
            .map_err(|source| TorchError::Library { doing: "reading weights from the device", source })
    }

    /// Runs the net on positions on its device.
    pub fn forward(&self, input: &NetInput, mode: BatchNorm) -> Result<Heads, TchError> {
        self.forward_with(input, mode, |_, _| Ok(()))
    }

    /// Like [`Net::forward`], calling `watch` with every layer and its output.
    pub fn forward_with(
        &self,
        input: &NetInput,
        mode: BatchNorm,
        mut watch: impl FnMut(&Layer, &Tensor) -> Result<(), TchError>,
    ) -> Result<Heads, TchError> {
        let mut values = vec![input.tensor().shallow_clone()];
        for layer in &self.graph.layers {
            let inputs: Vec<&Tensor> = layer.inputs.iter().map(|&value| &values[value]).collect();
            let output = match layer.op {
                Op::Threats => threats(input)?,
                Op::Accumulate { kings, activation, .. } => {
                    self.accumulate(input, inputs[0], &layer.name, &kings, activation)?
                }
                _ => self.run(layer, &inputs, mode)?,
            };
            watch(layer, &output)?;
            values.push(output);
        }
        let flat = |value: ValueId| values[value].f_flatten(1, -1);
        Ok(Heads {
            policy: flat(self.graph.policy)?,
            value: flat(self.graph.value)?,
            moves_left: self.graph.moves_left.map(flat).transpose()?,
            auxiliary: self.graph.auxiliary.try_map(flat)?,
        })
    }

    fn run(&self, layer: &Layer, inputs: &[&Tensor], mode: BatchNorm) -> Result<Tensor, TchError> {
        let (name, input) = (layer.name.as_str(), inputs[0]);
        match layer.op {
            Op::Conv { norm, activation, .. } => activate(self.conv(input, layer, norm, mode)?, activation),
            Op::Join { squeeze, activation, .. } => {
                let branch = squeeze.map(|squeeze| self.squeeze_excite(input, name, squeeze)).transpose()?;
                activate(branch.as_ref().unwrap_or(input).f_add(inputs[1])?, activation)
            }
            Op::Flatten { .. } => input.f_flatten(1, -1),
            Op::Dense { activation, .. } => activate(self.dense(input, name)?, activation),
            Op::Threats | Op::Accumulate { .. } => unreachable!("they read the net's input"),
            Op::ExpandPolicy { is_mirrored } => {
                expand_policy(is_mirrored, input, || inputs[1].f_select(1, 5))
            }
            Op::PositionEmbedding { .. } => input.f_add(self.part(name, "weight")),
            Op::Norm { kind, .. } => {
                let norm = Norm::new(kind, |part| Ok(self.part(name, part).shallow_clone()))?;
                on_squares(input, |squares| norm.run(squares))
            }
            Op::Attention { heads, .. } => {
                let bias = self.part(name, "position_bias").f_unsqueeze(0)?;
                on_squares(input, |squares| Attention { heads: heads as i64, bias }.run(squares))
            }
        }
    }

    /// A position's pieces, `boards` where the input is planes, to the outputs of both sides, in the dtype of the input. The sums are of
    /// 32-bit floats.
    fn accumulate(
        &self,
        input: &NetInput,
        boards: &Tensor,
        layer: &str,
        kings: &KingBuckets,
        activation: Accumulator,
    ) -> Result<Tensor, TchError> {
        let (weight, bias) = (self.part(layer, "weight"), self.part(layer, "bias"));
        let inputs = weight.size()[1] / kings.count() as i64;
        let (sums, kind) = match input {
            NetInput::Planes(planes) => {
                let pieces = boards.f_narrow(1, 0, inputs / 64)?.f_to_kind(Kind::Float)?;
                let [own, other] = match KingView::new(kings, planes.device())? {
                    None => {
                        let pieces = pieces.f_reshape([-1, inputs])?;
                        let other = pieces.f_linear(&seen_from_the_other_side(weight)?, Some(bias))?;
                        [pieces.f_linear(weight, Some(bias))?, other]
                    }
                    Some(view) => {
                        let [own, other] = view.run(&pieces)?;
                        [own.f_linear(weight, Some(bias))?, other.f_linear(weight, Some(bias))?]
                    }
                };
                (Tensor::f_cat(&[own, other], 1)?, planes.kind())
            }
            NetInput::Pieces(Pieces { squares, starts, kings: king, kind }) => {
                let columns = weight.f_t_copy()?;
                let mut squares = squares.f_remainder(inputs)?;
                if kings.count() > 1 {
                    let king = king.as_ref().expect("a batch for king buckets has the kings' squares");
                    let columns = kings.buckets().map(|bucket| i64::from(bucket) * inputs);
                    let columns = Tensor::f_from_slice(&columns)?.f_to_device(squares.device())?;
                    squares = squares.f_add(&columns.f_index_select(0, king)?)?;
                }
                let (sums, ..) = Tensor::f_embedding_bag(
                    &columns,
                    &squares,
                    starts,
                    false,
                    SUM,
                    false,
                    None::<&Tensor>,
                    false,
                )?;
                let own_and_other = sums.f_add(bias)?.f_chunk(2, 0)?;
                (Tensor::f_cat(&own_and_other, 1)?, *kind)
            }
        };
        accumulated(&sums, activation)?.f_to_kind(kind)
    }

    /// Hu et al. 2018, section 3; `[B, C, 8, 8]` in and out.
    fn squeeze_excite(&self, input: &Tensor, layer: &str, squeeze: Squeeze) -> Result<Tensor, TchError> {
        let pooled = input.f_mean_dim([2i64, 3].as_slice(), false, None::<Kind>)?;
        let squeezed = activate(self.dense(&pooled, &format!("{layer}.squeeze"))?, Some(squeeze.activation))?;
        let excited = self.dense(&squeezed, &format!("{layer}.excite"))?.f_unsqueeze(-1)?.f_unsqueeze(-1)?;
        let halves = excited.f_chunk(2, 1)?;
        input.f_mul(&halves[0].f_sigmoid()?)?.f_add(&halves[1])
    }

    fn part(&self, layer: &str, name: &str) -> &Tensor {
        self.tensor(&format!("{layer}.{name}"))
    }

    fn tensor(&self, name: &str) -> &Tensor {
        self.tensors.get(name).expect("the names were checked against the layout")
    }

    /// A convolution that keeps the board's size, with batch norm or a bias.
    fn conv(&self, input: &Tensor, layer: &Layer, norm: bool, mode: BatchNorm) -> Result<Tensor, TchError> {
        let weight = self.part(&layer.name, "weight");
        let padding = weight.size()[3] / 2;
        if norm {
            let output = input.f_conv2d(weight, None::<&Tensor>, 1, padding, 1, 1)?;
            self.batch_norm(&output, layer, mode)
        } else {
            input.f_conv2d(weight, Some(self.part(&layer.name, "bias")), 1, padding, 1, 1)
        }
    }

    fn dense(&self, input: &Tensor, layer: &str) -> Result<Tensor, TchError> {
        input.f_linear(self.part(layer, "weight"), Some(self.part(layer, "bias")))
    }

    fn batch_norm(&self, input: &Tensor, conv: &Layer, mode: BatchNorm) -> Result<Tensor, TchError> {
        let [weight, bias, mean, variance] =
            BATCH_NORM.map(|role| Some(self.tensor(&conv.tensor_name(role))));
        let (running, train, momentum) = match mode {
            BatchNorm::Train { momentum } => ((mean, variance), true, momentum),
            BatchNorm::Batch => ((None, None), true, 0.0),
            BatchNorm::Eval => ((mean, variance), false, 0.0),
        };
        let (mean, variance) = running;
        input.f_batch_norm(weight, bias, mean, variance, train, momentum, BATCH_NORM_EPSILON, true)
    }
}

/// Logits of the possible moves at their policy indices, `[B, 1858]` to `[B, 4672]`; `king` gives the squares of the kings of the sides to
/// move, `[B, 8, 8]`.
pub(super) fn expand_policy(
    is_mirrored: bool,
    possible: &Tensor,
    king: impl FnOnce() -> Result<Tensor, TchError>,
) -> Result<Tensor, TchError> {
    ExpandPolicy::new(is_mirrored, possible.device())?.run(possible, king)
}

/// The planes of pieces by what threatens and defends them; the input itself if it has the pieces one by one.
fn threats(input: &NetInput) -> Result<Tensor, TchError> {
    match input {
        NetInput::Planes(planes) => {
            Threats::new(planes.device())?.run(&planes.f_narrow(1, 0, 12)?.f_to_kind(Kind::Float)?)
        }
        NetInput::Pieces(pieces) => Ok(pieces.squares.shallow_clone()),
    }
}

/// Runs an operation on a board `[B, C, 8, 8]` viewed as `[B, 64, C]`; no copy is needed if memory is channels last.
fn on_squares(
    board: &Tensor,
    run: impl FnOnce(&Tensor) -> Result<Tensor, TchError>,
) -> Result<Tensor, TchError> {
    let rows = board.size()[0];
    let squares = board.f_permute([0, 2, 3, 1])?.f_reshape([rows, 64, -1])?;
    run(&squares)?.f_reshape([rows, 8, 8, -1])?.f_permute([0, 3, 1, 2])
}
