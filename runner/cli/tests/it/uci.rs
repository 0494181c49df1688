//! The UCI engine over pipes, as a chess GUI sees it.

mod check;
mod compliance;
mod conversation;
mod endings;
mod engine;
mod faults;
mod moves;
