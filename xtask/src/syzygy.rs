//! The small Syzygy tablebases, all with three and four pieces, from the source distribution of python-chess.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::interop::{REQUIREMENTS, step};
use crate::report::print;
use crate::setup::digest;

/// Five material balances with three pieces and thirty with four, each with a WDL and a DTZ table.
const TABLE_FILES: usize = 70;

/// The file that says which python-chess the tables are from.
const STAMP: &str = "dc0-stamp";

const NO_NETWORK: &str = "the tablebases are in it; see the message above. \
     Without a network, `cargo xtask test --fast` still works";

/// The folder of the tablebases, fetched again only if `requirements.txt` pins another python-chess.
pub(crate) fn tables(checkout: &Checkout) -> anyhow::Result<PathBuf> {
    let requirement = requirement(checkout)?;
    let wanted = digest::of_bytes(requirement.as_bytes());
    let folder = checkout.path(".syzygy");
    if is_installed(&folder, &wanted) {
        return Ok(folder);
    }
    print(&format!("fetching tablebases into {}", folder.display()));
    let work = checkout.path(&format!(".syzygy.tmp-{}", process::id()));
    let made = make(&work, &requirement, &wanted).and_then(|tables| swap_in(&tables, &folder));
    // Leftovers are harmless: git ignores them, and the next fetch has another name.
    let _ = fs::remove_dir_all(&work);
    made.map(|()| folder)
}

/// Whether a folder holds all tablebases, with this stamp.
fn is_installed(folder: &Path, stamp: &str) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp)
        && count_tables(folder).is_ok_and(|found| found >= TABLE_FILES)
}

/// The line of `requirements.txt` that pins python-chess.
fn requirement(checkout: &Checkout) -> anyhow::Result<String> {
    let text = fs::read_to_string(checkout.path(REQUIREMENTS))
        .with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let line = text.lines().find(|line| line.starts_with("chess=="));
    line.map(|line| line.trim().to_owned())
        .with_context(|| format!("{REQUIREMENTS} has no line `chess==VERSION`; put it back"))
}

/// Downloads and unpacks in `work`; returns the folder of the tables and the stamp.
fn make(work: &Path, requirement: &str, stamp: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(work).with_context(|| format!("cannot create {}", work.display()))?;
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
        "tar could not unpack what pip downloaded; see its message above",
    )?;
    let tables = work.join(inside);
    let found = count_tables(&tables)?;
    ensure!(
        found == TABLE_FILES,
        "the source of {requirement} should hold {TABLE_FILES} files of tablebases, found {found}; pin a version that does"
    );
    fs::write(tables.join(STAMP), stamp).context("cannot write the stamp of the tablebases")?;
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

/// Removes the copies that a killed process has not completed.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str);
        let copied = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
        if copied.is_some_and(|name| is_table(Path::new(name))) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Copies the tables to their folder, whose other files stay, and then the stamp, which says that they are complete. The folder may be a
/// link to another disk, to which nothing can be moved. Each file takes its place when it is complete: a program may have the old one
/// mapped.
fn swap_in(tables: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let cleared = remove_unfinished(folder);
    cleared.with_context(|| format!("cannot remove an unfinished copy in {}", folder.display()))?;
    let entries = fs::read_dir(tables).with_context(|| format!("cannot list {}", tables.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name()).filter(|name| name != STAMP);
    for name in names.chain([STAMP.into()]) {
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
        fs::write(folder.path().join(STAMP), "stamp")?;
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
        for (name, text) in [("KQvK.rtbw", "new"), (STAMP, "new")] {
            fs::write(work.path().join(name), text)?;
        }
        for (name, text) in
            [("KQvK.rtbw", "old"), ("KQRvKR.rtbw", "own"), (".notes.tmp", "own"), (STAMP, "old")]
        {
            fs::write(folder.path().join(name), text)?;
        }
        // A killed process has left it.
        fs::write(folder.path().join(".KPvK.rtbz.tmp"), "half")?;
        swap_in(work.path(), folder.path())?;
        for (name, text) in
            [("KQvK.rtbw", "new"), ("KQRvKR.rtbw", "own"), (".notes.tmp", "own"), (STAMP, "new")]
        {
            assert_eq!(fs::read_to_string(folder.path().join(name))?, text, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path())?.count(), 4);
        let absent = folder.path().join("absent");
        fs::write(work.path().join(STAMP), "new")?;
        swap_in(work.path(), &absent)?;
        assert!(absent.join(STAMP).exists());
        Ok(())
    }

    #[test]
    fn an_open_table_keeps_its_content() -> anyhow::Result<()> {
        let (work, folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for (folder, text) in [(&work, "new"), (&folder, "old")] {
            fs::write(folder.path().join("KQvK.rtbw"), text)?;
            fs::write(folder.path().join(STAMP), text)?;
        }
        let open = fs::File::open(folder.path().join("KQvK.rtbw"))?;
        swap_in(work.path(), folder.path())?;
        assert_eq!(std::io::read_to_string(open)?, "old");
        Ok(())
    }
}
