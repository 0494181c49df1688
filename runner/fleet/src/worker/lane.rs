//! One thread of a worker: takes a task, does it, sends the result, and only then acknowledges the task.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{AckKind, Message};
use dc0_core::event::{Event, Observer};
use dc0_core::poison::IgnorePoison as _;
use dc0_process::clock::Stopwatch;
use dc0_process::exit::Exit;
use dc0_process::fault::{Fault as _, chain};
use dc0_steps::executor::{JobError, Lane, PreparedJob, Reply, Task};
use tokio::task::AbortHandle;

use super::jobs::Files;
use super::queue::Queue;
use super::{Running, Worker};
use crate::error::BrokerError;
use crate::link::Cause;
use crate::message::{Batch, DeadLetter, Spent, TaskMessage};
use crate::names::Channel;
use crate::pacing::{DELIVERIES, PROGRESS_EVERY};

/// The pause after the broker has failed.
const PAUSE: Duration = Duration::from_millis(500);

/// The pause before a task that failed is delivered again, times its deliveries. Meanwhile this worker rests for longer, so that
/// another one gets it.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The rest of a lane after its first failure in a row; it doubles with each.
const FIRST_REST: Duration = Duration::from_secs(2);

/// The longest rest of a lane.
const LONGEST_REST: Duration = Duration::from_mins(1);

/// Results of a task's first shards are sent after this time, if the others are not done yet.
const SEND_EVERY: Duration = Duration::from_secs(2);

/// How long a result is offered to a broker that does not take it. Its coordinator may be making the streams again.
const RESULT_PATIENCE: Duration = Duration::from_mins(5);

/// A lane.
pub(super) struct WorkerLane<'a> {
    worker: &'a Worker,
    queue: &'a Mutex<Queue>,
    /// The evaluators of the latest job.
    evaluators: Option<(String, Arc<PreparedJob>, Lane)>,
    /// Failures in a row.
    failures: u32,
    is_in_trouble: bool,
}

/// Stops a shard when its worker stops, its step ends, or it takes too long, and counts evaluations.
struct ShardObserver<'a> {
    worker: &'a Worker,
    is_over: &'a AtomicBool,
    watch: Stopwatch,
}

impl ShardObserver<'_> {
    fn is_too_long(&self) -> bool {
        self.watch.elapsed() > Duration::from_mins(self.worker.max_minutes.into())
    }
}

impl Observer for ShardObserver<'_> {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Work { unit: "evaluations", amount } => {
                self.worker.state.evaluations.fetch_add(amount, Ordering::Relaxed);
            }
            Event::Warning(text) => log::warn!("{text}"),
            _ => {}
        }
    }

    fn is_cancelled(&self) -> bool {
        self.worker.is_stopping() || self.is_over.load(Ordering::Relaxed) || self.is_too_long()
    }
}

/// How a task ended.
enum Outcome {
    /// Done, and its results are stored.
    Done,
    /// Done, but its results could not be stored.
    Unsent(BrokerError),
    /// Its step has ended, so it is not needed any more.
    Over,
    /// This worker stops.
    Stopped,
    /// A shard failed, perhaps because of a file with this digest.
    Failed(u32, String, Option<String>),
}

/// What says to the broker that a task is worked on. It ends with the work, also by a panic: another worker can have the task then.
struct SignsOfProgress(AbortHandle);

impl Drop for SignsOfProgress {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<'a> WorkerLane<'a> {
    pub(super) fn new(worker: &'a Worker, queue: &'a Mutex<Queue>) -> Self {
        Self { worker, queue, evaluators: None, failures: 0, is_in_trouble: false }
    }

    /// Does tasks until the worker stops.
    pub(super) fn run(mut self) {
        while !self.worker.is_stopping() {
            let mut queue = self.queue.lock().ignore_poison();
            // Other lanes may have waited for tasks in the meantime.
            if self.worker.is_stopping() {
                return;
            }
            let taken = queue.take(&self.worker.link);
            drop(queue);
            match taken {
                Ok(None) => self.is_in_trouble = false,
                Ok(Some(message)) => {
                    self.is_in_trouble = false;
                    self.serve(&message);
                }
                Err(error) => {
                    if !self.is_in_trouble {
                        self.is_in_trouble = true;
                        log::warn!("{error}; trying again until it answers");
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Does one task, and answers the broker.
    fn serve(&mut self, message: &Message) {
        let parsed = Channel::of_subject(&message.subject).zip(TaskMessage::parse(&message.payload));
        let Some((channel, task)) = parsed else {
            log::warn!(
                "a task of {} bytes is malformed, or of another version; it is dropped",
                message.payload.len()
            );
            return self.answer(message, AckKind::Term);
        };
        let id = id_of(message);
        let is_over = Arc::new(AtomicBool::new(false));
        let running = Running { channel: channel.clone(), is_over: Arc::clone(&is_over) };
        self.worker.state.running.lock().ignore_poison().insert(id.clone(), running);
        let _progress = self.send_progress(message);
        match self.work_all(&channel, &task, &id, &is_over) {
            Outcome::Done => {
                self.failures = 0;
                self.answer(message, AckKind::Ack);
            }
            Outcome::Over => self.answer(message, AckKind::Ack),
            Outcome::Stopped => self.answer(message, AckKind::Nak(None)),
            Outcome::Unsent(error) => {
                log::warn!("results are lost: {error}");
                self.answer(message, AckKind::Nak(None));
            }
            Outcome::Failed(index, cause, file) => self.fail(&channel, index, message, cause, file),
        }
        self.worker.state.running.lock().ignore_poison().remove(&id);
        if self.failures > 0 {
            self.rest();
        }
    }

    /// Does the shards of a task, and sends their results.
    fn work_all(&mut self, channel: &Channel, task: &TaskMessage, id: &str, is_over: &AtomicBool) -> Outcome {
        let files = match Files::of(self.worker, channel, task.artefacts.as_deref()) {
            Ok(files) => files,
            Err(cause) => return Outcome::Failed(task.tasks[0].index, cause, None),
        };
        let mut batch = Batch::default();
        let mut outcome = Outcome::Done;
        let mut watch = Stopwatch::start();
        for shard in &task.tasks {
            match self.work(&files, &task.job, shard, is_over) {
                Ok((reply, spent)) => batch.add(shard.index, spent, reply),
                Err(other) => {
                    outcome = other;
                    break;
                }
            }
            if batch.is_full() || watch.elapsed() > SEND_EVERY {
                if let Err(error) = self.send(&files, id, &std::mem::take(&mut batch), is_over) {
                    return Outcome::Unsent(error);
                }
                watch = Stopwatch::start();
            }
        }
        // Also what was done before a failure.
        match self.send(&files, id, &batch, is_over) {
            Err(error) if matches!(outcome, Outcome::Done) => Outcome::Unsent(error),
            _ => outcome,
        }
    }

    /// Does a shard, and says what it took.
    fn work(
        &mut self,
        files: &Files<'_>,
        digest: &str,
        task: &Task,
        is_over: &AtomicBool,
    ) -> Result<(Reply, Spent), Outcome> {
        let observer = ShardObserver { worker: self.worker, is_over, watch: Stopwatch::start() };
        // A panic in a shard must not end the worker.
        let done = catch_unwind(AssertUnwindSafe(|| -> Result<(Reply, Spent), JobError> {
            if self.evaluators.as_ref().is_none_or(|(of, ..)| of != digest) {
                self.evaluators = None;
                let job = self.worker.jobs.get(files, digest)?;
                let lane = job.lane()?;
                self.evaluators = Some((digest.to_owned(), job, lane));
            }
            let (_, job, lane) = self.evaluators.as_mut().expect("made above");
            // Without the time for the job's nets, which is spent once.
            let watch = Stopwatch::start();
            let (reply, nets) = job.shard(lane, task, files, &observer)?;
            Ok((reply, Spent { secs: watch.elapsed().as_secs_f64(), nets }))
        }));
        let failed = match done {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(JobError::Step(error))) if error.exit() == Exit::Interrupted => {
                if is_over.load(Ordering::Relaxed) {
                    return Err(Outcome::Over);
                }
                if self.worker.is_stopping() {
                    return Err(Outcome::Stopped);
                }
                format!(
                    "it took longer than {} minutes, the most that this worker allows",
                    self.worker.max_minutes
                )
            }
            Ok(Err(error)) => {
                let file = match &error {
                    JobError::Artefact { blake3, .. } => Some(blake3.clone()),
                    _ => None,
                };
                self.evaluators = None;
                return Err(Outcome::Failed(task.index, chain(&error), file));
            }
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                format!("it panicked: {text}")
            }
        };
        // They may be in any state.
        self.evaluators = None;
        Err(Outcome::Failed(task.index, failed, None))
    }

    /// Has a task done by another worker, or by none if this was the last delivery.
    fn fail(
        &mut self,
        channel: &Channel,
        index: u32,
        message: &Message,
        cause: String,
        file: Option<String>,
    ) {
        self.failures += 1;
        self.worker.state.failed.fetch_add(1, Ordering::Relaxed);
        let deliveries = message.info().map_or(i64::from(DELIVERIES), |info| info.delivered);
        log::warn!("shard {index} failed here, at delivery {deliveries} of {DELIVERIES}: {cause}");
        let is_last = deliveries >= i64::from(DELIVERIES);
        let mut reported = Ok(());
        if is_last || file.is_some() {
            let file = file.filter(|_| !is_last);
            let letter = DeadLetter { worker: self.worker.name.clone(), index, cause, file };
            let payload = serde_json::to_vec(&letter).expect("text and numbers");
            reported =
                self.publish(channel.dead(), &format!("{}-dead-{deliveries}", id_of(message)), payload);
        }
        if let Err(error) = &reported {
            log::warn!("{error}");
        }
        if !is_last {
            self.answer(message, AckKind::Nak(Some(RETRY_AFTER * deliveries as u32)));
        } else if reported.is_ok() {
            self.answer(message, AckKind::Term);
        }
    }

    /// Stores results at the broker.
    fn send(
        &self,
        files: &Files<'_>,
        task: &str,
        batch: &Batch,
        is_over: &AtomicBool,
    ) -> Result<(), BrokerError> {
        let Some(first) = batch.first() else { return Ok(()) };
        let channel = files.channel;
        let payload = batch.message(&self.worker.name);
        let id = format!("{task}-{}-{first}", self.worker.name);
        let watch = Stopwatch::start();
        loop {
            let stored = batch.objects.iter().try_for_each(|(digest, content)| {
                files.artefacts.put(&self.worker.link, channel.object(digest), content.clone(), false)
            });
            match stored.and_then(|()| self.publish(channel.done(), &id, payload.clone())) {
                Ok(()) => {
                    self.worker.state.done.fetch_add(batch.len() as u64, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error)
                    if self.worker.is_stopping()
                        || is_over.load(Ordering::Relaxed)
                        || watch.elapsed() > RESULT_PATIENCE =>
                {
                    return Err(error);
                }
                Err(error) => {
                    log::debug!("{error}");
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Publishes a message, and waits until the broker has stored it.
    fn publish(&self, subject: String, id: &str, payload: Vec<u8>) -> Result<(), BrokerError> {
        let jetstream = self.worker.link.jetstream().clone();
        let message = PublishMessage::build().payload(payload.into()).message_id(id);
        self.worker.link.wait("store a result", async move {
            let stored = jetstream.send_publish(subject, message).await.map_err(Cause::of)?;
            stored.await.map_err(Cause::of)
        })?;
        Ok(())
    }

    /// Answers the broker. If that fails, the task is delivered again, and its result is known then.
    fn answer(&self, message: &Message, kind: AckKind) {
        let message = message.clone();
        let answered = self.worker.link.wait("take an acknowledgement", async move {
            message.double_ack_with(kind).await.map_err(|error| Cause::of_text(&error))
        });
        if let Err(error) = answered {
            log::debug!("{error}");
        }
    }

    /// Says from now on that the task is worked on, until the value is dropped.
    fn send_progress(&self, message: &Message) -> SignsOfProgress {
        let message = message.clone();
        SignsOfProgress(self.worker.link.spawn(async move {
            loop {
                tokio::time::sleep(PROGRESS_EVERY).await;
                if let Err(cause) = message.ack_with(AckKind::Progress).await {
                    log::debug!("no sign of progress: {cause}");
                }
            }
        }))
    }

    /// Leaves tasks to other workers for a time.
    fn rest(&self) {
        let rest = FIRST_REST.saturating_mul(1 << self.failures.saturating_sub(1).min(5)).min(LONGEST_REST);
        let watch = Stopwatch::start();
        while watch.elapsed() < rest && !self.worker.is_stopping() {
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The identity of a message.
fn id_of(message: &Message) -> String {
    let id = |headers: &HeaderMap| headers.get(async_nats::header::NATS_MESSAGE_ID).map(ToString::to_string);
    message.headers.as_ref().and_then(id).unwrap_or_default()
}
