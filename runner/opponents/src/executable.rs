//! The file of a program: where it is, and what is in it.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use dc0_core::params::intended;
use dc0_core::regular;

use crate::error::OpponentError;

/// Where Debian installs chess programs. Not every account has these in its `PATH`.
const GAMES: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// The executable file of a command, if it is installed: a path, or a name that is looked for in `PATH` and in Debian's folders of
/// games.
pub fn installed(command: &str) -> Option<PathBuf> {
    find(command).ok()
}

/// The executable file of a command.
pub(crate) fn find(command: &str) -> Result<PathBuf, OpponentError> {
    if command.trim().is_empty() {
        return Err(OpponentError::NoCommand);
    }
    if command.contains('/') {
        return is_program(Path::new(command)).map(|()| PathBuf::from(command));
    }
    let folders = folders();
    let mut wrong = None;
    for path in folders.iter().map(|folder| folder.join(command)).filter(|path| path.exists()) {
        match is_program(&path) {
            Ok(()) => return Ok(path),
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    Err(wrong.unwrap_or_else(|| not_found(command, &folders)))
}

fn folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in env::split_paths(&path).chain(GAMES.map(PathBuf::from)) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn not_found(command: &str, folders: &[PathBuf]) -> OpponentError {
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let names: BTreeSet<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let first = command.split_whitespace().next().unwrap_or_default();
    let hint = if first != command && names.contains(first) {
        format!("; arguments belong in `args`: \"{first}\", #{{ args: [\"…\"] }}")
    } else if let Some(near) = intended(command, names.iter().map(String::as_str)) {
        format!("; did you mean \"{near}\"?")
    } else {
        "; install it, or give the path of its file".to_owned()
    };
    let folders = folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(":");
    OpponentError::NotInstalled { command: command.to_owned(), hint, folders }
}

fn is_program(path: &Path) -> Result<(), OpponentError> {
    let wrong = |what: String| OpponentError::NoProgram { path: path.to_owned(), what };
    let about = fs::metadata(path).map_err(|cause| {
        let hint = if path.starts_with("~") {
            "; write the home folder in full, because only shells know `~`"
        } else {
            ""
        };
        wrong(format!("cannot be read: {cause}{hint}"))
    })?;
    if !about.is_file() {
        return Err(wrong("is not a file; expected an executable file".to_owned()));
    }
    if about.permissions().mode() & 0o111 == 0 {
        let shown = path.display();
        return Err(wrong(format!("is not executable; if it is a program, `chmod +x {shown}` makes it so")));
    }
    Ok(())
}

/// A file's contents, as far as identities need them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its blake3 digest, in hexadecimal.
    pub(crate) digest: String,
    /// Whether it is a script, which usually starts another program.
    pub(crate) is_script: bool,
    stamp: Stamp,
}

/// What changes when a file is replaced or written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    written: (i64, i64),
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        let (file, written) = ((about.dev(), about.ino()), (about.mtime(), about.mtime_nsec()));
        Self { file, bytes: about.len(), written }
    }
}

impl Contents {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, OpponentError> {
        let read = || -> io::Result<Self> {
            let file = regular::open(path)?;
            let stamp = Stamp::of(&file.metadata()?);
            let mut start = Vec::new();
            (&file).take(2).read_to_end(&mut start)?;
            let mut hasher = blake3::Hasher::new();
            hasher.update(&start).update_reader(&file)?;
            let digest = hasher.finalize().to_hex().to_string();
            Ok(Self { digest, is_script: start == b"#!", stamp })
        };
        read().map_err(|cause| OpponentError::Unreadable { path: path.to_owned(), cause })
    }

    /// Whether a file is as it was when it was read: by its size and time, or else by its digest.
    pub(crate) fn are_current(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|about| Stamp::of(&about) == self.stamp)
            || Self::read(path).is_ok_and(|now| now.digest == self.digest)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use dc0_process::exit::Exit;
    use dc0_process::fault::Fault as _;

    use super::{Contents, find, installed};

    fn error(command: &str) -> String {
        find(command).expect_err("is not there").to_string()
    }

    #[test]
    fn commands_are_found_in_the_path_and_by_their_path() {
        let shell = installed("sh").expect("every system has one");
        assert_eq!(installed(shell.to_str().unwrap()), Some(shell));
        assert_eq!(installed("no-such-program-of-chess"), None);
    }

    #[test]
    fn errors_say_where_a_command_was_looked_for_and_what_is_near() {
        assert!(error("").contains("expected the name or path of a program"));
        let typo = error("mkdirr");
        assert!(typo.contains("did you mean \"mkdir\"?") && typo.contains("/bin"), "{typo}");
        assert!(error("mdkir").contains("did you mean \"mkdir\"?"));
        // Every system has `test`, with which it begins.
        assert!(error("testable-engine").ends_with("; install it, or give the path of its file"));
        assert!(error("sh -c true").contains("arguments belong in `args`"), "{}", error("sh -c true"));
        assert!(error("qqqqqqqqqq").ends_with("; install it, or give the path of its file"));
        assert!(error("~/engine").contains("only shells know `~`"));
    }

    #[test]
    fn errors_say_what_a_file_is_instead_of_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("engine");
        assert!(error(folder.path().to_str().unwrap()).contains("is not a file"));
        assert!(error(file.to_str().unwrap()).contains("cannot be read"));
        fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(error(file.to_str().unwrap()).contains("is not executable; if it is a program, `chmod +x"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(installed(file.to_str().unwrap()), Some(file));
    }

    #[test]
    fn a_written_file_is_not_current() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("engine");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        let contents = Contents::read(&file).unwrap();
        assert!(contents.is_script && contents.are_current(&file));
        fs::write(&file, "#!/bin/sh\ntrue\n").unwrap();
        assert!(!contents.are_current(&file));
        assert_ne!(Contents::read(&file).unwrap().digest, contents.digest);
    }

    #[test]
    fn a_file_replaced_by_its_equal_is_current() {
        let folder = tempfile::tempdir().unwrap();
        let [file, copy] = ["engine", "copy"].map(|name| folder.path().join(name));
        fs::write(&file, "#!/bin/sh\n").unwrap();
        let contents = Contents::read(&file).unwrap();
        fs::write(&copy, "#!/bin/sh\n").unwrap();
        fs::rename(&copy, &file).unwrap();
        assert_ne!(Contents::read(&file).unwrap(), contents, "it is another file");
        assert!(contents.are_current(&file));
    }

    #[test]
    fn what_is_no_file_is_bad_input_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [folder.path(), &fifo] {
            let error = Contents::read(path).expect_err("is no file");
            assert!(error.to_string().contains("it is not a regular file"), "{error}");
            assert_eq!(error.exit(), Exit::BadInput);
        }
    }
}
