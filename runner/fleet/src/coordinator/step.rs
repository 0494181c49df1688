//! One step whose shards workers do: hands out tasks, and counts results.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use dc0_core::durable;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::selfplay::Shard;
use dc0_process::clock::Stopwatch;
use dc0_process::format::counted;
use dc0_steps::executor::{FORMAT, Order, Unaccepted};
use dc0_steps::{FleetError, StepError};
use futures_util::StreamExt as _;

use super::NatsFleet;
use super::setup;
use crate::error::BrokerError;
use crate::link::{Cause, Link};
use crate::message::{DeadLetter, Heartbeat, ResultHead, TaskMessage};
use crate::names::{Channel, DELIVERIES, Route, aside};
use crate::objects::{self, ObjectError};

/// Tasks at the broker at a time, so that neither it nor this process needs memory for all of a large step.
const WINDOW: usize = 512;

/// Results that are taken at a time; each has up to half a megabyte.
const BATCH: usize = 16;

/// The longest wait for a result before the user's wishes are looked at again.
const PATIENCE: Duration = Duration::from_millis(250);

/// The pause after the broker has failed.
const PAUSE: Duration = Duration::from_millis(500);

/// How often workers, lost tasks and the broker's files are looked at.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// Seconds after which the user learns that nobody is there to work.
const LONELY: f64 = 5.0;

/// A shard that takes this many times the mean is handed out again while others have nothing to do. Chosen.
const STRAGGLES: f64 = 1.5;

/// Seconds after which a task that no worker says it does is handed out again while some have nothing to do. Each time it takes as
/// long again. Above the time after which a silent worker is gone.
const LOST: f64 = 15.0;

/// Wrong results for a shard after which the step ends.
const MOST_REFUSED: u32 = 3;

/// A shard that is handed out.
struct Issued {
    /// Its latest issue.
    issue: u32,
    /// When that was.
    at: Stopwatch,
    /// Issues that may be under way.
    copies: u32,
    /// Results that were refused.
    refused: u32,
    /// The objects that only it needs.
    objects: Vec<String>,
}

/// The message of a task, with its identity.
type Issue = (String, Vec<u8>);

/// What stops a round.
enum Trouble {
    /// The broker failed, which passes.
    Broker(BrokerError),
    /// The step ends.
    Step(StepError),
}

impl From<BrokerError> for Trouble {
    fn from(error: BrokerError) -> Self {
        Self::Broker(error)
    }
}

impl From<StepError> for Trouble {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

impl From<FleetError> for Trouble {
    fn from(error: FleetError) -> Self {
        Self::Step(error.into())
    }
}

/// A step in progress.
pub(super) struct Step<'a> {
    fleet: &'a NatsFleet,
    order: &'a Order<'a>,
    /// The job's digest.
    job: String,
    channel: Channel,
    route: Route,
    results: Option<PullConsumer>,
    /// Whether results that were there before this process have been taken.
    is_drained: bool,
    /// Shards that are not handed out yet.
    waiting: BTreeSet<u32>,
    issued: BTreeMap<u32, Issued>,
    issues: u32,
    /// Shards by the workers that did them.
    done_by: BTreeMap<String, u32>,
    /// Seconds of all shards done, and their number.
    secs: (f64, u32),
    /// Workers of which the user knows.
    announced: BTreeSet<String>,
    watch: Stopwatch,
    checked: Stopwatch,
    is_lonely: bool,
    is_in_trouble: bool,
}

impl<'a> Step<'a> {
    pub(super) fn new(fleet: &'a NatsFleet, order: &'a Order<'a>) -> Self {
        let bytes = order.job.of.bytes();
        Self {
            fleet,
            order,
            job: durable::digest(&bytes),
            channel: Channel::new(&bytes, order.folder, &fleet.host),
            route: fleet.platform.route(&order.job.of.evaluation, fleet.kinds == super::WorkerKinds::Mixed),
            results: None,
            is_drained: false,
            waiting: order.shards.iter().map(|shard| shard.index).collect(),
            issued: BTreeMap::new(),
            issues: 0,
            done_by: BTreeMap::new(),
            secs: (0.0, 0),
            announced: BTreeSet::new(),
            watch: Stopwatch::start(),
            checked: Stopwatch::start(),
            is_lonely: false,
            is_in_trouble: false,
        }
    }

    /// Has all shards done.
    pub(super) fn run(mut self) -> Result<(), StepError> {
        let outcome = self.work();
        self.end(outcome.is_ok());
        if outcome.is_ok() {
            let by = self
                .done_by
                .iter()
                .map(|(worker, shards)| format!("{} by {worker}", counted(*shards as usize, "shard")));
            log::info!("{}", by.collect::<Vec<_>>().join(", "));
        }
        outcome
    }

    fn link(&self) -> &Link {
        &self.fleet.link
    }

    fn work(&mut self) -> Result<(), StepError> {
        while !self.waiting.is_empty() || !self.issued.is_empty() {
            self.order.observer.check()?;
            match self.round() {
                Ok(ControlFlow::Break(())) => break,
                Ok(ControlFlow::Continue(())) if self.is_in_trouble => {
                    self.is_in_trouble = false;
                    self.note("the broker answers again");
                }
                Ok(ControlFlow::Continue(())) => {}
                Err(Trouble::Step(error)) => return Err(error),
                Err(Trouble::Broker(error)) => {
                    if !self.is_in_trouble {
                        self.is_in_trouble = true;
                        self.note(&format!("{error}; trying again until it answers"));
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
        Ok(())
    }

    fn note(&self, text: &str) {
        self.fleet.console.note(text);
        log::info!("{text}");
    }

    /// Hands out tasks and takes results once.
    fn round(&mut self) -> Result<ControlFlow<()>, Trouble> {
        // First, because nothing else works if the broker has lost what it had.
        if self.checked.elapsed() > CHECK_EVERY {
            self.checked = Stopwatch::start();
            self.check()?;
        }
        if self.results.is_none() {
            self.set_up()?;
        }
        if self.is_drained {
            self.hand_out()?;
        }
        let messages = self.fetch()?;
        self.is_drained |= messages.is_empty();
        for message in messages {
            let flow = self.take(&message)?;
            let acknowledged = async move { message.ack().await.map_err(|error| Cause::of_text(&error)) };
            if let Err(error) = self.link().wait("take an acknowledgement", acknowledged) {
                // It comes again, and is known then.
                log::debug!("{error}");
            }
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Makes everything at the broker that the step needs; also after the broker has lost it.
    fn set_up(&mut self) -> Result<(), Trouble> {
        setup::make_streams(self.link())?;
        setup::make_route(self.link(), &self.route)?;
        for artefact in self.order.job.of.artefacts() {
            let content = self.order.job.content(artefact)?;
            objects::put(self.link(), self.channel.object(&artefact.blake3), content)?;
        }
        // Last, because its presence says that everything is there.
        objects::put(self.link(), self.channel.job(), self.order.job.of.bytes())?;
        setup::purge_tasks(self.link(), &self.channel)?;
        self.results = Some(setup::make_results(self.link(), &self.channel)?);
        self.is_drained = false;
        self.waiting.extend(std::mem::take(&mut self.issued).into_keys());
        Ok(())
    }

    fn shard(&self, index: u32) -> Option<Shard> {
        let found = self.order.shards.binary_search_by_key(&index, |shard| shard.index).ok()?;
        Some(self.order.shards[found])
    }

    /// Hands out shards up to the window.
    fn hand_out(&mut self) -> Result<(), Trouble> {
        let room = WINDOW.saturating_sub(self.issued.len());
        let next: Vec<u32> = self.waiting.iter().copied().take(room).collect();
        if next.is_empty() {
            return Ok(());
        }
        let mut messages = Vec::new();
        let mut all = Vec::new();
        for index in next {
            let (message, objects) = self.message(index)?;
            messages.push(message);
            all.push((index, self.issues, objects));
        }
        self.publish(messages)?;
        for (index, issue, objects) in all {
            self.waiting.remove(&index);
            let issued = Issued { issue, at: Stopwatch::start(), copies: 1, refused: 0, objects };
            self.issued.insert(index, issued);
        }
        Ok(())
    }

    /// A new issue of a shard, and the objects that only it needs, which are stored.
    fn message(&mut self, index: u32) -> Result<(Issue, Vec<String>), Trouble> {
        let shard = self.shard(index).expect("only shards of the order are handed out");
        let described = (self.order.task)(shard)?;
        let mut objects = Vec::new();
        for artefact in &described.of.files {
            let name = self.channel.object(&artefact.blake3);
            objects::put(self.link(), name.clone(), described.content(artefact)?)?;
            objects.push(name);
        }
        self.issues += 1;
        let message =
            TaskMessage { format: FORMAT, job: self.job.clone(), issue: self.issues, task: described.of };
        let id = message.message_id(&self.channel, &self.fleet.session);
        Ok(((id, serde_json::to_vec(&message).expect("text and numbers")), objects))
    }

    /// Hands out a shard once more.
    fn hand_out_again(&mut self, index: u32) -> Result<(), Trouble> {
        let (message, _) = self.message(index)?;
        self.publish(vec![message])?;
        let issue = self.issues;
        if let Some(issued) = self.issued.get_mut(&index) {
            issued.issue = issue;
            issued.at = Stopwatch::start();
            issued.copies += 1;
        }
        Ok(())
    }

    /// Publishes tasks, and waits until the broker has stored all of them.
    fn publish(&self, messages: Vec<Issue>) -> Result<(), BrokerError> {
        let (jetstream, subject) = (self.link().jetstream().clone(), self.channel.task(&self.route));
        self.link().wait("take tasks", async move {
            let mut stored = Vec::new();
            for (id, payload) in messages {
                let message = PublishMessage::build().payload(payload.into()).message_id(&id);
                stored.push(jetstream.send_publish(subject.clone(), message).await.map_err(Cause::of)?);
            }
            for stored in stored {
                stored.await.map_err(Cause::of)?;
            }
            Ok::<_, Cause>(())
        })
    }

    /// The results that are there; waits a moment for the first.
    fn fetch(&self) -> Result<Vec<Message>, BrokerError> {
        let Some(consumer) = self.results.clone() else { return Ok(Vec::new()) };
        let waits = self.is_drained;
        self.link().wait("hand out results", async move {
            let mut found = Vec::new();
            if waits {
                let first = consumer.batch().max_messages(1).expires(PATIENCE);
                let mut first = first.messages().await.map_err(Cause::of)?;
                while let Some(message) = first.next().await {
                    found.push(message.map_err(|error| Cause::of_text(&error))?);
                }
                if found.is_empty() {
                    return Ok(found);
                }
            }
            let mut more = consumer.fetch().max_messages(BATCH).messages().await.map_err(Cause::of)?;
            while let Some(message) = more.next().await {
                found.push(message.map_err(|error| Cause::of_text(&error))?);
            }
            Ok::<_, Cause>(found)
        })
    }

    /// Counts a result, or reports a dead letter.
    fn take(&mut self, message: &Message) -> Result<ControlFlow<()>, Trouble> {
        if message.subject.as_str() == self.channel.dead() {
            return match serde_json::from_slice::<DeadLetter>(&message.payload) {
                Ok(letter) if self.is_open(letter.index) => {
                    let cause = format!("{} says: {}", letter.worker, letter.cause);
                    Err(FleetError::Failed { shard: letter.index, cause }.into())
                }
                _ => Ok(ControlFlow::Continue(())),
            };
        }
        match ResultHead::parse(&message.payload) {
            Ok((head, rest)) => self.result(head, rest),
            Err(cause) => {
                log::warn!("a result is left out: {cause}");
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Whether a shard has no result yet.
    fn is_open(&self, index: u32) -> bool {
        self.issued.contains_key(&index) || self.waiting.contains(&index)
    }

    fn result(&mut self, head: ResultHead, rest: &[u8]) -> Result<ControlFlow<()>, Trouble> {
        let index = head.index;
        let Some(shard) = self.shard(index).filter(|_| self.is_open(index)) else {
            // Another copy was first. It has the same bytes.
            return Ok(ControlFlow::Continue(()));
        };
        if self.fleet.aside.lock().ignore_poison().contains_key(&head.worker) {
            self.put_aside(&head.worker)?;
            self.hand_out_again(index)?;
            return Ok(ControlFlow::Continue(()));
        }
        let object = head.object.clone();
        let content = match &object {
            None => Bytes::copy_from_slice(rest),
            Some(digest) => {
                let most = head.size().unwrap_or(0);
                match objects::get(self.link(), self.channel.object(digest), digest, most) {
                    Ok(content) => content.into(),
                    Err(ObjectError::Broker(error)) => return Err(error.into()),
                    Err(ObjectError::Wrong(cause)) => return self.refuse(index, &head.worker, &cause),
                }
            }
        };
        let (worker, secs) = (head.worker.clone(), head.secs);
        let accepted = match head.reply(&content) {
            Ok(reply) => (self.order.accept)(shard, reply),
            Err(cause) => Err(Unaccepted::Refused(cause)),
        };
        match accepted {
            Err(Unaccepted::Failed(error)) => Err(error.into()),
            Err(Unaccepted::Refused(cause)) => self.refuse(index, &worker, &cause),
            Ok(flow) => {
                log::info!("shard {index} is done by {worker} in {secs:.1} s");
                *self.done_by.entry(worker).or_default() += 1;
                self.secs = (self.secs.0 + secs.clamp(0.0, 1e6), self.secs.1 + 1);
                self.waiting.remove(&index);
                let own = self.issued.remove(&index).map(|issued| issued.objects).unwrap_or_default();
                let object = object.map(|digest| self.channel.object(&digest));
                for name in own.into_iter().chain(object) {
                    if let Err(error) = objects::delete(self.link(), name) {
                        log::debug!("{error}");
                    }
                }
                Ok(flow)
            }
        }
    }

    /// Puts a worker aside whose result is wrong, and hands out its shard again.
    fn refuse(&mut self, index: u32, worker: &str, cause: &str) -> Result<ControlFlow<()>, Trouble> {
        let text = format!("worker {worker} is put aside: what it sent for shard {index} is wrong: {cause}");
        log::warn!("{text}");
        self.fleet.console.note(&format!("warning: {text}"));
        self.fleet.aside.lock().ignore_poison().insert(worker.to_owned(), cause.to_owned());
        self.put_aside(worker)?;
        if let Some(issued) = self.issued.get_mut(&index) {
            issued.refused += 1;
            if issued.refused >= MOST_REFUSED {
                let (worker, cause) = (worker.to_owned(), cause.to_owned());
                return Err(
                    FleetError::Refused { shard: index, attempts: MOST_REFUSED, worker, cause }.into()
                );
            }
            self.hand_out_again(index)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Says to a worker that it is put aside, and why.
    fn put_aside(&self, worker: &str) -> Result<(), BrokerError> {
        let cause = self.fleet.aside.lock().ignore_poison().get(worker).cloned().unwrap_or_default();
        let client = self.link().client().clone();
        let subject = aside(worker);
        self.link().wait("pass on a message", async move {
            client.publish(subject, cause.into_bytes().into()).await
        })
    }

    /// Looks at the workers, at lost and late tasks, and at whether the broker still has the step's files.
    fn check(&mut self) -> Result<(), Trouble> {
        if !objects::is_there(self.link(), self.channel.job())? {
            self.note("the broker has lost this step; handing out again what is missing");
            self.results = None;
            return Ok(());
        }
        for task in self.fleet.take_exhausted(&self.channel) {
            let shard = task.task.index;
            // Later issues may still succeed.
            if self.issued.get(&shard).is_some_and(|issued| issued.issue == task.issue) {
                let cause = format!(
                    "it was delivered {DELIVERIES} times, and each worker that took it ended without a word, as if killed or out of memory"
                );
                return Err(FleetError::Failed { shard, cause }.into());
            }
        }
        let present = self.fleet.workers.present();
        let own: Vec<&Heartbeat> = present
            .iter()
            .map(|(heartbeat, _)| heartbeat)
            .filter(|heartbeat| heartbeat.routes.iter().any(|route| route == self.route.digits()))
            .collect();
        self.announce(present.iter().map(|(heartbeat, _)| heartbeat));
        if own.is_empty()
            && self.secs.1 == 0
            && !self.is_lonely
            && self.watch.elapsed().as_secs_f64() > LONELY
        {
            self.is_lonely = true;
            let address = self.link().address();
            self.note(&format!(
                "no worker is there for this step; start some with `dc0-run worker {address}`, the same program on all machines"
            ));
        }
        for index in self.overdue(&own) {
            log::info!("shard {index} is handed out again, as some workers have nothing to do");
            self.hand_out_again(index)?;
        }
        Ok(())
    }

    /// Shards to hand out again while there are workers without work: lost ones, and those that take much longer than others.
    fn overdue(&self, workers: &[&Heartbeat]) -> Vec<u32> {
        let aside = self.fleet.aside.lock().ignore_poison();
        let workers = workers.iter().filter(|heartbeat| !aside.contains_key(&heartbeat.worker));
        let (mut idle, mut running) = (0, BTreeSet::new());
        for heartbeat in workers {
            idle += (heartbeat.lanes as usize).saturating_sub(heartbeat.tasks.len());
            running.extend(heartbeat.tasks.iter().map(String::as_str));
        }
        if !self.waiting.is_empty() {
            return Vec::new();
        }
        let mean = self.secs.0 / f64::from(self.secs.1.max(1));
        let is_overdue = |(index, issued): (&u32, &Issued)| {
            let age = issued.at.elapsed().as_secs_f64();
            let id = TaskMessage::id_of(&self.channel, *index);
            let is_late = if running.contains(id.as_str()) {
                self.secs.1 > 0
                    && issued.copies == 1
                    && age > (STRAGGLES * mean).max(CHECK_EVERY.as_secs_f64())
            } else {
                age > LOST * f64::from(issued.copies)
            };
            is_late.then_some(*index)
        };
        self.issued.iter().filter_map(is_overdue).take(idle).collect()
    }

    /// Says who works, and who could not.
    fn announce<'b>(&mut self, present: impl Iterator<Item = &'b Heartbeat>) {
        let device = &self.order.job.of.evaluation.device;
        for heartbeat in present {
            if !self.announced.insert(heartbeat.worker.clone()) {
                continue;
            }
            let Heartbeat { worker, platform, lanes, .. } = heartbeat;
            if heartbeat.routes.iter().any(|route| route == self.route.digits()) {
                log::info!("worker {worker} is there: {}, {platform}", counted(*lanes as usize, "lane"));
            } else {
                let here = self.fleet.platform.describe(device);
                log::warn!(
                    "worker {worker} does nothing for this step: it is {platform}, and the step needs {here}; use the same program on the \
                     same kind of machine, or `--worker-kinds mixed`, with which results differ in rounding"
                );
            }
        }
    }

    /// Removes what the broker has of the step. After an interruption, results that are under way stay there for the next start.
    fn end(&mut self, is_done: bool) {
        if !self.link().is_connected() {
            return;
        }
        let (client, subject) = (self.link().client().clone(), self.channel.end());
        let said =
            self.link().wait("pass on a message", async move { client.publish(subject, Bytes::new()).await });
        let mut outcome = said.and_then(|()| setup::purge_tasks(self.link(), &self.channel));
        if is_done {
            outcome = outcome.and_then(|()| setup::purge_results(self.link(), &self.channel));
            let objects = self.order.job.of.artefacts().map(|artefact| self.channel.object(&artefact.blake3));
            for name in std::iter::once(self.channel.job()).chain(objects) {
                outcome = outcome.and_then(|()| objects::delete(self.link(), name));
            }
        }
        if let Err(error) = outcome {
            // The broker deletes it by itself after some days.
            log::info!("left at the broker: {error}");
        }
    }
}
