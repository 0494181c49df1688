//! `dc0-run uci`: the engine that chess programs talk to (the Universal Chess Interface).
//!
//! Three kinds of threads: the session reads lines and never waits for a search; the thinker runs one search after another;
//! workers evaluate, each with a copy of the net. With `SearchMode alphabeta` or `material` the thinker searches by itself, without workers. docs/guides/uci.md says what users see.

mod alphabeta;
mod args;
mod engine;
mod inspect;
mod log;
mod move_stats;
mod notation;
mod options;
pub(crate) mod output;
pub mod parse;
mod report;
mod session;
mod signal;
mod thinker;
pub mod time;
mod watch;
mod workers;

use std::io::{self, Write};

use dc0_core::network::EvaluatorError;
use thiserror::Error;

use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use workers::Pool;

pub use alphabeta::alphabeta_bench;
pub use args::UciArgs;
pub use engine::{Engine, MoveLine, SearchResult};
use options::MODEL;
pub use options::{Settings, SettingsError, SettingsNote};
pub use session::session;

/// The output of `bench` with the shipped net on one thread.
pub fn bench() -> Result<String, BenchError> {
    let settings = Settings::new(None)?;
    Ok(inspect::bench(&Pool::new(&settings)?, &settings)?)
}

/// Why [`bench`] failed.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BenchError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
}

impl Command for UciArgs {
    const NAME: &'static str = "uci";
    const ABOUT: &'static str = "Play as an engine in a chess program, which talks to it on stdin and stdout; so does `dc0-run` without arguments in a pipe";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.show_warnings()?;
        let settings = settings(self)?;
        let output: Box<dyn Write + Send> = Box::new(io::stdout());
        match session(&mut io::stdin().lock(), output, settings) {
            // A reader such as `head` has all that it wants.
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
                let message = format!("cannot read from or write to the chess program: {cause}");
                Err(Failure::new(Exit::Failed, message))
            }
            _ => Ok(Exit::Done),
        }
    }
}

/// The settings from the command line. The net is chosen first, whose heads decide about some options.
pub(crate) fn settings(args: &UciArgs) -> Result<Settings, SettingsError> {
    let mut settings = Settings::new(args.net.onnxruntime.clone())?;
    let named = [
        ("Backend", args.net.backend.map(|backend| backend.name().to_owned())),
        ("Device", args.net.device.clone()),
        (MODEL, args.net.net.clone()),
    ];
    let given = args.options.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let (net, others): (Vec<_>, Vec<_>) =
        named.chain(given).partition(|(name, _)| name.eq_ignore_ascii_case(MODEL));
    for (name, value) in net.into_iter().chain(others) {
        settings.set(name, &value)?;
    }
    settings.check_effects()?;
    Ok(settings)
}
