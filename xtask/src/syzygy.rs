//! The small Syzygy tablebases, all with three and four pieces, from the source distribution of python-chess.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::install::{self, create, step};
use crate::interop::REQUIREMENTS;

/// Five material balances with three pieces and thirty with four, each with a WDL and a DTZ table.
const TABLE_FILES: usize = 70;

const NO_NETWORK: &str = "the tablebases are in it. \
     Without a network, `cargo xtask test --fast` still works";

/// The folder of the tablebases, fetched again only if `requirements.txt` pins another python-chess.
pub(crate) fn tables(checkout: &Checkout) -> anyhow::Result<PathBuf> {
    let requirement = requirement(checkout)?;
    let folder = checkout.path(".syzygy");
    install::ensure(
        "tablebases",
        &folder,
        &requirement,
        || is_installed(&folder, &requirement),
        |work| swap_in(&download(work, &requirement)?, &folder),
    )?;
    Ok(folder)
}

/// Whether a folder holds all tablebases, with this stamp.
fn is_installed(folder: &Path, stamp: &str) -> bool {
    install::stamp(folder) == stamp && count_tables(folder).is_ok_and(|found| found >= TABLE_FILES)
}

/// The line of `requirements.txt` that pins python-chess.
fn requirement(checkout: &Checkout) -> anyhow::Result<String> {
    let text = fs::read_to_string(checkout.path(REQUIREMENTS))
        .with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let line = text.lines().find(|line| line.starts_with("chess=="));
    line.map(|line| line.trim().to_owned())
        .with_context(|| format!("{REQUIREMENTS} has no line `chess==VERSION`; put it back"))
}

/// Downloads and unpacks in `work`; returns the folder of the tables.
fn download(work: &Path, requirement: &str) -> anyhow::Result<PathBuf> {
    let source = format!("pip could not download the source of {requirement}; {NO_NETWORK}");
    step(
        Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--no-binary", ":all:", "--dest"])
            .arg(work)
            .arg(requirement),
        &source,
    )?;
    let name = requirement.replace("==", "-");
    let inside = format!("{name}/data/syzygy/regular");
    step(
        Command::new("tar")
            .arg("-xzf")
            .arg(work.join(format!("{name}.tar.gz")))
            .arg("-C")
            .arg(work)
            .arg(&inside),
        "tar could not unpack what pip downloaded",
    )?;
    let tables = work.join(inside);
    let found = count_tables(&tables)?;
    ensure!(
        found == TABLE_FILES,
        "the source of {requirement} should hold {TABLE_FILES} files of tablebases, found {found}; pin a version that does"
    );
    Ok(tables)
}

/// How many tables with at most four pieces are in a folder; others may have larger ones beside them.
fn count_tables(folder: &Path) -> anyhow::Result<usize> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    // Names have a letter for each piece, and a `v`.
    let is_small = |path: &Path| path.file_stem().is_some_and(|name| name.len() <= 5);
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| is_table(path) && is_small(path)).count())
}

/// Whether a file is a table, by its name.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rtbw" || ending == "rtbz")
}

/// Copies the tables to their folder, whose other files stay. The folder may be a link to another disk, to which nothing can be moved.
/// Each file takes its place when it is complete: a program may have the old one mapped.
fn swap_in(tables: &Path, folder: &Path) -> anyhow::Result<()> {
    create(folder)?;
    let entries = fs::read_dir(tables).with_context(|| format!("cannot list {}", tables.display()))?;
    for name in entries.flatten().map(|entry| entry.file_name()) {
        let copy = folder.join(format!(".{}.tmp", name.display()));
        fs::copy(tables.join(&name), &copy)
            .and_then(|_| fs::rename(&copy, folder.join(&name)))
            .with_context(|| format!("cannot copy the tablebases to {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_without_all_tables_is_no_installation() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("dc0-stamp"), "stamp")?;
        // Tables of more pieces do not count.
        fs::write(folder.path().join("KQRvKR.rtbw"), "")?;
        for number in 0..TABLE_FILES {
            assert!(!is_installed(folder.path(), "stamp"), "{number} tables");
            fs::write(folder.path().join(format!("{number}.rtbw")), "")?;
        }
        assert!(is_installed(folder.path(), "stamp") && !is_installed(folder.path(), "other"));
        fs::write(folder.path().join("70.rtbw"), "")?;
        assert!(is_installed(folder.path(), "stamp"));
        Ok(())
    }

    #[test]
    fn files_beside_the_tables_stay_and_unfinished_copies_go() -> anyhow::Result<()> {
        let (work, folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
        fs::write(work.path().join("KQvK.rtbw"), "new")?;
        // A killed process has left the last one.
        for (name, text) in
            [("KQvK.rtbw", "old"), ("KQRvKR.rtbw", "own"), (".notes.tmp", "own"), (".KQvK.rtbw.tmp", "half")]
        {
            fs::write(folder.path().join(name), text)?;
        }
        swap_in(work.path(), folder.path())?;
        for (name, text) in [("KQvK.rtbw", "new"), ("KQRvKR.rtbw", "own"), (".notes.tmp", "own")] {
            assert_eq!(fs::read_to_string(folder.path().join(name))?, text, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path())?.count(), 3);
        let absent = folder.path().join("absent");
        swap_in(work.path(), &absent)?;
        assert!(absent.join("KQvK.rtbw").exists());
        Ok(())
    }

    #[test]
    fn an_open_table_keeps_its_content() -> anyhow::Result<()> {
        let (work, folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for (folder, text) in [(&work, "new"), (&folder, "old")] {
            fs::write(folder.path().join("KQvK.rtbw"), text)?;
        }
        let open = fs::File::open(folder.path().join("KQvK.rtbw"))?;
        swap_in(work.path(), folder.path())?;
        assert_eq!(std::io::read_to_string(open)?, "old");
        Ok(())
    }
}
