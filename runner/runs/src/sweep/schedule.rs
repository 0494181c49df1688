//! Decides what a sweep does next: a pure function of the state of its trials.
//!
//! With parallel trials the next point could depend on which of them ends first. Therefore trial n sees only the values of trials
//! up to n − `parallel`, and waits for them if they matter. Successive halving cannot wait like this: with parallel trials, its
//! promotions depend on the order in which they reach their rungs.

use std::collections::BTreeSet;

use super::events::{Ending, Replicate};
use super::observation::{Observation, TrialState};
use super::params::SweepParams;
use super::pruner::{self, Decision, Progress, Pruner, PrunerKind, Reports};
use super::sampler::{Sampler, SamplerKind};
use super::space::Point;
use super::trials::{Trial, Trials};

/// Everything that determines the next job.
#[derive(Debug, Clone, Copy)]
pub struct Schedule<'a> {
    /// The sweep's parameters.
    pub params: &'a SweepParams,
    /// The sweep's seed.
    pub seed: u64,
    /// All trials so far.
    pub trials: &'a Trials,
    /// Trials that are running.
    pub busy: &'a BTreeSet<u32>,
}

/// The next job of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Start a trial, up to its first report at or beyond `until`.
    Start {
        /// Its number.
        trial: u32,
        /// Its point.
        point: Point,
        /// The progress at which it pauses; `None` for its end.
        until: Option<u32>,
    },
    /// Resume a trial.
    Resume {
        /// Its number.
        trial: u32,
        /// The progress at which it pauses; `None` for its end.
        until: Option<u32>,
    },
    /// Decide again when a running trial has ended or paused.
    Wait,
    /// Nothing is left to do.
    Done,
}

impl Schedule<'_> {
    /// The next job.
    pub fn next(&self) -> Job {
        let interrupted = self.trials.iter().find(|(number, trial)| {
            self.state(*number, trial) == TrialState::Killed && !self.busy.contains(number)
        });
        if let Some((number, trial)) = interrupted {
            if self.params.pruner.kind == PrunerKind::Median && self.awaits_others(number) {
                return Job::Wait;
            }
            return Job::Resume { trial: number, until: self.rung_of(trial) };
        }
        let next = self.trials.next_number();
        let may_start = next < self.params.trials;
        match self.pruner().next_job(&self.progress(), may_start) {
            Some(pruner::Job::Promote { number, until }) => Job::Resume { trial: number, until },
            Some(pruner::Job::New { until }) => self.start(next, until),
            None => self.idle(),
        }
    }

    /// Whether and how a trial ends or pauses at one of its reports.
    pub fn ending(&self, replicate: Replicate, at: u32, until: Option<u32>) -> Option<Ending> {
        let own = self.trials.get(replicate.trial)?.reports_of_those_at(at).up_to(at)?;
        let visible = self.visible_to(replicate.trial);
        let others: Vec<Reports> = self
            .trials
            .iter()
            .filter(|(number, trial)| *number < visible && self.is_current(trial))
            .map(|(_, trial)| trial.reports_of_those_at(at))
            .collect();
        match self.pruner().decide(until, &own, &others) {
            Decision::Continue => None,
            Decision::Prune => Some(Ending::Pruned),
            Decision::Pause => Some(Ending::Paused),
        }
    }

    fn start(&self, trial: u32, until: Option<u32>) -> Job {
        let matters =
            self.params.sampler.kind == SamplerKind::Tpe || self.params.pruner.kind == PrunerKind::Median;
        if matters && self.awaits_others(trial) {
            return Job::Wait;
        }
        match self.point(trial) {
            Some(point) => Job::Start { trial, point, until },
            None => self.idle(),
        }
    }

    /// The point of a new trial; `None` if every point has been tried.
    fn point(&self, trial: u32) -> Option<Point> {
        let visible = self.visible_to(trial);
        let observations: Vec<Observation> = self
            .trials
            .iter()
            .map(|(number, trial)| self.observation(number, trial, number < visible))
            .collect();
        let SweepParams { space, sampler, direction, .. } = self.params;
        let sampler = Sampler { space, params: sampler, direction: *direction, seed: self.seed };
        sampler.ask(trial, &observations)
    }

    fn idle(&self) -> Job {
        if self.busy.is_empty() { Job::Done } else { Job::Wait }
    }

    /// Whether a trial that is running has values that this one sees.
    fn awaits_others(&self, trial: u32) -> bool {
        let visible = self.visible_to(trial);
        self.busy.iter().any(|number| *number < visible)
    }

    /// A trial sees the values of trials with smaller numbers than this.
    fn visible_to(&self, trial: u32) -> u32 {
        (trial + 1).saturating_sub(self.params.parallel)
    }

    fn observation(&self, number: u32, trial: &Trial, is_visible: bool) -> Observation {
        let (state, point) = (self.state(number, trial), trial.point.clone());
        let reports = trial.reports();
        let last = trial.held_back_at().or_else(|| reports.up_to(reports.last_at()?));
        let (state, value) = if is_visible {
            (state, trial.value().or(last.map(|report| report.value)))
        } else {
            (TrialState::Running, None)
        };
        Observation { number, point, state, value, at: last.map_or(0, |report| report.at) }
    }

    fn state(&self, number: u32, trial: &Trial) -> TrialState {
        if self.busy.contains(&number) {
            return TrialState::Running;
        }
        trial.state(&self.params.space, self.params.replicates)
    }

    fn progress(&self) -> Vec<Progress> {
        let progress = |(number, trial): (u32, &Trial)| Progress {
            number,
            state: self.state(number, trial),
            reports: trial.reports(),
        };
        self.trials.iter().filter(|(_, trial)| self.is_current(trial)).map(progress).collect()
    }

    /// Whether a trial is not stale, so that others are compared with it.
    fn is_current(&self, trial: &Trial) -> bool {
        self.params.space.contains(&trial.point)
    }

    fn pruner(&self) -> Pruner<'_> {
        Pruner { params: &self.params.pruner, direction: self.params.direction }
    }

    /// The rung to which an interrupted trial was running; `None` for its end.
    fn rung_of(&self, trial: &Trial) -> Option<u32> {
        let is_halving = self.params.pruner.kind == PrunerKind::Asha && !trial.skips_rungs;
        let reports = trial.reports();
        // A replicate pauses at its first report at or beyond a rung, so one with a second report there was promoted.
        let is_ahead = |rung: &u32| !reports.goes_on_from(*rung);
        (0..).map_while(|rung| self.params.pruner.rung(rung)).find(|rung| is_halving && is_ahead(rung))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Job, Schedule};
    use crate::sweep::events::{Ending, Event, Replicate};
    use crate::sweep::fixtures::{ended, params, reported, started, suggested, suggested_at};
    use crate::sweep::params::SweepParams;
    use crate::sweep::trials::Trials;

    fn next(params: &SweepParams, trials: &Trials, busy: &[u32]) -> Job {
        let busy: BTreeSet<u32> = busy.iter().copied().collect();
        Schedule { params, seed: 1, trials, busy: &busy }.next()
    }

    fn ending(
        params: &SweepParams,
        trials: &Trials,
        trial: u32,
        at: u32,
        until: Option<u32>,
    ) -> Option<Ending> {
        let schedule = Schedule { params, seed: 1, trials, busy: &BTreeSet::new() };
        schedule.ending(Replicate { trial, replicate: 0 }, at, until)
    }

    #[test]
    fn interrupted_trials_are_resumed_before_new_ones_start() {
        let one = params(r#", "trials": 3"#);
        assert!(matches!(next(&one, &Trials::default(), &[]), Job::Start { trial: 0, until: None, .. }));
        let trials = Trials::from_events(&[
            suggested(0),
            ended((0, 0), Ending::Complete, 0.5),
            suggested(1),
            started((1, 0)),
        ]);
        assert_eq!(next(&one, &trials, &[]), Job::Resume { trial: 1, until: None });
        // While it runs, the next trial waits for its value, unless two may run at once. After the third trial the sweep waits
        // for the others, then it is done.
        assert_eq!(next(&one, &trials, &[1]), Job::Wait);
        let two = params(r#", "trials": 3, "parallel": 2"#);
        assert!(matches!(next(&two, &trials, &[1]), Job::Start { trial: 2, .. }));
        let trials = Trials::from_events(&[suggested(0), suggested(1), suggested(2)]);
        assert_eq!(next(&one, &trials, &[0, 1, 2]), Job::Wait);
        let done = [suggested(0), suggested(1), suggested(2)]
            .into_iter()
            .chain((0..3).map(|n| ended((n, 0), Ending::Complete, 0.1)));
        assert_eq!(next(&one, &Trials::from_events(&done.collect::<Vec<_>>()), &[]), Job::Done);
    }

    #[test]
    fn trials_are_kept_when_replicates_or_values_are_added() {
        let events = [
            suggested(0),
            ended((0, 0), Ending::Complete, 0.5),
            suggested(1),
            ended((1, 0), Ending::Failed, 0.1),
        ];
        let twice = params(r#", "trials": 2, "replicates": 2"#);
        assert_eq!(next(&twice, &Trials::from_events(&events), &[]), Job::Resume { trial: 0, until: None });
        // A failed trial stays failed until it is retried; one whose value was removed from the space is stale.
        let once = params(r#", "trials": 2"#);
        assert_eq!(next(&once, &Trials::from_events(&events), &[]), Job::Done);
        let again = [&events[..], &[Event::Retried { trial: 1 }]].concat();
        assert_eq!(next(&once, &Trials::from_events(&again), &[]), Job::Resume { trial: 1, until: None });
        let gone = suggested_at(0, 99);
        assert!(matches!(next(&once, &Trials::from_events(&[gone]), &[]), Job::Start { trial: 1, .. }));
    }

    #[test]
    fn resumed_trials_wait_for_the_reports_that_they_are_compared_with() {
        let params = params(r#", "trials": 3, "parallel": 2, "sampler": "grid", "pruner": "median""#);
        let begun = [suggested(0), suggested(1), suggested(2)];
        let trials = Trials::from_events(&begun);
        assert_eq!(next(&params, &trials, &[]), Job::Resume { trial: 0, until: None });
        assert_eq!(next(&params, &trials, &[0]), Job::Resume { trial: 1, until: None });
        // Trial 2 sees the reports of trial 0 alone.
        assert_eq!(next(&params, &trials, &[0, 1]), Job::Wait);
        let one = Trials::from_events(&[&begun[..], &[ended((0, 0), Ending::Complete, 0.1)]].concat());
        assert_eq!(next(&params, &one, &[1]), Job::Resume { trial: 2, until: None });
    }

    #[test]
    fn halving_pauses_at_rungs_and_promotes_the_best() {
        let params = params(r#", "trials": 2, "pruner": {"kind": "asha", "reduction": 2, "most": 4}"#);
        let mut events = vec![suggested(0), reported((0, 0), 1, 0.5)];
        let decide = |events: &[Event], trial, at, until| {
            ending(&params, &Trials::from_events(events), trial, at, until)
        };
        assert_eq!(decide(&events, 0, 1, Some(1)), Some(Ending::Paused));
        assert_eq!(decide(&events, 0, 1, Some(2)), None);
        // Killed on its way to a rung, it resumes to the same rung.
        assert_eq!(
            next(&params, &Trials::from_events(&events), &[]),
            Job::Resume { trial: 0, until: Some(1) }
        );
        events.push(ended((0, 0), Ending::Paused, 0.5));
        assert!(matches!(
            next(&params, &Trials::from_events(&events), &[]),
            Job::Start { trial: 1, until: Some(1), .. }
        ));
        events.extend([suggested(1), reported((1, 0), 1, 0.9), ended((1, 0), Ending::Paused, 0.9)]);
        assert_eq!(
            next(&params, &Trials::from_events(&events), &[]),
            Job::Resume { trial: 1, until: Some(2) }
        );
        events.extend([reported((1, 0), 2, 0.9), ended((1, 0), Ending::Complete, 0.9)]);
        assert_eq!(next(&params, &Trials::from_events(&events), &[]), Job::Done);
    }

    #[test]
    fn a_trial_killed_after_a_report_beyond_its_rung_resumes_to_that_rung() {
        let pruner = r#"{"kind": "asha", "least": 1000}"#;
        let params = params(&format!(r#", "trials": 1, "replicates": 2, "pruner": {pruner}"#));
        let resumed = |events: &[Event]| next(&params, &Trials::from_events(events), &[]);
        let mut events = vec![suggested(0), reported((0, 0), 1040, 0.5), ended((0, 0), Ending::Paused, 0.5)];
        assert_eq!(resumed(&events), Job::Resume { trial: 0, until: Some(1000) });
        // It was promoted, and is on its path to the next rung.
        events.extend([started((0, 0)), reported((0, 0), 2080, 0.5)]);
        assert_eq!(resumed(&events), Job::Resume { trial: 0, until: Some(3000) });
    }

    #[test]
    fn reports_of_stale_trials_and_of_another_script_decide_nothing() {
        let report = |trial, value| reported((trial, 0), 1, value);
        let median = params(r#", "trials": 4, "pruner": {"kind": "median", "startup": 2}"#);
        let halving = params(r#", "trials": 4, "pruner": {"kind": "asha", "reduction": 2, "most": 2}"#);
        // The first two are far better, of points from `first` on; the third is at its first report.
        let trials = |first: i64, ending, last: &[Event]| {
            let begun = (0..2).flat_map(|trial| {
                [
                    suggested_at(trial, first + i64::from(trial)),
                    report(trial, 9.0),
                    ended((trial, 0), ending, 9.0),
                ]
            });
            Trials::from_events(&begun.chain(last.iter().cloned()).collect::<Vec<_>>())
        };
        let third = [suggested_at(2, 5), report(2, 0.5)];
        let decide = |params: &SweepParams, trials: &Trials| ending(params, trials, 2, 1, None);
        assert_eq!(decide(&median, &trials(0, Ending::Complete, &third)), Some(Ending::Pruned));
        assert_eq!(decide(&median, &trials(90, Ending::Complete, &third)), None);
        // The best half of a rung goes on: of three trials one, of which the stale ones are none.
        let paused = [
            &third[..],
            &[
                ended((2, 0), Ending::Paused, 0.5),
                suggested_at(3, 6),
                report(3, 0.4),
                ended((3, 0), Ending::Paused, 0.4),
            ],
        ]
        .concat();
        let others_first = trials(0, Ending::Pruned, &paused);
        assert_eq!(next(&halving, &others_first, &[]), Job::Done);
        let alone = trials(90, Ending::Pruned, &paused);
        assert_eq!(next(&halving, &alone, &[]), Job::Resume { trial: 2, until: None });
        // Failed trials of a changed script are not tried again, and what they reported was of another scale.
        let revisited = (0..2).map(|trial| Event::Revisited { trial }).chain(third.clone());
        let failed = trials(0, Ending::Failed, &revisited.collect::<Vec<_>>());
        assert_eq!(decide(&median, &failed), None);
    }

    #[test]
    fn replicates_that_ended_early_count_for_no_later_median() {
        let pruner = r#"{"kind": "median", "startup": 1}"#;
        let params = params(&format!(r#", "trials": 3, "replicates": 2, "pruner": {pruner}"#));
        for early in [Ending::Pruned, Ending::Failed] {
            let others = [(0, Ending::Complete), (1, early)].into_iter().flat_map(|(trial, ending)| {
                let [first, second] = [(trial, 0), (trial, 1)];
                // The second replicate of trial 1 stops at its first report.
                let last = (ending == Ending::Complete).then(|| reported(second, 2, 0.8));
                let of_first =
                    [reported(first, 1, 0.5), reported(first, 2, 0.8), ended(first, Ending::Complete, 0.8)];
                let of_second =
                    [reported(second, 1, 0.0)].into_iter().chain(last).chain([ended(second, ending, 0.8)]);
                std::iter::once(suggested(trial)).chain(of_first).chain(of_second).collect::<Vec<_>>()
            });
            let own = [suggested(2), reported((2, 0), 1, 0.5), reported((2, 0), 2, 0.75)];
            let trials = Trials::from_events(&others.chain(own).collect::<Vec<_>>());
            assert_eq!(ending(&params, &trials, 2, 2, None), Some(Ending::Pruned), "{early:?}");
        }
    }

    #[test]
    fn a_paused_trial_without_one_of_its_replicates_goes_on() {
        let pruner = r#"{"kind": "asha", "most": 4}"#;
        let params = params(&format!(r#", "trials": 1, "replicates": 2, "pruner": {pruner}"#));
        let (first, second) = ((0, 0), (0, 1));
        let paused = [suggested(0), reported(first, 1, 0.5), ended(first, Ending::Paused, 0.5)];
        let on = Job::Resume { trial: 0, until: Some(1) };
        assert_eq!(next(&params, &Trials::from_events(&paused), &[]), on, "killed between the two");
        let both = [&paused[..], &[started(second), ended(second, Ending::Failed, 0.0)]].concat();
        assert_eq!(next(&params, &Trials::from_events(&both), &[]), Job::Done);
        let again = [&both[..], &[Event::Retried { trial: 0 }]].concat();
        assert_eq!(next(&params, &Trials::from_events(&again), &[]), on);
    }
}
