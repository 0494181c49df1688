//! The state of every trial, derived from the journal's events.

use std::collections::BTreeMap;

use super::events::{Ending, Event, Measured, Replicate, Spent, Spread};
use super::observation::TrialState;
use super::pruner::{Reported, Reports};
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

    fn has_failed(&self) -> bool {
        self.ending == Some(Ending::Failed)
    }

    /// Whether the pruner has ended or paused it, so that its value is that of a report.
    fn is_held_back(&self) -> bool {
        matches!(self.ending, Some(Ending::Pruned | Ending::Paused))
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
                    // What another script has reported decides nothing any more. A failed replicate stays failed until it is retried.
                    for progress in trial.replicates.values_mut() {
                        progress.reports.clear();
                        if !progress.has_failed() {
                            progress.reopen();
                        }
                    }
                }
            }
            Event::Retried { trial } => {
                if let Some(trial) = self.0.get_mut(trial) {
                    trial.replicates.retain(|_, progress| !progress.has_failed());
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
        if !space.contains(&self.point) {
            TrialState::Stale
        } else if any(Ending::Failed) {
            TrialState::Failed
        } else if any(Ending::Pruned) {
            TrialState::Pruned
        } else if complete >= replicates as usize {
            TrialState::Complete
        } else if any(Ending::Paused) && self.endings().flatten().count() >= replicates as usize {
            TrialState::Paused
        } else {
            TrialState::Killed
        }
    }

    fn endings(&self) -> impl Iterator<Item = Option<Ending>> {
        self.replicates.values().map(|progress| progress.ending)
    }

    /// Whether a replicate has begun that has not failed.
    pub fn has_unfailed(&self) -> bool {
        self.replicates.values().any(|progress| !progress.has_failed())
    }

    /// The complete replicates by number, with their values.
    fn complete(&self) -> impl Iterator<Item = (u32, Measured)> {
        let complete =
            self.replicates.iter().filter(|(_, progress)| progress.ending == Some(Ending::Complete));
        complete.filter_map(|(number, progress)| Some((*number, progress.result?)))
    }

    /// The numbers of the complete replicates.
    pub fn complete_replicates(&self) -> impl Iterator<Item = u32> {
        self.complete().map(|(number, _)| number)
    }

    /// The values of the complete replicates.
    pub fn results(&self) -> Vec<Measured> {
        self.complete().map(|(_, result)| result).collect()
    }

    /// The number of replicates that have a value, or a report that stands for it.
    pub fn valued(&self) -> usize {
        self.replicates.values().filter(|progress| progress.result.is_some()).count()
    }

    /// The trial's report at which the pruner has held it back, if it has: the first one, where replicates were held back at several.
    pub fn held_back_at(&self) -> Option<Reported> {
        let held_back = self.replicates.values().filter(|progress| progress.is_held_back());
        let at = held_back.filter_map(|progress| progress.reports.last()).map(|report| report.at).min()?;
        let is_pruned = self.endings().any(|ending| ending == Some(Ending::Pruned));
        // Replicates that wait at a rung reached it at or beyond this report.
        if is_pruned { self.reports().up_to(at) } else { self.reports().reaching(at) }
    }

    /// The mean of the complete replicates with an interval from their `spread`; of a trial that the pruner has held back its report there,
    /// since values of complete replicates may have another scale.
    pub fn result(&self, spread: Option<Spread>) -> Option<Measured> {
        match self.held_back_at() {
            Some(Reported { value, low, high, .. }) => Some(Measured { value, low, high }),
            None => Measured::mean(&self.results(), spread),
        }
    }

    /// The value of [`result`](Self::result).
    pub fn value(&self) -> Option<f64> {
        self.result(None).map(|result| result.value)
    }

    /// The trial's reports.
    pub fn reports(&self) -> Reports {
        Reports(self.replicates.values().map(|progress| progress.reports.clone()).collect())
    }

    /// The reports of the replicates that have come as far as a progress or are complete.
    pub fn reports_of_those_at(&self, at: u32) -> Reports {
        let counts = |progress: &&Progress| {
            let has_reached = progress.reports.last().is_some_and(|last| last.at >= at);
            has_reached || progress.ending == Some(Ending::Complete)
        };
        Reports(self.replicates.values().filter(counts).map(|progress| progress.reports.clone()).collect())
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
