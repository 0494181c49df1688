//! How long sweeps are told to take.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use super::{Plan, Step, Sweeping};
use crate::estimate::Work;
use crate::speeds::{Costs, Pace, Speeds};
use dc0_runs::Identity;

/// A machine on which an evaluation takes a second, and nothing else takes any time.
fn plan() -> Plan {
    let playing = Costs { item: 1.0, ..Costs::default() };
    Plan { speeds: Some(Speeds { playing, ..Speeds::default() }), ..Plan::default() }
}

fn sweep(plan: &mut Plan, name: &str, from: &[&str], workers: u32) {
    plan.sweep(Sweeping {
        name: name.to_owned(),
        trials: 2,
        replicates: 1,
        sampler: "grid",
        pruner: "none",
        begun: BTreeSet::new(),
        from: from.iter().map(|name| (*name).to_owned()).collect(),
        workers,
        turns: BTreeMap::new(),
    });
}

fn ask(plan: &mut Plan, (sweep, trial): (&str, u32), number: u8, seconds: f64) {
    let step = Step {
        kind: "arena",
        what: format!("sweep {sweep}: arena"),
        of: Some((sweep.to_owned(), trial)),
        work: Work::default(),
        pace: Pace { items: seconds, ..Pace::default() },
        is_done: false,
        begun: None,
    };
    let identity = Identity::from_digits(&format!("{number:064x}")).expect("digits");
    plan.add(&identity, step, &Value::group(), &Value::group());
}

/// Seconds of each line, of waiting, and of everything.
fn told(plan: &Plan) -> (Vec<f64>, Vec<f64>, f64) {
    let lines = plan.told.iter().map(|told| told.left_seconds).collect();
    (lines, plan.sweeps.iter().map(Sweeping::waiting).collect(), plan.left().1)
}

/// Two trials that share a step of 60 s and have one of 20 s each.
fn two_trials(plan: &mut Plan, name: &str) {
    for trial in 0..2 {
        ask(plan, (name, trial), 0, 60.0);
        ask(plan, (name, trial), 1 + trial as u8, 20.0);
    }
}

#[test]
fn what_trials_wait_for_is_told_beside_their_steps() {
    let mut plan = plan();
    sweep(&mut plan, "s", &[], 2);
    two_trials(&mut plan, "s");
    // 100 s of work on two workers, which take 80 s, as one of them waits for the shared step.
    assert_eq!(told(&plan), (vec![50.0], vec![30.0], 80.0));
    assert_eq!((plan.seen.len(), plan.asked), (3, 4));
}

#[test]
fn a_sweep_takes_steps_over_only_from_where_it_asks() {
    for (from, all) in [(&[][..], 160.0), (&["s"][..], 80.0)] {
        let mut plan = plan();
        sweep(&mut plan, "s", &[], 2);
        two_trials(&mut plan, "s");
        sweep(&mut plan, "t", from, 2);
        two_trials(&mut plan, "t");
        assert!((told(&plan).2 - all).abs() < 1e-9, "{from:?}: {:?}", told(&plan));
    }
}
