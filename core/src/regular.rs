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

/// The content of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let mut content = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0));
    file.read_to_end(&mut content)?;
    Ok(content)
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
