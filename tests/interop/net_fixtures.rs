//! Small nets of every kind, positions for them, and the ONNX Runtime library.

use dc0_backend::onnxruntime::library_of_python;
use dc0_core::board::{Rules, random_opening};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::onnx::OnnxLibrary;
use dc0_core::network::torch::{Precision, TorchEvaluator, TorchOptions, forward_pass};
use dc0_core::network::{
    Accumulator, Activation, AuxiliaryHeadsSpec, Batch, Evaluations, Evaluator, MovesLeftHeadSpec,
    NetworkSpec, NnueInputs, NormKind, PolicyHead, PolicyHeadSpec, Tower, TowerSpec, ValueHead,
    ValueHeadSpec, Weights, initial_weights,
};
use dc0_core::rng::{Purpose, Seed};
use rand::RngExt;

use crate::interop_python;

/// A king bucket for every two ranks.
fn ranks(squares: u32) -> Vec<u32> {
    (0..squares).map(|square| square * 4 / squares).collect()
}

/// Towers with every activation and norm.
fn towers() -> Vec<TowerSpec> {
    let small = TowerSpec { blocks: 2, filters: 16, ..TowerSpec::default() };
    let mut towers = Vec::new();
    for activation in [Activation::Relu, Activation::Mish, Activation::Swish] {
        for kind in [Tower::SeResnet, Tower::Resnet] {
            towers.push(TowerSpec { kind, activation, ..small.clone() });
        }
        for norm in [NormKind::Rms, NormKind::Layer] {
            towers.push(TowerSpec { kind: Tower::Transformer, norm, activation, ..small.clone() });
        }
    }
    for accumulator in [Accumulator::Pairwise, Accumulator::Clipped, Accumulator::Squared] {
        for inputs in [NnueInputs::Pieces, NnueInputs::Threats] {
            let kind = Tower::Nnue;
            let plain = TowerSpec { kind, accumulator, inputs, filters: 64, ..TowerSpec::default() };
            if (accumulator == Accumulator::Clipped) != (inputs == NnueInputs::Threats) {
                towers.push(TowerSpec { mirrored: true, king_buckets: ranks(32), ..plain.clone() });
            }
            towers.push(plain);
        }
    }
    let nnue = TowerSpec { kind: Tower::Nnue, filters: 64, ..TowerSpec::default() };
    towers.push(TowerSpec { mirrored: true, ..nnue.clone() });
    towers.push(TowerSpec { king_buckets: ranks(64), ..nnue });
    towers
}

/// Every encoding in its orientations, with its own history and a shorter one.
fn inputs() -> Vec<(EncodingName, Orientation, Option<u32>)> {
    let with_history = |name: EncodingName| {
        let shorter = (name.max_history() > 3).then_some(Some(3));
        std::iter::once(None).chain(shorter).map(move |history| (name, history))
    };
    let both = |(name, history): (EncodingName, Option<u32>)| {
        name.orientations().iter().map(move |orientation| (name, *orientation, history))
    };
    EncodingName::ALL.into_iter().flat_map(with_history).flat_map(both).collect()
}

/// Every tower and every input, each with all heads; towers and inputs are paired cyclically.
pub(crate) fn matrix() -> Vec<NetworkSpec> {
    let (towers, inputs) = (towers(), inputs());
    let mut nets = Vec::new();
    for at in 0..towers.len().max(inputs.len()) {
        let tower = &towers[at % towers.len()];
        let (encoding, orientation, history) = inputs[at % inputs.len()];
        // An nnue sees every position from the side to move.
        let orientation = if tower.kind == Tower::Nnue { Orientation::SideToMove } else { orientation };
        for heads in 0..8 {
            // Its heads are dense, so it has no kinds of them and no filters.
            let is_nnue = tower.kind == Tower::Nnue;
            let policy =
                if is_nnue { PolicyHead::Conv } else { [PolicyHead::Conv, PolicyHead::Dense][heads % 2] };
            let filters = |filters, default| if is_nnue { default } else { filters };
            let value = [ValueHead::Wdl, ValueHead::Scalar][heads / 2 % 2];
            nets.push(NetworkSpec {
                encoding,
                orientation,
                history,
                tower: tower.clone(),
                policy_head: PolicyHeadSpec {
                    kind: policy,
                    inputs: (tower.kind == Tower::Nnue && heads > 3).then_some(NnueInputs::Threats),
                    king_buckets: if tower.mirrored && heads > 5 { ranks(32) } else { Vec::new() },
                    ..PolicyHeadSpec::default()
                },
                value_head: ValueHeadSpec {
                    kind: value,
                    filters: filters(4, ValueHeadSpec::default().filters),
                    hidden: 16,
                },
                moves_left_head: (heads / 4 == 1).then_some(MovesLeftHeadSpec {
                    filters: filters(2, MovesLeftHeadSpec::default().filters),
                    hidden: 8,
                }),
                auxiliary_heads: (heads % 3 == 1).then_some(AuxiliaryHeadsSpec {
                    soft_policy: true,
                    reply: heads == 1,
                    material: true,
                }),
            });
        }
    }
    nets
}

/// Weights like those of a trained net: nothing is zero, and batch-norm statistics are not trivial.
pub(crate) fn trained_weights(spec: &NetworkSpec) -> Weights {
    let mut weights = initial_weights(spec, Seed { run: 5, step: 0 });
    let mut stream = Seed { run: 6, step: 0 }.stream(0, Purpose::Weights);
    for (name, tensor) in &mut weights {
        let is_constant = tensor.data.iter().all(|value| *value == tensor.data[0]);
        let (low, high) = match name.rsplit('.').next() {
            Some("running_var") => (0.5, 2.0),
            _ if is_constant && tensor.data[0] == 1.0 => (0.3, 1.2),
            _ if is_constant => (-0.3, 0.3),
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

/// Positions of random play, encoded.
pub(crate) fn positions(encoding: &Encoding, games: impl IntoIterator<Item = u64>) -> Batch {
    let mut batch = Batch::default();
    for number in games {
        let mut stream = Seed { run: 3, step: 0 }.stream(number, Purpose::Opening);
        let plies = (number * 7 % 80) as u32;
        let game = random_opening(plies, &Rules { max_plies: 512 }, &mut stream);
        batch.push(encoding, &game);
    }
    batch
}

pub(crate) fn evaluate(evaluator: &mut dyn Evaluator, batch: &Batch) -> Evaluations {
    let mut out = Evaluations::default();
    evaluator.evaluate(batch, &mut out).expect("evaluates");
    out
}

/// The largest difference of two evaluations, where twenty plies count as 1.
pub(crate) fn largest_difference(a: &Evaluations, b: &Evaluations) -> f32 {
    assert_eq!(
        (a.policy.len(), a.wdl.len(), a.moves_left.len()),
        (b.policy.len(), b.wdl.len(), b.moves_left.len())
    );
    let policy = a.policy.iter().zip(&b.policy).map(|(a, b)| (a - b).abs());
    let wdl = a.wdl.iter().zip(&b.wdl);
    let wdl =
        wdl.map(|(a, b)| (a.win - b.win).abs().max((a.draw - b.draw).abs()).max((a.loss - b.loss).abs()));
    let plies = a.moves_left.iter().zip(&b.moves_left).map(|(a, b)| (a - b).abs() / 20.0);
    policy.chain(wdl).chain(plies).fold(0.0, f32::max)
}

/// What libtorch says of [`positions`] in 32-bit floats, also for an nnue, which plays in integers.
pub(crate) fn in_floats(
    spec: &NetworkSpec,
    weights: &Weights,
    games: impl IntoIterator<Item = u64>,
) -> Evaluations {
    if spec.tower.kind != Tower::Nnue {
        let options = TorchOptions { precision: Precision::F32, ..TorchOptions::default() };
        let mut net = TorchEvaluator::new(spec, weights, options).expect("builds");
        return evaluate(&mut net, &positions(&spec.input(), games));
    }
    let mut out = Evaluations::default();
    for game in games {
        let pass = forward_pass(spec, weights, &positions(&spec.input(), [game])).expect("runs");
        out.policy.extend(pass.policy);
        out.wdl.push(pass.wdl);
        out.moves_left.extend(pass.moves_left);
    }
    out
}

/// ONNX Runtime from the Python of the interop tests.
pub(crate) fn onnx_library() -> OnnxLibrary {
    let path = library_of_python(&interop_python())
        .unwrap_or_else(|problem| panic!("{problem}; run `cargo xtask test`"));
    OnnxLibrary::load(&path).unwrap_or_else(|error| panic!("{error}"))
}
