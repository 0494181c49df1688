//! The inference copy against the training net, and properties that search relies on.

use std::collections::BTreeMap;

use tch::{Device, Kind, Tensor};

use super::input::Input;
use super::runtime::{DeviceError, parse_device, parse_devices};
use super::{BatchNorm, Net, NetInput, Precision, TorchError, TorchEvaluator, TorchOptions};
use crate::board::Game;
use crate::encoding::{Encoding, EncodingName, Orientation, PlaneKind};
use crate::network::samples::{
    all_kinds, batch_of, encoding, evaluate, image_of, random_game, spec_of, trained_weights,
};
use crate::network::softmax;
use crate::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Tower, Wdl, Weights, initial_weights,
};
use crate::rng::Seed;

mod growth;
mod inspect;
mod layers;
mod watch;

fn evaluator(spec: &NetworkSpec, weights: &Weights, precision: Precision) -> TorchEvaluator {
    let options = TorchOptions { precision, ..TorchOptions::default() };
    TorchEvaluator::new(spec, weights, options).expect("builds")
}

/// The kinds that have an inference copy; nnues play in integers.
fn evaluated_kinds() -> impl Iterator<Item = NetworkSpec> {
    all_kinds().into_iter().filter(|spec| spec.tower.kind != Tower::Nnue)
}

fn largest_difference(a: &Evaluations, b: &Evaluations) -> f32 {
    assert_eq!((a.policy.len(), a.wdl.len()), (b.policy.len(), b.wdl.len()));
    let policy = a.policy.iter().zip(&b.policy).map(|(a, b)| (a - b).abs());
    let wdl = a
        .wdl
        .iter()
        .zip(&b.wdl)
        .flat_map(|(a, b)| [(a.win - b.win).abs(), (a.draw - b.draw).abs(), (a.loss - b.loss).abs()]);
    assert_eq!(a.moves_left.len(), b.moves_left.len());
    // Plies left are on the order of tens.
    let plies = a.moves_left.iter().zip(&b.moves_left).map(|(a, b)| (a - b).abs() / 20.0);
    policy.chain(wdl).chain(plies).fold(0.0, f32::max)
}

fn top_move(evaluations: &Evaluations, batch: &Batch, row: usize) -> usize {
    let policy = &evaluations.policy[batch.legal_range(row)];
    (0..policy.len()).max_by(|a, b| policy[*a].total_cmp(&policy[*b])).expect("a legal move")
}

/// The same evaluations from the training net: planes expanded one by one, all 4672 logits, batch norm not folded.
pub(in crate::network) fn reference(spec: &NetworkSpec, weights: &Weights, batch: &Batch) -> Evaluations {
    let net = Net::from_weights(spec, weights, Device::Cpu).expect("builds").for_evaluation();
    let _no_grad = tch::no_grad_guard();
    let heads = net.forward(&NetInput::Planes(planes(batch, &spec.input())), BatchNorm::Eval).expect("runs");
    let mut out = Evaluations::default();
    for row in 0..batch.len() {
        let logits = Vec::<f32>::try_from(heads.policy.get(row as i64)).expect("floats");
        let start = out.policy.len();
        let legal = &batch.legal[batch.legal_range(row)];
        out.policy.extend(legal.iter().map(|index| logits[index.get() as usize]));
        assert!(softmax(&mut out.policy[start..]));
        let value = Vec::<f32>::try_from(heads.value.get(row as i64)).expect("floats");
        out.wdl.push(result_of(&value));
    }
    if let Some(numbers) = heads.moves_left {
        let numbers = Vec::<f32>::try_from(numbers.flatten(0, -1)).expect("floats");
        out.moves_left = numbers.into_iter().map(|number| 20.0 * number.exp().ln_1p()).collect();
    }
    out
}

/// Win, draw and loss by the definition of each head.
fn result_of(numbers: &[f32]) -> Wdl {
    match *numbers {
        [win, draw, loss] => {
            let sum = win.exp() + draw.exp() + loss.exp();
            Wdl { win: win.exp() / sum, draw: draw.exp() / sum, loss: loss.exp() / sum }
        }
        [number] => {
            let value = number.tanh();
            Wdl { win: 0.5 * (1.0 + value), draw: 0.0, loss: 0.5 * (1.0 - value) }
        }
        _ => panic!("a value head has one number or three"),
    }
}

/// `[B, P, 8, 8]`, plane by plane.
fn planes(batch: &Batch, encoding: &Encoding) -> Tensor {
    let (mut bits, mut scalars) = (batch.binary.iter(), batch.scalars.iter());
    let mut values = Vec::new();
    for plane in (0..batch.len()).flat_map(|_| encoding.planes()) {
        match plane.kind() {
            PlaneKind::Binary => {
                let squares = bits.next().expect("one for each binary plane");
                values.extend((0..64).map(|square| (squares >> square & 1) as f32));
            }
            PlaneKind::Scalar => values.extend([*scalars.next().expect("one for each scalar plane"); 64]),
        }
    }
    Tensor::from_slice(&values).reshape([-1, encoding.planes().len() as i64, 8, 8])
}

#[test]
fn f32_inference_agrees_with_the_training_net() {
    let sizes = [(0, 8), (2, 32), (1, 24)].map(|(blocks, filters)| spec_of(blocks, filters));
    for spec in sizes.into_iter().chain(evaluated_kinds()) {
        let weights = trained_weights(&spec);
        let batch = batch_of(0..40);
        let folded = evaluate(&mut evaluator(&spec, &weights, Precision::F32), &batch);
        let difference = largest_difference(&folded, &reference(&spec, &weights, &batch));
        assert!(difference < 1e-4, "{spec:?}: {difference}");
        let largest = folded.policy.iter().fold(0.0, |largest: f32, prior| largest.max(*prior));
        assert!(largest > 0.1, "{spec:?}: a net with a uniform policy tests little");
    }
}

#[test]
fn a_mirrored_net_gives_mirror_images_the_same_values_and_policies() {
    let batch = batch_of(0..80);
    let mut mirrored = 0;
    for spec in all_kinds().into_iter().filter(|spec| spec.tower.mirrored) {
        let weights = trained_weights(&spec);
        let [own, image] = [&batch, &image_of(&batch)].map(|batch| reference(&spec, &weights, batch));
        let difference = largest_difference(&own, &image);
        assert!(difference < 1e-5, "{spec:?}: {difference}");
        mirrored += 1;
    }
    assert_eq!(mirrored, 8);
}

#[test]
fn sixteen_bit_inference_is_close_for_every_kind_of_net() {
    for spec in evaluated_kinds() {
        let weights = trained_weights(&spec);
        let batch = batch_of(0..40);
        let exact = reference(&spec, &weights, &batch);
        for (precision, tolerance) in [(Precision::Bf16, 0.1), (Precision::F16, 0.02)] {
            let near = evaluate(&mut evaluator(&spec, &weights, precision), &batch);
            let difference = largest_difference(&near, &exact);
            assert!(difference < tolerance, "{precision:?} {spec:?}: {difference}");
        }
    }
}

#[test]
fn bf16_inference_mostly_agrees_on_the_best_move() {
    for (blocks, filters) in [(2, 32), (4, 64)] {
        let spec = spec_of(blocks, filters);
        let weights = trained_weights(&spec);
        let batch = batch_of(0..200);
        let near = evaluate(&mut evaluator(&spec, &weights, Precision::Bf16), &batch);
        let exact = reference(&spec, &weights, &batch);
        let difference = largest_difference(&near, &exact);
        assert!(difference < 0.05, "{blocks}×{filters}: {difference}");
        let agree = |row: &usize| top_move(&near, &batch, *row) == top_move(&exact, &batch, *row);
        let agreeing = (0..batch.len()).filter(agree).count();
        assert!(agreeing * 100 >= batch.len() * 95, "{blocks}×{filters}: {agreeing} of {}", batch.len());
    }
}

#[test]
fn probabilities_sum_to_one() {
    let spec = spec_of(1, 16);
    let batch = batch_of(0..30);
    let out = evaluate(&mut evaluator(&spec, &trained_weights(&spec), Precision::Auto), &batch);
    for row in 0..batch.len() {
        let policy: f32 = out.policy[batch.legal_range(row)].iter().sum();
        let wdl = out.wdl[row];
        assert!((policy - 1.0).abs() < 1e-5 && (wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_rows_evaluation_does_not_depend_on_other_rows() {
    let spec = spec_of(2, 32);
    let weights = trained_weights(&spec);
    for precision in [Precision::F32, Precision::Bf16] {
        let mut evaluator = evaluator(&spec, &weights, precision);
        let first = evaluate(&mut evaluator, &batch_of(0..17));
        let other = evaluate(&mut evaluator, &batch_of((0..1).chain(50..66)));
        let moves = batch_of(0..1).legal.len();
        assert_eq!(first.policy[..moves], other.policy[..moves]);
        assert_eq!(first.wdl[0], other.wdl[0]);
        let again = evaluate(&mut evaluator, &batch_of(0..17));
        assert_eq!((first.policy, first.wdl), (again.policy, again.wdl), "the same batch twice");
    }
}

#[test]
fn equal_rows_have_equal_evaluations_anywhere_in_a_batch() {
    let spec = spec_of(2, 32);
    let batch = batch_of([7, 1, 7, 2, 3, 7].into_iter());
    let out = evaluate(&mut evaluator(&spec, &trained_weights(&spec), Precision::Auto), &batch);
    for row in [2, 5] {
        assert_eq!(out.policy[batch.legal_range(0)], out.policy[batch.legal_range(row)]);
        assert_eq!(out.wdl[0], out.wdl[row]);
    }
}

#[test]
fn two_threads_have_bit_identical_evaluations() {
    let spec = spec_of(2, 32);
    let weights = trained_weights(&spec);
    let lane = || {
        let mut evaluator = evaluator(&spec, &weights, Precision::Auto);
        (0..20).map(|start| evaluate(&mut evaluator, &batch_of(start..start + 40)).policy).collect::<Vec<_>>()
    };
    let (first, second) = std::thread::scope(|scope| {
        let handles = [scope.spawn(lane), scope.spawn(lane)];
        let [first, second] = handles.map(|handle| handle.join().expect("no panic"));
        (first, second)
    });
    assert_eq!(first, second);
}

#[test]
fn expansion_on_cpu_and_device_agrees() {
    for name in EncodingName::NAMES {
        let name = EncodingName::from_name(name).expect("a name");
        check_expansion(&Encoding::new(name, Orientation::SideToMove));
    }
}

fn check_expansion(encoding: &Encoding) {
    let mut batch = Batch::default();
    (0..50).for_each(|number| batch.push(encoding, &random_game(number)));
    let mut input = Input::new(encoding, Device::Cpu).expect("builds");
    let expected = planes(&batch, encoding).flatten(2, -1).transpose(1, 2);
    let padding = Tensor::zeros([3, 64, encoding.planes().len() as i64], (Kind::Float, Device::Cpu));
    let expected = Tensor::cat(&[expected, padding], 0);
    for kind in [Kind::Float, Kind::BFloat16, Kind::Half] {
        let on_cpu = input.expand_on_cpu(&batch, batch.len() + 3, kind).expect("expands");
        let on_device = input.expand_on_device(&batch, batch.len() + 3, kind, Device::Cpu).expect("expands");
        assert_eq!((on_cpu.kind(), on_device.kind()), (kind, kind));
        assert_eq!(on_cpu, on_device);
        assert_eq!(on_cpu, expected.to_kind(kind));
    }
}

#[test]
fn evaluations_of_padded_batches_do_not_depend_on_their_size() {
    let spec = spec_of(1, 16);
    let weights = trained_weights(&spec);
    for precision in [Precision::F32, Precision::Bf16] {
        let options = TorchOptions { precision, pad_to: 16, ..TorchOptions::default() };
        let mut padded = TorchEvaluator::new(&spec, &weights, options).expect("builds");
        let (all, some) = (evaluate(&mut padded, &batch_of(0..16)), evaluate(&mut padded, &batch_of(0..5)));
        assert_eq!((some.wdl.len(), &some.wdl[..]), (5, &all.wdl[..5]));
        assert_eq!(some.policy[..], all.policy[..some.policy.len()]);
        let plain = evaluate(&mut evaluator(&spec, &weights, precision), &batch_of(0..5));
        assert!(largest_difference(&some, &plain) < 0.02);
        assert_eq!(evaluate(&mut padded, &batch_of(0..17)).wdl.len(), 17);
    }
}

#[test]
fn a_position_and_its_colour_swapped_twin_have_the_same_evaluation() {
    let spec = spec_of(1, 16);
    let weights = trained_weights(&spec);
    let mut batch = Batch::default();
    for fen in ["4k3/8/8/3p4/8/4PN2/8/4K2R w K - 3 20", "4k2r/8/4pn2/8/3P4/8/8/4K3 b k - 3 71"] {
        let position = crate::board::Position::from_fen(fen).expect("test FEN");
        batch.push(&encoding(), &Game::from_position(position));
    }
    let out = evaluate(&mut evaluator(&spec, &weights, Precision::Auto), &batch);
    assert_eq!(out.wdl[0], out.wdl[1]);
    let by_index = |row: usize| -> BTreeMap<u16, f32> {
        let range = batch.legal_range(row);
        range.map(|index| (batch.legal[index].get(), out.policy[index])).collect()
    };
    let (one, other) = (by_index(0), by_index(1));
    assert!(one.keys().eq(other.keys()));
    // The legal moves have another order, so their sum may differ in its last bit.
    for (one, other) in one.values().zip(other.values()) {
        assert!((one / other - 1.0).abs() < 1e-6, "{one} and {other}");
    }
}

#[test]
fn an_empty_batch_has_no_evaluations() {
    let spec = spec_of(1, 8);
    let out = evaluate(&mut evaluator(&spec, &trained_weights(&spec), Precision::Auto), &Batch::default());
    assert!(out.policy.is_empty() && out.wdl.is_empty());
}

#[test]
fn an_only_legal_move_has_probability_one() {
    let spec = spec_of(1, 8);
    let mut batch = Batch::default();
    let position = crate::board::Position::from_fen("k7/8/1K6/8/8/8/8/7R b - - 0 1").expect("test FEN");
    batch.push(&encoding(), &Game::from_position(position));
    assert_eq!(batch.legal.len(), 1);
    let out = evaluate(&mut evaluator(&spec, &trained_weights(&spec), Precision::Auto), &batch);
    assert_eq!(out.policy, [1.0]);
}

#[test]
fn missing_weights_and_non_finite_outputs_are_errors() {
    let spec = spec_of(1, 8);
    let mut weights = trained_weights(&spec);
    // The weights are finite, but the output after two layers is not.
    weights.get_mut("value.dense1.weight").expect("in the layout").data.fill(1e30);
    weights.get_mut("value.dense2.weight").expect("in the layout").data.fill(1e30);
    let mut out = Evaluations::default();
    let found = evaluator(&spec, &weights, Precision::F32).evaluate(&batch_of(0..2), &mut out);
    assert!(matches!(found, Err(EvaluatorError::NotFinite { row: 0 })), "{found:?}");

    weights.remove("stem.bn.weight");
    let found = TorchEvaluator::new(&spec, &weights, TorchOptions::default());
    assert!(matches!(found, Err(TorchError::Weights(_))));
}

#[test]
fn an_nnue_has_no_inference_copy() {
    let spec = all_kinds().into_iter().find(|spec| spec.tower.kind == Tower::Nnue).expect("an nnue");
    let found = TorchEvaluator::new(&spec, &trained_weights(&spec), TorchOptions::default());
    assert!(matches!(found, Err(TorchError::Nnue)));
}

#[test]
fn weights_round_trip_through_a_device() {
    let weights = trained_weights(&spec_of(1, 8));
    let net = Net::from_weights(&spec_of(1, 8), &weights, Device::Cpu).expect("builds");
    assert_eq!(net.to_weights().expect("reads"), weights);
}

#[test]
fn only_training_mode_updates_the_running_statistics() {
    let spec = spec_of(1, 8);
    let net = Net::from_weights(&spec, &trained_weights(&spec), Device::Cpu).expect("builds");
    let input = NetInput::Planes(planes(&batch_of(0..16), &encoding()));
    let before = net.to_weights().expect("reads");
    let running = net.forward(&input, BatchNorm::Eval).expect("runs");
    let own = net.forward(&input, BatchNorm::Batch).expect("runs");
    assert_eq!(net.to_weights().expect("reads"), before);
    let trained = net.forward(&input, BatchNorm::Train { momentum: 0.0 }).expect("runs");
    let far = |one: &Tensor, other: &Tensor| (one - other).abs().max().double_value(&[]);
    assert!(far(&own.policy, &trained.policy) < 1e-5 && far(&own.policy, &running.policy) > 1e-3);
    net.forward(&input, BatchNorm::Train { momentum: 0.1 }).expect("runs");
    let after = net.to_weights().expect("reads");
    for (name, tensor) in &after {
        assert_eq!(name.contains(".running_"), *tensor != before[name], "{name}");
    }
}

#[test]
fn an_untrained_net_has_no_strong_preferences() {
    for (blocks, filters) in [(2, 32), (4, 64), (6, 128)] {
        let spec = spec_of(blocks, filters);
        let weights = initial_weights(&spec, Seed { run: 11, step: 0 });
        let batch = batch_of(0..200);
        let net = Net::from_weights(&spec, &weights, Device::Cpu).expect("builds");
        let _no_grad = tch::no_grad_guard();
        let logits = net
            .forward(&NetInput::Planes(planes(&batch, &encoding())), BatchNorm::Eval)
            .expect("runs")
            .policy;
        let deviation = logits.std(false).double_value(&[]);
        assert!((0.01..=1.5).contains(&deviation), "{blocks}×{filters}: {deviation}");
        let out = evaluate(&mut evaluator(&spec, &weights, Precision::Auto), &batch);
        let value = out.wdl.iter().map(|wdl| wdl.value().abs()).sum::<f32>() / batch.len() as f32;
        assert!(value < 0.3, "{blocks}×{filters}: mean |value| {value}");
    }
}

#[test]
fn devices_are_parsed_and_unknown_ones_are_errors() {
    assert_eq!(parse_device("cpu"), Ok(Device::Cpu));
    assert!(parse_device("auto").is_ok());
    for text in ["gpu", "cuda:", "cuda:x", "cpu:0", ""] {
        assert_eq!(parse_device(text), Err(DeviceError::Unknown { text: text.to_owned() }));
    }
    for text in ["cuda:99", "cuda:18446744073709551615"] {
        assert!(matches!(parse_device(text), Err(DeviceError::Unavailable { .. })), "{text}");
    }
    assert_eq!(parse_devices("cpu"), Ok(vec![Device::Cpu]));
    assert_eq!(parse_devices("cpu,cpu"), Err(DeviceError::Mixed { text: "cpu,cpu".to_owned() }));
    assert_eq!(parse_devices("cpu,gpu"), Err(DeviceError::Unknown { text: "gpu".to_owned() }));
    assert!(matches!(parse_devices("cuda:98,cuda:99"), Err(DeviceError::Unavailable { .. })));
}

/// Positions without castling rights, each with its mirror image as the text of FENs reversed by hand.
const IMAGES: [[&str; 2]; 3] = [
    [
        "r2qr1k1/pp3ppp/2n2n2/3p1b2/3P1B2/2N2N2/PP3PPP/R2QR1K1 w - - 3 14",
        "1k1rq2r/ppp3pp/2n2n2/2b1p3/2B1P3/2N2N2/PPP3PP/1K1RQ2R w - - 3 14",
    ],
    ["8/P1p5/3p4/KP5r/1R3pPk/8/4P3/8 b - g3 0 1", "8/5p1P/4p3/r5PK/kPp3R1/8/3P4/8 b - b3 0 1"],
    ["1n1k4/P7/8/8/8/8/7p/4K1N1 w - - 0 60", "4k1n1/7P/8/8/8/8/p7/1N1K4 w - - 0 60"],
];

#[test]
fn averaged_evaluations_of_mirror_images_are_equal() {
    for (number, spec) in evaluated_kinds().enumerate() {
        let weights = trained_weights(&spec);
        let precision = [Precision::F32, Precision::Auto][number % 2];
        let mut net = evaluator(&spec, &weights, precision);
        let mut differ = 0;
        for fens in IMAGES {
            let [own, image] = fens.map(|fen| {
                let mut batch = batch_of(0..3);
                let row = batch.len();
                let position = crate::board::Position::from_fen(fen).expect("test FEN");
                batch.push(&encoding(), &Game::from_position(position));
                let legal = batch.legal[batch.legal_range(row)].to_vec();
                assert!(batch.push_pair(&encoding()));
                let (out, mut policy) = (evaluate(&mut net, &batch), Vec::new());
                differ += usize::from(out.wdl[row] != out.wdl[row + 1]);
                let averaged = out.row(&batch, row, true, &mut policy);
                (averaged, legal.into_iter().zip(policy).collect::<BTreeMap<_, _>>())
            });
            assert_eq!(own.0, image.0, "{spec:?}");
            // The order of the moves decides the rounding of their softmax's sum, by as much as half an ulp for each term.
            let rounding = own.1.len() as f32 * f32::EPSILON;
            for (index, share) in &own.1 {
                let same = image.1[&index.mirrored()];
                assert!((share - same).abs() <= rounding * same, "{spec:?}: {share} and {same}");
            }
            assert_eq!(own.1.len(), image.1.len());
        }
        assert!(differ >= 4, "nets distinguish images without averaging: {differ} of 6, {spec:?}");
    }
}
