//! Does a sample of the shards again, in this process, and compares: so a worker that cheats within the rules is found, with another
//! net, another seed or made-up visits.
//!
//! A few threads do it while the workers go on. They never have more than a few shards to do, so a large fleet has a smaller sample.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::Scope;

use dc0_core::event::{Event, Observer};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::selfplay::Shard;
use dc0_steps::executor::Recompute;
use dc0_steps::{FleetError, StepError};

use crate::names::Channel;
use crate::pacing::MOST_WAITING;
use crate::panic;

/// A shard that was counted.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) shard: Shard,
    pub(super) worker: String,
    /// The digests of the tables that the worker sent.
    pub(super) digests: Vec<String>,
}

/// A shard that was done again.
pub(super) struct Rechecked {
    pub(super) counted: Counted,
    /// The digests of its tables here.
    pub(super) found: Result<Vec<String>, StepError>,
}

/// What is drawn into the sample.
#[derive(Debug)]
pub(super) struct Sample {
    /// The share of the shards.
    share: f64,
    /// Threads that do them.
    lanes: u32,
    /// Workers cannot know what is drawn.
    secret: RandomState,
    /// Workers of which a shard has been done again.
    known: Mutex<BTreeSet<String>>,
}

impl Sample {
    pub(super) fn new(share: f64, lanes: u32) -> Self {
        Self { share, lanes, secret: RandomState::new(), known: Mutex::default() }
    }

    /// Whether a shard is to be done again: the first of each worker, and the share of the others.
    fn has(&self, channel: &Channel, counted: &Counted) -> bool {
        let drawn = self.secret.hash_one((channel.digits(), counted.shard.index)) as f64 / u64::MAX as f64;
        self.share > 0.0
            && (drawn < self.share || !self.known.lock().ignore_poison().contains(&counted.worker))
    }
}

/// The threads that do shards again.
pub(super) struct Rechecker<'a> {
    sample: &'a Sample,
    channel: Channel,
    to: SyncSender<Counted>,
    from: Receiver<Rechecked>,
    /// Shards that are not back yet.
    open: usize,
    is_over: &'a AtomicBool,
}

/// Stops when the step does, and reports the evaluations alone: the shards are counted already.
struct Quiet<'a> {
    observer: &'a dyn Observer,
    is_over: &'a AtomicBool,
}

impl Observer for Quiet<'_> {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Warning(_) | Event::Work { unit: "evaluations", .. }) {
            self.observer.event(event);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.observer.is_cancelled()
    }
}

impl<'a> Rechecker<'a> {
    /// Starts the threads, which end with this value.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, 'a>,
        recompute: &'a Recompute<'a>,
        observer: &'a dyn Observer,
        sample: &'a Sample,
        channel: Channel,
        is_over: &'a AtomicBool,
    ) -> Self {
        let (to, waiting) = sync_channel(MOST_WAITING * sample.lanes as usize);
        let waiting = Arc::new(Mutex::new(waiting));
        let (done, from) = mpsc::channel();
        for _ in 0..sample.lanes {
            let (waiting, done) = (Arc::clone(&waiting), done.clone());
            scope.spawn(move || work(recompute, &Quiet { observer, is_over }, &waiting, &done));
        }
        Self { sample, channel, to, from, open: 0, is_over }
    }

    /// Has a shard done again if it is in the sample, and there is time.
    pub(super) fn offer(&mut self, counted: Counted) {
        if self.sample.has(&self.channel, &counted) {
            let worker = counted.worker.clone();
            if self.to.try_send(counted).is_ok() {
                self.open += 1;
                self.sample.known.lock().ignore_poison().insert(worker);
            }
        }
    }

    /// Whether a shard is not back yet.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }

    /// A shard that is back.
    pub(super) fn take(&mut self) -> Option<Rechecked> {
        let rechecked = self.from.try_recv().ok()?;
        self.open -= 1;
        Some(rechecked)
    }
}

fn work(
    recompute: &Recompute<'_>,
    observer: &dyn Observer,
    waiting: &Mutex<Receiver<Counted>>,
    done: &Sender<Rechecked>,
) {
    loop {
        let next = waiting.lock().ignore_poison().recv();
        let Ok(counted) = next else { return };
        // The step waits for every shard that it has handed over.
        let found = catch_unwind(AssertUnwindSafe(|| recompute(counted.shard, observer)));
        let found = found.unwrap_or_else(|panic| {
            let (shard, cause) = (counted.shard.index, panic::message(&*panic).to_owned());
            Err(FleetError::Recheck { shard, cause }.into())
        });
        if done.send(Rechecked { counted, found }).is_err() {
            return;
        }
    }
}

impl Drop for Rechecker<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use dc0_core::event::{Observer, Silent};
    use dc0_core::selfplay::Shard;

    use super::{Channel, Counted, Rechecker, Sample, StepError};

    #[test]
    fn a_shard_that_panics_comes_back_as_an_error() {
        let (sample, is_over) = (Sample::new(1.0, 1), AtomicBool::new(false));
        let channel = Channel::new(b"job", Path::new("run"), "host");
        let recompute = |shard: Shard, _: &dyn Observer| -> Result<Vec<String>, StepError> {
            panic!("out of range: {}", shard.index)
        };
        let error = thread::scope(|scope| {
            let mut rechecker = Rechecker::start(scope, &recompute, &Silent, &sample, channel, &is_over);
            let shard = Shard { index: 7, first_game: 7, games: 1 };
            rechecker.offer(Counted { shard, worker: "w".to_owned(), digests: Vec::new() });
            loop {
                if let Some(rechecked) = rechecker.take() {
                    break rechecked.found.expect_err("it panics");
                }
                thread::yield_now();
            }
        });
        assert!(
            error.to_string().contains("shard 7") && error.to_string().contains("out of range: 7"),
            "{error}"
        );
    }

    #[test]
    fn lanes_do_shards_at_the_same_time_and_give_back_each_once() {
        let (sample, is_over) = (Sample::new(1.0, 3), AtomicBool::new(false));
        let channel = Channel::new(b"job", Path::new("run"), "host");
        // Nobody passes before three are there.
        let barrier = Barrier::new(3);
        let recompute = |shard: Shard, _: &dyn Observer| {
            barrier.wait();
            Ok(vec![shard.index.to_string()])
        };
        let mut found = thread::scope(|scope| {
            let mut rechecker = Rechecker::start(scope, &recompute, &Silent, &sample, channel, &is_over);
            for index in 0..3 {
                let shard = Shard { index, first_game: index, games: 1 };
                rechecker.offer(Counted { shard, worker: "w".to_owned(), digests: Vec::new() });
            }
            let mut found = Vec::new();
            while rechecker.is_open() {
                found.extend(rechecker.take().map(|rechecked| rechecked.found.expect("done")));
                thread::yield_now();
            }
            found
        });
        found.sort();
        assert_eq!(found, [["0"], ["1"], ["2"]]);
    }
}
