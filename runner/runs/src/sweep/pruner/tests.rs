use dc0_core::params::{Param, Problems, Value};

use super::{Decision, Job, Progress, Pruner, PrunerKind, PrunerParams, Reported, Reports};
use crate::sweep::observation::{Direction, TrialState};

mod halving;

fn read(json: &str) -> Result<PrunerParams, String> {
    let value: Value = serde_json::from_str(json).expect("test JSON");
    let mut problems = Problems::default();
    let read = PrunerParams::read(&value, "pruner", None, &mut problems);
    read.filter(|_| problems.is_empty()).ok_or_else(|| problems.into_errors("sweep").to_string())
}

fn of_kind(kind: PrunerKind) -> PrunerParams {
    PrunerParams { kind, ..PrunerParams::default() }
}

fn exact(at: u32, value: f64) -> Reported {
    within(at, value, 0.0)
}

fn within(at: u32, value: f64, half: f64) -> Reported {
    Reported { at, value, low: value - half, high: value + half }
}

/// Trials that report 1, 2, 3, 4 and 10 times the progress, at 1, 2 and 3.
fn five_others() -> Vec<Reports> {
    let curve = |value: f64| (1..4).map(|at| exact(at, value * f64::from(at))).collect();
    [1.0, 2.0, 3.0, 4.0, 10.0].map(|value| Reports(vec![curve(value)])).into()
}

#[test]
fn a_pruner_is_read_from_a_name_or_a_group_and_its_rungs_are_powers() {
    assert_eq!(read(r#""median""#), Ok(of_kind(PrunerKind::Median)));
    let halving = read(r#"{"kind": "asha", "least": 2, "reduction": 3, "most": 54}"#).expect("sound");
    assert_eq!([0, 1, 2, 3].map(|rung| halving.rung(rung)), [Some(2), Some(6), Some(18), None]);
    assert_eq!(of_kind(PrunerKind::Asha).rung(40), None);
    let wrong = read(r#"{"kind": "asha", "least": 9, "most": 9}"#).expect_err("no rung");
    assert!(wrong.contains("pruner.most: must lie beyond least (9), got 9"), "{wrong}");
}

#[test]
fn the_median_rule_ends_a_trial_whose_whole_interval_is_worse_than_the_median() {
    let params = of_kind(PrunerKind::Median);
    let others = five_others();
    let decide = |direction, own| Pruner { params: &params, direction }.decide(None, &own, &others);
    let larger = |own| decide(Direction::Maximize, own);
    assert_eq!(larger(exact(2, 5.9)), Decision::Prune);
    assert_eq!(larger(exact(2, 6.0)), Decision::Continue);
    assert_eq!(larger(within(2, 5.0, 0.9)), Decision::Prune);
    assert_eq!(larger(within(2, 5.0, 1.0)), Decision::Continue);
    assert_eq!(decide(Direction::Minimize, within(3, 10.0, 0.9)), Decision::Prune);
    assert_eq!(decide(Direction::Minimize, within(3, 10.0, 1.0)), Decision::Continue);
    // No other trial has reached 4.
    assert_eq!(larger(exact(4, 0.0)), Decision::Continue);
}

#[test]
fn the_median_rule_waits_for_its_warmup_and_for_enough_others() {
    let mut others = five_others();
    let decide = |params: &PrunerParams, others: &[Reports]| {
        Pruner { params, direction: Direction::Maximize }.decide(None, &exact(3, 0.0), others)
    };
    let params = of_kind(PrunerKind::Median);
    assert_eq!(decide(&params, &others), Decision::Prune);
    assert_eq!(decide(&PrunerParams { warmup: 4, ..params.clone() }, &others), Decision::Continue);
    assert_eq!(
        decide(&PrunerParams { kind: PrunerKind::None, ..params.clone() }, &others),
        Decision::Continue
    );
    others[0].0[0].truncate(2);
    assert_eq!(decide(&params, &others), Decision::Continue);
    // A trial that reports more rarely counts at 3 with its last report before.
    others[0].0[0].push(exact(5, 100.0));
    assert_eq!(decide(&params, &others), Decision::Prune);
}

#[test]
fn wide_intervals_prevent_pruning_as_far_as_doubt_counts_them() {
    let others = five_others();
    for (doubt, expected) in
        [(1.0, Decision::Continue), (0.5, Decision::Continue), (0.4, Decision::Prune), (0.0, Decision::Prune)]
    {
        let params = PrunerParams { doubt, ..of_kind(PrunerKind::Median) };
        let pruner = Pruner { params: &params, direction: Direction::Maximize };
        assert_eq!(pruner.decide(None, &within(1, 1.0, 4.0), &others), expected, "doubt {doubt}");
    }
}

#[test]
fn replicates_report_their_mean_with_an_interval_that_shrinks_with_their_number() {
    let one = vec![within(1, 2.0, 0.3), within(2, 5.0, 0.3)];
    let two = vec![Reported { at: 1, value: 4.0, low: 3.6, high: 4.0 }];
    let first = Reports(vec![one.clone(), two.clone()]).up_to(1).expect("both reported");
    assert_eq!((first.at, first.value), (1, 3.0));
    // Below, √(0.3² + 0.4²) / 2; above, 0.3 / 2.
    assert!((first.low - 2.75).abs() < 1e-12 && (first.high - 3.15).abs() < 1e-12, "{first:?}");
    assert_eq!(Reports(vec![one.clone()]).up_to(2), Some(one[1]));
    assert_eq!(Reports(vec![one.clone(), two]).reaching(2), Some(one[1]));
    assert_eq!(Reports::default().up_to(1), None);
}

#[test]
fn replicates_that_report_at_different_progress_count_with_the_report_that_a_rule_needs() {
    let reports = Reports(vec![vec![exact(10, 1.0), exact(20, 3.0)], vec![exact(14, 2.0), exact(27, 5.0)]]);
    let up_to = |at| reports.up_to(at).map(|report| report.value);
    let reaching = |at| reports.reaching(at).map(|report| report.value);
    assert_eq!([9, 10, 14, 20, 27].map(up_to), [None, Some(1.0), Some(1.5), Some(2.5), Some(4.0)]);
    assert_eq!([1, 11, 15, 20].map(reaching), [1.5, 2.5, 4.0, 4.0].map(Some));
    assert_eq!([21, 28].map(reaching), [Some(5.0), None]);
}

#[test]
fn a_trial_is_pruned_by_the_mean_of_replicates_that_report_at_different_progress() {
    let params = of_kind(PrunerKind::Median);
    let pruner = Pruner { params: &params, direction: Direction::Maximize };
    let of = |first, second| Reports(vec![vec![exact(10, first)], vec![exact(11, second)]]);
    let decide = |own: Reports, others: &[Reports]| {
        pruner.decide(None, &own.up_to(11).expect("both reported"), others)
    };
    let others = vec![of(0.5, 0.5); 5];
    assert_eq!(decide(of(0.9, 0.4), &others), Decision::Continue);
    assert_eq!(decide(of(0.4, 0.5), &others), Decision::Prune);
    // The second replicates of the others alone would be better than this trial.
    assert_eq!(decide(of(0.5, 0.5), &vec![of(0.1, 0.7); 5]), Decision::Continue);
}
