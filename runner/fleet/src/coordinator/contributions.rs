//! Who has done what of a step, and how its shards stand, for the live view and the costs.

use std::collections::BTreeMap;
use std::mem;

use dc0_steps::executor::{FleetStatus, WorkerStatus};

use crate::message::{Heartbeat, Spent};

/// What the workers of a step have done so far.
#[derive(Debug, Default)]
pub(super) struct Contributions {
    workers: BTreeMap<String, WorkerStatus>,
    shards: u64,
}

impl Contributions {
    /// Counts a shard. A worker may come and go between two calls of [`Self::status`], so its platform is given here too.
    pub(super) fn done(&mut self, worker: &str, platform: Option<String>, spent: &Spent) {
        self.shards += 1;
        let status = self.worker(worker);
        status.platform = platform.unwrap_or_else(|| mem::take(&mut status.platform));
        status.shards += 1;
        status.secs += spent.secs;
        status.nets = status.nets.plus(spent.nets);
    }

    fn worker(&mut self, worker: &str) -> &mut WorkerStatus {
        let new = || WorkerStatus { worker: worker.to_owned(), ..WorkerStatus::default() };
        self.workers.entry(worker.to_owned()).or_insert_with(new)
    }

    /// The status now: given the workers that are there, each with the seconds since its last heartbeat, which of them do tasks of the
    /// step, and which are put aside.
    pub(super) fn status(
        &mut self,
        (waiting, issued): (usize, usize),
        present: &[(Heartbeat, f64)],
        takes_part: impl Fn(&Heartbeat) -> bool,
        aside: &BTreeMap<String, String>,
    ) -> FleetStatus {
        for status in self.workers.values_mut() {
            (status.busy, status.evaluations_per_sec, status.last_seen_secs) = (0, 0.0, None);
        }
        for (heartbeat, age) in present.iter().filter(|(heartbeat, _)| takes_part(heartbeat)) {
            let status = self.worker(&heartbeat.worker);
            status.platform.clone_from(&heartbeat.platform);
            status.lanes = heartbeat.lanes;
            status.busy = heartbeat.tasks.len() as u64;
            status.failed = heartbeat.failed;
            status.evaluations_per_sec = heartbeat.evaluations_per_sec;
            status.last_seen_secs = Some(*age);
        }
        for status in self.workers.values_mut() {
            status.aside = aside.get(&status.worker).cloned();
        }
        FleetStatus {
            waiting: waiting as u64,
            issued: issued as u64,
            done: self.shards,
            workers: self.workers.values().cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Contributions;
    use crate::message::{Heartbeat, Spent};

    fn heartbeat(worker: &str, route: &str) -> Heartbeat {
        Heartbeat {
            worker: worker.to_owned(),
            platform: "x".to_owned(),
            routes: vec![route.to_owned()],
            lanes: 2,
            tasks: vec!["t".to_owned()],
            done: 7,
            failed: 1,
            evaluations_per_sec: 5.0,
        }
    }

    #[test]
    fn workers_that_left_keep_what_they_have_done() {
        let mut contributions = Contributions::default();
        let takes_part = |heartbeat: &Heartbeat| heartbeat.routes == ["r"];
        let present = [(heartbeat("one", "r"), 0.5), (heartbeat("other", "s"), 0.5)];
        let spent = |secs| Spent { secs, ..Spent::default() };
        contributions.done("one", None, &spent(2.0));
        let status = contributions.status((4, 2), &present, takes_part, &BTreeMap::new());
        assert_eq!((status.waiting, status.issued, status.done, status.workers.len()), (4, 2, 1, 1));
        let one = &status.workers[0];
        assert_eq!((one.shards, one.secs, one.busy, one.last_seen_secs), (1, 2.0, 1, Some(0.5)));
        contributions.done("two", Some("y".to_owned()), &spent(1.0));
        contributions.done("two", None, &spent(1.0));
        let aside = [("one".to_owned(), "wrong".to_owned())].into();
        let status = contributions.status((0, 0), &[], takes_part, &aside);
        let shown: Vec<_> = status
            .workers
            .iter()
            .map(|worker| (worker.worker.as_str(), worker.shards, worker.busy, worker.last_seen_secs))
            .collect();
        assert_eq!(shown, [("one", 1, 0, None), ("two", 2, 0, None)]);
        assert_eq!([&status.workers[0].platform, &status.workers[1].platform], ["x", "y"]);
        assert_eq!(status.workers[0].aside.as_deref(), Some("wrong"));
    }
}
