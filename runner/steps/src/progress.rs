//! What the user sees while a script runs: bars on a terminal, one line for each finished step, results on stdout.

mod bars;
mod file;
pub mod lines;

pub use bars::StepProgress;
pub use file::{FILE, Playing, Standing};
