//! Progress events for the program that runs the core. The core itself never prints and never reads a clock.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something to report while a step runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// Units of work finished so far; `total` is known from the start.
    Progress {
        /// What is counted, such as `games` or `updates`.
        unit: &'static str,
        /// Finished so far.
        done: u64,
        /// In the whole step.
        total: u64,
    },
    /// Work done since the last such event, for rates.
    Work {
        /// What is counted, such as `positions` or `evaluations`.
        unit: &'static str,
        /// The additional amount.
        amount: u64,
    },
    /// A metric that changes during the step, such as a loss or a score.
    Metric {
        /// Its name.
        name: &'static str,
        /// Its current value.
        value: f64,
    },
    /// Something unusual that is not an error.
    Warning(&'a str),
}

/// A snapshot of a game in progress, for spectators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameSnapshot {
    /// The game's number in its step.
    pub number: u32,
    /// The FEN of its start position.
    pub start: String,
    /// The moves so far, packed as in the stored tables.
    pub moves: Vec<u16>,
}

/// Receives events and requests cancellation. Called from several threads.
pub trait Observer: Sync {
    /// Receives an event.
    fn event(&self, event: Event<'_>);

    /// Offers a snapshot of a numbered game after each batch; building it takes time, so implementors call `snapshot` only if needed.
    fn on_game(&self, number: u32, snapshot: &dyn Fn() -> GameSnapshot) {
        let _ = (number, snapshot);
    }

    /// Whether the user asked to stop; stages check this between batches and then return [`Cancelled`].
    fn is_cancelled(&self) -> bool {
        false
    }

    /// An error if [`Observer::is_cancelled`].
    fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The user asked to stop; all finished work is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("stopped on request")]
pub struct Cancelled;

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: Event<'_>) {}
}
