//! Players that are programs of their own, seen from a match. The core starts no process and reads no clock; what implements
//! [`Program`] does.

use thiserror::Error;

use crate::board::{Fault, Game, Move};

/// A program that plays one game at a time.
///
/// A program that fails loses its game by a [`Forfeit`], and the next [`Program::begin`] starts it again.
pub trait Program: Send {
    /// Begins a game and forgets the last one. Starts the program if it does not run.
    fn begin(&mut self) -> Result<(), NotBegun>;

    /// Starts to think about the last position of a game, which is not over. `opponent` is the opponent's clock, if it has one.
    fn think(&mut self, game: &Game, opponent: Option<Clock>);

    /// Waits for the move for a tenth of a second at most; `None` if the program still thinks. Never called before
    /// [`Program::think`].
    fn answer(&mut self) -> Option<Result<Answer, Forfeit>>;

    /// Its clock, if it plays by one.
    fn clock(&self) -> Option<Clock>;
}

/// The clock of a player.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Seconds left.
    pub left: f64,
    /// Seconds that each move adds.
    pub increment: f64,
}

/// A program's move.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The move; it is legal.
    pub played: Move,
    /// Its evaluation in centipawns from its own side, as last reported; a mate in n moves is
    /// ±([`Scores::MATE`](crate::store::Scores::MATE) − n).
    pub score: Option<f64>,
    /// The depth that it last reported.
    pub depth: Option<u32>,
    /// The nodes that it last reported.
    pub nodes: Option<u64>,
    /// Wall-clock seconds from the request to the answer.
    pub seconds: f64,
}

/// A program did not begin a game.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotBegun {
    /// It loses the game.
    #[error(transparent)]
    Forfeit(#[from] Forfeit),
    /// It is not the program any more that the other games were played with, so nothing is played with it. In words, with what to do.
    #[error("{0}")]
    Changed(String),
}

/// A program lost a game, or failed at a puzzle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{detail}")]
pub struct Forfeit {
    /// Why.
    pub fault: Fault,
    /// What happened, in words; names the program.
    pub detail: String,
}
