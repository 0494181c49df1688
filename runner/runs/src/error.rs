//! Why a run cannot be opened or a step cannot be done.

use std::io;
use std::path::{Path, PathBuf};

use dc0_core::store::StoreError;
use thiserror::Error;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// A run cannot be used.
#[derive(Debug, Error)]
pub enum RunError {
    /// The name is no name for a folder.
    #[error("\"{name}\" is no name for a run; use letters, digits, `_`, `-` and `.`, at most 100 of them")]
    Name {
        /// As the script gives it.
        name: String,
    },
    /// Another process writes the run.
    #[error("the run {} is being written by {}; wait for it, or stop it first", .folder.display(), holder(*.pid))]
    Locked {
        /// The run.
        folder: PathBuf,
        /// The other process, if it says.
        pid: Option<u32>,
    },
    /// The run belongs to another script.
    #[error("the run {} was made by {made_by}, not by {script}; give open_run another name, or --out another folder", .folder.display())]
    OtherScript {
        /// The run.
        folder: PathBuf,
        /// Its script.
        made_by: String,
        /// The script that is running.
        script: String,
    },
    /// The run was made by a newer program.
    #[error("the run {} has format version {found}, and this dc0-run knows {known}; use the newer dc0-run", .folder.display())]
    Newer {
        /// The run.
        folder: PathBuf,
        /// Its version.
        found: u32,
        /// The version this program writes.
        known: u32,
    },
    /// Something that is fixed when a run is created was asked for otherwise.
    #[error("the run {} was created with {what} {fixed}, and {asked} was asked for; leave it out, or open another run", .folder.display())]
    Fixed {
        /// The run.
        folder: PathBuf,
        /// What is fixed.
        what: &'static str,
        /// As the run was created.
        fixed: String,
        /// As asked for now.
        asked: String,
    },
    /// The folder holds something that is no run.
    #[error("{} is not empty and has no run.json; give open_run another name, or --out another folder", .folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no run to take steps over from.
    #[error("{} holds no run, so no steps can be taken over from it; look at the names of runs beside this one", .folder.display())]
    Absent {
        /// The folder.
        folder: PathBuf,
    },
    /// A run whose steps would not be the same here.
    #[error("steps of {} cannot be taken over: it plays and trains with {found}, and this run with {own}", .folder.display())]
    OtherEnvironment {
        /// The other run.
        folder: PathBuf,
        /// What it was created with.
        found: String,
        /// What this run has.
        own: String,
    },
    /// A fork with the name of the run that it begins with.
    #[error("{name} cannot begin with itself; give the fork another name")]
    ForkSelf {
        /// The name.
        name: String,
    },
    /// An existing run is opened as a fork and is none.
    #[error("the run {} is there and is no fork; give the fork another name", .folder.display())]
    NoFork {
        /// The run.
        folder: PathBuf,
    },
    /// A fork is opened as a run that begins with nothing.
    #[error("the run {} is a fork of {fixed}; open it with fork(…) as it was made, or give open_run another name", .folder.display())]
    IsFork {
        /// The run.
        folder: PathBuf,
        /// What it begins with.
        fixed: String,
    },
    /// An existing fork begins with something else.
    #[error("the run {} is a fork of {fixed}, and one of {asked} was asked for; give the new fork another name", .folder.display())]
    OtherFork {
        /// The run.
        folder: PathBuf,
        /// What it begins with.
        fixed: String,
        /// What was asked for.
        asked: String,
    },
    /// A run is forked at an iteration that it has not come to.
    #[error("the run {} cannot be forked at iteration {iteration}: {}", .folder.display(), come_to(*.finished))]
    ForkEarly {
        /// The run.
        folder: PathBuf,
        /// The iteration that was asked for.
        iteration: u32,
        /// The number of its iterations.
        finished: usize,
    },
    /// A run is forked in the midst of its last iteration.
    #[error("iteration {iteration} of the run {} is not finished: its {kind} is under way; let it go on first, or fork it at an earlier iteration", .folder.display())]
    ForkUnfinished {
        /// The run.
        folder: PathBuf,
        /// The iteration that was asked for.
        iteration: u32,
        /// What is not finished.
        kind: String,
    },
    /// The steps of a run are from several versions of its script.
    #[error("the steps of {} up to iteration {iteration} are not those of one script ({what}); give the command of that run again until it ends, or fork it at an earlier iteration", .folder.display())]
    ForkMixed {
        /// The run.
        folder: PathBuf,
        /// The iteration that was asked for.
        iteration: u32,
        /// What does not fit.
        what: String,
    },
    /// A finished step has lost a file.
    #[error("{} belongs to a finished step, and is gone; put back a good copy, or give the run's command again, which does the step again", .path.display())]
    Lost {
        /// The file.
        path: PathBuf,
    },
    /// A run that is to be forked has lost a file.
    #[error("{} is gone, and a fork would begin with it; put back a good copy, or give the command of that run again", .path.display())]
    ForkLost {
        /// The file.
        path: PathBuf,
    },
    /// The run that a fork begins with has not the step any more.
    #[error("{} has no step {step} any more, which this run begins with and has not taken over; put that run back as it was, or give the fork another name", .folder.display())]
    ForkGone {
        /// The other run.
        folder: PathBuf,
        /// The step's short identity.
        step: String,
    },
    /// The folder holds something that is no sweep.
    #[error("{} is not empty and has no sweep.json; give the sweep another name, or --out another folder", .folder.display())]
    NoSweep {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of the run's own bookkeeping is damaged.
    #[error("{} is damaged: {cause}; put back a good copy, or open another run", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// A finished step's file is not as it was written.
    #[error("{} belongs to a finished step, and has {found} bytes instead of {expected}; put back a good copy, or delete it to have the step done again", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Its size when it was written.
        expected: u64,
        /// Its size now.
        found: u64,
    },
    /// A table cannot be written, or files of another run are not as they were written.
    #[error(transparent)]
    Table(#[from] StoreError),
    /// The system refuses.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: io::Error,
    },
}

/// What a run can be forked at.
fn come_to(finished: usize) -> String {
    match finished {
        0 => "it has finished none yet; let it go on first".to_owned(),
        1 => "it has finished iteration 0 only".to_owned(),
        finished => format!("it has finished 0 to {}", finished - 1),
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("the process {pid}"))
}

impl RunError {
    /// A file of the run's own bookkeeping is damaged.
    pub fn damaged(path: &Path, cause: impl std::fmt::Display) -> Self {
        Self::Damaged { path: path.to_owned(), cause: cause.to_string() }
    }

    /// For `map_err` on an operation of the system.
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
            | Self::OtherEnvironment { .. } => Exit::BadInput,
            Self::Locked { .. } => Exit::Failed,
            Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::Changed { .. }
            | Self::Lost { .. }
            | Self::ForkLost { .. }
            | Self::ForkGone { .. }
            | Self::Table(_)
            | Self::Io { .. } => Exit::Storage,
        }
    }
}
