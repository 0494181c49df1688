//! Files that are whole or absent: written beside their place, flushed, then renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that a kill or a power cut leaves either the old content or the new one.
///
/// The folder is created if needed. The folder is flushed too, because otherwise a power cut can undo the rename.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    write_by(path, |file| file.write_all(content))
}

/// As [`write`], with content that is written piece by piece, into a folder that is there.
pub fn write_by(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let written = filled_and_flushed(&beside, fill).and_then(|()| fs::rename(&beside, path));
    if let Err(cause) = written {
        // What could not be written whole must not stay; if it cannot be removed either, the first error says more.
        let _ = fs::remove_file(&beside);
        return Err(cause);
    }
    flush_folder(folder)
}

fn filled_and_flushed(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create(path)?;
    fill(&mut file)?;
    file.sync_all()
}

/// Makes renames and removals in a folder last.
pub fn flush_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The blake3 digest of some bytes as 64 hex digits.
pub fn digest(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::{write, write_by};

    #[test]
    fn a_file_that_could_not_be_filled_leaves_the_old_one() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("name");
        write(&path, b"old").expect("writes");
        let failed = write_by(&path, |file| {
            std::io::Write::write_all(file, b"half")?;
            Err(std::io::Error::other("no more"))
        });
        assert_eq!(failed.expect_err("fails").to_string(), "no more");
        assert_eq!(std::fs::read(&path).expect("reads"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("deep/name.json");
        write(&path, b"old").expect("writes");
        write(&path, b"new").expect("replaces");
        assert_eq!(std::fs::read(&path).expect("reads"), b"new");
        let entries = std::fs::read_dir(path.parent().expect("folder")).expect("lists").count();
        assert_eq!(entries, 1);
    }

    #[test]
    fn a_failed_write_is_an_error_and_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("name");
        std::fs::create_dir(&path).expect("a folder in the way");
        assert!(write(&path, b"new").is_err());
        assert!(path.is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }
}
