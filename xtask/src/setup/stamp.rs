//! The list of installed files, by which a later set-up quickly sees whether everything is still there.
//!
//! Plain text in `.libtorch/dc0-stamp`: three header lines, then one line `SIZE DIGEST PATH` per file. It is written
//! before the folder gets its final name, so a folder with a stamp was complete at some time.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::VERSION;
use super::digest;
use super::platform::Flavour;

const FILE: &str = "dc0-stamp";
/// The first line. The number changes with the layout of the installed folder, so that the next set-up fetches it again.
const HEADER: &str = "dc0 libtorch, layout 1";

#[derive(Debug, PartialEq)]
pub(super) struct Stamp {
    pub(super) version: String,
    pub(super) flavour: Flavour,
    pub(super) files: Vec<InstalledFile>,
}

#[derive(Debug, PartialEq)]
pub(super) struct InstalledFile {
    pub(super) size_bytes: u64,
    pub(super) digest: String,
    /// Relative to the installed folder.
    pub(super) path: String,
}

impl Stamp {
    /// Reads the stamp of the installation in `folder`; the error says why there is none.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        ensure!(folder.exists(), "{} does not exist", folder.display());
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| {
            format!("{} was not made by `cargo xtask setup`, it has no {FILE}", folder.display())
        })?;
        Self::parse(&text)
            .with_context(|| format!("{} is not a stamp of this version of dc0", path.display()))
    }

    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(FILE);
        fs::write(&path, self.to_text()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Checks version, flavour, and every file's size (with `digests` its content too).
    pub(super) fn check(&self, folder: &Path, wanted: Flavour, digests: bool) -> anyhow::Result<()> {
        ensure!(self.version == VERSION, "version {} is installed, {VERSION} is wanted", self.version);
        ensure!(
            self.flavour.serves(wanted),
            "the {} libraries are installed, {wanted} is wanted",
            self.flavour
        );
        self.files.iter().try_for_each(|file| file.check(folder, digests))
    }

    fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\nversion {}\nflavour {}\n", self.version, self.flavour);
        for file in &self.files {
            writeln!(text, "{} {} {}", file.size_bytes, file.digest, file.path)
                .expect("writing to a string cannot fail");
        }
        text
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        ensure!(header == HEADER, "its first line is `{header}`, expected `{HEADER}`");
        let version = header_field(lines.next(), "version ")?.to_owned();
        let flavour =
            Flavour::parse(header_field(lines.next(), "flavour ")?).context("it names an unknown flavour")?;
        let files = lines.map(InstalledFile::parse).collect::<anyhow::Result<_>>()?;
        Ok(Self { version, flavour, files })
    }
}

fn header_field<'a>(line: Option<&'a str>, name: &str) -> anyhow::Result<&'a str> {
    line.and_then(|line| line.strip_prefix(name)).with_context(|| format!("it has no line `{}`", name.trim()))
}

impl InstalledFile {
    fn parse(line: &str) -> anyhow::Result<Self> {
        let mut fields = line.splitn(3, ' ');
        let (Some(size), Some(digest), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            bail!("the line `{line}` is not `SIZE DIGEST PATH`");
        };
        let size_bytes =
            size.parse().with_context(|| format!("the line `{line}` does not begin with a size"))?;
        Ok(Self { size_bytes, digest: digest.to_owned(), path: path.to_owned() })
    }

    fn check(&self, folder: &Path, digests: bool) -> anyhow::Result<()> {
        let path = folder.join(&self.path);
        let found = fs::metadata(&path).with_context(|| format!("{} is missing", path.display()))?.len();
        let expected = self.size_bytes;
        ensure!(found == expected, "{} has {found} bytes, {expected} were installed", path.display());
        if digests {
            let found = digest::of_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            ensure!(found == self.digest, "{} has changed since it was installed", path.display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp_of(name: &str, content: &[u8]) -> Stamp {
        let file = InstalledFile {
            size_bytes: content.len() as u64,
            digest: digest::of_bytes(content),
            path: name.to_owned(),
        };
        Stamp { version: VERSION.to_owned(), flavour: Flavour::Cpu, files: vec![file] }
    }

    #[test]
    fn a_stamp_is_read_back_as_written() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let stamp = stamp_of("lib/a name with spaces.so", b"abc");
        stamp.write(folder.path())?;
        assert_eq!(Stamp::read(folder.path())?, stamp);
        Ok(())
    }

    #[test]
    fn missing_truncated_and_changed_files_are_found() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.so");
        let stamp = stamp_of("a.so", b"abc");
        let problem =
            |digests| stamp.check(folder.path(), Flavour::Cpu, digests).err().map(|e| e.to_string());
        assert!(problem(false).is_some_and(|text| text.contains("is missing")));
        fs::write(&path, "ab")?;
        assert!(problem(false).is_some_and(|text| text.contains("has 2 bytes, 3 were installed")));
        fs::write(&path, "abd")?;
        assert_eq!(problem(false), None);
        assert!(problem(true).is_some_and(|text| text.contains("has changed since it was installed")));
        fs::write(&path, "abc")?;
        assert_eq!(problem(true), None);
        Ok(())
    }

    #[test]
    fn a_truncated_stamp_is_an_error() {
        for text in ["", "dc0 libtorch, layout 0\n", "dc0 libtorch, layout 1\nversion 2.11.0\n"] {
            assert!(Stamp::parse(text).is_err(), "{text:?}");
        }
    }
}
