//! The total time of a sweep's trials.

use std::collections::BTreeMap;

use dc0_runs::Identity;

/// A step of a trial: its identity, and the seconds that it takes one worker; 0 if it is finished.
pub(super) type TurnStep = (Identity, f64);

/// Seconds until all trials have ended. Each worker takes the next trial and does its steps in order. It waits for a step that
/// another worker is doing, and takes over one that is done.
pub(super) fn makespan(trials: &[&[TurnStep]], workers: u32) -> f64 {
    let mut trials = trials.iter();
    let mut workers: Vec<(f64, &[TurnStep])> = vec![(0.0, &[]); workers.max(1) as usize];
    let mut ends: BTreeMap<&Identity, f64> = BTreeMap::new();
    let mut last = 0.0_f64;
    // The worker that is free first is the next to claim a step, or a trial.
    while let Some((time, steps)) = workers.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
        if let Some(((identity, seconds), rest)) = steps.split_first() {
            let end = *ends.entry(identity).or_insert(*time + seconds);
            (*time, *steps) = (time.max(end), rest);
            last = last.max(*time);
        } else if let Some(trial) = trials.next() {
            *steps = trial;
        } else {
            // Nothing is left to claim; the others finish their work.
            *time = f64::INFINITY;
            if workers.iter().all(|(time, _)| time.is_infinite()) {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::{TurnStep, makespan};
    use dc0_runs::Identity;

    fn step(number: u8, seconds: f64) -> TurnStep {
        let digits = format!("{number:064x}");
        (Identity::from_digits(&digits).expect("digits"), seconds)
    }

    fn seconds_of(trials: &[Vec<TurnStep>], workers: u32) -> f64 {
        makespan(&trials.iter().map(Vec::as_slice).collect::<Vec<_>>(), workers)
    }

    #[test]
    fn a_shared_step_is_waited_for_and_the_rest_runs_in_parallel() {
        let trial = |own: u8| vec![step(0, 60.0), step(own, 20.0)];
        let trials: Vec<_> = (1..=4).map(trial).collect();
        // 60 s in which the second worker waits, then two rounds of 20 s.
        assert!((seconds_of(&trials, 2) - 100.0).abs() < 1e-9);
        assert!((seconds_of(&trials, 1) - 140.0).abs() < 1e-9);
        assert!((seconds_of(&trials, 8) - 80.0).abs() < 1e-9);
    }

    #[test]
    fn distinct_steps_keep_all_workers_busy() {
        let trials: Vec<_> = (0..8).map(|own| vec![step(own, 10.0)]).collect();
        assert!((seconds_of(&trials, 4) - 20.0).abs() < 1e-9);
        assert!((seconds_of(&trials[..5], 4) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn finished_steps_take_no_time() {
        assert!(seconds_of(&[vec![step(0, 0.0), step(1, 5.0)], vec![step(0, 0.0)]], 2) == 5.0);
        assert!(seconds_of(&[], 3) == 0.0);
    }
}
