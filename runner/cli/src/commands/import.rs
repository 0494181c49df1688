//! `dc0-run import`: makes a dataset of games from outside, as the run of a script that the command writes.

mod args;
mod card;
mod stdin;

use std::path::{Path, PathBuf};

use dc0_backend::Backend;
use dc0_core::import::{GameFormat, Source, SourceError};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::{Folder, Record, RunError, StepKind};
use dc0_script::args::{RunArgs, ScriptArgs};
use dc0_steps::kinds::import_sources;
use thiserror::Error;

pub(crate) use args::ImportArgs;
use args::{DatasetArgs, ImportFormat, options};

use super::players::text;
use crate::run_script;

/// The name of the script that makes a dataset.
const SCRIPT: &str = "import.rhai";

/// Why nothing was imported.
#[derive(Debug, Error)]
enum ImportError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("--out {} has no name; give the folder of the dataset, such as datasets/lichess", .0.display())]
    NoName(PathBuf),
    #[error("--out {} is a file; give the folder of the dataset", .0.display())]
    File(PathBuf),
    #[error("{} is a run of {script}, not a dataset; give --out another folder", folder.display())]
    Run { folder: PathBuf, script: String },
    #[error(
        "{} is a dataset of other files or options: it was made with {}, and this command has {}; give the same as before, or --out \
         another folder",
        folder.display(),
        listed(before),
        listed(now)
    )]
    Other { folder: PathBuf, before: Vec<String>, now: Vec<String> },
    #[error("--max-elo {most} must not be below --min-elo {least}")]
    Elo { least: u32, most: u32 },
    #[error("standard input is named more than once")]
    TwoInputs,
    #[error("cannot read standard input: {0}")]
    Input(std::io::Error),
    #[error("standard input is a terminal; pipe games into the command, or give a file instead of -")]
    Terminal,
    #[error(transparent)]
    RunFolder(#[from] RunError),
}

fn listed(lines: &[String]) -> String {
    if lines.is_empty() { "nothing else".to_owned() } else { lines.join(", ") }
}

impl Fault for ImportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Source(SourceError::Read { .. } | SourceError::Damaged { .. }) | Self::Input(_) => {
                Exit::Storage
            }
            Self::RunFolder(error) => error.exit(),
            _ => Exit::BadInput,
        }
    }
}

impl Command for ImportArgs {
    const NAME: &'static str = "import";
    const ABOUT: &'static str = "Make a dataset of games from PGN files or training data of Leela Chess Zero, to train on and to query; \
        the same command resumes it";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        match &self.format {
            ImportFormat::Pgn(args) => {
                // Checked here as well as by the step, so that nothing is left behind in the folder.
                if let (Some(least), Some(most)) = (args.min_elo, args.max_elo)
                    && most < least
                {
                    return Err(ImportError::Elo { least, most }.into());
                }
                import(&StepKind::IMPORT_PGN, &args.files, &args.params(), &args.dataset, program)
            }
            ImportFormat::Lc0(args) => {
                import(&StepKind::IMPORT_LC0, &args.files, &args.params(), &args.dataset, program)
            }
        }
    }
}

fn import<F: GameFormat>(
    kind: &StepKind,
    files: &[PathBuf],
    params: &F,
    args: &DatasetArgs,
    program: &Program,
) -> Result<Exit, Failure> {
    let (parent, name) = folder_of(&args.out)?;
    let folder = Folder::of_run(&parent, &name).map_err(ImportError::from)?;
    // Standard input may be large, so what is refused without it comes first.
    recorded_script(&folder)?;
    let input = stdin::kept(files, &parent, &name)?;
    let paths = input.as_ref().map_or_else(|| files.to_owned(), |input| input.paths(files));
    let sources = import_sources::<F>(&paths).map_err(ImportError::from)?;
    let script = script(kind.name, &name, &sources, &options(params));
    check_folder(&folder, &script)?;
    if args.script {
        program.console.result(script.trim_end());
        return Ok(Exit::Done);
    }
    let exit = run_script(&script_args(args, &parent, script), program)?;
    if exit == Exit::Done && !args.check {
        for line in card::write(&folder, &name, &args.license)? {
            program.console.note(&line);
        }
    }
    Ok(exit)
}

/// The folder that holds a dataset, and the dataset's name.
fn folder_of(out: &Path) -> Result<(PathBuf, String), ImportError> {
    let no_name = || ImportError::NoName(out.to_owned());
    let name = out.file_name().ok_or_else(no_name)?.to_string_lossy().into_owned();
    if out.is_file() {
        return Err(ImportError::File(out.to_owned()));
    }
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((parent.to_owned(), name))
}

/// The script that imports. Files have their names and digests beside them, so that others are noticed.
fn script(function: &str, name: &str, sources: &[Source], options: &[String]) -> String {
    let mut lines = vec![format!("let run = open_run({});", text(name)), format!("run.{function}([")];
    for source in sources {
        let path = text(&source.path.display().to_string());
        lines.push(format!("    {path}, // {} blake3 {}", text(&source.name), source.digest));
    }
    lines.push("], #{".to_owned());
    lines.extend(options.iter().map(|option| format!("    {option},")));
    lines.push("});".to_owned());
    lines.join("\n") + "\n"
}

/// What decides the dataset of a script: files by name and digest, and options.
fn essence(script: &str) -> Vec<String> {
    let line = |line: &str| {
        let line = line.split_once(" // ").map_or(line, |(_, file)| file);
        line.trim().trim_end_matches(',').to_owned()
    };
    script.lines().map(line).collect()
}

/// The script of the dataset in a folder, finished or not; an error if it is another run.
fn recorded_script(folder: &Folder) -> Result<Option<String>, ImportError> {
    if !folder.is_run() {
        return Ok(None);
    }
    let Some(record) = Record::read(folder)? else { return Ok(None) };
    if record.script.file != SCRIPT {
        return Err(ImportError::Run { folder: folder.root().to_owned(), script: record.script.file });
    }
    Ok(Some(record.script.text))
}

/// An error if the folder holds something else than this dataset, finished or not.
fn check_folder(folder: &Folder, script: &str) -> Result<(), ImportError> {
    let Some(recorded) = recorded_script(folder)? else { return Ok(()) };
    let (before, now) = (essence(&recorded), essence(script));
    let missing_in = |lines: &[String], from: &[String]| -> Vec<String> {
        from.iter().filter(|line| !lines.contains(line)).cloned().collect()
    };
    if before == now {
        return Ok(());
    }
    let (only_before, only_now) = (missing_in(&now, &before), missing_in(&before, &now));
    let in_other_order = only_before.is_empty() && only_now.is_empty();
    let files = |lines: Vec<String>| {
        if in_other_order { vec!["its files in another order".to_owned()] } else { lines }
    };
    Err(ImportError::Other { folder: folder.root().to_owned(), before: files(only_before), now: only_now })
}

fn script_args(args: &DatasetArgs, parent: &Path, script: String) -> ScriptArgs {
    let run = RunArgs {
        device: Some("cpu".to_owned()),
        // No net plays, so none has to be measured.
        backend: Some(Backend::Torch),
        out: parent.to_owned(),
        check: args.check,
        format: args.format,
        lanes: args.lanes,
        max_hours: args.max_hours,
        max_disk: args.max_disk,
        log: args.log,
        ..RunArgs::default()
    };
    ScriptArgs::written(SCRIPT, script, run)
}

#[cfg(test)]
mod tests {
    use super::essence;

    #[test]
    fn datasets_are_compared_by_names_digests_and_options_but_not_by_paths() {
        let script = |path: &str, elo: u32| {
            format!(
                "run.import_pgn([\n    {path:?}, // \"x.pgn\" blake3 ab\n], #{{\n    min_elo: {elo},\n}});\n"
            )
        };
        assert_eq!(essence(&script("x.pgn", 1)), essence(&script("./x.pgn", 1)));
        assert_ne!(essence(&script("x.pgn", 1)), essence(&script("x.pgn", 2)));
    }
}
