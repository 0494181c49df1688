//! Programs that play chess, as players of matches.
//!
//! An [`Opponent`] is a program that was found, started once and identified; [`Opponent::start`] gives a player behind
//! [`dc0_core::arena::Program`]. Whatever the program does, a game ends with a move or a forfeit, and nothing of it stays when the
//! player is dropped. dc0's own alpha-beta search is such a player, too, without a process.

mod error;
mod executable;
mod opponent;
mod options;
mod params;
mod player;
mod process;
mod searcher;
mod setup;
mod uci;
mod xboard;

pub use error::OpponentError;
pub use executable::installed;
pub use opponent::Opponent;
pub use params::{ClockParams, ProgramOptions, UciParams, XboardParams};
pub use searcher::alphabeta_with;
