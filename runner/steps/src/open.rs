//! A run that is open: its steps are done one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use dc0_runs::sweep::devices::Lease;
use dc0_runs::{Finished, Generations, Manifest, Numbers, Run, RunError, Series, Slot};

use crate::context::StepContext;
use crate::host::{HostError, Past};
use crate::kinds::kind;
use crate::lines;
use crate::past::past;
use crate::step::{Call, StepResult};

/// An open run.
pub(super) struct Open {
    pub(super) run: Run,
    /// Its folder, as scripts know it.
    pub(super) name: Arc<str>,
    pub(super) context: StepContext,
    pub(super) generations: Generations,
    /// What each line begins with.
    pub(super) label: String,
    /// Seconds of all steps so far.
    pub(super) seconds: f64,
    /// All steps so far, those that a fork begins with among them.
    pub(super) steps: Vec<Manifest>,
    /// Steps so far, and the most that are to be done.
    pub(super) done: usize,
    pub(super) most: Option<usize>,
    /// The imported files that the run has, by their paths.
    pub(super) modules: BTreeSet<String>,
    pub(super) numbers: Numbers,
    pub(super) _lease: Option<Lease>,
}

impl Open {
    /// Does a step, and tells how it went.
    pub(super) fn step(&mut self, call: &dyn Call, slot: Slot) -> Result<Finished, HostError> {
        if self.most.is_some_and(|most| self.done >= most) {
            self.context.interrupt.ask();
        }
        let step_call = call.step_call()?;
        self.context.check()?;
        let context = &self.context;
        let finished = self.run.step(&step_call, slot, |place| call.run(place, context))?;
        if let Some(again) = &finished.again {
            log::warn!("{again} was missing; the step that made it was done again");
        }
        self.seconds += finished.seconds;
        self.done += 1;
        self.steps.push(finished.manifest.clone());
        let closing = self.context.take_closing();
        self.say(&lines::finished(call.kind(), slot, &call.players(), &finished, &closing));
        Ok(finished)
    }

    /// Keeps what the script has imported since the run was opened.
    pub(super) fn keep_modules(&mut self, imported: BTreeMap<String, String>) -> Result<(), RunError> {
        for (path, text) in imported {
            if !self.modules.contains(&path) {
                self.run.keep_module(&path, &text)?;
                self.modules.insert(path);
            }
        }
        Ok(())
    }

    /// Does the steps that a fork begins with, and gives what they came to.
    pub(super) fn begin(&mut self, parent: &Path) -> Result<Vec<Past>, HostError> {
        let begun = self.run.begin(parent)?;
        let promotions =
            self.run.record().fork.as_ref().map(|fork| fork.promotions.clone()).unwrap_or_default();
        let steps: Vec<_> = begun.iter().map(|(slot, finished)| (*slot, finished.manifest.clone())).collect();
        let past = past(&self.name, self.run.folder(), &steps, &promotions)?;
        let mut players = past.iter().filter_map(|happened| match happened {
            Past::Step(StepResult::Match(verdict)) => {
                Some(format!("{} vs {}", verdict.0.first, verdict.0.second))
            }
            _ => None,
        });
        for (slot, finished) in &begun {
            self.numbers.next(slot.series);
            self.seconds += finished.seconds;
            self.steps.push(finished.manifest.clone());
            let who = if slot.series == Series::Matches { players.next() } else { None };
            if let Some(kind) = kind(&finished.manifest.kind) {
                self.say(&lines::finished(kind, *slot, &who.unwrap_or_default(), finished, ""));
            }
        }
        let nets = past.iter().filter_map(|happened| match happened {
            Past::Promoted { network, .. } => Some(network),
            Past::Step(_) => None,
        });
        for (network, promoted) in nets.zip(&promotions) {
            self.generations
                .promote(network.generation(promoted.generation, promoted.steps.unwrap_or_default()))?;
        }
        Ok(past)
    }

    pub(super) fn say(&self, line: &str) {
        let line = format!("{}{line}", self.label);
        self.context.console.note(&line);
        log::info!("{line}");
    }
}
