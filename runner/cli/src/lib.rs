//! The program `dc0-run`: runs a script, or one of the commands.

mod command_line;
mod commands;
mod openmp;
mod utf8;

use std::io::{BufRead, ErrorKind, IsTerminal, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use dc0_process::command::{Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_script::args::ScriptArgs;
use dc0_script::{launch, watchdog};

use command_line::Task;

/// The whole program: reads the command line and runs the script or command.
pub fn main() -> ExitCode {
    // Before anything is read, and before the first thread.
    openmp::let_waiting_threads_sleep();
    let refused = |problem| fail(&Console::new(), &Failure::new(Exit::BadInput, problem)).into();
    if let Err(problem) = utf8::check_arguments(std::env::args_os()) {
        return refused(problem);
    }
    let task = if is_run_as_engine() {
        command_line::read(["dc0-run", "uci"].map(Into::into))
    } else {
        command_line::read(std::env::args_os())
    };
    let task = match task {
        Ok(task) => task,
        Err(said) => return explain(&said),
    };
    if let Err(problem) = utf8::check_working_folder() {
        return refused(problem);
    }
    if let Some(path) = std::env::var_os("DC0_DUCKDB").filter(|path| !path.is_empty()) {
        dc0_analysis::use_duckdb(path.into());
    }
    let program = Program { console: Arc::new(Console::new()) };
    let result = match &task {
        Task::Command(entry, matches) => (entry.run)(matches, &program),
        Task::Script(args) => run_script(args, &program),
    };
    let exit = result.unwrap_or_else(|failure| fail(&program.console, &failure));
    match program.console.take_failure() {
        // A reader such as `head` has all that it wants.
        Some(cause) if cause.kind() == ErrorKind::BrokenPipe => exit.into(),
        Some(cause) if exit == Exit::Done => fail(&program.console, &lost(&cause)).into(),
        _ => exit.into(),
    }
}

/// Prints the program's own help, or what is wrong with the command line.
fn explain(said: &clap::Error) -> ExitCode {
    match said.print().and_then(|()| std::io::stdout().flush()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe && !said.use_stderr() => {
            fail(&Console::new(), &lost(&cause)).into()
        }
        _ => if said.use_stderr() { Exit::BadInput } else { Exit::Done }.into(),
    }
}

fn lost(cause: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("some output was lost: {cause}"))
}

/// Whether a chess GUI has started this program: without arguments, talking through a pipe.
fn is_run_as_engine() -> bool {
    let input = std::io::stdin();
    let has_input = || input.lock().fill_buf().is_ok_and(|bytes| !bytes.is_empty());
    std::env::args_os().len() == 1 && !input.is_terminal() && has_input()
}

/// Runs a script.
pub(crate) fn run_script(args: &ScriptArgs, program: &Program) -> Result<Exit, Failure> {
    let process = program.start(args.run.log.into())?;
    watchdog::start(&args.run, &process.interrupt, &process.console)
        .map_err(|cause| Failure::new(Exit::Failed, format!("cannot watch over time and disk: {cause}")))?;
    Ok(launch::launch(args, &command_line::script_options(), &process))
}

fn fail(console: &Console, failure: &Failure) -> Exit {
    console.note(&format!("error: {}", failure.message));
    failure.exit
}
