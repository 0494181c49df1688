//! What the program can be told to do: each command is one value of [`Command`], wherever its code lies.

use std::sync::Arc;

use clap::{ArgMatches, Args};
use dc0_core::network::torch::runtime::Prepared;
use log::LevelFilter;

use crate::console::Console;
use crate::exit::Exit;
use crate::fault::{Fault, chain};
use crate::interrupt::Interrupt;
use crate::logging::{self, LogFile};

/// Why a command did not end well: what the user reads, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What happened, the chain of causes included.
    pub message: String,
}

impl Failure {
    /// A failure that no error type stands for.
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
    /// What the command line calls it.
    const NAME: &'static str;

    /// What it does, in a line of `--help`.
    const ABOUT: &'static str;

    /// Whether libtorch's threads sleep while they wait for each other. The program starts itself again for that, so commands that
    /// are to start at once, or calculate with one thread, go without.
    const SLEEPING_THREADS: bool = true;

    /// Does it. A failure is shown to the user as an error.
    fn run(&self, program: &Program) -> Result<Exit, Failure>;
}

/// The process that a command runs in.
#[derive(Debug)]
pub struct Program {
    /// The terminal.
    pub console: Arc<Console>,
    /// What was made ready before the first thread and the first net.
    pub prepared: Prepared,
}

impl Program {
    /// Starts to log and to listen for Ctrl-C.
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

/// What long work needs of the process that it runs in.
#[derive(Debug, Clone)]
pub struct Process {
    /// The terminal.
    pub console: Arc<Console>,
    /// Whether the user asked to stop.
    pub interrupt: Interrupt,
    /// Where the run's log goes.
    pub log_file: LogFile,
}

/// A command as the program's list holds it.
pub struct Entry {
    /// What the command line calls it.
    pub name: &'static str,
    /// Whether libtorch's threads sleep while they wait.
    pub sleeping_threads: bool,
    /// Its part of the command line.
    pub arguments: fn() -> clap::Command,
    /// Reads its arguments and does it.
    pub run: fn(&ArgMatches, &Program) -> Result<Exit, Failure>,
}

/// The entry of a command.
pub const fn entry<C: Command>() -> Entry {
    Entry {
        name: C::NAME,
        sleeping_threads: C::SLEEPING_THREADS,
        arguments: || C::augment_args(clap::Command::new(C::NAME)).about(C::ABOUT),
        run: |matches, program| match C::from_arg_matches(matches) {
            Ok(command) => command.run(program),
            // clap has checked the arguments already, so this is for a command whose own reader refuses them.
            Err(error) => error.exit(),
        },
    }
}
