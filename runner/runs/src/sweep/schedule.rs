//! What a sweep does next: a pure function of what is known of its trials.
//!
//! Trials at work at the same time would make the next point depend on which of them ends first. So with `parallel` trials
//! at once, trial n knows the values of the trials up to n − parallel only, and waits for them where they matter. Halving
//! cannot wait like this: with several trials at once its promotions follow the order in which they come to their rungs.

use std::collections::BTreeSet;

use super::events::{Ending, Replicate};
use super::params::SweepParams;
use super::pruner::{self, Progress, Pruner, PrunerKind, Reported, Verdict};
use super::sampler::{Sampler, SamplerKind};
use super::space::Point;
use super::told::{Told, TrialState};
use super::trials::{Trial, Trials};

/// Everything that decides.
#[derive(Debug, Clone, Copy)]
pub struct Schedule<'a> {
    /// What the sweep is asked to do.
    pub params: &'a SweepParams,
    /// Its seed.
    pub seed: u64,
    /// What is known.
    pub trials: &'a Trials,
    /// Trials that have a turn now.
    pub busy: &'a BTreeSet<u32>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Begin a trial, up to the first report at or beyond `until`.
    Begin {
        /// Its number.
        trial: u32,
        /// Its point.
        point: Point,
        /// How far.
        until: Option<u32>,
    },
    /// Go on with a trial.
    GoOn {
        /// Its number.
        trial: u32,
        /// How far.
        until: Option<u32>,
    },
    /// Ask again when a trial's turn has ended.
    Wait,
    /// Nothing is left to do.
    Done,
}

impl Schedule<'_> {
    /// The next job.
    pub fn next(&self) -> Job {
        let begun = self.trials.iter().find(|(number, trial)| {
            self.state(*number, trial) == TrialState::Killed && !self.busy.contains(number)
        });
        if let Some((trial, known)) = begun {
            return Job::GoOn { trial, until: self.rung_of(known) };
        }
        let next = self.trials.next_number();
        let may_start = next < self.params.trials;
        match self.pruner().next_job(&self.progress(), may_start) {
            Some(pruner::Job::Promote { number, until }) => Job::GoOn { trial: number, until },
            Some(pruner::Job::New { until }) => self.begin(next, until),
            None => self.idle(),
        }
    }

    /// How a trial ends at a report, if it does.
    pub fn ending(&self, of: Replicate, at: u32, until: Option<u32>) -> Option<Ending> {
        let reports = self.trials.get(of.trial)?.reports();
        let own = reports.iter().find(|report| report.at == at)?;
        let known = self.known_to(of.trial);
        let others: Vec<Vec<Reported>> = self
            .trials
            .iter()
            .filter(|(number, _)| *number < known)
            .map(|(_, trial)| trial.reports())
            .collect();
        match self.pruner().verdict(until, own, &others) {
            Verdict::GoOn => None,
            Verdict::Prune => Some(Ending::Pruned),
            Verdict::Pause => Some(Ending::Paused),
        }
    }

    fn begin(&self, trial: u32, until: Option<u32>) -> Job {
        let known = self.known_to(trial);
        let is_open = |number: &u32| *number < known;
        let matters =
            self.params.sampler.kind == SamplerKind::Tpe || self.params.pruner.kind == PrunerKind::Median;
        if matters && self.busy.iter().any(is_open) {
            return Job::Wait;
        }
        let told: Vec<Told> =
            self.trials.iter().map(|(number, of)| self.told(number, of, number < known)).collect();
        let SweepParams { space, sampler, direction, .. } = self.params;
        let sampler = Sampler { space, params: sampler, direction: *direction, seed: self.seed };
        match sampler.ask(trial, &told) {
            Some(point) => Job::Begin { trial, point, until },
            None => self.idle(),
        }
    }

    fn idle(&self) -> Job {
        if self.busy.is_empty() { Job::Done } else { Job::Wait }
    }

    /// A trial knows of those with a smaller number than this.
    fn known_to(&self, trial: u32) -> u32 {
        (trial + 1).saturating_sub(self.params.parallel)
    }

    fn told(&self, number: u32, trial: &Trial, is_known: bool) -> Told {
        let (state, point) = (self.state(number, trial), trial.point.clone());
        let last = trial.reports().last().copied();
        let (state, value) = if is_known {
            (state, trial.value().or(last.map(|report| report.value)))
        } else {
            (TrialState::Running, None)
        };
        Told { number, point, state, value, at: last.map_or(0, |report| report.at) }
    }

    fn state(&self, number: u32, trial: &Trial) -> TrialState {
        if self.busy.contains(&number) {
            return TrialState::Running;
        }
        trial.state(&self.params.space, self.params.replicates)
    }

    fn progress(&self) -> Vec<Progress> {
        let of = |(number, trial): (u32, &Trial)| Progress {
            number,
            state: self.state(number, trial),
            reports: trial.reports(),
        };
        self.trials.iter().map(of).collect()
    }

    fn pruner(&self) -> Pruner<'_> {
        Pruner { params: &self.params.pruner, direction: self.params.direction }
    }

    /// How far a trial goes that was interrupted: to the rung it was on its way to.
    fn rung_of(&self, trial: &Trial) -> Option<u32> {
        let come = trial.reports().last().map_or(0, |report| report.at);
        let is_halving = self.params.pruner.kind == PrunerKind::Asha && !trial.goes_to_end;
        (0..).map_while(|rung| self.params.pruner.rung(rung)).find(|rung| is_halving && *rung >= come)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use dc0_core::params::{Value, read};

    use super::{Job, Schedule};
    use crate::sweep::events::Ending;
    use crate::sweep::events::{Event, Measured, Replicate, Spent};
    use crate::sweep::params::SweepParams;
    use crate::sweep::pruner::Reported;
    use crate::sweep::trials::Trials;

    fn params_of(more: &[(&str, Value)]) -> SweepParams {
        let text = |text: &str| Value::Text(text.to_owned());
        let list = (0..20).map(Value::Int).collect();
        let choice = Value::Group(
            [("kind".to_owned(), text("choice")), ("values".to_owned(), Value::List(list))].into(),
        );
        let space = Value::Group([("x".to_owned(), choice)].into());
        let own = [("name", text("s")), ("space", space)];
        let all = own.into_iter().chain(more.iter().cloned());
        let all: BTreeMap<String, Value> = all.map(|(name, value)| (name.to_owned(), value)).collect();
        read("sweep", &Value::Group(all)).expect("parameters")
    }

    fn next(params: &SweepParams, trials: &Trials, busy: &[u32]) -> Job {
        let busy: BTreeSet<u32> = busy.iter().copied().collect();
        Schedule { params, seed: 1, trials, busy: &busy }.next()
    }

    fn of(trial: u32) -> Replicate {
        Replicate { trial, replicate: 0 }
    }

    fn ended(trial: u32, ending: Ending, value: f64) -> Event {
        let result = Some(Measured::exact(value));
        Event::Ended { of: of(trial), ending, result, because: None, spent: Spent::default() }
    }

    fn asked(trial: u32) -> Event {
        Event::Asked { trial, point: [("x".to_owned(), Value::Int(trial.into()))].into() }
    }

    #[test]
    fn trials_that_a_kill_interrupted_go_on_before_new_ones_begin() {
        let params = params_of(&[("trials", Value::Int(3))]);
        assert!(matches!(next(&params, &Trials::default(), &[]), Job::Begin { trial: 0, until: None, .. }));
        let trials =
            Trials::of(&[asked(0), ended(0, Ending::Complete, 0.5), asked(1), Event::Started { of: of(1) }]);
        assert_eq!(next(&params, &trials, &[]), Job::GoOn { trial: 1, until: None });
        // While it has a turn, the next one waits for its value, unless two are at work at once. After the third there is only
        // waiting, then nothing.
        assert_eq!(next(&params, &trials, &[1]), Job::Wait);
        let two = params_of(&[("trials", Value::Int(3)), ("parallel", Value::Int(2))]);
        assert!(matches!(next(&two, &trials, &[1]), Job::Begin { trial: 2, .. }));
        let trials = Trials::of(&[asked(0), asked(1), asked(2)]);
        assert_eq!(next(&params, &trials, &[0, 1, 2]), Job::Wait);
        let done =
            [asked(0), asked(1), asked(2)].into_iter().chain((0..3).map(|n| ended(n, Ending::Complete, 0.1)));
        assert_eq!(next(&params, &Trials::of(&done.collect::<Vec<_>>()), &[]), Job::Done);
    }

    #[test]
    fn more_replicates_and_more_values_keep_what_is_known() {
        let events = [asked(0), ended(0, Ending::Complete, 0.5), asked(1), ended(1, Ending::Failed, 0.1)];
        let twice = params_of(&[("trials", Value::Int(2)), ("replicates", Value::Int(2))]);
        assert_eq!(next(&twice, &Trials::of(&events), &[]), Job::GoOn { trial: 0, until: None });
        // A failed trial stays so until it is to be tried again; one whose value was taken out of the space is stale.
        let once = params_of(&[("trials", Value::Int(2))]);
        assert_eq!(next(&once, &Trials::of(&events), &[]), Job::Done);
        let again = [&events[..], &[Event::Retried { trial: 1 }]].concat();
        assert_eq!(next(&once, &Trials::of(&again), &[]), Job::GoOn { trial: 1, until: None });
        let gone = Event::Asked { trial: 0, point: [("x".to_owned(), Value::Int(99))].into() };
        assert!(matches!(next(&once, &Trials::of(&[gone]), &[]), Job::Begin { trial: 1, .. }));
    }

    #[test]
    fn halving_pauses_at_rungs_and_promotes_the_best() {
        let group =
            [("kind", Value::Text("asha".to_owned())), ("reduction", Value::Int(2)), ("most", Value::Int(4))];
        let group = group.map(|(name, value)| (name.to_owned(), value)).into();
        let params = params_of(&[("trials", Value::Int(2)), ("pruner", Value::Group(group))]);
        let report = |trial, at, value| Event::Reported {
            of: of(trial),
            report: Reported { at, value, low: value, high: value },
        };
        let mut events = vec![asked(0), report(0, 1, 0.5)];
        let decide = |events: &[Event], trial, at, until| {
            let (trials, busy) = (Trials::of(events), BTreeSet::new());
            Schedule { params: &params, seed: 1, trials: &trials, busy: &busy }.ending(of(trial), at, until)
        };
        assert_eq!(decide(&events, 0, 1, Some(1)), Some(Ending::Paused));
        assert_eq!(decide(&events, 0, 1, Some(2)), None);
        // Killed on its way to a rung, it goes on to the same one.
        assert_eq!(next(&params, &Trials::of(&events), &[]), Job::GoOn { trial: 0, until: Some(1) });
        events.push(ended(0, Ending::Paused, 0.5));
        assert!(matches!(
            next(&params, &Trials::of(&events), &[]),
            Job::Begin { trial: 1, until: Some(1), .. }
        ));
        events.extend([asked(1), report(1, 1, 0.9), ended(1, Ending::Paused, 0.9)]);
        assert_eq!(next(&params, &Trials::of(&events), &[]), Job::GoOn { trial: 1, until: Some(2) });
        events.extend([report(1, 2, 0.9), ended(1, Ending::Complete, 0.9)]);
        assert_eq!(next(&params, &Trials::of(&events), &[]), Job::Done);
    }
}
