//! Estimated times of sweeps.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use super::{Plan, Step, StepOf, SweepPlan};
use crate::estimate::Work;
use crate::speeds::{Costs, ShardCost, Speeds};
use dc0_runs::Identity;

/// A machine on which an evaluation takes a second, and nothing else takes any time.
fn plan() -> Plan {
    let playing = Costs { item: 1.0, ..Costs::default() };
    Plan { speeds: Some(Speeds { playing, ..Speeds::default() }), ..Plan::default() }
}

fn sweep(plan: &mut Plan, name: &str, from: &[&str], workers: u32) {
    plan.sweep(SweepPlan {
        name: name.to_owned(),
        trials: 2,
        replicates: 1,
        sampler: "grid",
        pruner: "none",
        has_seconds: false,
        begun: BTreeSet::new(),
        from: from.iter().map(|name| (*name).to_owned()).collect(),
        workers,
        turns: BTreeMap::new(),
        failed: BTreeMap::new(),
    });
}

fn call(plan: &mut Plan, (sweep, trial): (&str, u32), number: u8, seconds: f64) {
    let step = Step {
        kind: "arena",
        description: format!("sweep {sweep}: arena"),
        of: StepOf::Trial { sweep: sweep.to_owned(), trial },
        work: Work::default(),
        pace: ShardCost { items: seconds, ..ShardCost::default() },
        is_done: false,
        begun: None,
    };
    let identity = Identity::from_digits(&format!("{number:064x}")).expect("digits");
    plan.add(&identity, step, &Value::group(), &Value::group());
}

/// Seconds of each row, of waiting, and of the whole plan.
fn seconds(plan: &Plan) -> (Vec<f64>, Vec<f64>, f64) {
    let rows = plan.rows.iter().map(|row| row.left_seconds).collect();
    (rows, plan.sweeps.iter().map(SweepPlan::waiting).collect(), plan.left().1)
}

/// Two trials that share a step of 60 s and have one of 20 s each.
fn two_trials(plan: &mut Plan, name: &str) {
    for trial in 0..2 {
        call(plan, (name, trial), 0, 60.0);
        call(plan, (name, trial), 1 + trial as u8, 20.0);
    }
}

#[test]
fn waiting_of_trials_is_counted_apart_from_their_steps() {
    let mut plan = plan();
    sweep(&mut plan, "s", &[], 2);
    two_trials(&mut plan, "s");
    // 100 s of work on two workers, which take 80 s, as one of them waits for the shared step.
    assert_eq!(seconds(&plan), (vec![50.0], vec![30.0], 80.0));
    assert_eq!((plan.seen.len(), plan.requested), (3, 4));
}

#[test]
fn a_sweep_takes_over_steps_only_from_sweeps_that_it_names() {
    for (from, all) in [(&[][..], 160.0), (&["s"][..], 80.0)] {
        let mut plan = plan();
        sweep(&mut plan, "s", &[], 2);
        two_trials(&mut plan, "s");
        sweep(&mut plan, "t", from, 2);
        two_trials(&mut plan, "t");
        assert!((seconds(&plan).2 - all).abs() < 1e-9, "{from:?}: {:?}", seconds(&plan));
    }
}
