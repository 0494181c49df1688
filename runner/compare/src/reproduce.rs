//! `dc0-run reproduce`: repeats a run from its folder and compares the results file by file.

mod report;
mod rerun;
mod stage;

use std::path::PathBuf;

use clap::Args;
use thiserror::Error;

use crate::diff::{CompareError, Loaded, Pair, Sides, pairs, run_folder};
use dc0_backend::BackendError;
use dc0_process::command::{Command, Failure, Process, Program};
use dc0_process::console::OutputFormat;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::{Folder, FolderKind, RunError};
use rerun::Outcome;
use stage::Stage;

/// Which run `reproduce` repeats, and how.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// The folder of a run, or its name in datasets/. Nothing in it is changed.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The folder of the reproduction; kept [default: RUN.reproduced beside the run, removed if all is the same].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the default folder even if all is the same.
    #[arg(long)]
    pub keep: bool,
    /// Threads that play games; changes no result [default: the number of cores; on other devices up to 8 for each].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// ONNX Runtime's library, or its folder [default: the checkout's, or found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Output format: text for people, or one JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// Why a run cannot be reproduced.
#[derive(Debug, Error)]
enum ReproduceError {
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(
        "{} is a sweep, but `reproduce` takes a single run; run its script again into another folder with \
         `dc0-run {script} --out DIR --seed {seed} --threads {threads}`, and compare trials with `dc0-run diff`",
        .folder.display()
    )]
    Sweep { folder: PathBuf, script: String, seed: u64, threads: u32 },
    #[error(
        "{} is a trial of a sweep, which `reproduce` cannot repeat on its own; run the sweep's script again into another folder \
         (`dc0-run {script} --out DIR`), and compare the trials with `dc0-run diff`",
        .folder.display()
    )]
    Trial { folder: PathBuf, script: String },
    #[error("{} has no finished step, so there is nothing to reproduce", .folder.display())]
    Nothing { folder: PathBuf },
    #[error("{} is the run itself or inside it, and the run must not change; give another --out", .folder.display())]
    Itself { folder: PathBuf },
    #[error(
        "{} holds another run, made with {found}, not one with {expected}; give another --out, or remove it",
        .folder.display()
    )]
    Occupied { folder: PathBuf, found: String, expected: String },
    #[error(
        "{} is there already, and is not that of an interrupted reproduction; remove it, or give another --out",
        .folder.display()
    )]
    Present { folder: PathBuf },
}

impl Fault for ReproduceError {
    fn exit(&self) -> Exit {
        match self {
            Self::Compare(error) => error.exit(),
            Self::Run(error) => error.exit(),
            Self::Backend(_)
            | Self::Sweep { .. }
            | Self::Trial { .. }
            | Self::Nothing { .. }
            | Self::Itself { .. }
            | Self::Occupied { .. }
            | Self::Present { .. } => Exit::BadInput,
        }
    }
}

impl Command for ReproduceArgs {
    const NAME: &'static str = "reproduce";
    const ABOUT: &'static str =
        "Repeat a run from its folder and compare every file. Exit code 1 if one differs";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        Ok(reproduced(self, &program.start(log::LevelFilter::Warn)?)?)
    }
}

fn reproduced(args: &ReproduceArgs, process: &Process) -> Result<Exit, ReproduceError> {
    let original = original(args)?;
    let stage = Stage::prepare(args, &original)?;
    for note in report::notes(&original, &stage)? {
        process.console.note(&note);
    }
    if let Outcome::Ended(exit) = rerun::play(args, &original, &stage, process) {
        // What cannot be repeated leaves nothing to go on from.
        let is_empty = || Loaded::read(&args.run, stage.folder.clone()).is_ok_and(|run| run.steps.is_empty());
        if exit == Exit::BadInput && is_empty() {
            stage.remove()?;
        }
        return Ok(exit);
    }
    let reproduction = Loaded::read(&args.run, stage.folder.clone())?;
    let sides = Sides { first: &original, second: &reproduction };
    let pairs = pairs(&sides);
    let is_same = pairs.iter().all(Pair::is_same);
    let is_kept = args.keep || args.out.is_some() || !is_same;
    process.console.result(&match args.format {
        OutputFormat::Text => report::text(&sides, &pairs, is_kept)?,
        OutputFormat::Json => report::json(&sides, &pairs, is_kept)?.to_string(),
    });
    if is_kept { stage.finish() } else { stage.remove() }?;
    Ok(if is_same { Exit::Done } else { Exit::Failed })
}

fn original(args: &ReproduceArgs) -> Result<Loaded, ReproduceError> {
    let folder = match run_folder(&args.run) {
        Err(CompareError::Sweep { folder }) => return Err(sweep(folder)?),
        found => found?,
    };
    let loaded = Loaded::read(&args.run, folder)?;
    let root = loaded.folder.root().to_owned();
    if is_trial(&loaded.folder) {
        return Err(ReproduceError::Trial { folder: root, script: loaded.record.script.file });
    }
    if loaded.steps.is_empty() {
        return Err(ReproduceError::Nothing { folder: root });
    }
    Ok(loaded)
}

/// Whether a run is a trial: trials are in `SWEEP/trials/`.
fn is_trial(run: &Folder) -> bool {
    run.root().ancestors().nth(2).is_some_and(|sweep| Folder::at(sweep).kind() == Some(FolderKind::Sweep))
}

fn sweep(folder: PathBuf) -> Result<ReproduceError, RunError> {
    let record = SweepFolder::record_in(&Folder::canonical(&folder)?)?;
    let (script, seed, threads) = record.map_or_else(
        || ("SCRIPT.rhai".to_owned(), 1, 1),
        |record| (record.script, record.seed, record.threads),
    );
    Ok(ReproduceError::Sweep { folder, script, seed, threads })
}
