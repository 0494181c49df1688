//! Opening files that must be there at once, or are read more than once, and what a file may replace.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens a regular file to read it. Opening a FIFO would wait for a writer, so whatever is no file is an error.
pub fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    File::open(path)
}

/// From so many bytes on, the size of a file is compared with the machine's memory.
const LARGE: u64 = 1 << 30;

/// The content of a regular file. One that memory cannot hold is an error, not the end of the process.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_all(&mut open(path)?)
}

/// As [`read`], for a file that was just opened.
pub(crate) fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let bytes = file.metadata()?.len();
    let mut content = Vec::new();
    // Where memory is overcommitted, any size can be reserved, and filling it ends the process.
    let fits = (bytes < LARGE || memory().is_none_or(|memory| bytes <= memory))
        && usize::try_from(bytes).is_ok_and(|bytes| content.try_reserve_exact(bytes).is_ok());
    if !fits {
        let cause = format!("it has {bytes} bytes, which memory cannot hold");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, cause));
    }
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// The machine's memory in bytes, where the system says it.
fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"))?;
    total.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Opens a regular file to append to it, or creates one. Opening a FIFO would wait for a reader.
pub fn append(path: &Path) -> io::Result<File> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(not_regular());
    }
    File::options().create(true).append(true).open(path)
}

/// The path, without links, at which a file may be written: that of a regular file, or of nothing.
pub(crate) fn target(path: &Path) -> io::Result<PathBuf> {
    let invalid = |problem| io::Error::new(io::ErrorKind::InvalidInput, problem);
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(not_regular()),
        // What the link names would be replaced, while the descriptor goes on writing to the old file.
        Ok(_) if leads_through_a_descriptor(path)? => {
            Err(invalid("it stands for a file that is open already; expected the file's own name"))
        }
        Ok(_) if path.is_symlink() => fs::canonicalize(path),
        Err(cause) if path.is_symlink() => match cause.kind() {
            io::ErrorKind::NotFound => Err(invalid("it is a link that leads to no file")),
            _ => Err(cause),
        },
        _ => Ok(path.to_owned()),
    }
}

/// Whether links lead on from an entry of `/proc` or `/dev/fd`, as they do for `/dev/stdout`.
fn leads_through_a_descriptor(path: &Path) -> io::Result<bool> {
    let mut path = path.to_owned();
    while path.is_symlink() {
        let folder = fs::canonicalize(folder_of(&path))?;
        if ["/proc", "/dev/fd"].iter().any(|descriptors| folder.starts_with(descriptors)) {
            return Ok(true);
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Ok(false)
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::io;

    use super::read;

    #[test]
    fn a_file_that_memory_cannot_hold_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        File::create(&path).and_then(|file| file.set_len(1 << 43)).expect("a sparse file");
        let error = read(&path).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert!(error.to_string().starts_with("it has 8796093022208 bytes"), "{error}");
    }
}
