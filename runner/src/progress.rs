//! What the user sees while a script runs: bars on a terminal, one line for each finished step, results on stdout.

mod bars;
mod console;
mod figures;
mod file;
pub mod lines;

pub use bars::StepProgress;
pub use console::Console;
pub use figures::{amount, duration};
pub use file::{FILE, Playing, Standing};
