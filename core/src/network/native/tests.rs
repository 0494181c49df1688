//! The native copy against libtorch's, and the promises that it makes beyond the contract.

use super::{Cpu, NativeEvaluator};
use crate::network::samples::{batch_of, largest_difference, spec_of, trained_weights};
use crate::network::torch::{Precision, TorchEvaluator, TorchOptions};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Tower, Weights};

fn answers(evaluator: &mut impl Evaluator, batch: &Batch) -> Evaluations {
    let mut out = Evaluations::default();
    evaluator.evaluate(batch, &mut out).expect("evaluates");
    out
}

fn on(cpu: Cpu, spec: &NetworkSpec, weights: &Weights, batch: &Batch) -> Evaluations {
    let mut evaluator = NativeEvaluator::new(spec, weights).expect("builds");
    evaluator.cpu = cpu;
    answers(&mut evaluator, batch)
}

#[test]
fn its_answers_are_those_of_libtorch() {
    for kind in [Tower::SeResnet, Tower::Resnet] {
        for (blocks, filters) in [(0, 16), (1, 24), (2, 32), (1, 48), (4, 64)] {
            let mut spec = spec_of(blocks, filters);
            spec.tower.kind = kind;
            let weights = trained_weights(&spec);
            let batch = batch_of(0..40);
            let options = TorchOptions { precision: Precision::F32, ..TorchOptions::default() };
            let mut torch = TorchEvaluator::new(&spec, &weights, options).expect("builds");
            let native = on(Cpu::detect(), &spec, &weights, &batch);
            let difference = largest_difference(&native, &answers(&mut torch, &batch));
            assert!(difference < 1e-4, "{kind:?} {blocks}×{filters}: {difference}");
        }
    }
}

#[test]
fn every_kind_of_vector_instruction_gives_the_same_bits() {
    let spec = spec_of(2, 40);
    let weights = trained_weights(&spec);
    let batch = batch_of(0..21);
    let best = on(Cpu::detect(), &spec, &weights, &batch);
    #[cfg(target_arch = "x86_64")]
    if Cpu::detect() == Cpu::Avx512 {
        let avx2 = on(Cpu::Avx2, &spec, &weights, &batch);
        assert_eq!((&best.policy, &best.wdl), (&avx2.policy, &avx2.wdl));
    }
    let portable = on(Cpu::Portable, &spec, &weights, &batch);
    assert_eq!((best.policy, best.wdl), (portable.policy, portable.wdl));
}

#[test]
fn a_rows_answer_depends_on_that_row_only_whatever_the_batch() {
    let spec = spec_of(2, 32);
    let weights = trained_weights(&spec);
    let all = batch_of(0..37);
    let together = on(Cpu::detect(), &spec, &weights, &all);
    for row in 0..37 {
        let alone = on(Cpu::detect(), &spec, &weights, &batch_of(row..row + 1));
        assert_eq!(together.policy[all.legal_range(row as usize)], alone.policy, "row {row}");
        assert_eq!(together.wdl[row as usize], alone.wdl[0], "row {row}");
    }
}

#[test]
fn a_smaller_batch_after_a_larger_one_has_no_answers_left_over() {
    let spec = spec_of(1, 16);
    let mut evaluator = NativeEvaluator::new(&spec, &trained_weights(&spec)).expect("builds");
    answers(&mut evaluator, &batch_of(0..30));
    let small = answers(&mut evaluator, &batch_of(40..43));
    let fresh = on(Cpu::detect(), &spec, &trained_weights(&spec), &batch_of(40..43));
    assert_eq!((small.policy, small.wdl), (fresh.policy, fresh.wdl));
    let none = answers(&mut evaluator, &Batch::default());
    assert!(none.policy.is_empty() && none.wdl.is_empty());
}

#[test]
fn answers_that_are_not_finite_are_an_error() {
    let spec = spec_of(1, 8);
    let mut weights = trained_weights(&spec);
    for name in ["value.dense1.weight", "value.dense2.weight"] {
        weights.get_mut(name).expect("in the layout").data.fill(1e30);
    }
    let mut evaluator = NativeEvaluator::new(&spec, &weights).expect("builds");
    let found = evaluator.evaluate(&batch_of(0..2), &mut Evaluations::default());
    assert!(matches!(found, Err(EvaluatorError::NotFinite { row: 0 })), "{found:?}");
    weights.remove("stem.bn.bias");
    assert!(NativeEvaluator::new(&spec, &weights).is_err());
}
