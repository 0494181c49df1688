//! What is shown of a forward pass is what the net says.

use super::super::{Precision, forward_pass};
use super::{all_kinds, answers, batch_of, evaluator, trained_weights};
use crate::network::graph::{Graph, Shape};
use crate::network::{Evaluations, EvaluatorError};

#[test]
fn a_watched_pass_says_what_the_evaluator_says_and_shows_every_layer() {
    for spec in all_kinds() {
        let (weights, batch) = (trained_weights(&spec), batch_of(17..18));
        let pass = forward_pass(&spec, &weights, &batch).expect("runs");
        let said = Evaluations {
            policy: pass.policy.clone(),
            wdl: vec![pass.wdl],
            moves_left: pass.moves_left.into_iter().collect(),
        };
        let evaluated = answers(&mut evaluator(&spec, &weights, Precision::F32), &batch);
        assert!(super::largest_difference(&said, &evaluated) < 1e-4, "{spec:?}");
        let graph = Graph::new(&spec);
        assert_eq!(graph.layers.len(), pass.layers.len());
        for (layer, seen) in graph.layers.iter().zip(&pass.layers) {
            assert_eq!(layer.name, seen.statistics.name);
            let squares = seen.squares.as_ref().map(Vec::len);
            assert_eq!(squares, matches!(layer.output, Shape::Board(_)).then_some(64));
            let most =
                f64::from(seen.squares.iter().flatten().fold(0.0, |most: f32, number| most.max(*number)));
            assert!(most <= seen.statistics.largest + 1e-6, "a mean is at most the largest");
        }
        let best = |numbers: &[f32]| (0..numbers.len()).max_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        assert_eq!(best(&pass.logits), best(&pass.policy));
    }
}

#[test]
fn answers_that_are_not_finite_are_told() {
    let spec = super::spec_of(1, 8);
    let mut weights = trained_weights(&spec);
    // Finite by themselves, not after two layers.
    weights.get_mut("value.dense1.weight").expect("in the layout").data.fill(1e30);
    weights.get_mut("value.dense2.weight").expect("in the layout").data.fill(1e30);
    let failed = forward_pass(&spec, &weights, &batch_of(3..4)).expect_err("is not finite");
    assert!(matches!(failed, EvaluatorError::NotFinite { row: 0 }), "{failed}");
}
