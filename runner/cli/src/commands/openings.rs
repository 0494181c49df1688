//! `dc0-run openings`: makes a book of balanced random openings.

use std::io;
use std::path::PathBuf;

use clap::Args;
use dc0_backend::cores;
use dc0_core::arena::{BookError, RandomBookParams, generate_book};
use dc0_core::durable;
use dc0_core::event::Observer;
use dc0_core::params::{ParamErrors, Value, read};
use dc0_core::rng::Seed;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_steps::progress::{Amount, StepProgress};
use log::LevelFilter;
use thiserror::Error;

/// The openings that are made.
#[derive(Debug, Args)]
pub(super) struct OpeningsArgs {
    /// The EPD file to write; an existing one is replaced.
    #[arg(long, value_name = "FILE.epd")]
    pub out: PathBuf,
    /// Seed of the random moves. Equal arguments give equal files.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Openings, each of another position.
    #[arg(long, value_name = "N", default_value_t = RandomBookParams::default().count)]
    pub count: u32,
    /// Where the openings begin: `standard`, or at random starts of `chess960` or `double-chess960`.
    #[arg(long, value_name = "START", default_value = RandomBookParams::default().start.name())]
    pub start: String,
    /// Random legal moves from there.
    #[arg(long, value_name = "N", default_value_t = RandomBookParams::default().plies)]
    pub plies: u32,
    /// Alpha-beta searches of 1 to this many plies judge each opening.
    #[arg(long, value_name = "PLIES", default_value_t = RandomBookParams::default().depth)]
    pub depth: u32,
    /// The largest score for either side that every search may find, in centipawns.
    #[arg(long, value_name = "CENTIPAWNS", default_value_t = RandomBookParams::default().max_score)]
    pub max_score: u32,
}

/// No book was written.
#[derive(Debug, Error)]
enum OpeningsError {
    #[error(transparent)]
    Params(#[from] ParamErrors),
    #[error("--out {} does not end in .epd, which is how a match knows the format of a book", .0.display())]
    Ending(PathBuf),
    #[error(transparent)]
    Book(#[from] BookError),
    #[error("cannot write {}: {source}", file.display())]
    Write { file: PathBuf, source: io::Error },
}

impl Fault for OpeningsError {
    fn exit(&self) -> Exit {
        match self {
            Self::Params(_) | Self::Ending(_) | Self::Book(BookError::TooFew { .. }) => Exit::BadInput,
            Self::Book(BookError::Cancelled(_)) => Exit::Interrupted,
            Self::Write { .. } => Exit::Storage,
        }
    }
}

impl Command for OpeningsArgs {
    const NAME: &'static str = "openings";
    const ABOUT: &'static str = "Make a book of random openings that a shallow search finds balanced";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let process = program.start(LevelFilter::Info)?;
        let amount = Amount { unit: "openings", done: 0, total: self.count.into() };
        let progress =
            StepProgress::new(&process.console, &process.interrupt, "openings", None, amount, None);
        let written = self.write(&progress);
        progress.close();
        program.console.result(&written?);
        Ok(Exit::Done)
    }
}

impl OpeningsArgs {
    /// Writes the book and says what was written.
    fn write(&self, observer: &dyn Observer) -> Result<String, OpeningsError> {
        let params = self.params()?;
        if self.out.extension().is_none_or(|ending| ending != "epd") {
            return Err(OpeningsError::Ending(self.out.clone()));
        }
        let seed = Seed { run: self.seed, step: 0 };
        let book = generate_book(&params, seed, cores(), observer)?;
        let content: String = book.iter().map(|epd| format!("{epd}\n")).collect();
        let written = durable::write(&self.out, content.as_bytes());
        written.map_err(|source| OpeningsError::Write { file: self.out.clone(), source })?;
        Ok(format!("wrote    {}: {} openings", self.out.display(), book.len()))
    }

    fn params(&self) -> Result<RandomBookParams, ParamErrors> {
        let given = [
            ("count", self.count),
            ("plies", self.plies),
            ("depth", self.depth),
            ("max_score", self.max_score),
        ];
        let given = given.map(|(name, number)| (name.to_owned(), Value::Int(number.into())));
        let start = ("start".to_owned(), Value::Text(self.start.clone()));
        read("openings", &Value::Group(given.into_iter().chain([start]).collect()))
    }
}
