//! The UCI engine over pipes, as a chess GUI sees it.

mod alphabeta;
mod check;
mod commands;
mod compliance;
mod engine;
mod moves;
mod reports;
mod stopping;
