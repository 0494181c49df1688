//! One step whose shards workers do: hands out tasks, and counts results.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
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

use super::checks::{Checked, Unchecked, Verdict, check_all};
use super::contributions::Contributions;
use super::recheck::{Counted, Rechecked, Rechecker};
use super::shards::{MOST_LOST, MOST_REFUSED, Next, Shards};
use super::{NatsFleet, WorkerKinds, setup};
use crate::error::BrokerError;
use crate::link::{Cause, Link};
use crate::message::{DeadLetter, Heartbeat, ResultHead, Spent, TaskMessage};
use crate::names::{Channel, RESULTS, Route, TASKS, aside};
use crate::objects::{self, Artefacts};
use crate::pacing::{BATCH, CHECK_EVERY, DELIVERIES, MOST_SHARDS, PUBLISHED};

/// The longest wait for a result before the user's wishes are looked at again.
const PATIENCE: Duration = Duration::from_millis(250);

/// Between two looks at whether a shard has been done again.
const MOMENT: Duration = Duration::from_millis(20);

/// The pause after the broker has failed.
const PAUSE: Duration = Duration::from_millis(500);

/// Seconds after which the user learns that nobody is there to work.
const LONELY: f64 = 5.0;

/// A task to publish.
struct Issue {
    number: u32,
    message: TaskMessage,
    /// The objects that each of its shards needs, which are stored.
    objects: Vec<Vec<String>>,
}

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
    shards: Shards,
    /// Whether the results that are there decide the step.
    is_decided: bool,
    /// Whether there is room for more tasks at the broker at once.
    has_more: bool,
    /// What they have done, for the live view and the costs.
    contributions: Contributions,
    /// Lanes of the workers that were there at the last look.
    lanes: usize,
    /// Workers of which the user knows.
    announced: BTreeSet<String>,
    watch: Stopwatch,
    checked: Stopwatch,
    notices: Notices,
}

/// What the user was warned of.
#[derive(Default)]
struct Notices {
    no_worker: bool,
    no_broker: bool,
}

impl<'a> Step<'a> {
    pub(super) fn new(fleet: &'a NatsFleet, order: &'a Order<'a>) -> Self {
        let bytes = order.job.of.bytes();
        let channel = Channel::new(&bytes, order.folder, &fleet.host);
        fleet.exhausted.begin(&channel);
        Self {
            fleet,
            order,
            job: durable::digest(&bytes),
            channel,
            route: fleet.platform.route(&order.job.of.evaluation, fleet.kinds == WorkerKinds::Mixed),
            results: None,
            is_drained: false,
            shards: Shards::new(order.shards.iter().map(|shard| shard.index)),
            is_decided: false,
            has_more: false,
            contributions: Contributions::default(),
            lanes: 0,
            announced: BTreeSet::new(),
            watch: Stopwatch::start(),
            checked: Stopwatch::start(),
            notices: Notices::default(),
        }
    }

    /// Has all shards done.
    pub(super) fn run(mut self) -> Result<(), StepError> {
        let (order, fleet) = (self.order, self.fleet);
        let is_over = AtomicBool::new(false);
        let outcome = thread::scope(|scope| {
            let (again, observer, channel) = (order.recompute, order.observer, self.channel.clone());
            let mut rechecker = Rechecker::start(scope, again, observer, &fleet.sample, channel, &is_over);
            self.work(&mut rechecker)
        });
        self.show();
        self.end(outcome.is_ok());
        fleet.exhausted.end(&self.channel);
        if outcome.is_ok() {
            let by = self.shards.by_worker();
            let by = by.map(|(worker, shards)| format!("{} by {worker}", counted(shards, "shard")));
            log::info!("{}", by.collect::<Vec<_>>().join(", "));
        }
        outcome
    }

    fn link(&self) -> &Link {
        &self.fleet.link
    }

    fn work(&mut self, rechecker: &mut Rechecker<'_>) -> Result<(), StepError> {
        while !self.is_done() || rechecker.is_open() {
            self.order.observer.check()?;
            while let Some(rechecked) = rechecker.take() {
                self.compare(rechecked)?;
            }
            if self.is_done() {
                thread::sleep(MOMENT);
                continue;
            }
            match self.round(rechecker) {
                Ok(()) if self.notices.no_broker => {
                    self.notices.no_broker = false;
                    self.note("the broker answers again");
                }
                Ok(()) => {}
                Err(Trouble::Step(error)) => return Err(error),
                Err(Trouble::Broker(error)) => {
                    if !self.notices.no_broker {
                        self.notices.no_broker = true;
                        self.note(&format!("{error}; trying again until it answers"));
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
        Ok(())
    }

    /// Stores a file of the job or of a task.
    fn put(&self, name: String, content: Vec<u8>, replaces: bool) -> Result<(), BrokerError> {
        self.fleet.artefacts.put(self.link(), name, content, replaces)
    }

    /// Shows how the shards stand, and who does them.
    fn show(&mut self) {
        let aside = self.fleet.aside.lock().ignore_poison().clone();
        let takes_part =
            |heartbeat: &Heartbeat| heartbeat.routes.iter().any(|route| route == self.route.digits());
        let open = self.shards.open();
        let status = self.contributions.status(open, &self.fleet.workers.present(), takes_part, &aside);
        (self.order.status)(status);
    }

    fn note(&self, text: &str) {
        self.fleet.console.note(text);
        log::info!("{text}");
    }

    /// Whether no more results are needed.
    fn is_done(&self) -> bool {
        self.is_decided || self.shards.are_done()
    }

    /// Hands out tasks and takes results once.
    fn round(&mut self, rechecker: &mut Rechecker<'_>) -> Result<(), Trouble> {
        // First, because nothing else works if the broker has lost what it had.
        if self.checked.elapsed() > CHECK_EVERY {
            self.checked = Stopwatch::start();
            self.show();
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
        if messages.is_empty() {
            return Ok(());
        }
        self.take(&messages, rechecker)?;
        let acknowledged = async move {
            for message in messages {
                message.ack().await.map_err(|error| Cause::of_text(&error))?;
            }
            Ok::<_, Cause>(())
        };
        if let Err(error) = self.link().wait("take an acknowledgement", acknowledged) {
            // They come again, and are known then.
            log::debug!("{error}");
        }
        Ok(())
    }

    /// Makes everything at the broker that the step needs; also after the broker has lost it.
    fn set_up(&mut self) -> Result<(), Trouble> {
        setup::make_streams(self.link())?;
        setup::make_route(self.link(), &self.route)?;
        for artefact in self.order.job.of.artefacts() {
            let content = self.order.job.content(artefact)?;
            self.put(self.channel.object(&artefact.blake3), content, false)?;
        }
        // Last, because its presence says that everything is there.
        objects::put(self.link(), self.channel.job(), self.order.job.of.bytes())?;
        setup::purge_tasks(self.link(), &self.channel)?;
        self.results = Some(setup::make_results(self.link(), &self.channel)?);
        self.is_drained = false;
        self.shards.forget_issued();
        Ok(())
    }

    fn shard(&self, index: u32) -> Option<Shard> {
        let found = self.order.shards.binary_search_by_key(&index, |shard| shard.index).ok()?;
        Some(self.order.shards[found])
    }

    /// Workers that are there, may do this step, and are not put aside.
    fn own_workers(&self) -> Vec<Heartbeat> {
        let aside = self.fleet.aside.lock().ignore_poison();
        let is_own = |heartbeat: &Heartbeat| {
            heartbeat.routes.iter().any(|route| route == self.route.digits())
                && !aside.contains_key(&heartbeat.worker)
        };
        self.fleet.workers.present().into_iter().map(|(heartbeat, _)| heartbeat).filter(is_own).collect()
    }

    /// Hands out what is next.
    fn hand_out(&mut self) -> Result<(), Trouble> {
        let Next { shards, size, has_more } = self.shards.next(self.lanes);
        self.has_more = has_more;
        self.issue(shards.chunks(size))
    }

    /// Hands out shards, each group as one task.
    fn issue<'b>(&mut self, groups: impl Iterator<Item = &'b [u32]>) -> Result<(), Trouble> {
        let groups: Vec<&[u32]> = groups.collect();
        for groups in groups.chunks(PUBLISHED) {
            let issues: Vec<Issue> =
                groups.iter().map(|group| self.message(group)).collect::<Result<_, _>>()?;
            self.publish(&issues)?;
            for Issue { number, message, objects } in issues {
                let shards = message.tasks.iter().map(|task| task.index).zip(objects).collect();
                self.shards.issued(number, shards, Stopwatch::start());
            }
        }
        Ok(())
    }

    /// A new issue of shards.
    fn message(&mut self, shards: &[u32]) -> Result<Issue, Trouble> {
        let (mut tasks, mut objects) = (Vec::new(), Vec::new());
        for index in shards {
            let shard = self.shard(*index).expect("only shards of the order are handed out");
            let described = (self.order.task)(shard)?;
            let mut own = Vec::new();
            for artefact in &described.of.files {
                let name = self.channel.object(&artefact.blake3);
                self.put(name.clone(), described.content(artefact)?, false)?;
                own.push(name);
            }
            tasks.push(described.of);
            objects.push(own);
        }
        let number = self.shards.new_issue();
        let (job, artefacts) = (self.job.clone(), self.fleet.artefacts.shown());
        let message = TaskMessage { format: FORMAT, job, artefacts, issue: number, tasks };
        Ok(Issue { number, message, objects })
    }

    /// The identity of an issue.
    fn message_id(&self, issue: u32) -> String {
        TaskMessage::message_id(&self.channel, &self.fleet.session, issue)
    }

    /// Publishes tasks, and waits until the broker has stored all of them.
    fn publish(&self, issues: &[Issue]) -> Result<(), BrokerError> {
        let (jetstream, subject) = (self.link().jetstream().clone(), self.channel.task(&self.route));
        let message = |issue: &Issue| {
            let payload = serde_json::to_vec(&issue.message).expect("text and numbers");
            PublishMessage::build().payload(payload.into()).message_id(self.message_id(issue.number))
        };
        let messages: Vec<PublishMessage> = issues.iter().map(message).collect();
        self.link().wait("take tasks", async move {
            let mut stored = Vec::new();
            for message in messages {
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
        let waits = self.is_drained && !self.has_more;
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

    /// Counts results, and reports dead letters.
    fn take(&mut self, messages: &[Message], rechecker: &mut Rechecker<'_>) -> Result<(), Trouble> {
        let (mut unchecked, mut letters, mut again) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = BTreeSet::new();
        for message in messages {
            if message.subject.as_str() == self.channel.dead() {
                match DeadLetter::parse(&message.payload) {
                    Ok(letter) => letters.push(letter),
                    Err(cause) => log::warn!("a report of a failure is left out: {cause}"),
                }
                continue;
            }
            let (worker, results) = match ResultHead::parse(&message.payload) {
                Ok(parsed) => parsed,
                Err(cause) => {
                    log::warn!("a result is left out: {cause}");
                    continue;
                }
            };
            let is_aside = self.fleet.aside.lock().ignore_poison().contains_key(&worker);
            if is_aside {
                self.put_aside(&worker)?;
            }
            for sent in results {
                let index = sent.head.index;
                // Otherwise another copy was first. It has the same bytes.
                let Some(shard) = self.shard(index).filter(|_| self.shards.is_open(index)) else { continue };
                if is_aside {
                    again.push(index);
                } else if known.insert(index) {
                    unchecked.push(Unchecked { shard, worker: worker.clone(), sent });
                }
            }
        }
        let checked =
            check_all((self.link(), &self.fleet.artefacts), &self.channel, self.order.accept, unchecked);
        let mut outcome = Ok(());
        // What is stored counts, whatever else went wrong.
        for Checked { counted, spent, object, verdict } in checked {
            let failed = match verdict {
                Verdict::Accepted(flow) => {
                    self.count(&counted, &spent, object);
                    self.is_decided |= flow.is_break();
                    // Workers of another kind may round differently.
                    if self.is_comparable(&counted.worker) {
                        rechecker.offer(counted);
                    }
                    continue;
                }
                Verdict::Unaccepted(Unaccepted::Refused(cause)) => {
                    again.push(counted.shard.index);
                    self.refuse(counted.shard.index, &counted.worker, &cause)
                }
                Verdict::Lost(cause) => {
                    again.push(counted.shard.index);
                    self.lose(counted.shard.index, &counted.worker, &cause)
                }
                Verdict::Unaccepted(Unaccepted::Failed(error)) => Err(error.into()),
                Verdict::Broker(error) => Err(error.into()),
            };
            outcome = outcome.and(failed);
        }
        outcome?;
        letters.retain(|letter| self.shards.is_open(letter.index));
        for letter in letters {
            if let Some(blake3) = &letter.file {
                self.replace(blake3, &letter)?;
            } else {
                self.reject(&letter)?;
                again.push(letter.index);
            }
        }
        again.retain(|index| self.shards.is_open(*index));
        again.sort_unstable();
        again.dedup();
        self.issue(again.chunks(MOST_SHARDS))
    }

    /// Stores a file again that a worker could not have: its copy may be damaged.
    fn replace(&mut self, blake3: &str, letter: &DeadLetter) -> Result<(), Trouble> {
        if !self.shards.is_replaced(blake3) {
            return Ok(());
        }
        let content = if blake3 == self.job {
            Some((self.channel.job(), self.order.job.of.bytes()))
        } else if let Some(artefact) = self.order.job.of.artefacts().find(|own| own.blake3 == blake3) {
            Some((self.channel.object(blake3), self.order.job.content(artefact)?))
        } else if let Some(shard) = self.shard(letter.index) {
            let task = (self.order.task)(shard)?;
            let own = task.of.files.iter().find(|own| own.blake3 == blake3);
            own.map(|own| Ok::<_, StepError>((self.channel.object(blake3), task.content(own)?)))
                .transpose()?
        } else {
            None
        };
        let Some((name, content)) = content else { return Ok(()) };
        log::warn!("worker {} could not have a file, which is stored again: {}", letter.worker, letter.cause);
        if blake3 == self.job {
            Ok(Artefacts::default().put(self.link(), name, content, true)?)
        } else {
            Ok(self.put(name, content, true)?)
        }
    }

    /// Whether the tables of a worker should be those of this process.
    fn is_comparable(&self, worker: &str) -> bool {
        let equal = || self.fleet.platform.equal(&self.order.job.of.evaluation);
        self.fleet.kinds == WorkerKinds::Same || self.fleet.workers.does(worker, &equal())
    }

    /// Counts a result that is stored.
    fn count(&mut self, counted: &Counted, spent: &Spent, object: Option<String>) {
        let (index, worker) = (counted.shard.index, &counted.worker);
        log::info!("shard {index} is done by {worker} in {:.1} s", spent.secs);
        self.contributions.done(worker, self.fleet.workers.platform(worker), spent);
        let own = self.shards.done(index, worker, spent.secs);
        for name in own.into_iter().chain(object) {
            if let Err(error) = self.fleet.artefacts.delete(self.link(), name) {
                log::debug!("{error}");
            }
        }
    }

    /// Compares a shard that was done again here with what its worker sent.
    fn compare(&mut self, rechecked: Rechecked) -> Result<(), StepError> {
        let Rechecked { counted: Counted { shard, worker, digests }, found } = rechecked;
        let (index, found) = (shard.index, found?);
        if found == digests {
            log::info!("shard {index} of {worker} was done again here, with the same bytes");
            return Ok(());
        }
        let shards = self.shards.take_back(&worker);
        let cause = format!(
            "done again here, the shard has other tables (blake3 {}, but it sent {})",
            found.join(" and "),
            digests.join(" and ")
        );
        self.warn_of(&worker, &wrong(index, &cause));
        log::warn!("what it has done in this step is done again: {}", counted(shards.len(), "shard"));
        for index in shards {
            let shard = self.shard(index).expect("only shards of the order are done");
            (self.order.discard)(shard)?;
        }
        self.is_decided = false;
        // It learns of it with its next result, if the broker fails now.
        if let Err(error) = self.put_aside(&worker) {
            log::debug!("{error}");
        }
        Ok(())
    }

    /// Names a worker that is put aside.
    fn warn_of(&self, worker: &str, cause: &str) {
        log::warn!("worker {worker} is put aside: {cause}");
        self.fleet.aside.lock().ignore_poison().insert(worker.to_owned(), cause.to_owned());
    }

    /// Puts a worker aside that could not do a shard, and ends the step if no other can.
    fn reject(&mut self, letter: &DeadLetter) -> Result<(), Trouble> {
        let others = self.own_workers().iter().filter(|own| own.worker != letter.worker).count();
        if self.shards.is_given_up(letter.index, others) {
            let cause = format!("{} says: {}", letter.worker, letter.cause);
            return Err(FleetError::Failed { shard: letter.index, cause }.into());
        }
        self.warn_of(&letter.worker, &format!("it could not do shard {}: {}", letter.index, letter.cause));
        self.put_aside(&letter.worker)?;
        self.shards.failed(letter.index);
        Ok(())
    }

    /// Puts a worker aside whose result is wrong.
    fn refuse(&mut self, index: u32, worker: &str, cause: &str) -> Result<(), Trouble> {
        self.warn_of(worker, &wrong(index, cause));
        self.put_aside(worker)?;
        if self.shards.refused(index) {
            let (worker, cause) = (worker.to_owned(), cause.to_owned());
            return Err(FleetError::Refused { shard: index, attempts: MOST_REFUSED, worker, cause }.into());
        }
        Ok(())
    }

    /// Has a shard done again whose result was there, and whose file was not.
    fn lose(&mut self, index: u32, worker: &str, cause: &str) -> Result<(), Trouble> {
        log::warn!("the result of shard {index} by {worker} is lost, and the shard is done again: {cause}");
        if self.shards.lost(index) {
            let cause = format!(
                "its result was lost {MOST_LOST} times: {cause}; --artefacts must be the same place for this process and all workers"
            );
            return Err(FleetError::Failed { shard: index, cause }.into());
        }
        Ok(())
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
        for message in self.fleet.exhausted.take(&self.channel) {
            if let Some(shard) = self.shards.latest(&message) {
                let cause = format!(
                    "it was delivered {DELIVERIES} times, and each worker that took it ended without a word, as if killed or out of memory"
                );
                return Err(FleetError::Failed { shard, cause }.into());
            }
        }
        self.announce(self.fleet.workers.present().iter().map(|(heartbeat, _)| heartbeat));
        let own = self.own_workers();
        self.lanes = own.iter().map(|worker| worker.lanes as usize).sum();
        if own.is_empty()
            && self.shards.mean_secs().is_none()
            && !self.notices.no_worker
            && self.watch.elapsed().as_secs_f64() > LONELY
        {
            self.notices.no_worker = true;
            let address = self.link().address();
            self.note(&format!(
                "no worker is there for this step; start some with `dc0-run worker {address}`, the same program on all machines"
            ));
        }
        let (overdue, idle) = self.overdue(&own)?;
        if !overdue.is_empty() {
            let shown: Vec<String> = overdue.iter().map(u32::to_string).collect();
            log::info!("handed out again, as some workers have nothing to do: shards {}", shown.join(", "));
        }
        self.issue(overdue.chunks(overdue.len().div_ceil(idle.max(1)).clamp(1, MOST_SHARDS)))
    }

    /// Shards to hand out again while there are workers without work, and how many lanes of those.
    fn overdue(&mut self, workers: &[Heartbeat]) -> Result<(Vec<u32>, usize), BrokerError> {
        let (mut idle, mut running) = (0, BTreeSet::new());
        for heartbeat in workers {
            idle += (heartbeat.lanes as usize).saturating_sub(heartbeat.tasks.len());
            running.extend(heartbeat.tasks.iter().map(String::as_str));
        }
        let (channel, session) = (self.channel.clone(), self.fleet.session.as_str());
        let id = |issue| TaskMessage::message_id(&channel, session, issue);
        let is_running = |issue| running.contains(id(issue).as_str());
        let now = Stopwatch::start();
        self.shards.seen(is_running, now);
        // Lanes with tiny tasks seem to have nothing to do now and then, and shards whose results wait for this process are neither lost nor late.
        let (waiting, _) = self.shards.open();
        if waiting > 0
            || idle == 0
            || setup::are_pending(self.link(), TASKS, self.route.consumer())?
            || setup::are_pending(self.link(), RESULTS, self.channel.consumer())?
        {
            return Ok((Vec::new(), idle));
        }
        Ok((self.shards.overdue(is_running, idle, now), idle))
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
            outcome = outcome.and_then(|()| objects::delete(self.link(), self.channel.job()));
            for artefact in self.order.job.of.artefacts() {
                let name = self.channel.object(&artefact.blake3);
                outcome = outcome.and_then(|()| self.fleet.artefacts.delete(self.link(), name));
            }
        }
        if let Err(error) = outcome {
            // The broker deletes it by itself after some days.
            log::info!("left at the broker: {error}");
        }
    }
}

/// Why a worker is put aside whose result is wrong.
fn wrong(index: u32, cause: &str) -> String {
    format!("what it sent for shard {index} is wrong: {cause}")
}
