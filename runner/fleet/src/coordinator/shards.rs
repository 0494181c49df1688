//! The shards of a step: which wait, which are handed out, and who did the others; what is handed out next, what again, and when a shard
//! is given up. Nothing here talks to the broker.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use dc0_process::clock::Stopwatch;

use crate::message::TaskMessage;
use crate::pacing::{self, MOST_SHARDS, PUBLISHED};

/// Seconds after which a task that no worker says it does is handed out again while some have nothing to do. Each time it takes as
/// long again. Above the time after which a silent worker is gone.
const LOST: f64 = 15.0;

/// Wrong results for a shard after which the step ends.
pub(super) const MOST_REFUSED: u32 = 3;

/// Lost results of a shard after which the step ends.
pub(super) const MOST_LOST: u32 = 3;

/// Workers that could not do a shard after which the step ends: then it is the shard.
const MOST_FAILED: u32 = 3;

/// How often a file is stored again. Then it is the worker that cannot read it.
const MOST_REPLACED: u32 = 3;

/// A shard that is handed out.
#[derive(Debug)]
struct Issued {
    /// Its latest issue.
    issue: u32,
    /// Shards of that issue.
    size: u32,
    /// When that was.
    at: Stopwatch,
    /// When a worker was first seen to do that issue.
    begun: Option<Stopwatch>,
    /// Issues that may be under way.
    copies: u32,
    /// Results that were refused.
    refused: u32,
    /// Results whose files were gone.
    lost: u32,
    /// Workers that could not do it.
    failed: u32,
    /// The objects that only it needs.
    objects: Vec<String>,
}

/// Shards to hand out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) shards: Vec<u32>,
    /// Shards of one task.
    pub(super) size: usize,
    /// Whether there is room for more tasks at the broker at once.
    pub(super) has_more: bool,
}

/// The shards of a step.
#[derive(Debug, Default)]
pub(super) struct Shards {
    /// Those that are not handed out yet.
    waiting: BTreeSet<u32>,
    issued: BTreeMap<u32, Issued>,
    issues: u32,
    /// Those that are done, by the workers that did them.
    done_by: BTreeMap<String, Vec<u32>>,
    /// Seconds of all that were done, and their number.
    secs: (f64, u32),
    /// How often files were stored again, by their digests.
    replaced: BTreeMap<String, u32>,
}

impl Shards {
    pub(super) fn new(waiting: impl Iterator<Item = u32>) -> Self {
        Self { waiting: waiting.collect(), ..Self::default() }
    }

    /// Whether all have a result.
    pub(super) fn are_done(&self) -> bool {
        self.waiting.is_empty() && self.issued.is_empty()
    }

    /// Whether a shard has no result yet.
    pub(super) fn is_open(&self, index: u32) -> bool {
        self.issued.contains_key(&index) || self.waiting.contains(&index)
    }

    /// Those that wait, and those that are handed out.
    pub(super) fn open(&self) -> (usize, usize) {
        (self.waiting.len(), self.issued.len())
    }

    /// Workers with the number of shards that they did.
    pub(super) fn by_worker(&self) -> impl Iterator<Item = (&str, usize)> {
        self.done_by.iter().map(|(worker, shards)| (worker.as_str(), shards.len()))
    }

    /// The mean seconds of a shard; none before the first result.
    pub(super) fn mean_secs(&self) -> Option<f64> {
        (self.secs.1 > 0).then(|| self.secs.0 / f64::from(self.secs.1))
    }

    /// Shards up to the window for so many lanes, or as many as are published at a time.
    pub(super) fn next(&self, lanes: usize) -> Next {
        let (size, window) = pacing::tasks(self.mean_secs(), self.waiting.len(), lanes);
        let room = (size * window).saturating_sub(self.issued.len());
        let has_more = room.min(self.waiting.len()) > size * PUBLISHED;
        Next {
            shards: self.waiting.iter().copied().take(room.min(size * PUBLISHED)).collect(),
            size,
            has_more,
        }
    }

    /// The number of a new issue.
    pub(super) fn new_issue(&mut self) -> u32 {
        self.issues += 1;
        self.issues
    }

    /// Notes an issue that the broker has stored: its shards, each with the objects that only it needs.
    pub(super) fn issued(&mut self, issue: u32, shards: Vec<(u32, Vec<String>)>, at: Stopwatch) {
        let size = shards.len() as u32;
        for (index, objects) in shards {
            self.waiting.remove(&index);
            let new = || Issued {
                issue,
                size,
                at,
                begun: None,
                copies: 0,
                refused: 0,
                lost: 0,
                failed: 0,
                objects,
            };
            let issued = self.issued.entry(index).or_insert_with(new);
            (issued.issue, issued.size, issued.at, issued.begun) = (issue, size, at, None);
            issued.copies += 1;
        }
    }

    /// Hands out again what the broker has lost.
    pub(super) fn forget_issued(&mut self) {
        self.waiting.extend(mem::take(&mut self.issued).into_keys());
    }

    /// Counts a shard that is done. Returns the objects that only it needed.
    pub(super) fn done(&mut self, index: u32, worker: &str, secs: f64) -> Vec<String> {
        self.done_by.entry(worker.to_owned()).or_default().push(index);
        self.secs = (self.secs.0 + secs, self.secs.1 + 1);
        self.waiting.remove(&index);
        self.issued.remove(&index).map(|issued| issued.objects).unwrap_or_default()
    }

    /// Has all done again that a worker did. Returns them.
    pub(super) fn take_back(&mut self, worker: &str) -> Vec<u32> {
        let shards = self.done_by.remove(worker).unwrap_or_default();
        self.waiting.extend(&shards);
        shards
    }

    /// Counts a refused result; whether the shard had too many.
    pub(super) fn refused(&mut self, index: u32) -> bool {
        let Some(issued) = self.issued.get_mut(&index) else { return false };
        issued.refused += 1;
        issued.refused >= MOST_REFUSED
    }

    /// Counts a lost result; whether the shard had too many.
    pub(super) fn lost(&mut self, index: u32) -> bool {
        let Some(issued) = self.issued.get_mut(&index) else { return false };
        issued.lost += 1;
        issued.lost >= MOST_LOST
    }

    /// Whether no worker is left for a shard after one more could not do it, if so many `others` are there.
    pub(super) fn is_given_up(&self, index: u32, others: usize) -> bool {
        let failed = 1 + self.issued.get(&index).map_or(0, |issued| issued.failed);
        failed >= MOST_FAILED || others == 0
    }

    /// Counts a worker that could not do a shard.
    pub(super) fn failed(&mut self, index: u32) {
        if let Some(issued) = self.issued.get_mut(&index) {
            issued.failed += 1;
        }
    }

    /// Counts a worker that could not have a file; whether it is worth storing again.
    pub(super) fn is_replaced(&mut self, blake3: &str) -> bool {
        let replaced = self.replaced.entry(blake3.to_owned()).or_default();
        *replaced += 1;
        *replaced <= MOST_REPLACED
    }

    /// A shard of a task whose latest issue this is. Later ones may still succeed.
    pub(super) fn latest(&self, message: &TaskMessage) -> Option<u32> {
        let is_latest =
            |index: &u32| self.issued.get(index).is_some_and(|issued| issued.issue == message.issue);
        message.tasks.iter().map(|task| task.index).find(is_latest)
    }

    /// Notes which issues workers do at the moment.
    pub(super) fn seen(&mut self, is_running: impl Fn(u32) -> bool, now: Stopwatch) {
        for issued in self.issued.values_mut() {
            if issued.begun.is_none() && is_running(issued.issue) {
                issued.begun = Some(now);
            }
        }
    }

    /// Shards to hand out again to so many idle lanes: lost ones, and those that take much longer than others. Each waits longer for every
    /// issue that may be under way.
    pub(super) fn overdue(&self, is_running: impl Fn(u32) -> bool, idle: usize, now: Stopwatch) -> Vec<u32> {
        let mean = self.mean_secs();
        let secs = |since: Stopwatch| now.since(since).as_secs_f64();
        let is_overdue = |(index, issued): (&u32, &Issued)| {
            let is_late = match issued.begun.filter(|_| is_running(issued.issue)) {
                Some(begun) => issued.copies == 1 && pacing::is_behind(secs(begun), mean, issued.size),
                None => secs(issued.at) > LOST * f64::from(issued.copies),
            };
            is_late.then_some((*index, issued.size))
        };
        // Long shards one for each lane without work, tiny ones all together.
        let found: Vec<(u32, u32)> = self.issued.iter().filter_map(is_overdue).collect();
        let are_tiny = found.iter().any(|(_, size)| *size > 1);
        let most = if are_tiny { idle * MOST_SHARDS } else { idle };
        found.into_iter().map(|(index, _)| index).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dc0_core::selfplay::Shard;
    use dc0_process::clock::Stopwatch;
    use dc0_steps::executor::Task;

    use super::{Next, Shards};
    use crate::message::TaskMessage;
    use crate::pacing::{FIRST, MOST_SHARDS, PUBLISHED};

    /// A moment some seconds ago.
    fn ago(now: Stopwatch, secs: u64) -> Stopwatch {
        now.earlier_by(Duration::from_secs(secs)).expect("the clock began before")
    }

    /// Hands shards out as one task; the number of its issue.
    fn issue(shards: &mut Shards, indices: &[u32], at: Stopwatch) -> u32 {
        let number = shards.new_issue();
        let with_object = |index: &u32| (*index, vec![format!("object {index}")]);
        shards.issued(number, indices.iter().map(with_object).collect(), at);
        number
    }

    #[test]
    fn shards_are_handed_out_up_to_the_window_and_larger_once_their_time_is_known() {
        let now = Stopwatch::start();
        let mut shards = Shards::new(0..10_000);
        let first = shards.next(2);
        assert_eq!(first, Next { shards: (0..FIRST as u32).collect(), size: 1, has_more: false });
        for index in first.shards {
            issue(&mut shards, &[index], now);
        }
        assert!(shards.next(2).shards.is_empty(), "the window is full");
        assert_eq!(shards.done(0, "one", 0.001), ["object 0"]);
        let next = shards.next(2);
        assert_eq!(
            (next.size, next.shards.len(), next.has_more),
            (MOST_SHARDS, MOST_SHARDS * PUBLISHED, true)
        );
        assert_eq!(next.shards[0], FIRST as u32);
    }

    #[test]
    fn what_a_worker_did_is_taken_back_and_done_again() {
        let now = Stopwatch::start();
        let mut shards = Shards::new(0..3);
        issue(&mut shards, &[0, 1, 2], now);
        for (index, worker) in [(0, "one"), (1, "other"), (2, "one")] {
            shards.done(index, worker, 2.0);
        }
        assert!(shards.are_done() && shards.mean_secs() == Some(2.0));
        assert_eq!(shards.take_back("one"), [0, 2]);
        assert!(shards.take_back("one").is_empty());
        assert!(shards.is_open(0) && !shards.is_open(1) && shards.open() == (2, 0));
        assert_eq!(shards.by_worker().collect::<Vec<_>>(), [("other", 1)]);
        assert_eq!(shards.next(1).shards, [0, 2]);
    }

    #[test]
    fn what_the_broker_has_lost_waits_again() {
        let mut shards = Shards::new(0..3);
        issue(&mut shards, &[0, 2], Stopwatch::start());
        assert_eq!(shards.open(), (1, 2));
        shards.forget_issued();
        assert_eq!((shards.open(), shards.next(1).shards), ((3, 0), vec![0, 1, 2]));
    }

    #[test]
    fn a_shard_is_given_up_after_three_workers_or_when_no_other_is_left() {
        let mut shards = Shards::new(0..1);
        issue(&mut shards, &[0], Stopwatch::start());
        assert!(shards.is_given_up(0, 0), "no other is left");
        assert!(!shards.is_given_up(0, 1), "a busy worker is waited for");
        shards.failed(0);
        assert!(!shards.is_given_up(0, 1));
        shards.failed(0);
        assert!(shards.is_given_up(0, 100));
    }

    #[test]
    fn the_third_refused_and_the_third_lost_result_of_a_shard_end_the_step() {
        let mut shards = Shards::new(0..2);
        issue(&mut shards, &[0, 1], Stopwatch::start());
        assert_eq!([0, 0, 1, 0].map(|index| shards.refused(index)), [false, false, false, true]);
        assert_eq!([1, 1, 0, 1].map(|index| shards.lost(index)), [false, false, false, true]);
        assert_eq!([(); 4].map(|()| shards.is_replaced("digest")), [true, true, true, false]);
    }

    #[test]
    fn exhausted_tasks_count_unless_their_shards_were_handed_out_again() {
        let mut shards = Shards::new(0..2);
        let earlier = issue(&mut shards, &[0, 1], Stopwatch::start());
        let later = issue(&mut shards, &[0], Stopwatch::start());
        let message = |issue, indices: &[u32]| TaskMessage {
            format: 1,
            job: String::new(),
            artefacts: None,
            issue,
            tasks: indices
                .iter()
                .map(|index| Task::of(Shard { index: *index, first_game: 0, games: 1 }))
                .collect(),
        };
        assert_eq!(shards.latest(&message(earlier, &[0])), None);
        assert_eq!(shards.latest(&message(earlier, &[0, 1])), Some(1));
        assert_eq!(shards.latest(&message(later, &[0])), Some(0));
        shards.done(0, "one", 1.0);
        assert_eq!(shards.latest(&message(later, &[0])), None);
    }

    #[test]
    fn tasks_that_no_worker_does_are_lost_after_fifteen_seconds_for_each_issue() {
        let now = Stopwatch::start();
        let mut shards = Shards::new(0..3);
        issue(&mut shards, &[0], ago(now, 16));
        issue(&mut shards, &[1], ago(now, 14));
        issue(&mut shards, &[2], ago(now, 40));
        issue(&mut shards, &[2], ago(now, 29));
        assert_eq!(shards.overdue(|_| false, 9, now), [0]);
        issue(&mut shards, &[2], ago(now, 46));
        assert_eq!(shards.overdue(|_| false, 9, now), [0, 2]);
        assert_eq!(shards.overdue(|_| false, 1, now), [0], "one for each idle lane");
        assert_eq!(shards.overdue(|_| true, 9, now), [0, 2], "no worker was seen to begin them");
    }

    #[test]
    fn tasks_that_take_much_longer_than_others_are_late_once() {
        let now = Stopwatch::start();
        let mut shards = Shards::new(0..2);
        issue(&mut shards, &[0], now);
        let slow = issue(&mut shards, &[1], now);
        shards.seen(|number| number == slow, ago(now, 100));
        assert!(shards.overdue(|number| number == slow, 9, now).is_empty(), "no time is known");
        shards.done(0, "one", 60.0);
        assert_eq!(shards.overdue(|number| number == slow, 9, now), [1]);
        // Its copy is waited for, however long it takes.
        let copy = issue(&mut shards, &[1], now);
        shards.seen(|number| number == copy, ago(now, 1000));
        assert!(shards.overdue(|number| number == copy, 9, now).is_empty());
    }

    #[test]
    fn tiny_shards_are_handed_out_again_all_together() {
        let now = Stopwatch::start();
        let mut shards = Shards::new(0..4);
        issue(&mut shards, &[0, 1, 2], ago(now, 20));
        issue(&mut shards, &[3], ago(now, 20));
        assert_eq!(shards.overdue(|_| false, 1, now), [0, 1, 2, 3]);
    }
}
