//! `dc0-run verify`: reads every file of runs and sweeps, and says everything that is damaged or contradicts itself.

mod folders;
mod step;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use thiserror::Error;

use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::OutputFormat;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::format::counted;
use dc0_runs::{Folder, FolderKind, RunError};

pub use folders::verify;

/// What `verify` reads.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Runs, sweeps, or folders of them such as datasets; each by its folder or its name in datasets/.
    #[arg(value_name = "RUN|SWEEP|FOLDER", required = true)]
    pub names: Vec<String>,
    /// Output format: text for people, or one JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// Why nothing can be said about a run.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum VerifyError {
    #[error(
        "\"{name}\" is neither a run or sweep nor a folder of them, nor the name of one in datasets/; expected a folder with a run.json or sweep.json"
    )]
    Unknown { name: String },
    /// A process is writing it, or it cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Fault for VerifyError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } => Exit::BadInput,
            Self::Run(error) => error.exit(),
        }
    }
}

/// What was found in a run or sweep.
#[derive(Debug, Default)]
pub struct Findings {
    /// Everything that is wrong, each with its file and what heals it.
    pub problems: Vec<String>,
    /// Finished steps, those of trials and superseded ones included.
    pub steps: u64,
    /// Steps that are not finished.
    pub unfinished: u64,
    /// Files that manifests list.
    pub files: u64,
    /// Games that were replayed.
    pub games: u64,
    /// Searched positions whose moves and figures were checked.
    pub positions: u64,
}

impl Command for VerifyArgs {
    const NAME: &'static str = "verify";
    const ABOUT: &'static str = "Check every file of runs and sweeps: digests, legality of moves, results and sums. Exit code 3 if something is damaged";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        // All names are looked up before the first run is read.
        let all = self.names.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?.concat();
        let verified = Verified::read(all, |root, findings| match findings {
            Ok(findings) if self.format == OutputFormat::Text => {
                program.console.result(&text(root, findings));
            }
            Ok(_) => {}
            Err(error) => program.console.note(&format!("error: {error}")),
        })?;
        if self.format == OutputFormat::Json {
            program.console.result(&verified.json().to_string());
        }
        Ok(verified.exit())
    }
}

/// What was found in runs and sweeps.
struct Verified {
    found: Vec<(PathBuf, Findings)>,
    /// Those that other processes are writing.
    locked: Vec<PathBuf>,
}

impl Verified {
    /// Reads runs and sweeps, and shows each of them at once.
    fn read(
        all: Vec<(PathBuf, FolderKind)>,
        show: impl Fn(&Path, Result<&Findings, &RunError>),
    ) -> Result<Self, VerifyError> {
        let mut verified = Self { found: Vec::new(), locked: Vec::new() };
        for (root, kind) in all {
            match verify(&Folder::at(&root), kind) {
                Ok(findings) => {
                    show(&root, Ok(&findings));
                    verified.found.push((root, findings));
                }
                Err(VerifyError::Run(error @ RunError::Locked { .. })) => {
                    show(&root, Err(&error));
                    verified.locked.push(root);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(verified)
    }

    fn json(&self) -> serde_json::Value {
        let runs: Vec<_> = self.found.iter().map(|(root, findings)| json(root, findings)).collect();
        let locked: Vec<_> = self.locked.iter().map(|root| root.display().to_string()).collect();
        json!({ "runs": runs, "being_written": locked })
    }

    fn exit(&self) -> Exit {
        if self.found.iter().any(|(_, findings)| !findings.problems.is_empty()) {
            Exit::Storage
        } else if self.locked.is_empty() {
            Exit::Done
        } else {
            Exit::Failed
        }
    }
}

/// The runs and sweeps of a name: one, or all in a folder.
fn named(name: &str) -> Result<Vec<(PathBuf, FolderKind)>, VerifyError> {
    let kinds = [FolderKind::Run, FolderKind::Sweep];
    if let Some(found) = Folder::named(Path::new("datasets"), Path::new(name), &kinds) {
        return Ok(vec![found]);
    }
    let mut children: Vec<PathBuf> =
        std::fs::read_dir(name).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    children.sort();
    let kind = |root: PathBuf| Folder::at(&root).kind().map(|kind| (root, kind));
    let found: Vec<_> = children.into_iter().filter_map(kind).collect();
    if found.is_empty() { Err(VerifyError::Unknown { name: name.to_owned() }) } else { Ok(found) }
}

/// One line about a run, and one for each problem.
fn text(root: &Path, findings: &Findings) -> String {
    let Findings { problems, steps, unfinished, files, games, positions } = findings;
    let count = |number: &u64, noun: &str| counted(*number as usize, noun);
    let read = format!(
        "{} with {}, {} and {} read",
        count(steps, "finished step"),
        count(files, "file"),
        count(games, "game"),
        count(positions, "position"),
    );
    let unfinished = if *unfinished > 0 { format!(", {unfinished} not finished") } else { String::new() };
    let verdict =
        if problems.is_empty() { "whole".to_owned() } else { count(&(problems.len() as u64), "problem") };
    let lines = problems.iter().map(|problem| format!("\n  {problem}"));
    format!("{}: {verdict}; {read}{unfinished}{}", root.display(), lines.collect::<String>())
}

fn json(root: &Path, findings: &Findings) -> serde_json::Value {
    let Findings { problems, steps, unfinished, files, games, positions } = findings;
    json!({
        "folder": root.display().to_string(), "problems": problems, "steps": steps, "unfinished": unfinished,
        "files": files, "games": games, "positions": positions,
    })
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    std::iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs::File;

    use dc0_process::exit::Exit;
    use dc0_runs::FolderKind;

    use super::Verified;

    #[test]
    fn a_run_that_is_being_written_does_not_hide_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let [locked, damaged] = ["a", "b"].map(|name| folder.path().join(name));
        for root in [&locked, &damaged] {
            std::fs::create_dir(root).expect("a folder");
            std::fs::write(root.join("run.json"), "not a record").expect("writes");
        }
        let lock = File::create(locked.join("run.lock")).expect("a file");
        lock.lock().expect("locks");
        let read = |roots: &[&std::path::PathBuf]| {
            let all = roots.iter().map(|root| ((*root).clone(), FolderKind::Run)).collect();
            let shown = RefCell::new(Vec::new());
            let verified = Verified::read(all, |_, findings| shown.borrow_mut().push(findings.is_ok()));
            let verified = verified.expect("is read");
            let runs = verified.json()["runs"].as_array().map(Vec::len);
            (verified.exit(), shown.into_inner(), runs)
        };
        assert_eq!(read(&[&locked, &damaged]), (Exit::Storage, vec![false, true], Some(1)));
        assert_eq!(read(&[&locked]), (Exit::Failed, vec![false], Some(0)));
    }
}
