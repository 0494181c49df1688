//! What all commands of the program share: the terminal, the clock, Ctrl-C, logging and exit codes.

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
