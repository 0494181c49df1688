//! Atomic file writes: a file is written under a temporary name, flushed, then renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that a crash or power cut leaves either the old or the new content.
///
/// The folder is created if needed, and flushed because otherwise a power cut can undo the rename.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    write_with(path, |file| file.write_all(content))
}

/// Like [`write`], without flushing the folder: until that is done, a power cut may leave no file. For files that can be made again, of
/// which one flush of the folder completes many.
pub fn write_part(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    replace(path, |file| file.write_all(content))
}

/// Like [`write`], with content written by `fill`, into an existing folder.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    replace(path, fill)?;
    flush_folder(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let written = fill_and_flush(&temporary, fill).and_then(|()| fs::rename(&temporary, path));
    if let Err(cause) = written {
        // Leave no partial file behind. If removing it fails too, the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return Err(cause);
    }
    Ok(())
}

fn fill_and_flush(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create(path)?;
    fill(&mut file)?;
    file.sync_all()
}

/// Flushes a folder, so that renames and removals in it survive a power cut.
pub fn flush_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The blake3 digest of some bytes as 64 hex digits.
pub fn digest(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::{write, write_part, write_with};

    #[test]
    fn an_error_while_writing_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("name");
        write(&path, b"old").expect("writes");
        let failed = write_with(&path, |file| {
            std::io::Write::write_all(file, b"half")?;
            Err(std::io::Error::other("disk full"))
        });
        assert_eq!(failed.expect_err("fails").to_string(), "disk full");
        assert_eq!(std::fs::read(&path).expect("reads"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }

    #[test]
    fn a_file_is_replaced_and_no_temporary_file_remains() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("deep/name.json");
        write(&path, b"old").expect("writes");
        write(&path, b"new").expect("replaces");
        assert_eq!(std::fs::read(&path).expect("reads"), b"new");
        write_part(&path, b"newer").expect("replaces");
        assert_eq!(std::fs::read(&path).expect("reads"), b"newer");
        let entries = std::fs::read_dir(path.parent().expect("folder")).expect("lists").count();
        assert_eq!(entries, 1);
    }

    #[test]
    fn a_failed_rename_is_an_error_and_leaves_the_old_entry() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("name");
        std::fs::create_dir(&path).expect("a folder in the way");
        assert!(write(&path, b"new").is_err());
        assert!(path.is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }
}
