//! An open run, whose steps are done one after another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dc0_runs::sweep::devices::DeviceLease;
use dc0_runs::{Finished, ForkSource, Manifest, Numbers, Run, RunError, Series, Slot};

use crate::beside::{Beside, do_work};
use crate::context::StepContext;
use crate::host::{HostError, PastEvent};
use crate::kinds::kind;
use crate::lines;
use crate::past_events::past;
use crate::step::{Call, StepResult};

/// An open run.
pub(super) struct Open {
    pub(super) run: Run,
    /// Its folder, as scripts know it.
    pub(super) name: Arc<str>,
    pub(super) context: StepContext,
    /// The prefix of each printed line.
    pub(super) label: Label,
    /// Seconds of all steps so far.
    pub(super) seconds: f64,
    /// All steps so far, including those that a fork begins with.
    pub(super) steps: Vec<Manifest>,
    /// The number of steps that the script has called.
    pub(super) done: usize,
    /// The number of steps after which the run stops.
    pub(super) max_steps: Option<usize>,
    /// Paths of the imported files that are stored with the run.
    pub(super) modules: BTreeSet<String>,
    pub(super) numbers: Numbers,
    /// The step that is done beside those that the script calls.
    pub(super) beside: Option<Beside>,
    pub(super) _lease: Option<DeviceLease>,
}

/// What says to which run a printed line belongs.
pub(super) enum Label {
    /// The prefix of a trial's lines.
    Trial(String),
    /// A run of the script; its name is the prefix if the script has `opened` several.
    Run { name: String, opened: Arc<AtomicUsize> },
}

impl Label {
    fn prefix(&self) -> String {
        match self {
            Self::Trial(prefix) => prefix.clone(),
            Self::Run { name, opened } if opened.load(Ordering::Relaxed) > 1 => format!("{name}  "),
            Self::Run { .. } => String::new(),
        }
    }
}

impl Open {
    /// Does a step, and prints its closing line.
    pub(super) fn step(&mut self, call: &dyn Call, slot: Slot) -> Result<Finished, HostError> {
        self.check_most()?;
        self.check_new(call)?;
        let step_call = call.step_call()?;
        let context = &self.context;
        let finished = self.run.step(&step_call, slot, |workspace| do_work(call, workspace, context))?;
        let closing = context.take_closing();
        self.keep(call, slot, finished, &closing)
    }

    /// Begins a step whose work is done beside the next ones.
    pub(super) fn start(&mut self, call: Arc<dyn Call>, slot: Slot) -> Result<(), HostError> {
        self.context.check()?;
        self.check_new(&*call)?;
        self.beside = Some(Beside::start(&mut self.run, &self.context, call, slot)?);
        Ok(())
    }

    /// Waits for the step that was begun beside others, and prints its closing line.
    pub(super) fn wait(&mut self) -> Result<(Arc<dyn Call>, Slot, Finished), HostError> {
        let beside = self.beside.take().ok_or(HostError::NothingBegun)?;
        if let Err(error) = self.check_most() {
            beside.stop(&mut self.run);
            return Err(error);
        }
        let (call, slot) = (Arc::clone(&beside.call), beside.slot);
        let (finished, closing) = beside.wait(&mut self.run)?;
        let finished = self.keep(&*call, slot, finished, &closing)?;
        Ok((call, slot, finished))
    }

    /// An error if the user asked to stop, or the run is to do no more steps.
    fn check_most(&self) -> Result<(), HostError> {
        if self.max_steps.is_some_and(|max| self.done >= max) {
            self.context.interrupt.request();
        }
        Ok(self.context.check()?)
    }

    /// An error if a step that is not finished cannot be done. It comes before the step begins, lest it stay unfinished.
    fn check_new(&self, call: &dyn Call) -> Result<(), HostError> {
        match call.check_new() {
            Err(error) if self.run.is_to_do(&call.step_call()?)? => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Counts a finished step, and prints its closing line.
    fn keep(
        &mut self,
        call: &dyn Call,
        slot: Slot,
        finished: Finished,
        closing: &str,
    ) -> Result<Finished, HostError> {
        if let Some(again) = &finished.again {
            log::warn!("{again} was missing; the step that made it was done again");
        }
        self.seconds += finished.seconds;
        self.done += 1;
        self.steps.push(finished.manifest.clone());
        self.print(&lines::finished(call.kind(), slot, &call.players(), &finished, closing));
        Ok(finished)
    }

    /// Stores what the script has imported since the run was opened.
    pub(super) fn keep_modules(&mut self, imported: BTreeMap<String, String>) -> Result<(), RunError> {
        for (path, text) in imported {
            if !self.modules.contains(&path) {
                self.run.keep_module(&path, &text)?;
                self.modules.insert(path);
            }
        }
        Ok(())
    }

    /// Takes over the steps that a fork begins with, and returns the past events.
    pub(super) fn begin(&mut self, source: ForkSource<'_>) -> Result<Vec<PastEvent>, HostError> {
        let begun = self.run.begin(source)?;
        let promotions =
            self.run.record().fork.as_ref().map(|fork| fork.promotions.clone()).unwrap_or_default();
        let steps: Vec<_> = begun.iter().map(|(slot, finished)| (*slot, finished.manifest.clone())).collect();
        let past = past(&self.name, self.run.folder(), &steps, &promotions)?;
        let mut players = past.iter().filter_map(|event| match event {
            PastEvent::Step(StepResult::Match(verdict)) => {
                Some(format!("{} vs {}", verdict.0.first, verdict.0.second))
            }
            _ => None,
        });
        for (slot, finished) in &begun {
            self.numbers.next(slot.series);
            self.seconds += finished.seconds;
            self.steps.push(finished.manifest.clone());
            let names = if slot.series == Series::Matches { players.next() } else { None };
            if let Some(kind) = kind(&finished.manifest.kind) {
                self.print(&lines::finished(kind, *slot, &names.unwrap_or_default(), finished, ""));
            }
        }
        let nets = past.iter().filter_map(|event| match event {
            PastEvent::Promoted { network, .. } => Some(network),
            PastEvent::Step(_) => None,
        });
        for (network, promoted) in nets.zip(&promotions) {
            let steps = promoted.steps.unwrap_or_default();
            self.run.promote(network.generation(promoted.generation, steps))?;
        }
        Ok(past)
    }

    pub(super) fn print(&self, line: &str) {
        let line = format!("{}{line}", self.label.prefix());
        self.context.console.note(&line);
        log::info!("{line}");
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(beside) = self.beside.take() {
            beside.stop(&mut self.run);
        }
    }
}
