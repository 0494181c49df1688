//! Errors of opening a run or doing a step.

use std::io;
use std::path::{Path, PathBuf};

use dc0_core::store::StoreError;
use thiserror::Error;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// A run cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RunError {
    #[error(
        "{name:?} is not a valid name for a run; use letters, digits, `_`, `-` and `.`, at most 100 of them, not beginning with `-` or `.`"
    )]
    Name { name: String },
    #[error("the run {} is being written by {}; wait for it, or stop it first", .folder.display(), holder(*.pid))]
    Locked {
        folder: PathBuf,
        /// The other process, if its lock names it.
        pid: Option<u32>,
    },
    #[error("the run {} was made by {made_by}, not by {script}; give it another name, or --out another folder, or a renamed script its name back", .folder.display())]
    OtherScript { folder: PathBuf, made_by: String, script: String },
    #[error("the run {} has format version {found}, and this dc0-run knows {known}; use the newer dc0-run", .folder.display())]
    Newer { folder: PathBuf, found: u32, known: u32 },
    #[error("the run {} was created with {what} {fixed}, and {requested} was asked for; leave it out, or open another run", .folder.display())]
    Fixed { folder: PathBuf, what: &'static str, fixed: String, requested: String },
    #[error("{} is not empty and has no run.json; give it another name, or --out another folder", .folder.display())]
    NoRun { folder: PathBuf },
    #[error("{} holds no run, so no steps can be taken over from it; look at the names of runs beside this one", .folder.display())]
    Absent { folder: PathBuf },
    /// Steps of the other run would have other results here.
    #[error("steps of {} cannot be taken over: it plays and trains with {found}, and this run with {own}", .folder.display())]
    OtherEnvironment { folder: PathBuf, found: String, own: String },
    #[error("{name} cannot begin with itself; give the fork another name")]
    ForkSelf { name: String },
    #[error("the run {} exists and is not a fork; give the fork another name", .folder.display())]
    NoFork { folder: PathBuf },
    #[error("the run {} is a fork of {fixed}; open it with fork(…) as it was made, or give it another name", .folder.display())]
    IsFork {
        folder: PathBuf,
        /// The run and iteration that it begins with.
        fixed: String,
    },
    #[error("the run {} is a fork of {fixed}, and one of {requested} was asked for; give the new fork another name", .folder.display())]
    OtherFork {
        folder: PathBuf,
        /// The run and iteration that it begins with.
        fixed: String,
        requested: String,
    },
    #[error("the run {} cannot be forked at iteration {iteration}: {}", .folder.display(), iterations_done(*.finished))]
    ForkEarly { folder: PathBuf, iteration: u32, finished: usize },
    #[error("iteration {iteration} of the run {} is not finished: its {kind} is under way; let it finish first, or fork it at an earlier iteration", .folder.display())]
    ForkUnfinished { folder: PathBuf, iteration: u32, kind: String },
    #[error("the steps of {} up to iteration {iteration} are not those of one script ({what}); give the command of that run again until it ends, or fork it at an earlier iteration", .folder.display())]
    ForkMixed { folder: PathBuf, iteration: u32, what: String },
    #[error("{} belongs to a finished step, and is gone; put back a good copy, or give the run's command again, which does the step again", .path.display())]
    Lost { path: PathBuf },
    #[error("{} is gone, and a fork would begin with it; put back a good copy, or give the command of that run again", .path.display())]
    ForkLost { path: PathBuf },
    #[error("{} no longer has step {step}, which this run begins with and has not taken over yet; put that run back as it was, or give the fork another name", .folder.display())]
    ForkGone {
        folder: PathBuf,
        /// The step's short identity.
        step: String,
    },
    #[error("{} is not empty and has no sweep.json; give the sweep another name, or --out another folder", .folder.display())]
    NoSweep { folder: PathBuf },
    /// Trials of a sweep cannot run by themselves.
    #[error("the trials of {sweep} depend on each other: {what}")]
    Dependent {
        sweep: String,
        /// What depends on what, and what to do.
        what: String,
    },
    #[error("the sweep {} has no trial {trial} yet; `dc0-run sweep-slurm` and `dc0-run sweep-hq` choose the points of all trials first", .folder.display())]
    NoPoints { folder: PathBuf, trial: u32 },
    #[error("the script or its parameters have changed since the points of {} were chosen; give the command again that chose them", .folder.display())]
    PointsChanged { folder: PathBuf },
    #[error("trials of {} are being run by processes of their own, or it is being read; wait until they have ended, or stop them", .folder.display())]
    TrialsRunning { folder: PathBuf },
    #[error(
        "a script that runs in parts opens its sweep first, and this one opens a run; give its command without `sweep-slurm`, \
         `sweep-hq` or `--trial`, or open no run before the sweep"
    )]
    OnlySweeps,
    #[error("this script has no sweep; give its command without `sweep-slurm`, `sweep-hq` or `--trial`")]
    WithoutSweep,
    /// A bookkeeping file of the run is damaged.
    #[error("{} is damaged: {cause}; {remedy}", .path.display())]
    Damaged { path: PathBuf, cause: String, remedy: Remedy },
    #[error("the run {} has format version {found}, and this dc0-run knows {known}; use the dc0-run that made it, or open another run", .folder.display())]
    Older { folder: PathBuf, found: u32, known: u32 },
    #[error("the manifest of the step {step}, which journal.jsonl records as finished, is gone from {}; put back a good copy, or give the run's command again, which does the step again", .folder.display())]
    ManifestLost {
        /// The folder of manifests.
        folder: PathBuf,
        /// The step's short identity.
        step: String,
    },
    #[error("{} belongs to no step; delete it, or put back the manifest of its step", .path.display())]
    Stray { path: PathBuf },
    #[error("journal.jsonl is gone from {}, though steps are finished there; put back a good copy, or give the run's command again, which goes on without the record of its earlier events and times", .folder.display())]
    JournalLost { folder: PathBuf },
    #[error("{file} is gone from {}, and {journal} there says that it was written; put back a good copy, or remove the folder to start again", .folder.display())]
    RecordLost { folder: PathBuf, file: &'static str, journal: &'static str },
    #[error("shard {shard} was removed while its step ran: {} or a file that it lists is gone; give the run's command again, which does that shard again", .path.display())]
    ShardLost {
        shard: u32,
        /// Its note.
        path: PathBuf,
    },
    #[error("{} was removed or replaced while this process wrote to it, so what is there now is not whole; remove what is left of it, and give the same command again", .folder.display())]
    Removed { folder: PathBuf },
    #[error("{} belongs to a finished step, and has {found} bytes instead of {expected}; put back a good copy, or delete it to have the step done again", .path.display())]
    Changed { path: PathBuf, expected: u64, found: u64 },
    /// A table cannot be written, or files of another run have changed since they were written.
    #[error(transparent)]
    Table(#[from] StoreError),
    #[error("cannot {doing} {}", .path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
}

/// What heals a run of which a file is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing but a good copy of the file.
    Restore,
    /// The work that the file records is repeated without it.
    Repeat,
    /// The step of the manifest is done again without it.
    Step,
    /// One of two manifests of a step is removed when the run goes on.
    Repeated,
    /// The file is written again without it.
    Rewrite,
    /// The file is gone, and is written again.
    Missing,
    /// The run goes on without its past.
    Journal,
    /// The sweep finds what its trials have finished without its past.
    Trials,
}

impl Remedy {
    /// The error of a damaged file.
    pub fn damaged(self, path: &Path, cause: impl std::fmt::Display) -> RunError {
        RunError::Damaged { path: path.to_owned(), cause: cause.to_string(), remedy: self }
    }
}

impl std::fmt::Display for Remedy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Restore => "put back a good copy, or open another run",
            Self::Repeat => {
                "delete it and give the run's command again, which does again what this file stands for"
            }
            Self::Step => {
                "put back a good copy, or delete it and give the run's command again, which does that step again"
            }
            Self::Repeated => {
                "give the run's command again, which keeps the one that has the step's position in the script, or delete the other one"
            }
            Self::Rewrite => "delete it and give the run's command again, which writes it again",
            Self::Missing => "give the run's command again, which writes it again",
            Self::Journal => {
                "put back a good copy, or delete it: then the run goes on without the record of its events and times"
            }
            Self::Trials => {
                "put back a good copy, or delete it and give the sweep's command again, which finds what its trials have finished"
            }
        })
    }
}

/// The iterations at which a run can be forked, as a message states them.
fn iterations_done(finished: usize) -> String {
    match finished {
        0 => "it has finished none yet; run it further first".to_owned(),
        1 => "it has finished iteration 0 only".to_owned(),
        finished => format!("it has finished 0 to {}", finished - 1),
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("the process {pid}"))
}

impl RunError {
    /// A bookkeeping file of the run is damaged, and only a good copy of it helps.
    pub fn damaged(path: &Path, cause: impl std::fmt::Display) -> Self {
        Remedy::Restore.damaged(path, cause)
    }

    /// For `map_err` on an I/O operation.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { doing, path: path.to_owned(), cause }
    }
}

impl Fault for RunError {
    fn exit(&self) -> Exit {
        match self {
            Self::Name { .. }
            | Self::OtherScript { .. }
            | Self::Fixed { .. }
            | Self::NoRun { .. }
            | Self::Absent { .. }
            | Self::NoSweep { .. }
            | Self::ForkSelf { .. }
            | Self::NoFork { .. }
            | Self::IsFork { .. }
            | Self::OtherFork { .. }
            | Self::ForkEarly { .. }
            | Self::ForkUnfinished { .. }
            | Self::ForkMixed { .. }
            | Self::Dependent { .. }
            | Self::NoPoints { .. }
            | Self::PointsChanged { .. }
            | Self::OnlySweeps
            | Self::WithoutSweep
            | Self::OtherEnvironment { .. } => Exit::BadInput,
            Self::Locked { .. } | Self::TrialsRunning { .. } => Exit::Failed,
            Self::Newer { .. }
            | Self::Older { .. }
            | Self::Damaged { .. }
            | Self::ManifestLost { .. }
            | Self::Stray { .. }
            | Self::JournalLost { .. }
            | Self::RecordLost { .. }
            | Self::ShardLost { .. }
            | Self::Removed { .. }
            | Self::Changed { .. }
            | Self::Lost { .. }
            | Self::ForkLost { .. }
            | Self::ForkGone { .. }
            | Self::Table(_)
            | Self::Io { .. } => Exit::Storage,
        }
    }
}
