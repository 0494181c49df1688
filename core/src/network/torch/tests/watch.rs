//! A watched forward pass against one of the training net.

use super::super::forward_pass;
use super::{all_kinds, batch_of, reference, trained_weights};
use crate::network::graph::{Graph, Shape};
use crate::network::{Evaluations, EvaluatorError};

#[test]
fn a_forward_pass_agrees_with_the_training_net_and_has_every_layer() {
    for spec in all_kinds() {
        let (weights, batch) = (trained_weights(&spec), batch_of(17..18));
        let pass = forward_pass(&spec, &weights, &batch).expect("runs");
        let evaluation = Evaluations {
            policy: pass.policy.clone(),
            wdl: vec![pass.wdl],
            moves_left: pass.moves_left.into_iter().collect(),
        };
        let evaluated = reference(&spec, &weights, &batch);
        assert!(super::largest_difference(&evaluation, &evaluated) < 1e-4, "{spec:?}");
        let graph = Graph::new(&spec);
        assert_eq!(graph.layers.len(), pass.layers.len());
        for (layer, output) in graph.layers.iter().zip(&pass.layers) {
            assert_eq!(layer.name, output.statistics.name);
            let squares = output.squares.as_ref().map(Vec::len);
            assert_eq!(squares, matches!(layer.output, Shape::Board(_)).then_some(64));
            let largest_mean =
                f64::from(output.squares.iter().flatten().fold(0.0, |largest: f32, mean| largest.max(*mean)));
            assert!(largest_mean <= output.statistics.largest + 1e-6, "a mean is at most the largest");
        }
        let best = |values: &[f32]| (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b]));
        assert_eq!(best(&pass.logits), best(&pass.policy));
    }
}

#[test]
fn non_finite_outputs_are_an_error() {
    let spec = super::spec_of(1, 8);
    let mut weights = trained_weights(&spec);
    // The weights are finite, but the output after two layers is not.
    weights.get_mut("value.dense1.weight").expect("in the layout").data.fill(1e30);
    weights.get_mut("value.dense2.weight").expect("in the layout").data.fill(1e30);
    let failed = forward_pass(&spec, &weights, &batch_of(3..4)).expect_err("is not finite");
    assert!(matches!(failed, EvaluatorError::NotFinite { row: 0 }), "{failed}");
}
