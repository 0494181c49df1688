//! A net in integers.

use thiserror::Error;

use super::accumulator::{FirstLayer, ONE};
use super::blocks::Sums;
use super::dense::{Dense, SmallDense};
use super::pieces::Pieces;
use crate::encoding::Encoding;
use crate::network::fold::{Linear, plain};
use crate::network::graph::{POLICY_STEM, STEM, mirrored_move_sources, move_sources};
use crate::network::king_buckets::{KingBuckets, is_on_the_right, king_squares};
use crate::network::{
    NetworkSpec, NnueInputs, TensorProblems, Tower, ValueHead, Weights, check_against, layout,
};

/// The most pieces on a board.
const PIECES: usize = 32;

/// Outputs up to this size stay finite in 32-bit floats, whatever the order of their sums.
const LARGEST_OUTPUT: f64 = 1e30;

/// Weights that cannot become integers.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NnueError {
    #[error("the net's tower is {}; only those of the kind nnue are computed in integers", kind.name())]
    Kind { kind: Tower },
    #[error(transparent)]
    Tensors(#[from] TensorProblems),
    #[error(
        "the {head} head's outputs may reach {reach:e}; the net's weights have diverged, go back to an earlier checkpoint"
    )]
    Outputs {
        head: &'static str,
        /// The largest sum of its weights and biases.
        reach: f64,
    },
    /// Sums of a first layer may leave 16 bits.
    #[error(
        "output {output} of the layer {layer} may reach {reach:.1}, but 16 bits hold {limit:.1}; the net's weights have diverged, go back \
         to an earlier checkpoint"
    )]
    Range {
        layer: &'static str,
        output: usize,
        /// The largest sum of 32 of its weights and its bias.
        reach: f32,
        limit: f32,
    },
}

/// An `nnue` in integers.
#[derive(Debug, Clone)]
pub struct NnueNet {
    pub(super) encoding: Encoding,
    pub(super) first: FirstLayer,
    /// The first layer of the policy, if it has one of its own.
    pub(super) policy_first: Option<FirstLayer>,
    pub(super) value_head: ValueHead,
    pub(super) value: Head,
    pub(super) moves_left: Option<Head>,
    pub(super) policy: Dense,
    /// The number of each policy index among the possible moves; `[4672]`.
    moves: Vec<u16>,
    /// The number of the mirrored move, if the net is mirrored.
    mirrored_moves: Option<Vec<u16>>,
}

/// A hidden layer with relu, and the layer after it.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) hidden: Dense,
    pub(super) last: SmallDense,
}

impl NnueNet {
    /// Rounds a net's weights to integers: 16 bits in the first layer, 8 bits in the dense layers after it.
    pub fn new(spec: &NetworkSpec, weights: &Weights) -> Result<Self, NnueError> {
        if spec.tower.kind != Tower::Nnue {
            return Err(NnueError::Kind { kind: spec.tower.kind });
        }
        check_against(weights, &layout(spec))?;
        let first_layer = |name: &'static str, inputs: NnueInputs, kings: KingBuckets| {
            let linear = plain(weights, name);
            check_range(name, &linear, inputs.count())?;
            let (weights, bias) = (by_inputs(&linear), rounded(&linear.bias.data));
            let kings = Some(kings).filter(|kings| !kings.is_plain());
            Ok::<_, NnueError>(FirstLayer {
                weights,
                bias,
                activation: spec.tower.accumulator,
                inputs,
                kings,
            })
        };
        let first = first_layer(STEM, spec.tower.inputs, spec.king_buckets())?;
        let policy_layer = |inputs| first_layer(POLICY_STEM, inputs, spec.policy_king_buckets());
        let policy_first = spec.policy_head.inputs.map(policy_layer).transpose()?;
        let head = |name: &'static str| -> Result<Head, NnueError> {
            let [hidden, last] = ["dense1", "dense2"].map(|layer| plain(weights, &format!("{name}.{layer}")));
            let reach = largest_output(&last, largest_output(&hidden, 1.0));
            if reach > LARGEST_OUTPUT {
                return Err(NnueError::Outputs { head: name, reach });
            }
            Ok(Head { hidden: Dense::new(&hidden, first.unit()), last: SmallDense::new(last) })
        };
        let policy = plain(weights, "policy.moves");
        let reach = largest_output(&policy, 1.0);
        if reach > LARGEST_OUTPUT {
            return Err(NnueError::Outputs { head: "policy", reach });
        }
        Ok(Self {
            encoding: spec.input(),
            value_head: spec.value_head.kind,
            value: head("value")?,
            moves_left: spec.moves_left_head.as_ref().map(|_| head("moves_left")).transpose()?,
            policy: Dense::new(&policy, first.unit()),
            moves: numbers(move_sources()),
            mirrored_moves: spec.tower.mirrored.then(|| numbers(mirrored_move_sources())),
            policy_first,
            first,
        })
    }

    /// The number of each policy index among the possible moves, as a position's side to move sees the board; `[4672]`.
    #[inline(always)]
    pub(super) fn moves(&self, pieces: &Pieces) -> &[u16] {
        match &self.mirrored_moves {
            Some(mirrored) if is_on_the_right(king_squares(pieces)[0]) => mirrored,
            _ => &self.moves,
        }
    }
}

fn numbers(sources: Vec<i64>) -> Vec<u16> {
    sources.into_iter().map(|number| number as u16).collect()
}

/// Checks that no position's sums leave 16 bits; each king bucket has so many inputs.
fn check_range(layer: &'static str, linear: &Linear, inputs: usize) -> Result<(), NnueError> {
    let limit = f32::from(i16::MAX) / f32::from(ONE) - 1.0;
    let buckets = linear.weight.shape[1] / inputs;
    for (number, weights) in linear.weight.data.chunks_exact(inputs).enumerate() {
        let output = number / buckets;
        let mut sizes: Vec<f32> = weights.iter().map(|weight| weight.abs()).collect();
        // NaN comes first.
        let (larger, least, _) = sizes.select_nth_unstable_by(PIECES - 1, |one, other| other.total_cmp(one));
        let reach = linear.bias.data[output].abs() + larger.iter().sum::<f32>() + *least;
        if reach.is_nan() || reach > limit {
            return Err(NnueError::Range { layer, output, reach, limit });
        }
    }
    Ok(())
}

/// The largest output of a layer whose inputs are at most `input`.
fn largest_output(linear: &Linear, input: f64) -> f64 {
    let rows = linear.weight.data.chunks_exact(linear.weight.shape[1]);
    let size = |value: &f32| f64::from(value.abs());
    let reach = |(row, bias): (&[f32], &f32)| row.iter().map(size).sum::<f64>() * input + size(bias);
    rows.zip(&linear.bias.data).map(reach).fold(0.0, f64::max)
}

fn rounded(values: &[f32]) -> Vec<Sums> {
    let blocks = values.as_chunks::<32>().0.iter();
    blocks.map(|block| Sums(block.map(|value| (value * f32::from(ONE)).round() as i16))).collect()
}

/// `[W, I]` as `[I, W]`.
fn by_inputs(linear: &Linear) -> Vec<Sums> {
    let (inputs, outputs) = (linear.weight.shape[1], linear.bias.data.len());
    let weight = |input: usize, output: usize| linear.weight.data[output * inputs + input];
    let row = |input: usize| (0..outputs).map(|output| weight(input, output)).collect::<Vec<f32>>();
    (0..inputs).flat_map(|input| rounded(&row(input))).collect()
}
