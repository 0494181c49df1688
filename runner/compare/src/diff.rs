//! `dc0-run diff`: compares two runs: their scripts, parameters, steps and results, and where they diverge.

mod json;
mod loaded;
mod reasons;
mod results;
mod rows;
mod steps;
mod text;

use std::path::{Path, PathBuf};

use clap::Args;
use dc0_core::store::StoreError;
use thiserror::Error;

pub use json::steps as json_of_steps;
pub use loaded::{Loaded, MadeBy, Step};
pub use reasons::Reason;
pub use steps::{Comparison, Pair, Side, Sides, pairs};
pub use text::{describe, divergence};

use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::{Console, OutputFormat};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::{Folder, FolderKind, RunError};

/// Which runs `diff` compares.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The folder of a run, or its name in datasets/; the run may be in progress.
    #[arg(value_name = "RUN")]
    pub first: String,
    /// The run that is compared with it.
    #[arg(value_name = "RUN")]
    pub second: String,
    /// Output format: text for people, or one JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// Why runs cannot be compared.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CompareError {
    #[error(
        "\"{name}\" is neither the folder of a run nor the name of one in datasets/; expected a folder with a run.json"
    )]
    Unknown { name: String },
    #[error(
        "{} is a sweep, but a run is needed; name one of its trials, such as {}, or open trials.parquet for all of them",
        .folder.display(), .folder.join("trials").join("0000-0").display()
    )]
    Sweep { folder: PathBuf },
    /// A run's record, journal or manifests cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Fault for CompareError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } | Self::Sweep { .. } => Exit::BadInput,
            Self::Run(error) => error.exit(),
            Self::Store(_) => Exit::Storage,
        }
    }
}

/// The folder of an existing run, as named on the command line.
pub fn run_folder(name: &str) -> Result<Folder, CompareError> {
    let named = |kind| Folder::named(Path::new("datasets"), Path::new(name), &[kind]);
    if let Some((folder, _)) = named(FolderKind::Sweep) {
        return Err(CompareError::Sweep { folder });
    }
    let (found, _) = named(FolderKind::Run).ok_or_else(|| CompareError::Unknown { name: name.to_owned() })?;
    Ok(Folder::canonical(&found)?)
}

impl Command for DiffArgs {
    const NAME: &'static str = "diff";
    const ABOUT: &'static str = "Compare two runs: script, parameters, machine, steps, results and costs. Exit code 1 if the results differ";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        Ok(if compared(self, &program.console)? { Exit::Done } else { Exit::Failed })
    }
}

/// Whether the results are the same.
fn compared(args: &DiffArgs, console: &Console) -> Result<bool, CompareError> {
    let load = |name: &String| {
        let loaded = Loaded::read(name, run_folder(name)?)?;
        loaded.check_files()?;
        Ok::<_, CompareError>(loaded)
    };
    let (first, second) = (load(&args.first)?, load(&args.second)?);
    let sides = Sides { first: &first, second: &second };
    let pairs = pairs(&sides);
    let page = match args.format {
        OutputFormat::Text => text::page(&sides, &pairs)?,
        OutputFormat::Json => json::page(&sides, &pairs)?.to_string(),
    };
    console.result(&page);
    Ok(pairs.iter().all(Pair::is_same))
}
