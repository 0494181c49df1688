//! Compares runs, reproduces them, and replays their games.

pub mod diff;
pub mod replay;
pub mod reproduce;
