//! The small Syzygy tablebases, all with three and four pieces, from the source distribution of python-chess.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::interop::{REQUIREMENTS, step};
use crate::report::print;
use crate::setup::digest;

/// Five material balances with three pieces and thirty with four, each with a WDL and a DTZ table.
const TABLE_FILES: usize = 70;

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
    fs::read_to_string(folder.join("dc0-stamp")).is_ok_and(|found| found == stamp)
        && count_tables(folder).is_ok_and(|found| found == TABLE_FILES)
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
    fs::write(tables.join("dc0-stamp"), stamp).context("cannot write the stamp of the tablebases")?;
    Ok(tables)
}

fn count_tables(folder: &Path) -> anyhow::Result<usize> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let is_table = |path: &Path| path.extension().is_some_and(|ending| ending == "rtbw" || ending == "rtbz");
    Ok(entries.flatten().filter(|entry| is_table(&entry.path())).count())
}

/// Moves the finished folder to its final name, so that it is either complete or absent.
fn swap_in(tables: &Path, folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove the old {}", folder.display()))?;
    }
    fs::rename(tables, folder).with_context(|| format!("cannot move the tablebases to {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_without_all_tables_is_no_installation() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("dc0-stamp"), "stamp")?;
        for number in 0..TABLE_FILES {
            assert!(!is_installed(folder.path(), "stamp"), "{number} tables");
            fs::write(folder.path().join(format!("{number}.rtbw")), "")?;
        }
        assert!(is_installed(folder.path(), "stamp") && !is_installed(folder.path(), "other"));
        Ok(())
    }
}
