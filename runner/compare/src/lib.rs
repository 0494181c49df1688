//! Compares runs, reproduces them, replays their games, and verifies their files.

pub mod diff;
pub mod replay;
pub mod reproduce;
pub mod verify;
