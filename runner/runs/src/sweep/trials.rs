//! The state of every trial, derived from the journal's events.

use std::collections::BTreeMap;

use super::events::{Ending, Event, Measured, Replicate, Spent};
use super::observation::TrialState;
use super::pruner::{Reported, pool};
use super::space::{Point, Space};

/// The progress of a replicate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Its reports in order.
    pub reports: Vec<Reported>,
    /// How its last execution ended; `None` while it runs, and if it was killed.
    pub ending: Option<Ending>,
    /// Its value.
    pub result: Option<Measured>,
    /// Why it failed.
    pub because: Option<String>,
    /// Its cost.
    pub spent: Spent,
}

/// The state of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its point.
    pub point: Point,
    /// Its replicates by number.
    pub replicates: BTreeMap<u32, Progress>,
    /// Whether it was complete once, so that it no longer pauses at rungs.
    pub skips_rungs: bool,
}

impl Progress {
    fn reopen(&mut self) {
        (self.ending, self.result, self.because) = (None, None, None);
    }
}

/// All trials by number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trials(BTreeMap<u32, Trial>);

impl Trials {
    /// The state after some events.
    pub fn from_events(events: &[Event]) -> Self {
        let mut trials = Self::default();
        for event in events {
            trials.apply(event);
        }
        trials
    }

    /// Applies an event. Events of unknown trials are ignored.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Opened { .. } => {}
            Event::Suggested { trial, point } => {
                let (point, replicates) = (point.clone(), BTreeMap::new());
                self.0.insert(*trial, Trial { point, replicates, skips_rungs: false });
            }
            Event::Started { replicate } => self.change(*replicate, Progress::reopen),
            Event::Reported { replicate, report } => self.change(*replicate, |progress| {
                progress.reports.retain(|known| known.at != report.at);
                let index = progress.reports.partition_point(|known| known.at < report.at);
                progress.reports.insert(index, *report);
            }),
            Event::Revisited { trial } => {
                if let Some(trial) = self.0.get_mut(trial) {
                    let is_complete = trial.endings().all(|ending| ending == Some(Ending::Complete));
                    trial.skips_rungs |= is_complete;
                    trial.replicates.values_mut().for_each(Progress::reopen);
                }
            }
            Event::Retried { trial } => {
                if let Some(trial) = self.0.get_mut(trial) {
                    trial.replicates.retain(|_, progress| progress.ending != Some(Ending::Failed));
                }
            }
            Event::Ended { replicate, ending, result, because, spent } => {
                self.change(*replicate, |progress| {
                    progress.ending = Some(*ending);
                    progress.result = *result;
                    progress.because.clone_from(because);
                    progress.spent = *spent;
                });
            }
        }
    }

    fn change(&mut self, Replicate { trial, replicate }: Replicate, change: impl FnOnce(&mut Progress)) {
        if let Some(trial) = self.0.get_mut(&trial) {
            change(trial.replicates.entry(replicate).or_default());
        }
    }

    /// All trials with their numbers, in order of number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &Trial)> {
        self.0.iter().map(|(number, trial)| (*number, trial))
    }

    /// A trial by its number.
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
    /// Its state, given the number of replicates wanted.
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

    /// The values of the replicates that have one; for a pruned replicate its last report.
    pub fn results(&self) -> Vec<Measured> {
        self.replicates.values().filter_map(|progress| progress.result).collect()
    }

    /// The mean of [`results`](Self::results).
    pub fn value(&self) -> Option<f64> {
        Measured::mean(&self.results(), None).map(|mean| mean.value)
    }

    /// The trial's reports, each the mean over the replicates that have come that far.
    pub fn reports(&self) -> Vec<Reported> {
        let all: Vec<Vec<Reported>> =
            self.replicates.values().map(|progress| progress.reports.clone()).collect();
        pool(&all)
    }

    /// The cost of all replicates.
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
