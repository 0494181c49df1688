//! A simulated coordinator: its steps, its round of taking results, and its trainings.

use std::collections::VecDeque;

use dc0_fleet::pacing::{self, BATCH, MOST_WAITING, PUBLISHED};

use super::events::Issue;
use super::server::Server;

/// Shards that are handed out together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) size: u32,
    /// Trainings before the net that plays them.
    pub(super) version: u32,
    /// When a worker first began them.
    pub(super) begun: Option<f64>,
    pub(super) copies: u32,
    /// Whether the broker has a result.
    pub(super) is_stored: bool,
    pub(super) is_counted: bool,
}

/// A result that waits at the broker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) issue: Issue,
    pub(super) worker: usize,
    pub(super) secs: f64,
}

/// A coordinator.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "it plays and trains at the same time, or neither")]
pub(super) struct Learner {
    /// Its steps of self-play so far.
    pub(super) step: u32,
    pub(super) is_playing: bool,
    pub(super) is_training: bool,
    pub(super) is_over: bool,
    /// Trainings that have begun, and ended.
    pub(super) begun: u32,
    pub(super) version: u32,
    /// Trainings before the step.
    pub(super) step_version: u32,
    /// Shards of the step that are not handed out; no end of them if games are played all the time.
    pub(super) remaining: Option<u32>,
    pub(super) groups: Vec<Group>,
    /// Shards that are handed out and not counted.
    pub(super) issued: usize,
    /// Shards counted in the step, and in all.
    pub(super) counted: u32,
    pub(super) all_counted: u64,
    /// Seconds of those of the step.
    secs: f64,
    /// Results at the broker, and those of the round.
    pub(super) results: VecDeque<Waiting>,
    pub(super) taken: Vec<Waiting>,
    /// Whether tasks were published last.
    pub(super) has_published: bool,
    /// When the round ends, or tasks are at the broker.
    pub(super) busy_until: f64,
    /// Seconds of looking at workers that the next round takes longer.
    pub(super) owed: f64,
    /// The thread that hands out and takes, its processors, the thread of the connection, and its link.
    pub(super) rounds: Server,
    pub(super) cores: Server,
    pub(super) connection: Server,
    pub(super) link: Server,
    pub(super) training: Server,
    /// When the shards of the sample are done again.
    rechecks: VecDeque<f64>,
    pub(super) rechecked: u64,
    known: Vec<bool>,
    /// Shards counted since the last training began, with the sum of their nets' versions.
    fresh: (u64, u64),
    /// How far those were behind the middle of their first training, in trainings, and their number.
    pub(super) behind: (f64, u64),
}

impl Learner {
    pub(super) fn new(workers: usize) -> Self {
        Self { known: vec![false; workers], ..Self::default() }
    }

    /// Begins a step of this many shards.
    pub(super) fn begin_step(&mut self, shards: Option<u32>) {
        self.step += 1;
        self.step_version = self.version;
        self.is_playing = true;
        self.remaining = shards;
        self.groups.clear();
        self.results.clear();
        self.taken.clear();
        (self.issued, self.counted, self.secs) = (0, 0, 0.0);
    }

    /// Begins a training on the games that are there.
    pub(super) fn begin_training(&mut self) {
        self.begun += 1;
        self.is_training = true;
        let (shards, versions) = std::mem::take(&mut self.fresh);
        self.behind.0 += (f64::from(self.version) + 0.5) * shards as f64 - versions as f64;
        self.behind.1 += shards;
    }

    /// The mean seconds of a shard; none before the first result.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.counted > 0).then(|| self.secs / f64::from(self.counted))
    }

    /// The sizes of the groups to hand out now, as the coordinator chooses them.
    pub(super) fn next_groups(&self, lanes: usize) -> Vec<u32> {
        let left = self.remaining.map_or(usize::MAX, |left| left as usize);
        let (size, window) = pacing::tasks(self.mean(), left, lanes);
        let mut room = (size * window).saturating_sub(self.issued).min(left);
        let mut sizes = Vec::new();
        while room > 0 && sizes.len() < PUBLISHED {
            sizes.push(room.min(size) as u32);
            room -= room.min(size);
        }
        sizes
    }

    /// Takes the results of a round.
    pub(super) fn take(&mut self) {
        let count = self.results.len().min(1 + BATCH);
        self.taken.extend(self.results.drain(..count));
    }

    /// Counts a result, unless another copy was first; whether it did.
    pub(super) fn count(&mut self, result: Waiting) -> bool {
        let group = &mut self.groups[result.issue.group];
        if group.is_counted {
            return false;
        }
        group.is_counted = true;
        self.counted += group.size;
        self.all_counted += u64::from(group.size);
        self.issued -= group.size as usize;
        self.secs += result.secs;
        self.fresh.0 += u64::from(group.size);
        self.fresh.1 += u64::from(group.size) * u64::from(group.version);
        true
    }

    /// Does one shard of a result again, if it is drawn or the first of its worker, and there is time.
    pub(super) fn recheck(&mut self, now: f64, worker: usize, is_drawn: bool, secs: f64) {
        while self.rechecks.front().is_some_and(|end| *end <= now) {
            self.rechecks.pop_front();
        }
        if (is_drawn || !self.known[worker]) && self.rechecks.len() <= MOST_WAITING {
            self.known[worker] = true;
            self.rechecked += 1;
            let begin = self.rechecks.back().copied().unwrap_or(now);
            self.rechecks.push_back(begin + secs);
        }
    }

    /// When the last shard of the sample is done again.
    pub(super) fn rechecks_end(&self, now: f64) -> f64 {
        self.rechecks.back().copied().unwrap_or(now).max(now)
    }

    /// Whether all shards of the step are counted.
    pub(super) fn has_all(&self) -> bool {
        self.remaining == Some(0) && self.issued == 0
    }
}
