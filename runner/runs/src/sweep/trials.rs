//! What is known of every trial: the journal's events, summed up.

use std::collections::BTreeMap;

use super::events::{Ending, Event, Measured, Replicate, Spent};
use super::pruner::{Reported, pool};
use super::space::{Point, Space};
use super::told::TrialState;

/// A replicate so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// What it reported, in order.
    pub reports: Vec<Reported>,
    /// How its last turn ended; `None` while it has a turn, and where the process was killed in it.
    pub ending: Option<Ending>,
    /// Its value.
    pub result: Option<Measured>,
    /// Why it failed.
    pub because: Option<String>,
    /// What it has cost.
    pub spent: Spent,
}

/// A trial so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its point.
    pub point: Point,
    /// Its replicates by their number.
    pub replicates: BTreeMap<u32, Progress>,
    /// Whether it had come to its end once, so that no rung holds it back.
    pub goes_to_end: bool,
}

impl Progress {
    fn reopen(&mut self) {
        (self.ending, self.result, self.because) = (None, None, None);
    }
}

/// All trials by their number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trials(BTreeMap<u32, Trial>);

impl Trials {
    /// What is known after some events.
    pub fn of(events: &[Event]) -> Self {
        let mut trials = Self::default();
        for event in events {
            trials.take(event);
        }
        trials
    }

    /// Takes in what happened. Events of trials that were never asked for say nothing.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Opened { .. } => {}
            Event::Asked { trial, point } => {
                let (point, replicates) = (point.clone(), BTreeMap::new());
                self.0.insert(*trial, Trial { point, replicates, goes_to_end: false });
            }
            Event::Started { of } => self.change(*of, Progress::reopen),
            Event::Reported { of, report } => self.change(*of, |progress| {
                progress.reports.retain(|known| known.at != report.at);
                let place = progress.reports.partition_point(|known| known.at < report.at);
                progress.reports.insert(place, *report);
            }),
            Event::Revisited { trial } => {
                if let Some(trial) = self.0.get_mut(trial) {
                    let is_complete = trial.endings().all(|ending| ending == Some(Ending::Complete));
                    trial.goes_to_end |= is_complete;
                    trial.replicates.values_mut().for_each(Progress::reopen);
                }
            }
            Event::Retried { trial } => {
                if let Some(trial) = self.0.get_mut(trial) {
                    trial.replicates.retain(|_, progress| progress.ending != Some(Ending::Failed));
                }
            }
            Event::Ended { of, ending, result, because, spent } => self.change(*of, |progress| {
                progress.ending = Some(*ending);
                progress.result = *result;
                progress.because.clone_from(because);
                progress.spent = *spent;
            }),
        }
    }

    fn change(&mut self, of: Replicate, change: impl FnOnce(&mut Progress)) {
        if let Some(trial) = self.0.get_mut(&of.trial) {
            change(trial.replicates.entry(of.replicate).or_default());
        }
    }

    /// All trials with their numbers, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &Trial)> {
        self.0.iter().map(|(number, trial)| (*number, trial))
    }

    /// A trial.
    pub fn get(&self, number: u32) -> Option<&Trial> {
        self.0.get(&number)
    }

    /// The number of trials.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of the next new trial.
    pub fn next_number(&self) -> u32 {
        self.0.keys().next_back().map_or(0, |last| last + 1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Trial {
    /// What became of it, where so many replicates are wanted.
    pub fn state(&self, space: &Space, replicates: u32) -> TrialState {
        let any = |ending| self.endings().any(|found| found == Some(ending));
        let complete = self.endings().filter(|found| *found == Some(Ending::Complete)).count();
        if any(Ending::Failed) {
            TrialState::Failed
        } else if any(Ending::Pruned) {
            TrialState::Pruned
        } else if complete >= replicates as usize {
            TrialState::Complete
        } else if !space.contains(&self.point) {
            TrialState::Stale
        } else if any(Ending::Paused) && self.endings().all(|found| found.is_some()) {
            TrialState::Paused
        } else {
            TrialState::Killed
        }
    }

    fn endings(&self) -> impl Iterator<Item = Option<Ending>> {
        self.replicates.values().map(|progress| progress.ending)
    }

    /// The values of the replicates that have one: of a pruned one its last report.
    pub fn results(&self) -> Vec<Measured> {
        self.replicates.values().filter_map(|progress| progress.result).collect()
    }

    /// Their mean.
    pub fn value(&self) -> Option<f64> {
        Measured::mean(&self.results(), None).map(|mean| mean.value)
    }

    /// What the trial reported, each the mean over the replicates that have come so far.
    pub fn reports(&self) -> Vec<Reported> {
        let all: Vec<Vec<Reported>> =
            self.replicates.values().map(|progress| progress.reports.clone()).collect();
        pool(&all)
    }

    /// What all replicates have cost.
    pub fn spent(&self) -> Spent {
        let mut sum = Spent::default();
        self.replicates.values().for_each(|progress| sum += progress.spent);
        sum
    }

    /// Why it failed.
    pub fn because(&self) -> Option<&str> {
        self.replicates.values().find_map(|progress| progress.because.as_deref())
    }
}
