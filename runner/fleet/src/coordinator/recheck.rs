//! Does a sample of the shards again, in this process, and compares: so a worker that cheats within the rules is found, with another
//! net, another seed or made-up visits.
//!
//! One thread does it while the workers go on. It never has more than a few shards to do, so a large fleet has a smaller sample.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, sync_channel};
use std::thread::Scope;

use dc0_core::event::{Event, Observer};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::selfplay::Shard;
use dc0_steps::StepError;
use dc0_steps::executor::Order;

use crate::names::Channel;
use crate::pacing::MOST_WAITING;

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
    /// Workers cannot know what is drawn.
    secret: RandomState,
    /// Workers of which a shard has been done again.
    known: Mutex<BTreeSet<String>>,
}

impl Sample {
    pub(super) fn new(share: f64) -> Self {
        Self { share, secret: RandomState::new(), known: Mutex::default() }
    }

    /// Whether a shard is to be done again: the first of each worker, and the share of the others.
    fn has(&self, channel: &Channel, counted: &Counted) -> bool {
        let drawn = self.secret.hash_one((channel.digits(), counted.shard.index)) as f64 / u64::MAX as f64;
        self.share > 0.0
            && (drawn < self.share || !self.known.lock().ignore_poison().contains(&counted.worker))
    }
}

/// The thread that does shards again.
pub(super) struct Rechecker<'a> {
    sample: &'a Sample,
    channel: Channel,
    to: SyncSender<Counted>,
    from: Receiver<Rechecked>,
    /// Shards that are not back yet.
    open: usize,
    is_over: &'a AtomicBool,
}

/// Stops when the step does, and reports nothing: the shards are counted already.
struct Quiet<'a> {
    observer: &'a dyn Observer,
    is_over: &'a AtomicBool,
}

impl Observer for Quiet<'_> {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Warning(_)) {
            self.observer.event(event);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.observer.is_cancelled()
    }
}

impl<'a> Rechecker<'a> {
    /// Starts the thread, which ends with this value.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, 'a>,
        order: &'a Order<'a>,
        sample: &'a Sample,
        channel: Channel,
        is_over: &'a AtomicBool,
    ) -> Self {
        let (to, waiting) = sync_channel(MOST_WAITING);
        let (done, from) = mpsc::channel();
        scope.spawn(move || work(order, is_over, &waiting, &done));
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

fn work(order: &Order<'_>, is_over: &AtomicBool, waiting: &Receiver<Counted>, done: &Sender<Rechecked>) {
    let quiet = Quiet { observer: order.observer, is_over };
    while let Ok(counted) = waiting.recv() {
        let found = (order.recompute)(counted.shard, &quiet);
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
