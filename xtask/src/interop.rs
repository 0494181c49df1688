//! The Python environment of the interop tests, which compare dc0's files and moves with outside programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout::{Checkout, target_dir};
use crate::report::print;
use crate::setup::digest;

/// The Python packages of the interop tests.
pub(crate) const REQUIREMENTS: &str = "tests/interop/requirements.txt";

/// The path of the environment's Python. The environment is made again only if `requirements.txt` has changed.
pub(crate) fn python(checkout: &Checkout) -> anyhow::Result<PathBuf> {
    let requirements = checkout.path(REQUIREMENTS);
    let wanted =
        digest::of_bytes(&fs::read(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?);
    let venv = target_dir()?.join("interop-venv");
    let python = venv.join("bin/python");
    let stamp = venv.join("dc0-stamp");
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    print(&format!("making the Python environment of the interop tests in {}", venv.display()));
    make(&venv, &python, &requirements)?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

fn make(venv: &Path, python: &Path, requirements: &Path) -> anyhow::Result<()> {
    remove(venv)?;
    step(
        Command::new("python3").args(["-m", "venv"]).arg(venv),
        "Python 3.11 or newer with its venv module is needed (Debian and Ubuntu: apt install python3-venv); \
         `cargo xtask test --fast` does not need it",
    )?;
    step(
        Command::new(python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary", "-r"])
            .arg(requirements),
        "pip could not install the packages of tests/interop/requirements.txt; see its message above. \
         Without a network, `cargo xtask test --fast` still works",
    )
}

/// Runs one step of the preparations; `advice` says what to do if it fails.
pub(crate) fn step(command: &mut Command, advice: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}: {advice}"))?;
    ensure!(status.success(), "{command:?} failed ({status}): {advice}");
    Ok(())
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}
