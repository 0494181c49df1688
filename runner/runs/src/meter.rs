//! Measures the cost of an attempt at a step while it runs.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use dc0_core::event::Event;
use dc0_core::poison::IgnorePoison as _;
use serde_json::json;

use super::figures::{Figures, NetFigures};
use super::history::JournalEvent;
use super::journal::Journal;
use super::workers::WorkerShares;
use dc0_process::clock::Stopwatch;
use dc0_process::resources;

/// Seconds until an attempt's cost is recorded for the first time.
const FIRST_NOTE: f64 = 0.2;

/// The cost is recorded again after the attempt has become longer by this share, or by this many seconds, whichever is less:
/// a kill loses little, and the journal stays small.
const NOTE_SHARE: f64 = 0.1;
const NOTE_EVERY: f64 = 60.0;

/// Measures one attempt, and records its cost in the journal.
#[derive(Debug)]
pub struct Meter {
    /// Where costs are recorded; `None` if nowhere.
    journal: Option<Arc<Journal>>,
    step: String,
    watch: Stopwatch,
    cpu_before: f64,
    state: Mutex<State>,
    /// When the script began to wait for the step; `None` if it does so from the start.
    awaited: Option<OnceLock<f64>>,
    /// The measurements at the end of the work, which may be before the script waits for it.
    ended: OnceLock<(f64, Figures)>,
    /// What workers on other machines have done.
    workers: Mutex<WorkerShares>,
}

#[derive(Debug, Default)]
struct State {
    figures: Figures,
    /// Number of active lanes, and the sum of their start times in seconds. A lane with two nets counts as half a lane twice.
    running: f64,
    start_sum: f64,
    next_note: f64,
}

impl Meter {
    /// Starts measuring.
    pub(super) fn start(journal: &Arc<Journal>, step: &str) -> Self {
        resources::reset_peak_memory();
        Self { journal: Some(Arc::clone(journal)), ..Self::unrecorded(step) }
    }

    /// Starts measuring a step that is done beside others.
    pub(super) fn start_beside(journal: &Arc<Journal>, step: &str) -> Self {
        Self { awaited: Some(OnceLock::new()), ..Self::start(journal, step) }
    }

    /// A meter of which nothing is recorded: for a step that is only inspected, or shards of another process's run.
    pub fn unrecorded(step: &str) -> Self {
        let cpu_before = resources::cpu_seconds().unwrap_or(0.0);
        let state = Mutex::new(State { next_note: FIRST_NOTE, ..State::default() });
        let (step, watch, ended) = (step.to_owned(), Stopwatch::start(), OnceLock::new());
        let workers = Mutex::default();
        Self { journal: None, step, watch, cpu_before, state, awaited: None, ended, workers }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Seconds from the start to the end of the work, or until now.
    pub fn secs(&self) -> f64 {
        self.ended.get().map_or_else(|| self.now(), |(secs, _)| *secs)
    }

    fn now(&self) -> f64 {
        self.watch.elapsed().as_secs_f64()
    }

    /// Of the step's seconds so far, those that the script has waited for it.
    pub(super) fn waited(&self, secs: f64) -> f64 {
        match &self.awaited {
            None => secs,
            Some(awaited) => awaited.get().map_or(0.0, |since| (secs - since).max(0.0)),
        }
    }

    /// The script waits for the step from now on.
    pub(super) fn await_end(&self) {
        if let Some(awaited) = &self.awaited {
            awaited.get_or_init(|| self.now());
        }
    }

    /// The work has ended; what the process does from now on is not the step's.
    pub(super) fn end(&self) {
        let figures = self.figures();
        self.ended.get_or_init(|| (self.now(), figures));
    }

    /// Sets the number of threads that play.
    pub fn set_lanes(&self, lanes: u32) {
        self.state().figures.lanes = lanes;
    }

    /// A lane begins to use a net; `share` is 1 / (nets of the lane).
    pub fn begin_lane(&self, share: f64) {
        let now = self.now();
        let mut state = self.state();
        state.running += share;
        state.start_sum += share * now;
    }

    /// A lane has stopped using a net, after this many seconds.
    pub fn end_lane(&self, share: f64, secs: f64) {
        let now = self.now();
        let mut state = self.state();
        state.running -= share;
        state.start_sum -= share * (now - secs);
        state.figures.lane_secs += share * secs;
    }

    /// Adds a batch that a net has evaluated.
    pub fn evaluated(&self, rows: u64, secs: f64, flops: f64) {
        self.add(NetFigures { rows, batches: 1, largest_batch: rows, net_secs: secs, flops });
    }

    /// Adds evaluations of one position each; how long they took is not known.
    pub fn evaluated_alone(&self, rows: u64, flops: f64) {
        let (batches, largest_batch) = (rows, rows.min(1));
        self.add(NetFigures { rows, batches, largest_batch, net_secs: 0.0, flops });
    }

    fn add(&self, nets: NetFigures) {
        let figures = &mut self.state().figures;
        figures.nets = figures.nets.plus(nets);
    }

    /// What nets did since the last call, for shards that are reported one by one.
    pub fn take_nets(&self) -> NetFigures {
        std::mem::take(&mut self.state().figures.nets)
    }

    /// Sets what workers on other machines have done in this attempt.
    pub fn set_workers(&self, workers: WorkerShares) {
        *self.workers.lock().ignore_poison() = workers;
    }

    /// What workers have done, for an entry of the journal.
    pub(super) fn workers(&self) -> Option<(&'static str, serde_json::Value)> {
        let workers = self.workers.lock().ignore_poison();
        (!workers.is_empty()).then(|| ("workers", json!(*workers)))
    }

    /// Counts the work that a step reports, and records the cost from time to time.
    pub fn event(&self, event: &Event<'_>) {
        let mut state = self.state();
        match event {
            Event::Work { unit: "evaluations", amount } => state.figures.evaluations += amount,
            Event::Work { unit: "samples", amount } => state.figures.samples += amount,
            _ => {}
        }
        let now = self.now();
        if now >= state.next_note {
            state.next_note = now + (now * NOTE_SHARE).clamp(FIRST_NOTE, NOTE_EVERY);
            drop(state);
            self.note();
        }
    }

    /// Records the cost so far in the journal. A failure is only logged: it must not stop the work.
    pub(super) fn note(&self) {
        let secs = self.secs();
        let details = [
            ("step", json!(self.step)),
            ("secs", json!(secs)),
            ("waited", json!(self.waited(secs))),
            ("costs", json!(self.figures())),
        ];
        let details = details.into_iter().chain(self.workers());
        let recorded =
            self.journal.as_ref().map_or(Ok(()), |journal| journal.note(JournalEvent::Working, details));
        if let Err(error) = recorded {
            log::warn!("{error}");
        }
    }

    /// The measurements so far.
    pub fn figures(&self) -> Figures {
        if let Some((_, figures)) = self.ended.get() {
            return *figures;
        }
        let cpu_secs = resources::cpu_seconds().unwrap_or(0.0) - self.cpu_before;
        let peak_memory = resources::peak_memory().unwrap_or(0);
        let now = self.now();
        let state = self.state();
        let lane_secs = state.figures.lane_secs + (state.running * now - state.start_sum).max(0.0);
        Figures { cpu_secs, lane_secs, peak_memory, ..state.figures }
    }
}
