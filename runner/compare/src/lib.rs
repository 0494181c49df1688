//! Runs compared with each other, done again, and shown game by game.

pub mod diff;
pub mod replay;
pub mod reproduce;
