//! The program's exit codes.

use std::io::{self, ErrorKind};
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

impl Exit {
    /// That of a file that cannot be written: of the disk, or of a name on the command line where no file can be.
    pub fn of_writing(cause: &io::Error) -> Self {
        match cause.kind() {
            ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory => Self::BadInput,
            _ => Self::Storage,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use dc0_core::durable;

    use super::Exit;

    #[test]
    fn a_name_where_no_file_can_be_is_bad_input() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let long = here.join("x".repeat(300));
        for path in [here.to_owned(), here.join("Cargo.toml/name"), Path::new("").to_owned(), long] {
            let cause = durable::write(&path, b"text").expect_err("is no file");
            assert_eq!(Exit::of_writing(&cause), Exit::BadInput, "{}: {cause:?}", path.display());
        }
        for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied] {
            assert_eq!(Exit::of_writing(&Error::from(kind)), Exit::Storage);
        }
    }
}
