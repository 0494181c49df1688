//! The costs of steps, read from the journal: sums over all attempts, including those that were killed.

use std::collections::BTreeMap;

use super::figures::Figures;
use super::history::{History, JournalEntry, JournalEvent};
use super::workers::{WorkerShares, Workers};

/// The cost of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// Number of attempts.
    pub attempts: u32,
    /// Seconds of all attempts.
    pub secs: f64,
    /// Seconds that the script waited for them; less if they were made beside other steps.
    pub waited: f64,
    /// Measurements; `None` if a program that did not measure made one of the attempts.
    pub figures: Option<Figures>,
    /// The run that the step was taken over from; the other fields are then that run's.
    pub from: Option<String>,
}

impl Cost {
    fn add(&mut self, attempt: &Attempt) {
        if self.attempts == 0 {
            self.figures = attempt.figures;
        } else {
            self.figures = self.figures.zip(attempt.figures).map(|(all, one)| all.plus(one));
        }
        self.attempts += 1;
        self.secs += attempt.secs;
        self.waited += attempt.waited;
    }
}

/// An attempt whose end is not recorded yet.
#[derive(Debug, Clone, PartialEq)]
struct Attempt {
    secs: f64,
    waited: f64,
    figures: Option<Figures>,
}

/// The costs of all steps, by their short identities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    costs: BTreeMap<String, Cost>,
    /// By step: several are under way if some are made beside others.
    under_way: BTreeMap<String, Attempt>,
    workers: Workers,
}

impl Ledger {
    /// Sums up a whole journal.
    pub fn from_history(history: &History) -> Self {
        let mut ledger = Self::default();
        history.entries().iter().for_each(|entry| ledger.apply(entry));
        ledger
    }

    /// Adds the next entry of the journal.
    pub(super) fn apply(&mut self, entry: &JournalEntry) {
        self.workers.apply(entry);
        let Some(event) = entry.event() else { return };
        match (event, entry.step()) {
            // If attempts were in progress, their process was killed.
            (JournalEvent::Created | JournalEvent::Opened, _) => {
                for (step, attempt) in std::mem::take(&mut self.under_way) {
                    self.costs.entry(step).or_default().add(&attempt);
                }
            }
            (JournalEvent::Started, Some(step)) => {
                self.end(step);
                // A cost taken over from another run no longer applies once the step is done here.
                self.costs.retain(|known, cost| known != step || cost.from.is_none());
                self.under_way.insert(step.to_owned(), attempt(entry));
            }
            (JournalEvent::Working, Some(step)) => {
                _ = self.under_way.insert(step.to_owned(), attempt(entry));
            }
            (JournalEvent::Finished | JournalEvent::EndedEarly, Some(step)) => {
                self.under_way.insert(step.to_owned(), attempt(entry));
                self.end(step);
            }
            (JournalEvent::TakenOver, Some(step)) => {
                self.end(step);
                _ = self.costs.insert(step.to_owned(), taken_over(entry));
            }
            _ => {}
        }
    }

    /// Ends the attempt at a step, if one is under way.
    fn end(&mut self, step: &str) {
        if let Some(attempt) = self.under_way.remove(step) {
            self.costs.entry(step.to_owned()).or_default().add(&attempt);
        }
    }

    /// The cost of a step, if any attempt at it has ended.
    pub fn cost(&self, step: &str) -> Option<&Cost> {
        self.costs.get(step)
    }

    /// What workers on other machines did of a step.
    pub fn workers(&self, step: &str) -> WorkerShares {
        self.workers.of(step)
    }

    /// The seconds of each step, by short identity.
    pub fn seconds(&self) -> BTreeMap<String, f64> {
        self.costs.iter().map(|(step, cost)| (step.clone(), cost.secs)).collect()
    }
}

fn attempt(entry: &JournalEntry) -> Attempt {
    Attempt { secs: entry.secs(), waited: entry.waited(), figures: entry.member("costs") }
}

fn taken_over(entry: &JournalEntry) -> Cost {
    let Attempt { secs, waited, figures } = attempt(entry);
    let attempts = entry.member("attempts").unwrap_or(1);
    Cost { attempts, secs, waited, figures, from: entry.text("from").map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Figures, History, Ledger};
    use crate::NetFigures;

    const PLAYED: &str = r#"{"event":"started","step":"a","secs":0,"costs":{}}
{"event":"working","step":"a","secs":1.5,"costs":{"cpu_secs":2,"rows":10,"peak_memory":9,"largest_batch":4}}
"#;

    fn cost(journal: &str) -> Cost {
        Ledger::from_history(&History::parse(journal)).cost("a").expect("a cost").clone()
    }

    #[test]
    fn a_killed_attempt_counts_as_far_as_it_was_recorded() {
        let opened = r#"{"event":"opened"}"#;
        let twice = format!("{PLAYED}{opened}\n{PLAYED}{{\"event\": \"wor");
        assert_eq!(cost(&format!("{PLAYED}{opened}")).attempts, 1);
        let finished =
            r#"{"event":"finished","step":"a","secs":3,"costs":{"cpu_secs":4,"rows":20,"peak_memory":7}}"#;
        let all = cost(&format!("{twice}\n{opened}\n{PLAYED}{finished}\n"));
        let nets = NetFigures { rows: 40, largest_batch: 4, ..NetFigures::default() };
        let figures = Figures { cpu_secs: 8.0, nets, peak_memory: 9, ..Figures::default() };
        assert_eq!(all, Cost { attempts: 3, secs: 6.0, waited: 6.0, figures: Some(figures), from: None });
    }

    #[test]
    fn attempts_beside_each_other_count_each_for_itself() {
        let beside = r#"{"event":"started","step":"b","secs":0,"waited":0,"costs":{}}
{"event":"working","step":"b","secs":2,"waited":0,"costs":{"rows":4}}
"#;
        let end = |step: &str, secs: f64, waited: f64| {
            let costs = r#""costs":{"rows":20}"#;
            format!(r#"{{"event":"finished","step":"{step}","secs":{secs},"waited":{waited},{costs}}}"#)
                + "\n"
        };
        let journal = format!("{PLAYED}{beside}{PLAYED}{}{}", end("a", 3.0, 3.0), end("b", 5.0, 0.5));
        let ledger = Ledger::from_history(&History::parse(&journal));
        let figures = |step: &str| ledger.cost(step).map(|cost| (cost.attempts, cost.secs, cost.waited));
        assert_eq!((figures("a"), figures("b")), (Some((2, 4.5, 4.5)), Some((1, 5.0, 0.5))));
        // A kill ends both.
        let killed = format!("{PLAYED}{beside}{{\"event\":\"opened\"}}\n");
        let ledger = Ledger::from_history(&History::parse(&killed));
        assert_eq!(ledger.cost("a").map(|cost| cost.secs), Some(1.5));
        assert_eq!(ledger.cost("b").map(|cost| (cost.secs, cost.waited)), Some((2.0, 0.0)));
    }

    #[test]
    fn with_an_unmeasured_attempt_only_times_are_summed() {
        let old = r#"{"event":"started","step":"a","secs":0}
{"event":"ended early","step":"a","secs":2}
"#;
        let all = cost(&format!("{old}{PLAYED}{}", r#"{"event":"finished","step":"a","secs":3,"costs":{}}"#));
        assert_eq!(all, Cost { attempts: 2, secs: 5.0, waited: 5.0, figures: None, from: None });
    }

    #[test]
    fn a_taken_over_step_keeps_its_cost_until_it_is_done_here() {
        let taken =
            r#"{"event":"taken over","step":"a","secs":7,"from":"x","attempts":2,"costs":{"rows":5}}"#;
        let there = cost(taken);
        assert_eq!((there.secs, there.attempts, there.from.as_deref()), (7.0, 2, Some("x")));
        let here = cost(&format!(
            "{taken}\n{PLAYED}{}",
            r#"{"event":"finished","step":"a","secs":3,"costs":{"rows":8}}"#
        ));
        assert_eq!(
            (here.secs, here.attempts, here.from, here.figures.expect("measured").nets.rows),
            (3.0, 1, None, 8)
        );
    }
}
