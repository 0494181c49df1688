//! What all commands of the program share: the terminal, the clock, Ctrl-C, logging and exit codes.

pub mod clock;
pub mod command;
pub mod console;
pub mod exit;
pub mod fault;
pub mod folders;
pub mod format;
pub mod interrupt;
pub mod logging;
pub mod resources;
pub mod style;
