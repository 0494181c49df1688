//! Atomic file writes: a file is written under a temporary name, flushed, then renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::regular::{self, folder_of};

/// Writes a file so that a crash or power cut leaves either the old or the new content. Where there is a link, the file that it leads to
/// is written; what is no file remains, and is an error.
///
/// The folder is created if needed, and flushed because otherwise a power cut can undo the rename.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(content))
}

/// Like [`write`], without flushing the folder: until that is done, a power cut may leave no file. For files that can be made again, of
/// which one flush of the folder completes many.
pub fn write_part(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(content)).map(drop)
}

/// Like [`write`], with content written by `fill`, which may fail for reasons of its own.
pub fn write_with<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    Ok(flush_folder(folder_of(&replace(path, fill)?))?)
}

/// Replaces a file, and returns its path without links.
fn replace<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<PathBuf, E> {
    fs::create_dir_all(folder_of(path))?;
    let path = regular::target(path)?;
    let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let written = fill_and_flush(&temporary, fill).and_then(|()| Ok(fs::rename(&temporary, &path)?));
    if let Err(cause) = written {
        // Leave no partial file behind. If removing it fails too, the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return Err(cause);
    }
    Ok(path)
}

fn fill_and_flush<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = File::create(path)?;
    fill(&mut file)?;
    Ok(file.sync_all()?)
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

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_an_error_and_remains() {
        use std::os::unix::fs::FileTypeExt as _;
        let folder = tempfile::tempdir().expect("temporary folder");
        let [inside, socket, link, lost] =
            ["folder", "socket", "link", "lost"].map(|name| folder.path().join(name));
        std::fs::create_dir(&inside).expect("a folder");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        std::os::unix::fs::symlink(&socket, &link).expect("a link");
        std::os::unix::fs::symlink(folder.path().join("nothing"), &lost).expect("a link");
        let fault = |path| write(path, b"new").expect_err("is no file").to_string();
        for path in [&inside, &socket, &link] {
            assert_eq!(fault(path), "it is not a regular file", "{}", path.display());
        }
        assert_eq!(fault(&lost), "it is a link that leads to no file");
        assert!(inside.is_dir() && link.is_symlink() && lost.is_symlink());
        assert!(socket.symlink_metadata().expect("exists").file_type().is_socket());
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_that_a_link_leads_to_is_written() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (file, link) = (folder.path().join("deep/file"), folder.path().join("link"));
        write(&file, b"old").expect("writes");
        std::os::unix::fs::symlink("deep/file", &link).expect("a link");
        write(&link, b"new").expect("writes");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).expect("reads"), b"new");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_file_is_not_replaced_through_its_descriptor() {
        use std::os::fd::AsRawFd as _;
        let folder = tempfile::tempdir().expect("temporary folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write(&file, b"old").expect("writes");
        let open = std::fs::File::options().append(true).open(&file).expect("opens");
        let number = open.as_raw_fd();
        let by_number =
            ["/proc/self/fd", "/dev/fd"].map(|all| std::path::Path::new(all).join(number.to_string()));
        std::os::unix::fs::symlink(&by_number[0], &link).expect("a link");
        for path in [&by_number[0], &by_number[1], &link] {
            let fault = write(path, b"new").expect_err("is no name");
            assert_eq!(fault.kind(), std::io::ErrorKind::InvalidInput, "{}", path.display());
            assert!(fault.to_string().starts_with("it stands for a file that is open already"), "{fault}");
        }
        assert_eq!(std::fs::read(&file).expect("reads"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_cannot_be_followed_is_not_said_to_lead_nowhere() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&second, &first).expect("a link");
        std::os::unix::fs::symlink(&first, &second).expect("a link");
        let fault = write(&first, b"new").expect_err("leads around").to_string();
        assert!(!fault.contains("leads to no file"), "{fault}");
        assert!(first.is_symlink() && second.is_symlink());
    }

    #[test]
    fn the_folder_is_created() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("new/folder/name");
        write_with(&path, |file| std::io::Write::write_all(file, b"content")).expect("writes");
        assert_eq!(std::fs::read(&path).expect("reads"), b"content");
    }
}
