//! What every step needs of the process that it runs in.

use std::sync::{Arc, Mutex, PoisonError};

use dc0_core::event::Cancelled;

use crate::error::StepError;
use crate::progress::{self, StepProgress};
use dc0_backend::Evaluators;
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;
use dc0_runs::Workplace;

/// What every step needs of the process that it runs in.
pub struct StepContext {
    /// Where progress goes.
    pub console: Arc<Console>,
    /// Whether the user asked to stop.
    pub interrupt: Interrupt,
    /// Makes what plays nets.
    pub evaluators: Evaluators,
    /// libtorch threads of a training step.
    pub threads: u32,
    /// Threads that play.
    pub lanes: u32,
    /// Time and rates of the step done last.
    pub closing: Mutex<String>,
}

impl StepContext {
    /// An error if the user asked to stop.
    pub(crate) fn check(&self) -> Result<(), StepError> {
        if self.interrupt.is_asked() { Err(Cancelled.into()) } else { Ok(()) }
    }

    /// Ends a step's progress and keeps its time and rates for the closing line.
    pub(crate) fn close(&self, progress: &StepProgress) {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner) = progress.close();
    }

    /// Time and rates of the step done last, once.
    pub(crate) fn take_closing(&self) -> String {
        std::mem::take(&mut self.closing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn progress(
        &self,
        place: &Workplace,
        label: &str,
        counted: (&'static str, u64, u64),
    ) -> StepProgress {
        let path = place.scratch(progress::FILE);
        StepProgress::new(&self.console, &self.interrupt, (label, Some(path)), counted, Some(&place.meter))
    }
}
