//! Asynchronous successive halving: cases worked by hand, and simulations on curves with a known best.

use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

use super::{
    Decision, Direction, Job, Progress, Pruner, PrunerKind, PrunerParams, Reported, Reports, TrialState,
    exact, within,
};

fn halving(most: u32) -> PrunerParams {
    PrunerParams {
        kind: PrunerKind::Asha,
        least: 1,
        reduction: 3,
        most: Some(most),
        ..PrunerParams::default()
    }
}

/// Paused trials, each with the values of its reports at 1, 2, 3, ….
fn paused(curves: &[&[f64]]) -> Vec<Progress> {
    let reports = |curve: &&[f64]| (1..).zip(curve.iter()).map(|(at, value)| exact(at, *value)).collect();
    let trial = |(number, curve)| Progress {
        number,
        state: TrialState::Paused,
        reports: Reports(vec![reports(curve)]),
    };
    (0..).zip(curves).map(trial).collect()
}

fn promote(number: u32, until: Option<u32>) -> Option<Job> {
    Some(Job::Promote { number, until })
}

#[test]
fn the_best_third_of_a_rung_is_promoted_from_high_rungs_first() {
    let params = halving(9);
    let pruner = Pruner { params: &params, direction: Direction::Maximize };
    let new = Some(Job::New { until: Some(1) });
    let mut trials = paused(&[&[1.0], &[3.0]]);
    assert_eq!(pruner.next_job(&trials, true), new);
    assert_eq!(pruner.next_job(&trials, false), None);
    trials = paused(&[&[1.0], &[3.0], &[2.0]]);
    assert_eq!(pruner.next_job(&trials, true), promote(1, Some(3)));
    // While it runs it is not promoted again, and the others are not in the best third.
    trials[1].state = TrialState::Running;
    assert_eq!(pruner.next_job(&trials, true), new);
    // A fourth trial that is better still is waiting: the best third of four is one trial, and it is the best.
    trials.extend(paused(&[&[], &[], &[], &[5.0]]).split_off(3));
    assert_eq!(pruner.next_job(&trials, true), promote(3, Some(3)));
    // Three on the second rung: the best of them runs to its end before anything else starts.
    let long: [&[f64]; 5] = [&[1.0], &[3.0, 3.0, 4.0], &[2.0], &[5.0, 5.0, 3.5], &[4.0, 4.5, 5.0]];
    assert_eq!(pruner.next_job(&paused(&long), true), promote(4, None));
}

#[test]
fn minimizing_promotes_the_smallest_and_ties_the_first() {
    let params = halving(9);
    let pruner = Pruner { params: &params, direction: Direction::Minimize };
    assert_eq!(pruner.next_job(&paused(&[&[2.0], &[1.0], &[3.0]]), true), promote(1, Some(3)));
    assert_eq!(pruner.next_job(&paused(&[&[2.0], &[2.0], &[2.0]]), true), promote(0, Some(3)));
}

#[test]
fn failed_trials_count_on_their_rungs_but_are_not_promoted() {
    let params = halving(9);
    let pruner = Pruner { params: &params, direction: Direction::Maximize };
    let mut trials = paused(&[&[1.0], &[3.0], &[2.0]]);
    trials[1].state = TrialState::Failed;
    assert_eq!(pruner.next_job(&trials, false), None);
}

#[test]
fn without_a_last_rung_there_is_always_a_next_one() {
    let params = PrunerParams { most: None, ..halving(9) };
    let pruner = Pruner { params: &params, direction: Direction::Maximize };
    let curve = |value: f64| [value; 81];
    let (one, two, three) = (curve(1.0), curve(3.0), curve(2.0));
    assert_eq!(pruner.next_job(&paused(&[&one, &two, &three]), false), promote(1, Some(243)));
}

#[test]
fn a_trial_pauses_at_the_first_report_at_its_rung_or_beyond() {
    let params = halving(9);
    let pruner = Pruner { params: &params, direction: Direction::Maximize };
    let decide = |at, until| pruner.decide(until, &exact(at, 0.0), &[]);
    assert_eq!(decide(2, Some(3)), Decision::Continue);
    assert_eq!((decide(3, Some(3)), decide(4, Some(3))), (Decision::Pause, Decision::Pause));
    assert_eq!(decide(400, None), Decision::Continue);
}

#[test]
fn a_trial_whose_interval_reaches_the_threshold_is_promoted_too() {
    let (params, exactly) = (halving(9), PrunerParams { doubt: 0.0, ..halving(9) });
    let mut trials = paused(&[&[], &[3.0], &[2.0]]);
    trials[0].reports = Reports(vec![vec![within(1, 1.0, 2.5)]]);
    let job = |params, trials: &[Progress]| {
        Pruner { params, direction: Direction::Maximize }.next_job(trials, false)
    };
    // The optimistic value is 3.5, and the threshold 3.
    assert_eq!(job(&params, &trials), promote(0, Some(3)));
    assert_eq!(job(&exactly, &trials), promote(1, Some(3)));
}

#[test]
fn replicates_reach_a_rung_at_reports_of_their_own() {
    let params = PrunerParams { least: 1000, reduction: 2, ..halving(2000) };
    let pruner = Pruner { params: &params, direction: Direction::Maximize };
    // The last trial has the best mean; its second replicate, which comes to the rung first, is its worse one.
    let trial = |(number, [first, second]): (u32, [f64; 2])| Progress {
        number,
        state: TrialState::Paused,
        reports: Reports(vec![vec![exact(1040, first)], vec![exact(1010, second)]]),
    };
    let trials: Vec<Progress> = (0..).zip([[0.1, 0.45], [0.4, 0.3]]).map(trial).collect();
    assert_eq!(pruner.next_job(&trials, false), promote(1, None));
}

/// Trials whose curves rise to different heights at different speeds, so that some cross.
struct Curves {
    heights: Vec<f64>,
    speeds: Vec<f64>,
    /// Half of each report's interval.
    half: f64,
}

impl Curves {
    fn new(seed: u64, half: f64) -> Self {
        let mut rng: Stream = Seed { run: seed, step: 0 }.stream(0, Purpose::Opening);
        let heights = (0..TRIALS).map(|_| rng.random_range(0.0..1.0)).collect();
        let speeds = (0..TRIALS).map(|_| rng.random_range(2.0..3.0)).collect();
        Self { heights, speeds, half }
    }

    fn report(&self, trial: u32, at: u32) -> Reported {
        let (height, speed) = (self.heights[trial as usize], self.speeds[trial as usize]);
        within(at, height * (1.0 - (-f64::from(at) / speed).exp()), self.half)
    }

    /// The best value at the end of a full run.
    fn best(&self) -> f64 {
        (0..TRIALS).map(|trial| self.report(trial, LENGTH).value).fold(f64::NEG_INFINITY, f64::max)
    }
}

const TRIALS: u32 = 27;

/// Reports of a trial that runs to its end.
const LENGTH: u32 = 27;

/// The outcome of a simulated sweep.
struct Outcome {
    best: f64,
    complete: usize,
    /// Number of reports made.
    spent: u32,
}

/// Runs a sweep with up to `workers` trials at a time, each of which reports once per round.
fn simulate(curves: &Curves, params: &PrunerParams, workers: usize) -> Outcome {
    let pruner = Pruner { params, direction: Direction::Maximize };
    let mut trials: Vec<Progress> = Vec::new();
    let mut running: Vec<(u32, Option<u32>)> = Vec::new();
    let mut spent = 0;
    loop {
        while running.len() < workers
            && let Some(job) = pruner.next_job(&trials, trials.len() < TRIALS as usize)
        {
            running.push(begin(job, &mut trials));
        }
        if running.is_empty() {
            break;
        }
        spent += running.len() as u32;
        running.retain(|&(number, until)| {
            let trial = &mut trials[number as usize];
            let reports = &mut trial.reports.0[0];
            let report = curves.report(number, reports.len() as u32 + 1);
            reports.push(report);
            if report.at == LENGTH {
                trial.state = TrialState::Complete;
            } else if pruner.decide(until, &report, &[]) == Decision::Pause {
                trial.state = TrialState::Paused;
            }
            trial.state == TrialState::Running
        });
    }
    let complete: Vec<&Progress> =
        trials.iter().filter(|trial| trial.state == TrialState::Complete).collect();
    let ends = complete.iter().filter_map(|trial| trial.reports.0[0].last());
    let best = ends.map(|report| report.value).fold(f64::NEG_INFINITY, f64::max);
    Outcome { best, complete: complete.len(), spent }
}

fn begin(job: Job, trials: &mut Vec<Progress>) -> (u32, Option<u32>) {
    match job {
        Job::New { until } => {
            let number = trials.len() as u32;
            trials.push(Progress { number, state: TrialState::Running, reports: Reports(vec![Vec::new()]) });
            (number, until)
        }
        Job::Promote { number, until } => {
            let trial = &mut trials[number as usize];
            assert_eq!(trial.state, TrialState::Paused, "only paused trials are promoted");
            trial.state = TrialState::Running;
            (number, until)
        }
    }
}

#[test]
fn halving_finds_the_best_trial_for_less_than_half_the_cost_of_full_runs() {
    let full = TRIALS * LENGTH;
    for workers in [1, 4] {
        let (mut same, mut most_spent) = (0, 0);
        for seed in 0..20 {
            let curves = Curves::new(seed, 0.05);
            let outcome = simulate(&curves, &halving(LENGTH), workers);
            same += u32::from(outcome.best == curves.best());
            most_spent = most_spent.max(outcome.spent);
        }
        assert_eq!(same, 20, "{workers} workers");
        assert!(2 * most_spent <= full, "{workers} workers: {most_spent} of {full}");
    }
}

#[test]
fn without_intervals_halving_costs_less_and_misses_curves_that_cross_late() {
    let outcomes = |half| -> Vec<Outcome> {
        (0..20).map(|seed| simulate(&Curves::new(seed, half), &halving(LENGTH), 1)).collect()
    };
    let spent = |outcomes: &[Outcome]| outcomes.iter().map(|outcome| outcome.spent).sum::<u32>();
    let missed = |outcomes: &[Outcome]| {
        (0..).zip(outcomes).filter(|(seed, outcome)| outcome.best < Curves::new(*seed, 0.0).best()).count()
    };
    let (points, intervals) = (outcomes(0.0), outcomes(0.05));
    assert!(spent(&points) < spent(&intervals));
    assert!(missed(&points) > missed(&intervals));
}

#[test]
fn intervals_wider_than_all_differences_complete_every_trial() {
    for workers in [1, 4] {
        let outcome = simulate(&Curves::new(1, 2.0), &halving(LENGTH), workers);
        assert_eq!(
            (outcome.complete, outcome.spent),
            (TRIALS as usize, TRIALS * LENGTH),
            "{workers} workers"
        );
    }
}
