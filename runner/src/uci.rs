//! `dc0-run uci`: the engine that chess programs talk to (the Universal Chess Interface).
//!
//! Three kinds of threads: the session reads lines and never waits for a search; the thinker takes one search after the other;
//! workers evaluate, each with a copy of the net. docs/guides/uci.md says what users see.

pub(crate) mod lines;
mod memory;
mod options;
mod output;
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
use dc0_core::search::suite::signature;
use thiserror::Error;

use crate::cli::UciArgs;
use crate::exit::Exit;
use crate::progress::Console;
use workers::Pool;

pub use options::{Settings, SettingsError};
pub use session::session;
pub(crate) use thinker::{Engine, Found, Told};

/// What `bench` says of the engine with the net in the program on one thread.
pub fn bench() -> Result<String, BenchError> {
    let settings = Settings::new(None)?;
    let speed = thinker::speed(&Pool::new(&settings)?, &settings)?;
    Ok(thinker::bench_line(signature()?, speed))
}

/// Why [`bench`] measured nothing.
#[derive(Debug, Error)]
pub enum BenchError {
    /// The engine cannot be set up.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An evaluator failed.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
}

/// Plays on stdin and stdout until `quit` or the end of the input.
pub fn uci(args: &UciArgs, console: &Console) -> Exit {
    let settings = match settings(args) {
        Ok(settings) => settings,
        Err(error) => {
            console.note(&format!("error: {error}"));
            return Exit::BadInput;
        }
    };
    match session(&mut io::stdin().lock(), Box::new(io::stdout()) as Box<dyn Write + Send>, settings) {
        Ok(()) => Exit::Done,
        Err(cause) => {
            console.note(&format!("error: the chess program cannot be read or written to: {cause}"));
            Exit::Failed
        }
    }
}

/// What the command line sets.
pub(crate) fn settings(args: &UciArgs) -> Result<Settings, SettingsError> {
    let mut settings = Settings::new(args.onnxruntime.clone())?;
    let named = [
        ("Backend", args.backend.map(|backend| backend.word().to_owned())),
        ("Device", args.device.clone()),
        ("DC0Model", args.net.clone()),
    ];
    let given = args.options.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
    for (name, value) in named.chain(given) {
        settings.set(name, &value)?;
    }
    Ok(settings)
}
