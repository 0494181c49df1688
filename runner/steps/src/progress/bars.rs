//! The progress of one step: a bar with rates and time left, and counts for the closing line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use indicatif::{ProgressBar, ProgressStyle};

use dc0_core::event::{Event, GameSnapshot, Observer};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::text_table::figure;

use super::file::{ProgressFile, StepStatus};
use crate::executor::FleetStatus;
use dc0_process::clock::Stopwatch;
use dc0_process::console::Console;
use dc0_process::format::{amount, counted, duration};
use dc0_process::interrupt::Interrupt;
use dc0_runs::Meter;

/// Observes one step.
pub struct StepProgress {
    interrupt: Interrupt,
    bar: Option<ProgressBar>,
    /// The unit that the bar counts.
    unit: &'static str,
    watch: Stopwatch,
    /// The step's meter, if it is a step of a run.
    meter: Option<Arc<Meter>>,
    counts: Mutex<Counts>,
    file: Option<ProgressFile>,
}

/// How much a step has to do.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// What is counted: `games`, `positions`, `updates`.
    pub unit: &'static str,
    /// Units done before this start.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

#[derive(Debug, Default)]
struct Counts {
    /// Units that are done, including earlier ones.
    done: u64,
    work: BTreeMap<&'static str, u64>,
    figures: BTreeMap<&'static str, f64>,
    /// Who does the step's shards, if workers do.
    fleet: Option<FleetStatus>,
}

impl StepProgress {
    /// `path` is the progress file for other processes, if any.
    pub fn new(
        console: &Console,
        interrupt: &Interrupt,
        label: &str,
        path: Option<PathBuf>,
        amount: Amount,
        meter: Option<&Arc<Meter>>,
    ) -> Self {
        let Amount { unit, done, total } = amount;
        let bar = console.bar(style(), total);
        if let Some(bar) = &bar {
            bar.set_prefix(label.to_owned());
            bar.set_position(done);
            // Units done before this start must not count towards the speed.
            bar.reset_eta();
        }
        let standing = StepStatus {
            label: label.to_owned(),
            unit: unit.to_owned(),
            before: done,
            done,
            total,
            ..StepStatus::default()
        };
        Self {
            interrupt: interrupt.clone(),
            bar,
            unit,
            watch: Stopwatch::start(),
            meter: meter.cloned(),
            counts: Mutex::new(Counts { done, ..Counts::default() }),
            file: path.map(|path| ProgressFile::new(path, standing)),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().ignore_poison()
    }

    /// The time that the step has taken in this process.
    pub fn watch(&self) -> Stopwatch {
        self.watch
    }

    /// Time and rates for the step's closing line: `42s, 310 positions/s, 9.80k evaluations/s`.
    pub fn close(&self) -> String {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let time = duration(self.watch.elapsed());
        std::iter::once(time).chain(self.rates(&self.counts())).collect::<Vec<_>>().join(", ")
    }

    /// The rates of the work that was done besides what the bar counts.
    fn rates(&self, counts: &Counts) -> Vec<String> {
        let elapsed = self.watch.elapsed().as_secs_f64().max(1e-9);
        let is_rated = |unit: &str, count: u64| RATED.contains(&unit) && unit != self.unit && count > 0;
        let rated = counts.work.iter().filter(|(unit, count)| is_rated(unit, **count));
        rated.map(|(unit, count)| format!("{} {unit}/s", amount(*count as f64 / elapsed))).collect()
    }

    /// Shows how the shards of the step stand, which workers do.
    pub(crate) fn fleet(&self, status: FleetStatus) {
        if let Some(meter) = &self.meter {
            meter.set_workers(status.shares());
        }
        let mut counts = self.counts();
        counts.fleet = Some(status);
        self.show(counts);
    }

    /// Shows the counts on the bar and in the file.
    fn show(&self, counts: MutexGuard<'_, Counts>) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.message(&counts));
        }
        let Some(file) = &self.file else { return };
        let due = file.due(self.watch, |standing| {
            standing.done = counts.done;
            standing.work = counts.work.iter().map(|(unit, count)| ((*unit).to_owned(), *count)).collect();
            standing.figures =
                counts.figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            standing.fleet.clone_from(&counts.fleet);
        });
        drop(counts);
        if let Some(standing) = due {
            file.write(&standing);
        }
    }

    fn message(&self, counts: &Counts) -> String {
        let figures = counts.figures.iter().map(|(name, value)| format!("{name} {}", figure(*value, 3)));
        let fleet = counts.fleet.iter().map(|fleet| {
            let present = fleet.workers.iter().filter(|worker| worker.last_seen_secs.is_some()).count();
            let FleetStatus { waiting, issued, .. } = fleet;
            format!("{}, {} to do", counted(present, "worker"), counted((waiting + issued) as usize, "shard"))
        });
        self.rates(counts).into_iter().chain(figures).chain(fleet).collect::<Vec<_>>().join("  ")
    }
}

/// Kinds of work whose rate is shown.
const RATED: [&str; 4] = ["evaluations", "games", "positions", "samples"];

fn style() -> ProgressStyle {
    let template = "{prefix} {bar:24} {pos}/{len}  {elapsed} so far, {eta} left  {msg}";
    ProgressStyle::with_template(template).expect("the template is a constant")
}

impl Observer for StepProgress {
    fn event(&self, event: Event<'_>) {
        if let Some(meter) = &self.meter {
            meter.event(&event);
        }
        let mut counts = self.counts();
        match event {
            Event::Progress { unit, done, .. } if unit == self.unit => {
                counts.done = done;
                if let Some(bar) = &self.bar {
                    bar.set_position(done);
                }
            }
            Event::Progress { .. } => {}
            Event::Work { unit, amount } => {
                *counts.work.entry(unit).or_default() += amount;
                if unit == self.unit {
                    counts.done += amount;
                }
                if let Some(bar) = self.bar.as_ref().filter(|_| unit == self.unit) {
                    bar.inc(amount);
                }
            }
            Event::Metric { name, value } => {
                counts.figures.insert(name, value);
            }
            Event::Warning(text) => {
                drop(counts);
                log::warn!("{text}");
                return;
            }
        }
        self.show(counts);
    }

    fn on_game(&self, number: u32, snapshot: &dyn Fn() -> GameSnapshot) {
        if let Some(file) = &self.file {
            file.on_game(number, snapshot);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.interrupt.is_requested()
    }
}

impl Drop for StepProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
