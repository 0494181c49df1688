//! What the user sees while a script runs: bars on a terminal, and a file that the live view reads.

mod bars;
mod file;

pub use bars::{Amount, StepProgress};
pub use file::{FILE, StepStatus};
