//! The steps of a run: what a call reads, does, and writes. Each body goes on from what a kill left of it.

mod arena;
pub mod check;
mod error;
mod files;
pub mod handles;
pub mod host;
mod metered;
mod network;
mod open;
mod past;
pub mod progress;
mod runner;
mod runner_host;
mod search;
mod self_play;
pub mod speeds;
mod sweep;
pub mod table;
mod train;

pub use arena::Meeting;
pub use error::StepError;
pub use network::{inspection_value, summary_members};
pub(crate) use past::past;
pub use runner::{Asking, Runner, cores, lanes_on};
pub use search::assumed_searches;
pub use self_play::play_shard;
pub(crate) use sweep::{record as sweep_record, share_of_cores};
pub use train::summary_value;

/// What the steps whose games can be played again are called, and the version of doing them.
pub mod versions {
    pub use crate::arena::KIND as ARENA;
    pub use crate::self_play::KIND as SELF_PLAY;
}

/// What each step is, for plans.
pub(crate) mod calls {
    pub(crate) use crate::arena::call as arena;
    pub(crate) use crate::network::{call as network, grow_call as grow};
    pub(crate) use crate::search::call as search;
    pub(crate) use crate::self_play::call as self_play;
    pub(crate) use crate::train::call as train;
}

/// What a kill left of steps, for plans.
pub(crate) mod begun {
    pub(crate) use crate::arena::begun as arena;
    pub(crate) use crate::search::begun as search;
    pub(crate) use crate::self_play::begun as self_play;
    pub(crate) use crate::train::begun as train;
}

use std::sync::{Arc, Mutex, PoisonError};

use dc0_core::event::Cancelled;

use crate::progress::StepProgress;
use dc0_backend::Evaluators;
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;
use dc0_runs::Workplace;

/// What every step needs of the process it runs in.
pub struct Shop {
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

impl Shop {
    /// An error if the user asked to stop.
    fn check(&self) -> Result<(), StepError> {
        if self.interrupt.is_asked() { Err(Cancelled.into()) } else { Ok(()) }
    }

    /// Ends a step's progress and keeps its time and rates for the closing line.
    fn close(&self, progress: &StepProgress) {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner) = progress.close();
    }

    /// Time and rates of the step done last, once.
    fn take_closing(&self) -> String {
        std::mem::take(&mut self.closing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn progress(&self, place: &Workplace, label: &str, counted: (&'static str, u64, u64)) -> StepProgress {
        let path = place.scratch(progress::FILE);
        StepProgress::new(&self.console, &self.interrupt, (label, Some(path)), counted, Some(&place.meter))
    }
}
