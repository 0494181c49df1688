//! Layers of the inference copy, some shared with the training net, against plain arithmetic.

use tch::{Device, Kind, Tensor};

use crate::network::fold::Linear;
use crate::network::graph::Squeeze;
use crate::network::torch::layers::{Attention, Norm, SqueezeExcite, activate};
use crate::network::torch::runtime::set_threads;
use crate::network::torch::upload;
use crate::network::{Activation, NormKind, WeightTensor};

type Formula = fn(f64) -> f64;

/// A tensor of varied values.
fn varied(shape: &[i64]) -> Tensor {
    let count: i64 = shape.iter().product();
    ((Tensor::arange(count, (Kind::Float, Device::Cpu)) * 0.37).sin() * 2.0).reshape(shape)
}

fn assert_near(found: &Tensor, index: &[i64], expected: f64) {
    let found = found.double_value(index);
    assert!((found - expected).abs() < 1e-4, "{found} is not {expected} at {index:?}");
}

#[test]
fn activations_match_their_formulas() {
    let input = varied(&[50]);
    let formulas: [(Activation, Formula); 3] = [
        (Activation::Relu, |x| x.max(0.0)),
        (Activation::Mish, |x| x * x.exp().ln_1p().tanh()),
        (Activation::Swish, |x| x / (1.0 + (-x).exp())),
    ];
    for (activation, formula) in formulas {
        let found = activate(input.copy(), Some(activation)).expect("runs");
        (0..50).for_each(|index| assert_near(&found, &[index], formula(input.double_value(&[index]))));
    }
}

#[test]
fn norms_match_their_formulas() {
    let (rows, channels) = (3, 10);
    let input = varied(&[rows, channels]);
    let (weight, bias) = (varied(&[channels]) + 1.0, varied(&[channels]) * 0.5);
    let tensor = |name: &str| Ok(if name == "weight" { weight.copy() } else { bias.copy() });
    for kind in [NormKind::Layer, NormKind::Rms] {
        let found = Norm::new(kind, tensor).expect("builds").run(&input).expect("runs");
        for row in 0..rows {
            let values: Vec<f64> = (0..channels).map(|channel| input.double_value(&[row, channel])).collect();
            let mean = |values: &[f64]| values.iter().sum::<f64>() / channels as f64;
            let center = if kind == NormKind::Layer { mean(&values) } else { 0.0 };
            let square = mean(&values.iter().map(|x| (x - center).powi(2)).collect::<Vec<_>>());
            for channel in 0..channels {
                let shift = if kind == NormKind::Layer { bias.double_value(&[channel]) } else { 0.0 };
                let normed = (values[channel as usize] - center) / (square + 1e-5).sqrt();
                assert_near(&found, &[row, channel], normed * weight.double_value(&[channel]) + shift);
            }
        }
    }
}

#[test]
fn norms_of_large_values_in_16_bits_are_those_in_f32() {
    let input = varied(&[3, 10]) * 200.0;
    let tensor = |_: &str, kind| Ok(Tensor::ones([10], (kind, Device::Cpu)));
    for norm in [NormKind::Layer, NormKind::Rms] {
        let run = |kind| {
            let norm = Norm::new(norm, |name| tensor(name, kind)).expect("builds");
            norm.run(&input.to_kind(kind)).expect("runs").to_kind(Kind::Float)
        };
        for (kind, tolerance) in [(Kind::Half, 0.01), (Kind::BFloat16, 0.05)] {
            let difference = (run(kind) - run(Kind::Float)).abs().max().double_value(&[]);
            assert!(difference < tolerance, "{norm:?} {kind:?}: {difference}");
        }
    }
}

/// On one thread, with the fused functions if the CPU supports them, and on two threads with libtorch's.
#[test]
fn squeeze_and_excitation_matches_its_formula() {
    let (rows, channels, width) = (3, 32, 8);
    let tensor = |shape: &[i64], scale: f64| {
        let values = Vec::<f32>::try_from((varied(shape) * scale).reshape([-1])).expect("numbers");
        WeightTensor { shape: shape.iter().map(|axis| *axis as usize).collect(), data: values }
    };
    let linear =
        |outputs, inputs| Linear { weight: tensor(&[outputs, inputs], 0.3), bias: tensor(&[outputs], 0.5) };
    let (squeeze, excite) = (linear(width, channels), linear(2 * channels, width));
    let part = Squeeze { width: width as usize, activation: Activation::Relu };
    let (branch, skip) = (varied(&[rows, 64, channels]), varied(&[rows, 64, channels]).flip([2]));
    for (kind, tolerance) in [(Kind::Float, 1e-5), (Kind::BFloat16, 0.1)] {
        let layer = SqueezeExcite::new(part, &squeeze, &excite, kind, Device::Cpu).expect("builds");
        let [branch, skip] = [&branch, &skip].map(|board| board.to_kind(kind));
        for activation in [None, Some(Activation::Relu), Some(Activation::Mish)] {
            let expected = by_formula(&branch, &skip, [&squeeze, &excite], activation);
            for threads in [1, 2] {
                set_threads(threads);
                let found = layer.run(&branch, &skip, activation).expect("runs").to_kind(Kind::Float);
                let difference = (found - &expected).abs().max().double_value(&[]);
                assert!(difference < tolerance, "{kind:?} {activation:?} {threads} threads: {difference}");
            }
        }
    }
    set_threads(1);
}

/// Squeeze-and-excitation in f32.
fn by_formula(
    branch: &Tensor,
    skip: &Tensor,
    [squeeze, excite]: [&Linear; 2],
    activation: Option<Activation>,
) -> Tensor {
    let [branch, skip] = [branch, skip].map(|board| board.to_kind(Kind::Float));
    let dense = |input: &Tensor, linear: &Linear| {
        let weight = upload(&linear.weight, Device::Cpu).expect("uploads");
        input.matmul(&weight.transpose(0, 1)) + upload(&linear.bias, Device::Cpu).expect("uploads")
    };
    let pooled = branch.mean_dim([1i64].as_slice(), false, Kind::Float);
    let gates = dense(&dense(&pooled, squeeze).relu(), excite).unsqueeze(1).chunk(2, 2);
    activate(&branch * gates[0].sigmoid() + &gates[1] + skip, activation).expect("runs")
}

#[test]
fn attention_matches_its_formula() {
    let (rows, heads, width) = (2, 3, 4);
    let channels = heads * width;
    let input = varied(&[rows, 64, 3 * channels]);
    let bias = varied(&[1, heads, 64, 64]);
    let found = Attention { heads, bias: bias.copy() }.run(&input).expect("runs");
    assert_eq!(found.size(), [rows, 64, channels]);
    let part = |row, square, which: i64, channel: i64| {
        input.double_value(&[row, square, which * channels + channel])
    };
    for (row, head, from) in [(0, 0, 0), (1, 2, 63), (0, 1, 17)] {
        let score = |to: i64| {
            let product: f64 = (0..width)
                .map(|i| part(row, from, 0, head * width + i) * part(row, to, 1, head * width + i))
                .sum();
            (product / (width as f64).sqrt() + bias.double_value(&[0, head, from, to])).exp()
        };
        let weights: Vec<f64> = (0..64).map(score).collect();
        let sum: f64 = weights.iter().sum();
        for channel in head * width..(head + 1) * width {
            let expected: f64 =
                (0..64).map(|to| weights[to as usize] / sum * part(row, to, 2, channel)).sum();
            assert_near(&found, &[row, from, channel], expected);
        }
    }
}
