//! The program `dc0-run`: command line, scripts, durable runs, progress.

pub mod backend;
pub mod bench;
pub mod check;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod doctor;
pub mod encode;
pub mod exit;
pub mod explain;
pub mod export;
pub mod help;
pub mod host;
pub mod inspect;
pub mod interrupt;
pub mod launch;
pub mod logging;
pub mod lsp;
pub mod net;
pub mod onnxruntime;
mod openmp;
pub mod play;
pub mod progress;
pub mod reference;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod resources;
pub mod run;
pub mod script;
pub mod serve;
pub mod speeds;
pub mod sql;
pub mod steps;
pub mod sweep;
pub mod tables;
pub mod uci;
pub mod watchdog;

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use dc0_core::network::torch::runtime::{self, Allocator};
use log::LevelFilter;

use cli::{Cli, Command};
use exit::Exit;
use interrupt::Interrupt;
use launch::Process;
use progress::Console;

/// polars panics on some statements and damaged files. Who asked gets the answer of its other engine or an error, so the panics
/// themselves are not shown.
fn leave_out_panics_of_polars() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.location().is_none_or(|place| !place.file().contains("polars-")) {
            shown(panic);
        }
    }));
}

/// The whole program: reads the command line and does what it says.
pub fn main() -> ExitCode {
    let cli = if is_plugged_in() { Cli::parse_from(["dc0-run", "uci"]) } else { help::parse() };
    // The engine's threads calculate alone, so none waits for another; chess programs want it to start at once.
    if !matches!(cli.command, Some(Command::Uci(_) | Command::Play(_) | Command::Sql(_))) {
        openmp::let_waiting_threads_sleep();
    }
    leave_out_panics_of_polars();
    // Before the first thread and the first net.
    let prepared = runtime::prepare(Allocator::KeepPages);
    let console = Arc::new(Console::new());
    let exit = match &cli.command {
        Some(Command::Doctor(args)) => doctor::doctor(args, &prepared, &console),
        Some(Command::Bench(args)) => bench::bench(args, &console),
        Some(Command::Inspect(args)) => inspect::inspect(args, &console),
        Some(Command::Export(args)) => export::export(args, &console),
        Some(Command::Encode(args)) => encode::encode(args, &console),
        Some(Command::Uci(args)) => uci::uci(args, &console),
        Some(Command::Diff(args)) => compare::diff(args, &console),
        Some(Command::Reproduce(args)) => {
            with_process(LevelFilter::Warn, &console, |process| reproduce::reproduce(args, process))
        }
        Some(Command::Replay(args)) => {
            with_process(LevelFilter::Warn, &console, |process| replay::replay(args, process))
        }
        Some(Command::Play(args)) => play::play(args, &console),
        Some(Command::Lsp(args)) => lsp::lsp(args, &console),
        Some(Command::Explain(args)) => explain::explain(args, &console),
        Some(Command::Serve(args)) => serve::serve(args, &console),
        Some(Command::Report(args)) => report::report(args, &console),
        Some(Command::Sql(args)) => sql::sql(args, &console),
        Some(Command::Docs(args)) => {
            console.result(&reference::markdown(args.page));
            Exit::Done
        }
        None => run_script(&cli, &console),
    };
    match console.take_failure() {
        Some(cause) if exit == Exit::Done => fail(&console, &format!("some output was lost: {cause}")).into(),
        _ => exit.into(),
    }
}

/// Whether a chess program has started this one: it gives no arguments, and talks through a pipe.
fn is_plugged_in() -> bool {
    let input = std::io::stdin();
    let has_input = || input.lock().fill_buf().is_ok_and(|read| !read.is_empty());
    std::env::args_os().len() == 1 && !input.is_terminal() && has_input()
}

/// Does what logs, and what Ctrl-C can stop.
fn with_process(level: LevelFilter, console: &Arc<Console>, act: impl FnOnce(&Process) -> Exit) -> Exit {
    let log_file = match logging::start(level, console) {
        Ok(log_file) => log_file,
        Err(cause) => return fail(console, &format!("cannot start logging: {cause}")),
    };
    let interrupt = Interrupt::default();
    let note = Arc::clone(console);
    if let Err(cause) = interrupt.listen(move |text| note.note(text)) {
        return fail(console, &format!("cannot listen for Ctrl-C: {cause}"));
    }
    act(&Process { console: Arc::clone(console), interrupt, log_file })
}

fn run_script(cli: &Cli, console: &Arc<Console>) -> Exit {
    with_process(cli.script.log.into(), console, |process| {
        match watchdog::start(&cli.script, &process.interrupt, console) {
            Ok(()) => launch::launch(&cli.script, process),
            Err(cause) => fail(console, &format!("cannot watch over time and disk: {cause}")),
        }
    })
}

fn fail(console: &Console, message: &str) -> Exit {
    console.note(&format!("error: {message}"));
    Exit::Failed
}
