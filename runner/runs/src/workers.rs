//! What workers on other machines did of steps, read from the journal: sums over all attempts, including those that were killed.

use std::collections::BTreeMap;

use dc0_core::params::Value;
use serde::{Deserialize, Serialize};

use super::figures::NetFigures;
use super::history::{JournalEntry, JournalEvent};

/// What a worker did of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerShare {
    /// What it is: program, libraries, processor, device.
    pub platform: String,
    /// Shards that it has done.
    pub shards: u64,
    /// Seconds that these took it.
    pub secs: f64,
    /// What its nets did; `None` if an earlier version of dc0, which did not ask for it, had it do some.
    pub nets: Option<NetFigures>,
}

impl WorkerShare {
    fn plus(self, later: Self) -> Self {
        Self {
            platform: later.platform,
            shards: self.shards + later.shards,
            secs: self.secs + later.secs,
            nets: self.nets.zip(later.nets).map(|(all, some)| all.plus(some)),
        }
    }
}

/// What each worker did of a step, by the workers' names.
pub type WorkerShares = BTreeMap<String, WorkerShare>;

/// The workers of all steps, by the steps' short identities.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Workers {
    ended: BTreeMap<String, WorkerShares>,
    under_way: BTreeMap<String, WorkerShares>,
}

impl Workers {
    /// Adds the next entry of the journal.
    pub(super) fn apply(&mut self, entry: &JournalEntry) {
        match (entry.event(), entry.step()) {
            (Some(JournalEvent::Created | JournalEvent::Opened), _) => {
                for step in self.under_way.keys().cloned().collect::<Vec<_>>() {
                    self.end(&step);
                }
            }
            (Some(JournalEvent::Started), Some(step)) => self.end(step),
            (Some(JournalEvent::Working), Some(step)) => self.set(step, entry),
            (Some(JournalEvent::Finished | JournalEvent::EndedEarly), Some(step)) => {
                self.set(step, entry);
                self.end(step);
            }
            _ => {}
        }
    }

    fn set(&mut self, step: &str, entry: &JournalEntry) {
        if let Some(shares) = entry.member::<WorkerShares>("workers") {
            self.under_way.insert(step.to_owned(), shares);
        }
    }

    fn end(&mut self, step: &str) {
        let Some(shares) = self.under_way.remove(step) else { return };
        let sums = self.ended.entry(step.to_owned()).or_default();
        for (worker, share) in shares {
            let all = match sums.remove(&worker) {
                Some(before) => before.plus(share),
                None => share,
            };
            sums.insert(worker, all);
        }
    }

    /// Those of a step.
    pub(super) fn of(&self, step: &str) -> WorkerShares {
        self.ended.get(step).cloned().unwrap_or_default()
    }
}

/// The shares as a list for tables.
pub(super) fn listed(shares: &WorkerShares) -> Value {
    let share = |(worker, share): (&String, &WorkerShare)| {
        let members = [
            ("worker", Value::Text(worker.clone())),
            ("platform", Value::Text(share.platform.clone())),
            ("shards", Value::Int(share.shards as i64)),
            ("seconds", Value::Float(share.secs)),
        ];
        Value::of(members)
    };
    Value::List(shares.iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::{NetFigures, WorkerShare, Workers};
    use crate::history::History;

    #[test]
    fn what_workers_did_is_summed_over_attempts() {
        let working = |worker: &str, shards: u64, event: &str, nets: &str| {
            format!(
                r#"{{"event":"{event}","step":"a","workers":{{"{worker}":{{"platform":"x","shards":{shards},"secs":1.5{nets}}}}}}}"#
            )
        };
        let journal = [
            r#"{"event":"started","step":"a"}"#.to_owned(),
            working("one", 1, "working", r#","nets":{"rows":4}"#),
            working("one", 2, "working", r#","nets":{"rows":6}"#),
            r#"{"event":"opened"}"#.to_owned(),
            r#"{"event":"started","step":"a"}"#.to_owned(),
        ];
        let sum_with = |last: String| {
            let mut workers = Workers::default();
            let journal = journal.join("\n") + "\n" + &last;
            History::parse(&journal).entries().iter().for_each(|entry| workers.apply(entry));
            assert!(workers.of("b").is_empty());
            workers.of("a")["one"].clone()
        };
        let nets = Some(NetFigures { rows: 9, ..NetFigures::default() });
        let expected = WorkerShare { platform: "x".to_owned(), shards: 5, secs: 3.0, nets };
        assert_eq!(sum_with(working("one", 3, "finished", r#","nets":{"rows":3}"#)), expected);
        // What one attempt did not measure is not known of all.
        assert_eq!(sum_with(working("one", 3, "finished", "")), WorkerShare { nets: None, ..expected });
    }
}
