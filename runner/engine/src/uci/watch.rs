//! Watches a search between its batches: reports its progress, and ends it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dc0_core::board::Move;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::search::{RootMove, Search};

use super::options::Settings;
use super::output::Output;
use super::report::{Frame, depth, info};
use super::signal::Signal;
use super::time::{Allowance, BatchTime, Stability};
use crate::hash_cache::HashCache;
use dc0_process::clock::Stopwatch;

/// Minimum time before the first report and between two; most moves of a fast game take less. Chosen.
const REPORT_AFTER: Duration = Duration::from_millis(100);

/// Time after which a report comes even if nothing changed. Chosen.
const REPORT_ANYWAY: Duration = Duration::from_secs(1);

/// What ends a search besides `stop`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    /// Simulations.
    pub(super) nodes: Option<u32>,
    /// Time.
    pub(super) time: Option<Allowance>,
    /// There is only one move, and its value is not asked for.
    pub(super) is_forced: bool,
    /// The value at the engine's last move.
    pub(super) last_value: Option<f64>,
}

/// Watches one search.
pub(super) struct Watch {
    pub(super) signal: Arc<Signal>,
    pub(super) limits: Limits,
    pub(super) frame: Frame,
    /// Since the search began.
    pub(super) started: Stopwatch,
    /// `None` for a silent search.
    pub(super) output: Option<Output>,
    /// The cache of the evaluators.
    pub(super) cache: HashCache,
    last: Option<LastReport>,
    /// How long a batch may take, by those of this search and before it.
    pub(super) batch: BatchTime,
    /// When the last batch began.
    batch_began: Duration,
}

/// The last report.
#[derive(Debug, Clone, Copy)]
struct LastReport {
    at: Duration,
    depth: u32,
    best: Option<Move>,
}

impl Watch {
    pub(super) fn new(signal: Arc<Signal>, limits: Limits, settings: &Settings, batch: BatchTime) -> Self {
        let (lines, shows_wdl, fit) = (settings.lines, settings.shows_wdl, settings.score_fit());
        let notation = settings.notation;
        let frame =
            Frame { lines, notation, shows_wdl, fit, hash_permill: 0, nodes: 0, elapsed: Duration::ZERO };
        let (started, cache) = (Stopwatch::start(), HashCache::default());
        Self {
            signal,
            limits,
            frame,
            started,
            output: None,
            cache,
            last: None,
            batch,
            batch_began: Duration::ZERO,
        }
    }

    /// Whether a search that has a visit should continue with another batch.
    pub(super) fn should_continue(&mut self, search: &Search) -> bool {
        let now = self.started.elapsed();
        if search.spent() > 0 {
            self.batch.record(now.saturating_sub(self.batch_began));
        }
        let continues = self.has_more(search);
        self.batch_began = self.started.elapsed();
        continues
    }

    fn has_more(&mut self, search: &Search) -> bool {
        if self.signal.is_stopped() || self.output.as_ref().is_some_and(Output::is_broken) {
            return false;
        }
        self.report_if_due(search);
        match self.signal.own_time() {
            None => true,
            Some(own_time) => !self.is_enough(search, own_time.elapsed()),
        }
    }

    fn is_enough(&self, search: &Search, elapsed: Duration) -> bool {
        let nodes = search.spent();
        let by_nodes = self.limits.nodes.is_some_and(|most| nodes >= most);
        // Pondering counts for the speed, though not for the time.
        let speed = f64::from(nodes) / self.started.elapsed().as_secs_f64().max(1e-6);
        // A batch that would end too late is not begun.
        let after = elapsed + self.batch.expected();
        let by_time = |allowance: Allowance| {
            self.limits.is_forced || allowance.is_spent(after, speed, &self.stability(search))
        };
        by_nodes || self.limits.time.is_some_and(by_time)
    }

    fn stability(&self, search: &Search) -> Stability {
        let (most, second) = search.leaders();
        let better = |edge: &RootMove| edge.visits > 0 && edge.value > most.and_then(|most| most.value);
        let visits = |edge: Option<RootMove>| edge.map_or(0, |edge| edge.visits);
        Stability {
            most: visits(most),
            second: visits(second),
            is_undecided: second.as_ref().is_some_and(better),
            fall: self.limits.last_value.map_or(0.0, |last| last - search.root_value().value),
        }
    }

    fn report_if_due(&mut self, search: &Search) {
        let Some(output) = &self.output else { return };
        let at = self.started.elapsed();
        if at < self.last.map_or(Duration::ZERO, |last| last.at) + REPORT_AFTER {
            return;
        }
        let (depth, best) = (depth(search.visits()), search.leaders().0.map(|edge| edge.played));
        let is_new =
            |last: LastReport| last.depth != depth || last.best != best || at >= last.at + REPORT_ANYWAY;
        if self.last.is_none_or(is_new) {
            self.report(search, output);
            self.last = Some(LastReport { at, depth, best });
        }
    }

    /// Reports the progress of the search.
    pub(super) fn report(&self, search: &Search, output: &Output) {
        let (nodes, elapsed) = (search.spent(), self.started.elapsed());
        let hash_permill = self.cache.permill();
        for line in info(search, &Frame { hash_permill, nodes, elapsed, ..self.frame }) {
            output.line(&line);
        }
    }
}

/// The first thread watches; the others only check the signal.
pub(super) fn watched(watch: &Arc<Mutex<Watch>>) -> impl Fn(usize, &Search) -> bool + Send + Sync + 'static {
    let (watch, signal) = (Arc::clone(watch), Arc::clone(&watch.lock().ignore_poison().signal));
    move |thread, search| {
        if thread == 0 { watch.lock().ignore_poison().should_continue(search) } else { !signal.is_stopped() }
    }
}
