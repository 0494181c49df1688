//! What looks at a search between two batches: tells how far it is, and ends it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dc0_core::board::Move;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::search::{Search, Visited};

use super::memory::Memory;
use super::options::Settings;
use super::output::Output;
use super::report::{Frame, depth, info};
use super::signal::Signal;
use super::time::{Allowance, Signs};
use dc0_process::clock::Stopwatch;

/// Time before the first report and between two at least; most moves of a fast game are found before. Chosen.
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
    /// Only one move may be played, and nobody asked how good it is.
    pub(super) is_forced: bool,
    /// The value at the engine's last move.
    pub(super) last_value: Option<f64>,
}

/// Looks at one search.
pub(super) struct Watch {
    pub(super) signal: Arc<Signal>,
    pub(super) limits: Limits,
    pub(super) frame: Frame,
    /// Since the search began.
    pub(super) started: Stopwatch,
    /// `None` for a silent search.
    pub(super) output: Option<Output>,
    /// What the evaluators remember.
    pub(super) memory: Memory,
    last: Option<Last>,
}

/// What was told last.
#[derive(Debug, Clone, Copy)]
struct Last {
    at: Duration,
    depth: u32,
    best: Option<Move>,
}

impl Watch {
    pub(super) fn new(signal: Arc<Signal>, limits: Limits, settings: &Settings) -> Self {
        let (lines, shows_wdl) = (settings.lines, settings.shows_wdl);
        let frame = Frame { lines, shows_wdl, hash_permill: 0, nodes: 0, elapsed: Duration::ZERO };
        let (started, memory) = (Stopwatch::start(), Memory::default());
        Self { signal, limits, frame, started, output: None, memory, last: None }
    }

    /// Whether a search that has a visit is to go on.
    pub(super) fn goes_on(&mut self, search: &Search) -> bool {
        if self.signal.is_stopped() || self.output.as_ref().is_some_and(Output::is_broken) {
            return false;
        }
        self.report_if_due(search);
        match self.signal.thinking() {
            None => true,
            Some(since) => !self.is_enough(search, since.elapsed()),
        }
    }

    fn is_enough(&self, search: &Search, elapsed: Duration) -> bool {
        let nodes = search.spent();
        let by_nodes = self.limits.nodes.is_some_and(|most| nodes >= most);
        // Pondering counts for the speed, though not for the time.
        let speed = f64::from(nodes) / self.started.elapsed().as_secs_f64().max(1e-6);
        let by_time = |allowance: Allowance| {
            self.limits.is_forced || allowance.is_spent(elapsed, speed, &self.signs(search))
        };
        by_nodes || self.limits.time.is_some_and(by_time)
    }

    fn signs(&self, search: &Search) -> Signs {
        let (most, second) = leaders(search);
        let better = |of: &Visited| of.visits > 0 && of.value > most.and_then(|most| most.value);
        let visits = |of: Option<Visited>| of.map_or(0, |of| of.visits);
        Signs {
            most: visits(most),
            second: visits(second),
            is_undecided: second.as_ref().is_some_and(better),
            fall: self.limits.last_value.map_or(0.0, |last| last - search.root_value().0),
        }
    }

    fn report_if_due(&mut self, search: &Search) {
        let Some(output) = &self.output else { return };
        let at = self.started.elapsed();
        if at < self.last.map_or(Duration::ZERO, |last| last.at) + REPORT_AFTER {
            return;
        }
        let (depth, best) = (depth(search.visits()), leaders(search).0.map(|of| of.played));
        let is_new = |last: Last| last.depth != depth || last.best != best || at >= last.at + REPORT_ANYWAY;
        if self.last.is_none_or(is_new) {
            self.report(search, output);
            self.last = Some(Last { at, depth, best });
        }
    }

    /// Tells how far the search is.
    pub(super) fn report(&self, search: &Search, output: &Output) {
        let (nodes, elapsed) = (search.spent(), self.started.elapsed());
        let hash_permill = self.memory.permill();
        for line in info(search, &Frame { hash_permill, nodes, elapsed, ..self.frame }) {
            output.say(&line);
        }
    }
}

/// Lets the first thread watch, and the others follow.
pub(super) fn watched(watch: &Arc<Mutex<Watch>>) -> impl Fn(usize, &Search) -> bool + Send + Sync + 'static {
    let (watch, signal) = (Arc::clone(watch), Arc::clone(&watch.lock().ignore_poison().signal));
    move |thread, search| {
        if thread == 0 { watch.lock().ignore_poison().goes_on(search) } else { !signal.is_stopped() }
    }
}

/// The two moves with the most visits.
fn leaders(search: &Search) -> (Option<Visited>, Option<Visited>) {
    search.root_moves().fold((None, None), |(most, second): (Option<Visited>, _), of| {
        if most.is_none_or(|most| of.visits > most.visits) {
            (Some(of), most)
        } else if second.is_none_or(|second: Visited| of.visits > second.visits) {
            (most, Some(of))
        } else {
            (most, second)
        }
    })
}
