//! The process context of a step.

use std::sync::{Arc, Mutex, PoisonError};

use dc0_core::event::Cancelled;

use crate::error::StepError;
use crate::executor::Fleet;
use crate::memory::Machine;
use crate::progress::{self, Amount, StepProgress};
use dc0_backend::Evaluators;
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;
use dc0_runs::StepWorkspace;

/// What every step needs from its process.
pub struct StepContext {
    /// Shows progress.
    pub console: Arc<Console>,
    /// Whether the user asked to stop.
    pub interrupt: Interrupt,
    /// Makes the evaluators of nets.
    pub evaluators: Evaluators,
    /// libtorch threads for training.
    pub threads: u32,
    /// Threads that play games or search.
    pub lanes: u32,
    /// The workers that do shards; `None` to do them in this process.
    pub fleet: Option<Arc<dyn Fleet>>,
    /// Time and rates of the last step done.
    pub closing: Mutex<String>,
}

impl StepContext {
    /// An error if the user asked to stop.
    pub(crate) fn check(&self) -> Result<(), StepError> {
        if self.interrupt.is_requested() { Err(Cancelled.into()) } else { Ok(()) }
    }

    /// The machine, as far as memory depends on it.
    pub(crate) fn machine(&self) -> Machine {
        Machine { lanes: self.lanes, is_on_cpu: self.evaluators.device_names() == ["cpu"] }
    }

    /// Ends a step's progress display and keeps its time and rates for the closing line.
    pub(crate) fn close(&self, progress: &StepProgress) {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner) = progress.close();
    }

    /// Takes the time and rates of the last step done.
    pub(crate) fn take_closing(&self) -> String {
        std::mem::take(&mut self.closing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn progress(&self, workspace: &StepWorkspace, label: &str, amount: Amount) -> StepProgress {
        let path = workspace.scratch(progress::FILE);
        StepProgress::new(&self.console, &self.interrupt, label, Some(path), amount, Some(&workspace.meter))
    }
}
