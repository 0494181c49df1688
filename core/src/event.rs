//! Progress, reported to whoever runs the core. The core itself never prints and never reads a clock.

use thiserror::Error;

/// Something worth telling while a step runs.
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
        /// How many more.
        amount: u64,
    },
    /// A figure that changes as the step goes on, such as a loss or a score.
    Figure {
        /// Its name.
        name: &'static str,
        /// Its present value.
        value: f64,
    },
    /// Something unusual that is not an error.
    Warning(&'a str),
}

/// A game that is being played, for people who look on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glimpse {
    /// The game's number in its step.
    pub number: u32,
    /// The FEN of the position that it begins with.
    pub start: String,
    /// The moves so far, packed as in tables.
    pub moves: Vec<u16>,
}

/// Receives events and says when to stop. Called from several threads.
pub trait Observer: Sync {
    /// Takes note of an event.
    fn event(&self, event: Event<'_>);

    /// Takes a glimpse of the game of a number, if it wants one: stages offer one after each batch, and making it takes time.
    fn look_on(&self, number: u32, glimpse: &dyn Fn() -> Glimpse) {
        let _ = (number, glimpse);
    }

    /// Whether the user asked to stop; stages look between batches and then return [`Cancelled`].
    fn is_cancelled(&self) -> bool {
        false
    }

    /// An error where [`Observer::is_cancelled`].
    fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The user asked to stop; everything finished so far is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("stopped on request")]
pub struct Cancelled;

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: Event<'_>) {}
}
