//! What a planned script does, in order: which assumed figures it reads, and which steps follow. Two traces of one script show where
//! its plans part.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;
use dc0_runs::sweep::events::Replicate;

/// A script reads a figure that a check assumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The figure's name.
    pub figure: String,
    /// The script's file, as the user or the import names it.
    pub source: String,
    /// Line and column, both from 1; `None` if they are not known.
    pub point: Option<(usize, usize)>,
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { figure, source, point } = self;
        match point {
            Some((line, column)) => write!(f, "{source}:{line}:{column}, which reads `{figure}`"),
            None => write!(f, "{source}, which reads `{figure}`"),
        }
    }
}

/// A part of a script's work whose events are in order: the trials of a sweep run side by side. In the order of the script: what
/// comes before the first sweep, the trials of the first sweep, what follows them.
type Section = (usize, Option<Replicate>);

/// The readings before each action, and after the last one.
#[derive(Debug, Clone, Default, PartialEq)]
struct Events {
    actions: Vec<String>,
    /// One list more than actions.
    readings: Vec<Vec<Reading>>,
}

impl Events {
    fn readings_before(&self, action: usize) -> &[Reading] {
        self.readings.get(action).map_or(&[], Vec::as_slice)
    }
}

/// Queries of tables whose rows are assumed.
#[derive(Debug, Clone, Copy, Default)]
struct TableQueries {
    /// Those whose rows the script reads.
    read: usize,
    /// The others since its last step.
    unread: usize,
    /// Its steps so far.
    steps: usize,
}

/// What a planned script does.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// By section; the script's own events come after those of the trials of the sweep before them.
    sections: BTreeMap<(usize, bool, Option<Replicate>), Events>,
    sweeps: usize,
    last: Option<Reading>,
    reads_tables: bool,
    /// Those of the script itself, and of each trial.
    queries: BTreeMap<Option<Section>, TableQueries>,
}

impl Trace {
    fn events(&mut self, (sweep, trial): Section) -> &mut Events {
        self.sections.entry((sweep, trial.is_none(), trial)).or_default()
    }

    /// Whether the script reads any figure that is assumed.
    pub fn has_readings(&self) -> bool {
        self.last.is_some()
    }

    /// Whether one of them is a table's.
    pub fn reads_tables(&self) -> bool {
        self.reads_tables
    }

    /// The last reading.
    pub fn last(&self) -> Option<&Reading> {
        self.last.as_ref()
    }

    /// Where this trace does something else than another one: `None` if nowhere; otherwise the last reading that both share before it,
    /// if there is one.
    pub fn parting(&self, other: &Self) -> Option<Option<Reading>> {
        let (mut keys, nothing) = (Vec::new(), Events::default());
        keys.extend(self.sections.keys().chain(other.sections.keys()));
        keys.sort();
        keys.dedup();
        let pairs: Vec<(&Events, &Events)> = keys
            .into_iter()
            .map(|key| [self, other].map(|trace| trace.sections.get(key).unwrap_or(&nothing)).into())
            .collect();
        let parted = pairs.iter().position(|(own, others)| own.actions != others.actions)?;
        let (own, others) = pairs[parted];
        let action = own.actions.iter().zip(&others.actions).take_while(|(own, other)| own == other).count();
        let in_section = (0..=action).rev().find_map(|action| shared(own, others, action));
        let earlier = || {
            let whole = |(own, others): &(&Events, &Events)| {
                (0..=own.actions.len()).rev().find_map(|action| shared(own, others, action))
            };
            pairs[..parted].iter().rev().find_map(whole)
        };
        Some(in_section.or_else(earlier))
    }
}

/// The last reading before a action that two traces share.
fn shared(own: &Events, others: &Events, action: usize) -> Option<Reading> {
    let pairs = own.readings_before(action).iter().zip(others.readings_before(action));
    pairs.take_while(|(own, other)| own == other).last().map(|(own, _)| own.clone())
}

/// Records what a script, or one of its trials, does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    trace: Arc<Mutex<Trace>>,
    trial: Option<Section>,
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().ignore_poison()
    }

    /// What was recorded so far.
    pub(crate) fn trace(&self) -> Trace {
        self.lock().clone()
    }

    /// The script begins a sweep.
    pub(crate) fn begin_sweep(&self) {
        self.lock().sweeps += 1;
    }

    /// The recorder of a trial of the latest sweep.
    pub(crate) fn of_trial(&self, id: Replicate) -> Self {
        Self { trace: Arc::clone(&self.trace), trial: Some((self.lock().sweeps, Some(id))) }
    }

    /// The script reads an assumed figure.
    pub(crate) fn read(&self, reading: Reading) {
        let mut trace = self.lock();
        trace.last = Some(reading.clone());
        let section = self.trial.unwrap_or((trace.sweeps, None));
        let events = trace.events(section);
        let before = events.actions.len();
        events.readings.resize_with(before + 1, Vec::new);
        events.readings[before].push(reading);
    }

    /// The script reads, for the first time, assumed rows that a query found, or their number; `after` is what the
    /// [query](Self::query_table) gave.
    pub(crate) fn read_query(&self, after: usize) {
        let mut trace = self.lock();
        trace.reads_tables = true;
        let queries = trace.queries.entry(self.trial).or_default();
        queries.read += 1;
        if queries.steps == after {
            queries.unread = queries.unread.saturating_sub(1);
        }
    }

    /// The script queries a table whose rows are assumed. Gives the number of its steps so far.
    pub(crate) fn query_table(&self) -> usize {
        let mut trace = self.lock();
        let queries = trace.queries.entry(self.trial).or_default();
        queries.unread += 1;
        queries.steps
    }

    /// How often it has queried such tables and read their rows, and how often it has queried others since its last step.
    pub(crate) fn table_queries(&self) -> (usize, usize) {
        let queries = self.lock().queries.get(&self.trial).copied().unwrap_or_default();
        (queries.read, queries.unread)
    }

    /// The script has a step done.
    pub(crate) fn did_step(&self, step: String) {
        let mut trace = self.lock();
        let queries = trace.queries.entry(self.trial).or_default();
        queries.unread = 0;
        queries.steps += 1;
        drop(trace);
        self.did(step);
    }

    /// The script has something done: a step, or a promotion.
    pub(crate) fn did(&self, action: String) {
        let mut trace = self.lock();
        let section = self.trial.unwrap_or((trace.sweeps, None));
        trace.events(section).actions.push(action);
    }
}
