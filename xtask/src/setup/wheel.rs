//! A Python wheel: a zip file of a package and a list of its files with their digests.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use zip::ZipArchive;

use super::digest;
use super::stamp::InstalledFile;

pub(super) struct Wheel {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// The digest of each entry, from the wheel's `RECORD`.
    digests: HashMap<String, String>,
}

/// A file to unpack: its entry in the wheel, and its path in the installation.
pub(super) struct Placed {
    entry: String,
    pub(super) path: String,
    pub(super) size_bytes: u64,
}

impl Wheel {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
        let archive = ZipArchive::new(BufReader::new(file)).with_context(|| damaged(path))?;
        let mut wheel = Self { path: path.to_owned(), archive, digests: HashMap::new() };
        wheel.digests = parse_record(&wheel.dist_info("RECORD")?);
        Ok(wheel)
    }

    /// The wheel's `METADATA`.
    pub(super) fn metadata(&mut self) -> anyhow::Result<String> {
        self.dist_info("METADATA")
    }

    /// The entries for which `target` gives a path.
    pub(super) fn placed(&mut self, target: impl Fn(&str) -> Option<String>) -> anyhow::Result<Vec<Placed>> {
        let mut placed = Vec::new();
        for index in 0..self.archive.len() {
            let entry = self.archive.by_index_raw(index).with_context(|| damaged(&self.path))?;
            let name = entry.name().with_context(|| damaged(&self.path))?;
            let safe = entry.is_file() && entry.enclosed_name().is_some();
            if let Some(path) = target(&name).filter(|_| safe) {
                placed.push(Placed { entry: name.into_owned(), path, size_bytes: entry.size() });
            }
        }
        Ok(placed)
    }

    /// Unpacks one entry below `folder` and compares it with the wheel's digest.
    pub(super) fn unpack(
        &mut self,
        placed: &Placed,
        folder: &Path,
        progress: impl Fn(u64),
    ) -> anyhow::Result<InstalledFile> {
        let expected = self.digests.get(&placed.entry);
        let expected = expected
            .with_context(|| format!("{} lists no digest of {}", self.path.display(), placed.entry))?;
        let target = folder.join(&placed.path);
        let entry = self.archive.by_name(&placed.entry).with_context(|| damaged(&self.path))?;
        let output = create_new(&target)?;
        let found =
            digest::copy(entry, output, progress).map_err(|error| self.unpack_error(error, &target))?;
        ensure!(found == *expected, "{}: {} differs from its digest", damaged(&self.path), placed.entry);
        Ok(InstalledFile { size_bytes: placed.size_bytes, digest: found, path: placed.path.clone() })
    }

    /// Distinguishes a wheel that cannot be read from a disk that cannot be written.
    fn unpack_error(&self, error: io::Error, target: &Path) -> anyhow::Error {
        let is_content = matches!(
            error.kind(),
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof
        );
        let what =
            if is_content { damaged(&self.path) } else { format!("cannot write {}", target.display()) };
        anyhow::Error::new(error).context(what)
    }

    /// A file of the wheel's `.dist-info` folder.
    fn dist_info(&mut self, name: &str) -> anyhow::Result<String> {
        let ending = format!(".dist-info/{name}");
        let is_wanted = |entry: &String| entry.ends_with(&ending) && entry.matches('/').count() == 1;
        let entry = self.archive.file_names().flatten().map(Cow::into_owned).find(is_wanted);
        let entry =
            entry.with_context(|| format!("{} is not a wheel: it holds no {name}", self.path.display()))?;
        let mut text = String::new();
        let read = self
            .archive
            .by_name(&entry)
            .map_err(Into::into)
            .and_then(|mut file| file.read_to_string(&mut text));
        read.with_context(|| damaged(&self.path))?;
        Ok(text)
    }
}

/// Creates a file that must not exist: two wheels with a file at the same path would be a mistake in [`layout`](super::layout).
fn create_new(path: &Path) -> anyhow::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    File::create_new(path).with_context(|| format!("cannot create {}", path.display()))
}

fn damaged(wheel: &Path) -> String {
    let advice = "fetch it again; if pip did, clear its cache with `python3 -m pip cache purge` first";
    format!("{} is damaged ({advice})", wheel.display())
}

/// Lines of `RECORD` are `path,sha256=DIGEST,size`; a path with a comma or a quote is quoted, with quotes doubled.
fn parse_record(text: &str) -> HashMap<String, String> {
    let entries = text.lines().filter_map(|line| {
        let (path, digest) = line.rsplit_once(',')?.0.rsplit_once(",sha256=")?;
        let path = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')).unwrap_or(path);
        Some((path.replace("\"\"", "\""), digest.to_owned()))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    /// A wheel with one file of content "abc", listed with `digest`.
    fn wheel_listing(digest: &str, folder: &Path) -> anyhow::Result<PathBuf> {
        let path = folder.join("a-1.whl");
        let mut zip = ZipWriter::new(File::create(&path)?);
        zip.start_file("a/lib/a.so", SimpleFileOptions::default())?;
        zip.write_all(b"abc")?;
        zip.start_file("a-1.dist-info/RECORD", SimpleFileOptions::default())?;
        writeln!(zip, "a/lib/a.so,sha256={digest},3\na-1.dist-info/RECORD,,")?;
        zip.finish()?;
        Ok(path)
    }

    fn unpack_all(path: &Path, folder: &Path) -> anyhow::Result<Vec<InstalledFile>> {
        let mut wheel = Wheel::open(path)?;
        let placed = wheel.placed(|entry| entry.strip_prefix("a/").map(str::to_owned))?;
        placed.iter().map(|file| wheel.unpack(file, folder, |_| ())).collect()
    }

    #[test]
    fn unpacks_what_is_placed() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = wheel_listing(&digest::of_bytes(b"abc"), folder.path())?;
        let files = unpack_all(&path, folder.path())?;
        let expected =
            InstalledFile { size_bytes: 3, digest: digest::of_bytes(b"abc"), path: "lib/a.so".to_owned() };
        assert_eq!(files, [expected]);
        assert_eq!(fs::read_to_string(folder.path().join("lib/a.so"))?, "abc");
        Ok(())
    }

    #[test]
    fn a_file_that_differs_from_its_digest_is_rejected() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = wheel_listing(&digest::of_bytes(b"abd"), folder.path())?;
        let message = unpack_all(&path, folder.path()).expect_err("wrong digest").to_string();
        assert!(message.contains("is damaged") && message.contains("a/lib/a.so"), "{message}");
        Ok(())
    }

    #[test]
    fn a_truncated_wheel_is_rejected() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = wheel_listing(&digest::of_bytes(b"abc"), folder.path())?;
        let whole = fs::read(&path)?;
        fs::write(&path, &whole[..whole.len() / 2])?;
        let message = Wheel::open(&path).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("is damaged"), "{message}");
        Ok(())
    }

    #[test]
    fn reads_quoted_paths_in_the_record() {
        let record = parse_record("\"a,\"\"b\"\".h\",sha256=xyz,12\n");
        assert_eq!(record.get("a,\"b\".h").map(String::as_str), Some("xyz"));
    }
}
