//! Nets and positions for evaluator tests.

use rand::RngExt;

use super::{
    Accumulator, Activation, AuxiliaryHeadsSpec, Batch, Evaluations, Evaluator, MovesLeftHeadSpec,
    NetworkSpec, NnueInputs, NormKind, PolicyHead, PolicyHeadSpec, Tower, TowerSpec, ValueHead,
    ValueHeadSpec, Weights, initial_weights,
};
use crate::board::{Game, Rules, random_opening};
use crate::encoding::{Encoding, EncodingName, Orientation, mirrored};
use crate::rng::{Purpose, Seed};

pub(super) fn spec_of(blocks: u32, filters: u32) -> NetworkSpec {
    NetworkSpec { tower: TowerSpec { blocks, filters, ..TowerSpec::default() }, ..NetworkSpec::default() }
}

pub(super) fn encoding() -> Encoding {
    Encoding::new(EncodingName::Dc0, Orientation::SideToMove)
}

/// Weights as of a trained net: no tensor is all zero, and the running statistics are not trivial.
pub(crate) fn trained_weights(spec: &NetworkSpec) -> Weights {
    let mut weights = initial_weights(spec, Seed { run: 5, step: 0 });
    let mut stream = Seed { run: 6, step: 0 }.stream(0, Purpose::Weights);
    for (name, tensor) in &mut weights {
        let (low, high) = match name.rsplit('.').next() {
            Some("bias" | "running_mean") => (-0.3, 0.3),
            Some("running_var") => (0.5, 2.0),
            Some("position_bias") => (-1.0, 1.0),
            _ if name.contains(".bn") || name.contains(".norm") => (0.3, 1.2),
            _ if tensor.data.iter().all(|value| *value == 0.0) => (-0.2, 0.2),
            _ => continue,
        };
        tensor.data.iter_mut().for_each(|value| *value = stream.random_range(low..high));
    }
    for name in ["policy.conv2.weight", "policy.dense.weight", "policy.moves.weight", "value.dense2.weight"] {
        let tensor = weights.get_mut(name).into_iter();
        tensor.flat_map(|tensor| &mut tensor.data).for_each(|value| *value *= 5.0);
    }
    weights
}

pub(super) fn random_game(number: u64) -> Game {
    let mut stream = Seed { run: 3, step: 0 }.stream(number, Purpose::Opening);
    random_opening((number % 80) as u32, &Rules { max_plies: 512 }, &mut stream)
}

pub(super) fn batch_of(games: impl Iterator<Item = u64>) -> Batch {
    let mut batch = Batch::default();
    games.for_each(|number| batch.push(&encoding(), &random_game(number)));
    batch
}

pub(crate) fn evaluate(evaluator: &mut dyn Evaluator, batch: &Batch) -> Evaluations {
    let mut out = Evaluations::default();
    evaluator.evaluate(batch, &mut out).expect("evaluates");
    out
}

/// The positions with their files reversed, also where a side may castle, and their moves in the same order.
pub(super) fn image_of(batch: &Batch) -> Batch {
    let mut image = batch.clone();
    image.binary.iter_mut().for_each(|squares| *squares = mirrored(*squares));
    image.legal.iter_mut().for_each(|index| *index = index.mirrored());
    image
}

/// Buckets of two squares each on every rank, but for one of all squares from the fourth rank on.
pub(crate) fn king_buckets(squares: u32) -> Vec<u32> {
    (0..squares).map(|square| (square / 2).min(3 * squares / 16)).collect()
}

/// Small nets with every tower, activation, norm and head, in the combinations that may interact.
pub(super) fn all_kinds() -> Vec<NetworkSpec> {
    let small =
        |kind, activation| TowerSpec { kind, blocks: 2, filters: 24, activation, ..TowerSpec::default() };
    let nnue =
        |accumulator| TowerSpec { kind: Tower::Nnue, accumulator, filters: 64, ..TowerSpec::default() };
    let threats = TowerSpec { inputs: NnueInputs::Threats, ..nnue(Accumulator::Pairwise) };
    let by_king = TowerSpec { mirrored: true, ..nnue(Accumulator::Squared) };
    let [half, whole] = [32, 64].map(king_buckets);
    let in_buckets = TowerSpec { king_buckets: whole, ..nnue(Accumulator::Clipped) };
    let both = TowerSpec { mirrored: true, king_buckets: half.clone(), ..threats.clone() };
    let towers = [
        small(Tower::SeResnet, Activation::Relu),
        small(Tower::SeResnet, Activation::Mish),
        small(Tower::Resnet, Activation::Swish),
        small(Tower::Resnet, Activation::Relu),
        nnue(Accumulator::Pairwise),
        nnue(Accumulator::Clipped),
        nnue(Accumulator::Squared),
        threats,
        by_king,
        in_buckets,
        both,
        small(Tower::Transformer, Activation::Mish),
        TowerSpec { norm: NormKind::Layer, ..small(Tower::Transformer, Activation::Swish) },
    ];
    let heads = [
        (PolicyHead::Conv, ValueHead::Wdl, false),
        (PolicyHead::Conv, ValueHead::Scalar, true),
        (PolicyHead::Dense, ValueHead::Wdl, true),
        (PolicyHead::Dense, ValueHead::Scalar, false),
    ];
    let pairs = towers.iter().flat_map(|tower| heads.iter().map(move |head| (tower.clone(), *head)));
    let with_own_layer =
        |tower: &TowerSpec| tower.kind == Tower::Nnue && tower.accumulator == Accumulator::Squared;
    pairs
        .map(|(tower, (policy, value, moves_left))| NetworkSpec {
            policy_head: PolicyHeadSpec {
                kind: if tower.kind == Tower::Nnue { PolicyHead::Conv } else { policy },
                kernel: if tower.kind != Tower::Nnue && policy == PolicyHead::Conv && moves_left {
                    3
                } else {
                    1
                },
                inputs: with_own_layer(&tower).then_some(if moves_left {
                    NnueInputs::Threats
                } else {
                    NnueInputs::Pieces
                }),
                filters: with_own_layer(&tower).then_some(128).filter(|_| value == ValueHead::Wdl),
                king_buckets: if tower.mirrored && with_own_layer(&tower) && moves_left {
                    half.clone()
                } else {
                    Vec::new()
                },
            },
            value_head: ValueHeadSpec {
                kind: value,
                filters: if tower.kind == Tower::Nnue { ValueHeadSpec::default().filters } else { 4 },
                hidden: 16,
            },
            tower,
            moves_left_head: moves_left.then(MovesLeftHeadSpec::default),
            auxiliary_heads: moves_left.then_some(AuxiliaryHeadsSpec {
                soft_policy: true,
                reply: value == ValueHead::Wdl,
                material: true,
            }),
            ..NetworkSpec::default()
        })
        .collect()
}
