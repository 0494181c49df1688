//! What an inspection says of a net whose faults are known.

use crate::network::Weights;
use crate::network::samples::{all_kinds, batch_of, trained_weights};
use crate::network::torch::inspect;

#[test]
fn an_inspection_tells_what_the_layers_say() {
    let mut spec = all_kinds().remove(0);
    spec.tower.blocks = 1;
    let mut weights = trained_weights(&spec);
    // A unit that never fires, and a net that thinks that all is won.
    let bias = |weights: &mut Weights, name: &str, at: usize, value: f32| {
        weights.get_mut(name).expect("is there").data[at] = value;
    };
    bias(&mut weights, "stem.bn.bias", 3, -1e6);
    bias(&mut weights, "value.dense2.bias", 0, 1e3);
    let seen = inspect(&spec, &weights, &batch_of(0..30)).expect("runs");
    let names: Vec<&str> = seen.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names[..4], ["stem.conv", "tower.0.conv1", "tower.0.conv2", "tower.0.se"]);
    assert!((seen.layers[0].dead - 1.0 / 24.0).abs() < 1e-9, "{:?}", seen.layers[0]);
    assert!(seen.layers[0].zeros > seen.layers[0].dead && seen.layers[0].mean > 0.0);
    assert!((seen.value_mean - 1.0).abs() < 1e-6 && seen.value_deviation < 1e-6);
    let board = seen.layers.iter().find(|layer| layer.name == "policy.conv2").expect("is there");
    assert!((seen.logit_deviation / board.deviation - 1.0).abs() < 0.5, "{seen:?}");
    assert!(seen.layers.iter().all(|layer| layer.largest >= layer.deviation && layer.deviation > 0.0));
}
