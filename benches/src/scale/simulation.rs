//! The simulation: takes one event after the other.

use std::collections::VecDeque;

use dc0_fleet::pacing::{self, ACK_WAIT, CHECK_EVERY, DELIVERIES, INLINE, PROGRESS_EVERY, THREADS};

use super::design::{LANE_TRIPS, OBJECT_PART, OBJECT_TRIPS, ROUND_TRIPS};
use super::draws::Draws;
use super::events::{Event, Events, Issue, LaneOf};
use super::learner::{Group, Learner, Waiting};
use super::options::{Mode, Options};
use super::server::Server;
use super::worker::{Net, Worker};

/// Bytes of a sign of life, as `runner/fleet` sends it for a lane or two.
const HEARTBEAT_BYTES: f64 = 420.0;

/// Bytes of a task besides its shards, and of each shard.
const TASK_BYTES: f64 = 250.0;
const TASK_SHARD_BYTES: f64 = 60.0;

/// Bytes of a request, of an answer, and of the head of a message.
const SIGNAL_BYTES: f64 = 150.0;

/// How a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    /// A task was lost in all its deliveries.
    Exhausted,
    /// It has not ended within the limit.
    TooLong,
}

/// The broker.
#[derive(Debug, Default)]
pub(super) struct Broker {
    pub(super) cores: Server,
    /// The streams of tasks and of results, each of which does one message after the other.
    pub(super) tasks: Server,
    pub(super) results: Server,
    /// The stream of its object store.
    pub(super) objects: Server,
    pub(super) incoming: Server,
    pub(super) outgoing: Server,
    pub(super) bucket_in: Server,
    pub(super) bucket_out: Server,
    pub(super) messages: f64,
    /// Bytes in and out.
    pub(super) bytes: f64,
    /// Bytes of nets that workers fetch.
    pub(super) net_bytes: f64,
    /// Bytes that leave the broker or the bucket.
    pub(super) egress: f64,
}

/// A fleet.
pub(super) struct Simulation<'a> {
    pub(super) options: &'a Options,
    events: Events,
    draws: Draws,
    pub(super) now: f64,
    pub(super) workers: Vec<Worker>,
    up: usize,
    pub(super) learners: Vec<Learner>,
    pub(super) broker: Broker,
    /// Tasks at the broker.
    ready: VecDeque<Issue>,
    /// Lanes that wait for one, and how many of them are still there.
    idle: VecDeque<LaneOf>,
    idle_lanes: usize,
    /// Seconds of lanes in shards that count, and in all that they do.
    pub(super) useful_secs: f64,
    pub(super) lane_secs: f64,
    pub(super) ending: Option<Ending>,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(options: &'a Options, workers: u32) -> Self {
        let mut draws = Draws::new(options.seed, workers);
        let learners = options.coordinator.learners as usize;
        let fleet = &options.worker;
        let worker = |_| {
            let slow = if draws.uniform() < fleet.slow_share { fleet.slow_factor } else { 1.0 };
            Worker::new(slow * draws.factor(fleet.speed_spread), learners)
        };
        let all: Vec<Worker> = (0..workers).map(worker).collect();
        Self {
            options,
            events: Events::default(),
            draws,
            now: 0.0,
            up: all.len(),
            learners: (0..learners).map(|_| Learner::new(all.len())).collect(),
            workers: all,
            broker: Broker::default(),
            ready: VecDeque::new(),
            idle: VecDeque::new(),
            idle_lanes: 0,
            useful_secs: 0.0,
            lane_secs: 0.0,
            ending: None,
        }
    }

    /// Simulates until all learners have done their generations.
    pub(super) fn run(mut self) -> Self {
        for worker in 0..self.workers.len() {
            self.begin_life(worker);
        }
        for learner in 0..self.learners.len() {
            self.advance(learner);
            self.events.add(CHECK_EVERY.as_secs_f64(), Event::Checked(learner));
        }
        self.events.add(1.0, Event::Second);
        while self.ending.is_none() {
            let (at, event) = self.events.next().expect("seconds pass until the end");
            self.now = at;
            if at > self.options.limit_hours * 3600.0 {
                self.ending = Some(Ending::TooLong);
            } else {
                self.take(event);
            }
        }
        self
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Queued(issue) => {
                self.ready.push_back(issue);
                self.assign();
            }
            Event::Requested(lane) => self.request(lane),
            Event::Finished(lane, issue, secs) => self.finish(lane, issue, secs),
            Event::Sent(lane, issue, secs) => self.store_tables(lane, issue, secs),
            Event::Kept(lane, issue, secs) if self.does(lane, issue) => self.store_result(lane, issue, secs),
            Event::Kept(..) => {}
            Event::Stored(lane, issue, secs) => self.free(lane, issue, secs),
            Event::Counted(learner) => self.count(learner),
            Event::Checked(learner) => self.check(learner),
            Event::Played(learner) => {
                self.learners[learner].is_playing = false;
                self.advance(learner);
            }
            Event::Trained(learner) => {
                self.learners[learner].is_training = false;
                self.learners[learner].version += 1;
                self.advance(learner);
            }
            Event::Failed(lane) => self.fail(lane),
            Event::Returned(worker) => {
                self.workers[worker].is_up = true;
                self.up += 1;
                self.begin_life(worker);
            }
            Event::Silent(issue) => self.deliver_again(issue),
            Event::Second => self.pass_a_second(),
        }
    }

    /// The latency between a worker and the broker.
    fn latency(&self) -> f64 {
        self.options.worker.worker_latency_ms / 1e3
    }

    /// A trip of a coordinator's message to the broker and back.
    fn trip(&self) -> f64 {
        2.0 * self.options.coordinator.coordinator_latency_ms / 1e3
    }

    /// Seconds of a link of so many Gbit/s for some bytes.
    fn transfer(bytes: f64, gbit: f64) -> f64 {
        bytes * 8.0 / (gbit * 1e9)
    }

    /// The lanes of all workers request tasks, and the next failure is drawn.
    fn begin_life(&mut self, worker: usize) {
        let lane = LaneOf { worker, life: self.workers[worker].life };
        for _ in 0..self.options.worker.lanes {
            self.events.add(self.now + self.latency(), Event::Requested(lane));
        }
        if let Some(secs) = self.draws.until(self.options.worker.failures) {
            self.events.add(self.now + secs, Event::Failed(lane));
        }
    }

    /// Begins what a learner does next.
    fn advance(&mut self, index: usize) {
        let (mode, generations) = (self.options.mode, self.options.generations);
        let Learner { is_playing, is_training, begun, step, version, .. } = self.learners[index];
        match mode {
            Mode::Sequence if begun < step => self.train(index),
            Mode::Sequence if step < generations => self.play(index),
            Mode::Overlap | Mode::Stream if step == 0 => self.play(index),
            Mode::Overlap if is_playing || is_training => {}
            Mode::Overlap if begun < generations => {
                self.train(index);
                if step < generations {
                    self.play(index);
                }
            }
            Mode::Stream if version < generations => self.train(index),
            Mode::Sequence | Mode::Overlap | Mode::Stream => self.end(index),
        }
    }

    fn train(&mut self, index: usize) {
        let secs = self.options.coordinator.train_secs;
        let learner = &mut self.learners[index];
        learner.begin_training();
        let end = learner.training.serve(self.now, secs);
        self.events.add(end, Event::Trained(index));
    }

    /// Shards of a generation of one learner.
    pub(super) fn shards(&self) -> u32 {
        let (shards, worker) = (&self.options.shards, &self.options.worker);
        let lanes = self.workers.len() as f64 * f64::from(worker.lanes);
        let drawn = (shards.rounds * lanes / self.learners.len() as f64) as u32;
        shards.fixed_shards.unwrap_or(drawn).max(1)
    }

    /// Begins a step: stores its net, and hands out its first shards.
    fn play(&mut self, index: usize) {
        let shards = (self.options.mode != Mode::Stream).then(|| self.shards());
        let bytes = self.options.worker.net_mb * 1e6;
        let options = &self.options.coordinator;
        let learner = &mut self.learners[index];
        learner.begin_step(shards);
        let sent = learner.link.serve(self.now, Self::transfer(bytes, options.coordinator_gbit));
        let stored = self.store_object(sent, bytes);
        self.busy_until(index, stored + self.trip());
    }

    /// Stores a net or a large result at the broker, or in the bucket; returns when that is done.
    fn store_object(&mut self, at: f64, bytes: f64) -> f64 {
        let broker = &self.options.broker;
        if let Some(gbit) = broker.bucket_gbit {
            return self.broker.bucket_in.serve(at, Self::transfer(bytes, gbit));
        }
        let parts = (bytes / OBJECT_PART).ceil();
        let received = self.broker.incoming.serve(at, Self::transfer(bytes, broker.broker_gbit));
        let computed = bytes / 1e6 * broker.broker_object_ms / 1e3 / broker.broker_cores;
        let computed = self.broker.cores.serve(at, computed);
        self.broker.messages += 2.0 * parts;
        self.broker.bytes += bytes;
        self.broker.objects.serve(at, parts * broker.broker_flush_ms / 1e3).max(received).max(computed)
    }

    /// Sends a net or a large result from the broker, or from the bucket; returns when that is done.
    fn send_object(&mut self, at: f64, bytes: f64) -> f64 {
        let broker = &self.options.broker;
        self.broker.egress += bytes;
        if let Some(gbit) = broker.bucket_gbit {
            return self.broker.bucket_out.serve(at, Self::transfer(bytes, gbit));
        }
        let computed = bytes / 1e6 * broker.broker_object_ms / 1e3 / broker.broker_cores;
        let computed = self.broker.cores.serve(at, computed);
        self.broker.messages += (bytes / OBJECT_PART).ceil();
        self.broker.bytes += bytes;
        self.broker.outgoing.serve(at, Self::transfer(bytes, broker.broker_gbit)).max(computed)
    }

    /// A learner has done everything.
    fn end(&mut self, index: usize) {
        self.learners[index].is_over = true;
        self.learners[index].is_playing = false;
        if self.learners.iter().all(|learner| learner.is_over) {
            self.ending = Some(Ending::Done);
        }
        self.stop_lanes(index);
    }

    /// Lanes that do shards of a step that has ended stop.
    fn stop_lanes(&mut self, learner: usize) {
        let freed = self.now + self.latency() * (1.0 + LANE_TRIPS);
        for (number, worker) in self.workers.iter_mut().enumerate() {
            let before = worker.running.len();
            let own = worker.running.iter().filter(|(issue, _)| issue.learner == learner);
            self.lane_secs += own.map(|(_, begin)| (self.now - begin).max(0.0)).sum::<f64>();
            worker.running.retain(|(issue, _)| issue.learner != learner);
            for _ in worker.running.len()..before {
                self.events.add(freed, Event::Requested(LaneOf { worker: number, life: worker.life }));
            }
        }
    }

    /// Hands out shards up to the window, or as many tasks as are published at a time, from `at` on. The coordinator waits until the
    /// broker has stored them. Whether there were any.
    fn hand_out(&mut self, index: usize, at: f64) -> bool {
        let lanes = self.up * self.options.worker.lanes as usize;
        let learner = &mut self.learners[index];
        let is_newest = self.options.mode == Mode::Stream;
        let version = if is_newest { learner.version } else { learner.step_version };
        let step = learner.step;
        let sizes = learner.next_groups(lanes);
        let first = learner.groups.len();
        for size in &sizes {
            learner.issued += *size as usize;
            learner.remaining = learner.remaining.map(|left| left - size);
            learner.groups.push(Group {
                size: *size,
                version,
                begun: None,
                copies: 1,
                is_stored: false,
                is_counted: false,
            });
        }
        let mut end = at;
        for group in first..first + sizes.len() {
            end = self.publish(Issue { learner: index, step, group, deliveries: 0 }, at);
        }
        if !sizes.is_empty() {
            self.busy_until(index, end + self.trip());
        }
        !sizes.is_empty()
    }

    /// Stores a task at the broker; returns when that is done.
    fn publish(&mut self, issue: Issue, at: f64) -> f64 {
        let size = f64::from(self.learners[issue.learner].groups[issue.group].size);
        let bytes = TASK_BYTES + size * TASK_SHARD_BYTES;
        let broker = &self.options.broker;
        let computed = self.broker.cores.serve(at, broker.broker_message_ms / 1e3 / broker.broker_cores);
        let millis = broker.broker_flush_ms + broker.broker_deliver_ms;
        let stored = self.broker.tasks.serve(at, millis / 1e3).max(computed);
        // In and its answer; a request and what is handed out; the end and its answer.
        self.broker.messages += 6.0;
        self.broker.bytes += 2.0 * bytes + 4.0 * SIGNAL_BYTES;
        self.broker.egress += bytes;
        self.events.add(stored, Event::Queued(issue));
        stored
    }

    /// A coordinator does nothing else until then.
    fn busy_until(&mut self, index: usize, at: f64) {
        let learner = &mut self.learners[index];
        let begin = learner.busy_until.max(self.now);
        learner.rounds.serve(begin, (at - begin).max(0.0));
        learner.busy_until = learner.busy_until.max(at);
        let at = learner.busy_until;
        self.events.add(at, Event::Counted(index));
    }

    /// A lane waits for a task.
    fn request(&mut self, lane: LaneOf) {
        if self.workers[lane.worker].has(lane) {
            self.workers[lane.worker].idle += 1;
            self.idle_lanes += 1;
            self.idle.push_back(lane);
            self.assign();
        }
    }

    /// Gives tasks to lanes, as long as there are both.
    fn assign(&mut self) {
        loop {
            while self.idle.front().is_some_and(|lane| !self.workers[lane.worker].has(*lane)) {
                self.idle.pop_front();
            }
            // A step that has ended has no tasks at the broker.
            while self.ready.front().is_some_and(|issue| !self.is_current(*issue)) {
                self.ready.pop_front();
            }
            if self.idle.is_empty() || self.ready.is_empty() {
                return;
            }
            let (lane, issue) =
                (self.idle.pop_front().expect("not empty"), self.ready.pop_front().expect("not empty"));
            self.idle_lanes -= 1;
            self.workers[lane.worker].idle -= 1;
            self.begin(lane, issue);
        }
    }

    fn is_current(&self, issue: Issue) -> bool {
        let learner = &self.learners[issue.learner];
        learner.is_playing && !learner.has_all() && learner.step == issue.step
    }

    /// A lane does a task, after its worker has the net.
    fn begin(&mut self, lane: LaneOf, issue: Issue) {
        let group = self.learners[issue.learner].groups[issue.group];
        let begin = self.fetch_net(lane.worker, issue.learner, group.version, self.now + self.latency());
        let size = f64::from(group.size);
        let shards = &self.options.shards;
        let spread = shards.shard_spread / size.sqrt();
        let worker = &mut self.workers[lane.worker];
        worker.running.push((issue, begin));
        let secs = shards.shard_secs * size * worker.slowness * self.draws.factor(spread);
        let group = &mut self.learners[issue.learner].groups[issue.group];
        group.begun.get_or_insert(begin);
        self.events.add(begin + secs, Event::Finished(lane, issue, secs));
    }

    /// When a worker has a net, which it fetches if it has another one.
    fn fetch_net(&mut self, worker: usize, learner: usize, version: u32, now: f64) -> f64 {
        if let Some(net) = self.workers[worker].nets[learner]
            && net.version == version
        {
            return net.at.max(now);
        }
        let bytes = self.options.worker.net_mb * 1e6;
        let trip = 2.0 * self.latency();
        let sent = self.send_object(now, bytes);
        self.broker.net_bytes += bytes;
        let at = trip + sent.max(now + Self::transfer(bytes, self.options.worker.worker_mbit / 1e3));
        self.workers[worker].nets[learner] = Some(Net { version, at });
        at
    }

    /// Whether a lane does an issue: neither has its worker failed nor its step ended.
    fn does(&self, lane: LaneOf, issue: Issue) -> bool {
        let worker = &self.workers[lane.worker];
        worker.has(lane) && worker.is_running(issue)
    }

    /// A lane has done a task and sends the result.
    fn finish(&mut self, lane: LaneOf, issue: Issue, secs: f64) {
        if !self.does(lane, issue) {
            return;
        }
        self.lane_secs += secs;
        let broker = &self.options.broker;
        let signals = (secs / PROGRESS_EVERY.as_secs_f64()).floor();
        self.broker.cores.serve(self.now, signals * broker.broker_pass_ms / 1e3 / broker.broker_cores);
        self.broker.messages += signals;
        self.broker.bytes += signals * SIGNAL_BYTES;
        let sending = Self::transfer(self.result_bytes(issue), self.options.worker.worker_mbit / 1e3);
        self.events.add(self.now + self.latency() + sending, Event::Sent(lane, issue, secs));
    }

    /// Bytes of a task's result.
    fn result_bytes(&self, issue: Issue) -> f64 {
        f64::from(self.learners[issue.learner].groups[issue.group].size) * self.options.shard_bytes()
    }

    /// The objects among the results of so many shards: all of them, if a shard has too many bytes for a message.
    fn objects(&self, shards: f64) -> f64 {
        let is_object = self.options.shard_bytes() > INLINE as f64;
        if is_object { shards } else { 0.0 }
    }

    /// Large tables are an object, which is stored before the message.
    fn store_tables(&mut self, lane: LaneOf, issue: Issue, secs: f64) {
        if !self.does(lane, issue) {
            return;
        }
        if self.objects(1.0) > 0.0 {
            let stored = self.store_object(self.now, self.result_bytes(issue));
            self.events.add(stored, Event::Kept(lane, issue, secs));
        } else {
            self.store_result(lane, issue, secs);
        }
    }

    /// Bytes of a result's messages, and how many they are: several shards may be too large for one.
    fn result_messages(&self, issue: Issue) -> (f64, f64) {
        let bytes = if self.objects(1.0) > 0.0 { SIGNAL_BYTES } else { self.result_bytes(issue) };
        (bytes, (bytes / INLINE as f64).ceil().max(1.0))
    }

    fn store_result(&mut self, lane: LaneOf, issue: Issue, secs: f64) {
        let (bytes, messages) = self.result_messages(issue);
        let broker = &self.options.broker;
        let received = self.broker.incoming.serve(self.now, Self::transfer(bytes, broker.broker_gbit));
        let computed = broker.broker_message_ms / 1e3 * messages / broker.broker_cores;
        let computed = self.broker.cores.serve(self.now, computed);
        let millis = messages * (broker.broker_flush_ms + broker.broker_deliver_ms);
        let stored = self.broker.results.serve(self.now, millis / 1e3).max(received).max(computed);
        // In and its answer, out and its acknowledgement.
        self.broker.messages += 4.0 * messages;
        self.broker.bytes += 2.0 * bytes + 2.0 * messages * SIGNAL_BYTES;
        self.events.add(stored, Event::Stored(lane, issue, secs));
    }

    /// A result is stored: its lane requests the next task, and its coordinator takes it.
    fn free(&mut self, lane: LaneOf, issue: Issue, secs: f64) {
        if !self.does(lane, issue) {
            return;
        }
        let (bytes, _) = self.result_messages(issue);
        self.broker.egress += bytes;
        self.broker.outgoing.serve(self.now, Self::transfer(bytes, self.options.broker.broker_gbit));
        self.workers[lane.worker].end(issue);
        self.learners[issue.learner].groups[issue.group].is_stored = true;
        self.events.add(self.now + LANE_TRIPS * self.latency(), Event::Requested(lane));
        if self.is_current(issue) {
            let result = Waiting { issue, worker: lane.worker, secs };
            self.learners[issue.learner].results.push_back(result);
            self.begin_round(issue.learner);
        }
    }

    /// A coordinator takes the results that are there, unless it does something else.
    fn begin_round(&mut self, index: usize) {
        let learner = &mut self.learners[index];
        if learner.busy_until > self.now || learner.results.is_empty() || !learner.taken.is_empty() {
            return;
        }
        learner.take();
        let learner = &self.learners[index];
        let groups = learner.taken.iter().map(|result| learner.groups[result.issue.group]);
        let shards = groups.filter(|group| !group.is_counted).map(|group| f64::from(group.size)).sum::<f64>();
        let (bytes, objects) = (shards * self.options.shard_bytes(), self.objects(shards));
        let options = &self.options.coordinator;
        let positions = shards * self.options.positions_per_shard();
        let computed = shards * options.check_shard_ms / 1e3 + positions * options.check_position_us / 1e6;
        let threads = shards.clamp(1.0, THREADS as f64);
        let (turns, trip) = ((shards / threads).ceil(), self.trip());
        let sent = if objects > 0.0 { self.send_object(self.now, bytes) } else { self.now };
        let secs = Self::transfer(bytes, options.coordinator_gbit);
        let received = self.learners[index].link.serve(self.now, secs).max(sent);
        let cores = options.coordinator_cores;
        let done = self.learners[index].cores.serve(self.now, computed / cores);
        // A thread checks a shard and then waits for the disk; all of them share the cores.
        let each = if shards > 0.0 { computed / shards + options.store_ms / 1e3 } else { 0.0 };
        let checked = (received + turns * each).max(done);
        let trips = ROUND_TRIPS + OBJECT_TRIPS * objects;
        self.broker.messages += 2.0 * trips;
        self.broker.bytes += 2.0 * trips * SIGNAL_BYTES;
        let owed = std::mem::take(&mut self.learners[index].owed);
        self.busy_until(index, checked + trips * trip + owed);
    }

    /// A round has ended: counts its results, and hands out more.
    fn count(&mut self, index: usize) {
        if self.learners[index].busy_until > self.now {
            return;
        }
        let taken = std::mem::take(&mut self.learners[index].taken);
        let mut has_counted = false;
        for result in taken {
            if !self.learners[index].count(result) {
                continue;
            }
            has_counted = true;
            self.useful_secs += result.secs;
            let drawn = self.options.coordinator.recheck;
            let size = self.learners[index].groups[result.issue.group].size;
            let is_drawn = self.draws.uniform() < 1.0 - (1.0 - drawn).powf(f64::from(size));
            if drawn > 0.0 {
                let secs = self.options.shards.shard_secs;
                self.learners[index].recheck(self.now, result.worker, is_drawn, secs);
            }
        }
        let learner = &mut self.learners[index];
        if !learner.is_playing {
            return;
        }
        if has_counted && learner.has_all() {
            // What workers still do of it, nobody needs.
            let end = learner.rechecks_end(self.now);
            self.events.add(end, Event::Played(index));
            self.stop_lanes(index);
            return;
        }
        let has_a_generation = u64::from(self.shards()) <= self.learners[index].all_counted;
        if self.options.mode == Mode::Stream && self.learners[index].begun == 0 && has_a_generation {
            self.train(index);
        }
        // Results that have come while tasks were stored are first.
        let is_first = std::mem::take(&mut self.learners[index].has_published);
        if is_first && !self.learners[index].results.is_empty() {
            self.begin_round(index);
        } else if self.hand_out(index, self.now) {
            self.learners[index].has_published = true;
        } else {
            self.begin_round(index);
        }
    }

    /// Hands out late shards again while lanes have nothing to do.
    fn check(&mut self, index: usize) {
        if self.learners[index].is_over {
            return;
        }
        self.events.add(self.now + CHECK_EVERY.as_secs_f64(), Event::Checked(index));
        let (now, up) = (self.now, self.up as f64);
        let learner = &mut self.learners[index];
        if !learner.is_playing {
            return;
        }
        learner.owed += up * self.options.coordinator.look_us / 1e6;
        let Some(mean) = learner.mean().filter(|_| learner.remaining == Some(0)) else { return };
        let is_late = |group: &Group| {
            let is_behind = |begun| pacing::is_behind(now - begun, Some(mean), group.size);
            !group.is_stored && group.copies == 1 && group.begun.is_some_and(is_behind)
        };
        let late: Vec<usize> = (0..learner.groups.len())
            .filter(|group| is_late(&learner.groups[*group]))
            .take(self.idle_lanes)
            .collect();
        let step = learner.step;
        for group in late {
            self.learners[index].groups[group].copies += 1;
            self.publish(Issue { learner: index, step, group, deliveries: 0 }, now);
        }
    }

    /// A worker ends without a word.
    fn fail(&mut self, lane: LaneOf) {
        let worker = &mut self.workers[lane.worker];
        if !worker.has(lane) {
            return;
        }
        worker.is_up = false;
        worker.life += 1;
        worker.nets.fill(None);
        self.idle_lanes -= std::mem::take(&mut worker.idle);
        self.up -= 1;
        for (issue, begin) in std::mem::take(&mut worker.running) {
            self.lane_secs += (self.now - begin).max(0.0);
            let silent = ACK_WAIT.as_secs_f64() - PROGRESS_EVERY.as_secs_f64() * self.draws.uniform();
            self.events.add(self.now + silent, Event::Silent(issue));
        }
        let repair = self.options.worker.repair_minutes * 60.0;
        self.events.add(self.now + repair, Event::Returned(lane.worker));
    }

    /// The broker delivers a task again, unless that was the last time: then the step ends with an error, and the run with it, if no other
    /// copy has counted.
    pub(super) fn deliver_again(&mut self, issue: Issue) {
        if !self.is_current(issue) {
            return;
        }
        let deliveries = issue.deliveries + 1;
        if deliveries == DELIVERIES {
            if !self.learners[issue.learner].groups[issue.group].is_counted {
                self.ending = Some(Ending::Exhausted);
            }
            return;
        }
        self.ready.push_front(Issue { deliveries, ..issue });
        self.assign();
    }

    /// Workers say that they are there, and those that have nothing to do ask for work.
    fn pass_a_second(&mut self) {
        let (broker, learners) = (&self.options.broker, self.learners.len() as f64);
        let up = self.up as f64;
        let requests = (self.idle_lanes as f64).min(up) * broker.idle_requests;
        let millis =
            up * (1.0 + learners) * broker.broker_pass_ms / 2.0 + requests * broker.broker_request_ms;
        self.broker.cores.serve(self.now, millis / 1e3 / broker.broker_cores);
        self.broker.messages += up * (1.0 + learners) + 2.0 * requests;
        self.broker.bytes += up * (1.0 + learners) * HEARTBEAT_BYTES + 2.0 * requests * SIGNAL_BYTES;
        self.broker.egress += up * learners * HEARTBEAT_BYTES;
        let secs = up * self.options.coordinator.heartbeat_us / 1e6;
        for learner in &mut self.learners {
            learner.connection.serve(self.now, secs);
        }
        self.events.add(self.now + 1.0, Event::Second);
    }
}

impl Options {
    /// Positions of a mean shard.
    pub(super) fn positions_per_shard(&self) -> f64 {
        self.shards.shard_secs * self.shards.positions_per_sec
    }

    /// Bytes of a mean shard's result.
    fn shard_bytes(&self) -> f64 {
        self.shards.shard_bytes + self.positions_per_shard() * self.shards.position_bytes
    }
}
