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
use dc0_process::command::Failure;
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
use crate::panic;

/// The pause after the broker has failed.
const PAUSE: Duration = Duration::from_millis(500);

/// The pause before a task that failed is delivered again, times its deliveries. Meanwhile this worker rests for longer, so that
/// another one gets it if it has nothing to do.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Between two looks at whether the worker still rests.
const MOMENT: Duration = Duration::from_millis(100);

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
    /// A shard needs what the worker's options do not give.
    Unfit(u32, String),
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
        Self { worker, queue, evaluators: None, is_in_trouble: false }
    }

    /// Does tasks until the worker stops.
    pub(super) fn run(mut self) {
        while !self.worker.is_stopping() {
            let mut queue = self.queue.lock().ignore_poison();
            // Other lanes may have waited for tasks in the meantime, or failed.
            if self.worker.is_stopping() {
                return;
            }
            if self.worker.state.rest.lock().ignore_poison().is_on() {
                drop(queue);
                thread::sleep(MOMENT);
                continue;
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
        match self.work_all(&channel, &task, (&id, deliveries_of(message)), &is_over) {
            Outcome::Done => {
                self.worker.state.rest.lock().ignore_poison().reset();
                self.answer(message, AckKind::Ack);
            }
            Outcome::Over => self.answer(message, AckKind::Ack),
            Outcome::Stopped => self.answer(message, AckKind::Nak(None)),
            Outcome::Unsent(error) => {
                log::warn!("results are lost: {error}");
                self.answer(message, AckKind::Nak(None));
            }
            Outcome::Failed(index, cause, file) => self.fail(&channel, index, message, cause, file),
            Outcome::Unfit(index, cause) => {
                // First, so that no lane takes the task again.
                self.worker.state.stop(Failure::new(Exit::BadInput, cause.clone()));
                self.fail(&channel, index, message, cause, None);
            }
        }
        self.worker.state.running.lock().ignore_poison().remove(&id);
    }

    /// Does the shards of a task, and sends their results.
    fn work_all(
        &mut self,
        channel: &Channel,
        task: &TaskMessage,
        delivery: (&str, i64),
        is_over: &AtomicBool,
    ) -> Outcome {
        let files = match Files::of(self.worker, channel, task.artefacts.as_deref()) {
            Ok(files) => files,
            Err(cause) => return Outcome::Unfit(task.tasks[0].index, cause),
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
                if let Err(error) = self.send(&files, delivery, &std::mem::take(&mut batch), is_over) {
                    return Outcome::Unsent(error);
                }
                watch = Stopwatch::start();
            }
        }
        // Also what was done before a failure.
        match self.send(&files, delivery, &batch, is_over) {
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
            Err(panic) => format!("it panicked: {}", panic::message(&*panic)),
        };
        // They may be in any state.
        self.evaluators = None;
        Err(Outcome::Failed(task.index, failed, None))
    }

    /// Has a task done by another worker, or by none if this was the last delivery.
    fn fail(&self, channel: &Channel, index: u32, message: &Message, cause: String, file: Option<String>) {
        self.worker.state.rest.lock().ignore_poison().begin();
        self.worker.state.failed.fetch_add(1, Ordering::Relaxed);
        let deliveries = deliveries_of(message);
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
        (task, delivery): (&str, i64),
        batch: &Batch,
        is_over: &AtomicBool,
    ) -> Result<(), BrokerError> {
        let Some(first) = batch.first() else { return Ok(()) };
        let channel = files.channel;
        let payload = batch.message(&self.worker.name);
        let id = result_id(task, delivery, &self.worker.name, first);
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
}

/// How often a task was delivered.
fn deliveries_of(message: &Message) -> i64 {
    message.info().map_or(i64::from(DELIVERIES), |info| info.delivered)
}

/// The identity of a message with results, given its first shard. A later delivery may have other shards after the same first one, which
/// the broker must not take for a message that was sent twice.
fn result_id(task: &str, delivery: i64, worker: &str, first: u32) -> String {
    format!("{task}-{delivery}-{worker}-{first}")
}

/// The identity of a message.
fn id_of(message: &Message) -> String {
    let id = |headers: &HeaderMap| headers.get(async_nats::header::NATS_MESSAGE_ID).map(ToString::to_string);
    message.headers.as_ref().and_then(id).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::result_id;

    #[test]
    fn results_of_a_later_delivery_are_not_taken_for_copies() {
        assert_ne!(result_id("task", 1, "worker", 7), result_id("task", 2, "worker", 7));
        assert_eq!(result_id("task", 1, "worker", 7), result_id("task", 1, "worker", 7));
    }
}
