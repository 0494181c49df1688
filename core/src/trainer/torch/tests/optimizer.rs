//! Steps worked by hand, and comparisons with libtorch's own optimisers.

use tch::nn::OptimizerConfig;
use tch::{Device, Kind, Tensor, nn};

use super::SEED;
use crate::network::{
    NetworkSpec, TensorSpec, Tower, TowerSpec, Weights, hidden_weights, initial_weights, layout,
};
use crate::trainer::torch::flat::{FlatNet, FlatTensor};
use crate::trainer::torch::optimizer::{Optimizer, orthogonalized};
use crate::trainer::{OptimizerKind, OptimizerParams};

fn sgd(momentum: f64, nesterov: bool, weight_decay: f64) -> OptimizerParams {
    let kind = OptimizerKind::Sgd;
    OptimizerParams { kind, momentum, nesterov, weight_decay, ..OptimizerParams::default() }
}

fn adamw(weight_decay: f64) -> OptimizerParams {
    OptimizerParams { weight_decay, ..OptimizerParams::default() }
}

/// The weight of shape `[1, 1]` after each gradient, starting at 1.
fn weights(params: &OptimizerParams, learning_rate: f64, gradients: &[f32]) -> Vec<f64> {
    weights_of_shape(params, learning_rate, gradients, &[1, 1])
}

fn weights_of_shape(
    params: &OptimizerParams,
    learning_rate: f64,
    gradients: &[f32],
    shape: &[i64],
) -> Vec<f64> {
    let mut optimizer = Optimizer::new(params);
    let mut flat = FlatTensor::of_one(&Tensor::ones(shape, (Kind::Float, Device::Cpu)));
    let _guard = tch::no_grad_guard();
    let mut step = |gradient: &f32| {
        let all = flat.numbers.zeros_like();
        let _ = flat.parts[0].view(&all).expect("a part").fill_(f64::from(*gradient));
        optimizer.begin_update();
        optimizer.apply(0, &mut flat, &all, learning_rate).expect("updates");
        weight(&flat).double_value(&[])
    };
    gradients.iter().map(&mut step).collect()
}

/// The tensor of a flat one that has no other.
fn weight(flat: &FlatTensor) -> Tensor {
    flat.parts[0].view(&flat.numbers).expect("a part")
}

fn close(found: &[f64], expected: &[f64]) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-6;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(near),
        "{found:?} is not {expected:?}"
    );
}

#[test]
fn sgd_steps_agree_with_those_worked_by_hand() {
    // v = 1, then 0.5·1 + 1 = 1.5, then 0.5·1.5 + 0 = 0.75; w falls by 0.1·v.
    close(&weights(&sgd(0.5, false, 0.0), 0.1, &[1.0, 1.0, 0.0]), &[0.9, 0.75, 0.675]);
    // The same velocities, and steps of 0.1·(g + 0.5·v): 1.5, 1.75, 0.375.
    close(&weights(&sgd(0.5, true, 0.0), 0.1, &[1.0, 1.0, 0.0]), &[0.85, 0.675, 0.6375]);
    // g = 0 + 0.1·w: w falls by 0.1·0.1·1, then v = 0.5·0.1 + 0.099.
    close(&weights(&sgd(0.5, false, 0.1), 0.1, &[0.0, 0.0]), &[0.99, 0.99 - 0.1 * 0.149]);
}

#[test]
fn adamw_steps_agree_with_those_worked_by_hand() {
    // Step 1: m/(1−β₁) = g and v/(1−β₂) = g², so the step is η, whatever the gradient's size.
    close(&weights(&adamw(0.0), 0.1, &[4.0]), &[0.9]);
    // Step 2 with g = 0: m̂ = 0.9·0.1·4/0.19, v̂ = 0.999·0.001·16/0.001999, so 0.1·1.894737/2.827719 = 0.067006.
    close(&weights(&adamw(0.0), 0.1, &[4.0, 0.0]), &[0.9, 0.9 - 0.067_006]);
    // Without a gradient only the decay acts: w ← w(1 − 0.1·0.5).
    close(&weights(&adamw(0.5), 0.1, &[0.0, 0.0]), &[0.95, 0.9025]);
}

#[test]
fn biases_and_batch_norm_do_not_decay() {
    for params in [sgd(0.9, false, 0.5), adamw(0.5)] {
        close(&weights_of_shape(&params, 0.1, &[0.0, 0.0], &[1]), &[1.0, 1.0]);
    }
}

/// Compares twenty steps on ‖xw − y‖² with libtorch's optimiser; every tensor has two axes, since libtorch decays all tensors.
fn agree(params: &OptimizerParams, learning_rate: f64, theirs: impl OptimizerConfig) {
    let tensor = |seed: i64, shape: [i64; 2]| {
        (Tensor::arange(shape[0] * shape[1], (Kind::Float, Device::Cpu)) * 0.7 + seed).sin().reshape(shape)
    };
    let (x, y, start) = (tensor(1, [8, 5]), tensor(2, [8, 3]), tensor(3, [5, 3]));
    let loss = |weight: &Tensor| (x.matmul(weight) - &y).square().sum(Kind::Float);
    let store = nn::VarStore::new(Device::Cpu);
    let their_weight = store.root().var_copy("w", &start);
    let mut their_optimizer = theirs.build(&store, learning_rate).expect("builds");
    let (mut optimizer, mut flat) = (Optimizer::new(params), FlatTensor::of_one(&start));
    for number in 1..=20 {
        their_optimizer.backward_step(&loss(&their_weight));
        let gradient =
            Tensor::run_backward(&[loss(&weight(&flat))], &[&flat.numbers], false, false).remove(0);
        let _guard = tch::no_grad_guard();
        optimizer.begin_update();
        optimizer.apply(0, &mut flat, &gradient, learning_rate).expect("updates");
        let difference = (weight(&flat) - &their_weight).abs().max().double_value(&[]);
        assert!(difference < 2e-6, "step {number}: weights differ by {difference}");
    }
    let moved = (weight(&flat) - &start).abs().max().double_value(&[]);
    assert!(moved > 0.01, "the weights moved by {moved} only");
}

#[test]
fn sgd_agrees_with_libtorchs_own() {
    agree(&sgd(0.9, false, 0.01), 0.005, nn::sgd(0.9, 0.0, 0.01, false));
    agree(&sgd(0.9, true, 0.01), 0.005, nn::sgd(0.9, 0.0, 0.01, true));
    agree(&sgd(0.0, false, 0.0), 0.005, nn::sgd(0.0, 0.0, 0.0, false));
}

#[test]
fn adamw_agrees_with_libtorchs_own() {
    agree(&adamw(0.1), 0.01, nn::adamw(0.9, 0.999, 0.1));
    let other = OptimizerParams { beta1: 0.5, beta2: 0.9, epsilon: 1e-3, ..adamw(0.0) };
    agree(&other, 0.01, nn::AdamW { eps: 1e-3, ..nn::adamw(0.5, 0.9, 0.0) });
}

#[test]
fn muon_steps_along_the_singular_vectors_of_the_gradient() {
    for shape in [[3, 7], [7, 3], [6, 6]] {
        let numbers: Vec<f32> = (0..shape[0] * shape[1]).map(|n| ((n * n) as f32 * 1.7).sin()).collect();
        let gradient = Tensor::from_slice(&numbers).reshape(shape);
        let found = orthogonalized(&gradient).expect("a matrix");
        let (left, _, right) = gradient.svd(true, true);
        // The coefficients bring singular values between about 0.7 and 1.2 and keep the vectors.
        let sizes = left.tr().matmul(&found).matmul(&right);
        for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
            let size = sizes.double_value(&[row, column]);
            let expected = if row == column { 0.5..1.35 } else { -0.05..0.05 };
            assert!(expected.contains(&size), "{shape:?}: {size} at {row}, {column}");
        }
    }
}

#[test]
fn muon_steps_have_the_size_of_adamws() {
    // Liu et al. 2025: a root mean square of 0.2 for each number, whatever the gradient's size and the matrix's shape.
    for shape in [[8, 8], [16, 144], [64, 32]] {
        for scale in [1e-3, 1e3] {
            let gradient = (Tensor::randn(shape, (Kind::Float, Device::Cpu))) * scale;
            let params = OptimizerParams {
                kind: OptimizerKind::Muon,
                weight_decay: 0.0,
                ..OptimizerParams::default()
            };
            let (mut optimizer, mut flat) =
                (Optimizer::new(&params), FlatTensor::of_one(&gradient.zeros_like()));
            let _guard = tch::no_grad_guard();
            optimizer.begin_update();
            optimizer.apply(0, &mut flat, &gradient.reshape([-1]), 0.01).expect("updates");
            let size = weight(&flat).square().mean(Kind::Float).sqrt().double_value(&[]) / 0.01;
            assert!((0.12..0.28).contains(&size), "{shape:?} {scale}: {size}");
        }
    }
}

#[test]
fn muon_looks_ahead_along_its_momentum_and_takes_a_kernel_for_a_matrix() {
    let numbers = |salt: f64| -> Vec<f32> { (0..54).map(|n| (f64::from(n) * salt).sin() as f32).collect() };
    let gradients = [1.3, 2.9].map(|salt| Tensor::from_slice(&numbers(salt)));
    let params = OptimizerParams {
        kind: OptimizerKind::Muon,
        momentum: 0.8,
        weight_decay: 0.1,
        ..OptimizerParams::default()
    };
    let kernel = Tensor::ones([2, 3, 3, 3], (Kind::Float, Device::Cpu));
    let (mut optimizer, mut flat) = (Optimizer::new(&params), FlatTensor::of_one(&kernel));
    let _guard = tch::no_grad_guard();
    for gradient in &gradients {
        let all = flat.numbers.zeros_like();
        flat.parts[0].view(&all).expect("a part").copy_(&gradient.reshape([2, 3, 3, 3]));
        optimizer.begin_update();
        optimizer.apply(0, &mut flat, &all, 0.01).expect("updates");
    }
    // The first velocity is g₁, the second g₂ + 0.8 g₁; each step goes along the gradient and 0.8 of the velocity.
    let [first, second] = &gradients;
    let ahead = [first * 1.8, second + (second + first * 0.8) * 0.8];
    let mut expected = Tensor::ones([2, 27], (Kind::Float, Device::Cpu));
    for direction in &ahead {
        let step = orthogonalized(&direction.reshape([2, 27])).expect("a matrix");
        expected = expected * (1.0 - 0.01 * 0.1) - step * (0.01 * 0.2 * 27f64.sqrt());
    }
    let difference = (weight(&flat).reshape([2, 27]) - &expected).abs().max().double_value(&[]);
    assert!(difference < 1e-6, "{difference}");
}

#[test]
fn muon_leaves_biases_to_adamw() {
    let params = OptimizerParams { kind: OptimizerKind::Muon, ..OptimizerParams::default() };
    close(&weights_of_shape(&params, 0.1, &[4.0], &[1]), &[0.9]);
}

/// The gradients of a first update without decay at a learning rate of 1, and what they subtract from each trained tensor.
fn first_steps(spec: &NetworkSpec, params: &OptimizerParams) -> [Weights; 2] {
    let weights = initial_weights(spec, SEED);
    let mut net = FlatNet::new(spec, &weights, Device::Cpu).expect("builds");
    let mut optimizer = Optimizer::new(params);
    let _guard = tch::no_grad_guard();
    optimizer.begin_update();
    let (mut gradients, mut steps) = (Weights::new(), Weights::new());
    for (number, flat) in net.trained_mut().enumerate() {
        let (before, gradient) = (flat.numbers.copy(), flat.numbers.randn_like());
        optimizer.apply(number, flat, &gradient, 1.0).expect("updates");
        gradients.extend(flat.download(&gradient).expect("on the CPU"));
        steps.extend(flat.download(&(before - &flat.numbers)).expect("on the CPU"));
    }
    [gradients, steps]
}

#[test]
fn muon_has_hidden_layers_and_adamw_has_first_layers_heads_and_embeddings() {
    let tower = |kind, blocks, filters| TowerSpec { kind, blocks, filters, heads: 2, ..TowerSpec::default() };
    let towers = [
        (tower(Tower::SeResnet, 1, 16), ["tower.0.conv1.weight", "stem.conv.weight", "policy.conv2.weight"]),
        (
            tower(Tower::Transformer, 1, 16),
            ["tower.0.qkv.weight", "stem.position.weight", "stem.embed.weight"],
        ),
        (tower(Tower::Nnue, 0, 64), ["value.dense1.weight", "stem.weight", "policy.moves.weight"]),
    ];
    let params = OptimizerParams {
        kind: OptimizerKind::Muon,
        momentum: 0.5,
        epsilon: 1e-16,
        weight_decay: 0.0,
        ..OptimizerParams::default()
    };
    for (tower, [inner, outer, other]) in towers {
        let spec = NetworkSpec { tower, ..NetworkSpec::default() };
        let hidden = hidden_weights(&spec);
        assert!(hidden.contains_key(inner) && !hidden.contains_key(outer) && !hidden.contains_key(other));
        let [gradients, steps] = first_steps(&spec, &params);
        for TensorSpec { name, shape, .. } in layout(&spec).into_iter().filter(TensorSpec::is_trained) {
            let [gradient, step] =
                [&gradients, &steps].map(|weights| Tensor::from_slice(&weights[&name].data));
            // AdamW's first step is the learning rate in the direction of each number's gradient.
            let expected = hidden.get(&name).map_or_else(
                || gradient.sign(),
                |matrices| {
                    let rows = (shape[0] / matrices) as i64;
                    let parts = gradient.reshape([*matrices as i64, rows, -1]).unbind(0);
                    let larger = *parts[0].size().iter().max().expect("two axes") as f64;
                    let steps = parts
                        .iter()
                        .map(|part| orthogonalized(part).expect("a matrix") * 0.2 * larger.sqrt());
                    Tensor::cat(&steps.collect::<Vec<_>>(), 0).reshape([-1])
                },
            );
            let difference = (step - expected).abs().max().double_value(&[]);
            assert!(difference < 1e-3, "{:?} {name}: {difference}", spec.tower.kind);
        }
    }
}
