//! The program's exit codes.

use std::process::ExitCode;

/// The exit codes of `dc0-run`; `docs/guides/scripts.md` lists them for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// Something went wrong while computing: the device failed, a script threw an error. Also if `diff`, `reproduce` or
    /// `replay --recompute` finds a difference, as is usual for programs that compare.
    Failed = 1,
    /// The script, its parameters or the command line are wrong.
    BadInput = 2,
    /// A file could not be read or written, or is damaged.
    Storage = 3,
    /// The user requested a stop.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
