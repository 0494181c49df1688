//! The program's commands: each implements [`Command`], in whichever crate it lives.

use std::sync::Arc;

use clap::{ArgMatches, Args};
use log::LevelFilter;

use crate::console::Console;
use crate::exit::Exit;
use crate::fault::{Fault, chain};
use crate::interrupt::Interrupt;
use crate::logging::{self, LogFile};

/// Why a command failed: the message for the user, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What happened, including the chain of causes.
    pub message: String,
}

impl Failure {
    /// A failure without an error type of its own.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }
}

impl<F: Fault> From<F> for Failure {
    fn from(fault: F) -> Self {
        Self::new(fault.exit(), chain(&fault))
    }
}

/// One command: its arguments are the type's fields.
pub trait Command: Args {
    /// Its name on the command line.
    const NAME: &'static str;

    /// What it does, as one line of `--help`.
    const ABOUT: &'static str;

    /// Runs the command. A failure is shown to the user as an error.
    fn run(&self, program: &Program) -> Result<Exit, Failure>;
}

/// The process that a command runs in.
#[derive(Debug)]
pub struct Program {
    /// The terminal.
    pub console: Arc<Console>,
}

impl Program {
    /// Shows warnings on the terminal, for a command that has no other use for a log.
    pub fn show_warnings(&self) -> Result<(), Failure> {
        let started = logging::start(LevelFilter::Warn, &self.console);
        started
            .map(|_| ())
            .map_err(|cause| Failure::new(Exit::Failed, format!("cannot start logging: {cause}")))
    }

    /// Starts logging and listening for Ctrl-C.
    pub fn start(&self, level: LevelFilter) -> Result<Process, Failure> {
        let failed = |message| Failure::new(Exit::Failed, message);
        let log_file = logging::start(level, &self.console)
            .map_err(|cause| failed(format!("cannot start logging: {cause}")))?;
        let interrupt = Interrupt::default();
        let console = Arc::clone(&self.console);
        interrupt
            .listen(move |text| console.note(text))
            .map_err(|cause| failed(format!("cannot listen for Ctrl-C: {cause}")))?;
        Ok(Process { console: Arc::clone(&self.console), interrupt, log_file })
    }
}

/// The parts of the process that long work uses.
#[derive(Debug, Clone)]
pub struct Process {
    /// The terminal.
    pub console: Arc<Console>,
    /// Whether the user has requested a stop.
    pub interrupt: Interrupt,
    /// The log file of the run.
    pub log_file: LogFile,
}

/// A command in the program's list.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its part of the command line.
    pub arguments: fn() -> clap::Command,
    /// Reads its arguments and runs it.
    pub run: fn(&ArgMatches, &Program) -> Result<Exit, Failure>,
}

/// The entry of a command.
pub const fn entry<C: Command>() -> Entry {
    Entry {
        name: C::NAME,
        arguments: || C::augment_args(clap::Command::new(C::NAME)).about(C::ABOUT),
        run: |matches, program| match C::from_arg_matches(matches) {
            Ok(command) => command.run(program),
            // clap has already checked the arguments, so this only happens if the command's own reader rejects them.
            Err(error) => error.exit(),
        },
    }
}
