//! Inspecting a net with known faults.

use crate::network::Weights;
use crate::network::samples::{all_kinds, batch_of, trained_weights};
use crate::network::torch::inspect;

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
