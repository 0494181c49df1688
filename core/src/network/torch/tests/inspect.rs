//! Inspecting a net with known faults.

use tch::{Device, Kind, Tensor};

use crate::network::Weights;
use crate::network::samples::{all_kinds, batch_of, trained_weights};
use crate::network::torch::inspect;
use crate::network::torch::inspect::{LayerPart, LayerStatistics, statistics};

#[test]
fn an_inspection_finds_a_dead_unit_and_a_constant_value() {
    let mut spec = all_kinds().remove(0);
    spec.tower.blocks = 1;
    let mut weights = trained_weights(&spec);
    // A unit that never fires, and a value head that always predicts a win.
    let bias = |weights: &mut Weights, name: &str, index: usize, value: f32| {
        weights.get_mut(name).expect("exists").data[index] = value;
    };
    bias(&mut weights, "stem.bn.bias", 3, -1e6);
    bias(&mut weights, "value.dense2.bias", 0, 1e3);
    let inspection = inspect(&spec, &weights, &batch_of(0..30)).expect("runs");
    let names: Vec<&str> = inspection.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names[..4], ["stem.conv", "tower.0.conv1", "tower.0.conv2", "tower.0.se"]);
    assert!((inspection.layers[0].dead - 1.0 / 24.0).abs() < 1e-9, "{:?}", inspection.layers[0]);
    assert!(inspection.layers[0].zeros > inspection.layers[0].dead && inspection.layers[0].mean > 0.0);
    assert!((inspection.value_mean - 1.0).abs() < 1e-6 && inspection.value_deviation < 1e-6);
    let board = inspection.layers.iter().find(|layer| layer.name == "policy.conv2").expect("exists");
    assert!((inspection.logit_deviation / board.deviation - 1.0).abs() < 0.5, "{inspection:?}");
    assert!(inspection.layers.iter().all(|layer| layer.largest >= layer.deviation && layer.deviation > 0.0));
}

#[test]
fn outputs_that_are_not_finite_are_an_error_that_names_the_first_layer() {
    let spec = all_kinds().remove(0);
    let mut weights = trained_weights(&spec);
    // The root of a negative variance is not a number, though the weights are finite.
    weights.get_mut("tower.1.bn1.running_var").expect("exists").data.fill(-1e6);
    let error = inspect(&spec, &weights, &batch_of(0..3)).expect_err("is not finite").to_string();
    assert!(error.contains("not finite, from the layer tower.1.conv1 on"), "{error}");
}

fn assert_same(found: &LayerStatistics, expected: &LayerStatistics) {
    let figures =
        |layer: &LayerStatistics| [layer.mean, layer.deviation, layer.largest, layer.zeros, layer.dead];
    let pairs = figures(found).into_iter().zip(figures(expected));
    let is_same = |(found, expected): (f64, f64)| (found - expected).abs() < 1e-5 * expected.abs().max(1.0);
    assert!(found.name == expected.name && pairs.into_iter().all(is_same), "{found:?} is not {expected:?}");
}

#[test]
fn parts_of_an_output_add_up_to_the_whole() {
    let whole = (Tensor::arange(10 * 4 * 64, (Kind::Float, Device::Cpu)) * 0.37).sin() + 3.0;
    let whole = whole.reshape([10, 4, 8, 8]);
    // A dead channel, and one that is 0 in the first part alone.
    let _ = whole.select(1, 0).zero_();
    let _ = whole.narrow(0, 0, 7).select(1, 1).zero_();
    let mut sum = LayerPart::of("layer", &whole.narrow(0, 0, 7)).expect("runs");
    sum.add(&LayerPart::of("layer", &whole.narrow(0, 7, 3)).expect("runs")).expect("runs");
    let found = sum.statistics().expect("runs");
    assert_eq!(found.dead, 0.25);
    assert_same(&found, &statistics("layer", &whole).expect("runs"));
}

#[test]
fn positions_that_come_twice_change_no_statistic() {
    let mut spec = all_kinds().remove(0);
    spec.tower.blocks = 1;
    let weights = trained_weights(&spec);
    let once = inspect(&spec, &weights, &batch_of(0..150)).expect("runs");
    let twice = inspect(&spec, &weights, &batch_of((0..150).chain(0..150))).expect("runs");
    once.layers.iter().zip(&twice.layers).for_each(|(once, twice)| assert_same(twice, once));
    let heads = |seen: &crate::network::torch::Inspection| {
        [seen.logit_deviation, seen.value_mean, seen.value_deviation]
    };
    for (once, twice) in heads(&once).into_iter().zip(heads(&twice)) {
        assert!((once - twice).abs() < 1e-6, "{twice} is not {once}");
    }
}
