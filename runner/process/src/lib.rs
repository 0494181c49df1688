//! What every command of the program has around it: the terminal, the clock, Ctrl-C, logs, and how it ends.

pub mod clock;
pub mod command;
pub mod console;
pub mod exit;
pub mod fault;
pub mod figures;
pub mod interrupt;
pub mod logging;
pub mod look;
pub mod resources;
