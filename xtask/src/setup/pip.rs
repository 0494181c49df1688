//! Downloads wheels with pip, which knows the user's index, proxy, certificates and cache.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// The Python version of the wheels: the same on every machine, so that everyone gets the same libtorch, whichever Python
/// runs pip. No Python code of the wheels is used.
const WHEELS_FOR: [&str; 6] = ["--implementation", "cp", "--python-version", "3.11", "--abi", "cp311"];

/// Checks that there is a Python with pip; `instead` is what to do without.
pub(super) fn check(instead: &str) -> anyhow::Result<()> {
    let needed = format!(
        "the libraries come from Python wheels, so `python3` with pip is needed (Debian and Ubuntu: apt install python3-pip); or {instead}"
    );
    let output = match Command::new("python3").args(["-m", "pip", "--version"]).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("there is no python3: {needed}")
        }
        Err(error) => return Err(error).context("cannot start python3"),
    };
    ensure!(output.status.success(), "python3 has no pip: {needed}");
    Ok(())
}

/// Downloads one wheel without its dependencies.
pub(super) fn download_one(requirement: &str, folder: &Path, instead: &str) -> anyhow::Result<()> {
    download([OsStr::new("--no-deps"), OsStr::new(requirement)], folder, instead)
}

/// Downloads wheels with their dependencies.
pub(super) fn download_all(requirements: &[String], folder: &Path, instead: &str) -> anyhow::Result<()> {
    download(requirements, folder, instead)
}

/// Runs `pip download`. Its messages go to the user's terminal; its temporary files go to `folder`, where there is space.
fn download<S: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = S>,
    folder: &Path,
    instead: &str,
) -> anyhow::Result<()> {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "download", "--disable-pip-version-check", "--only-binary=:all:"]);
    command.args(WHEELS_FOR).arg("--dest").arg(folder).args(arguments);
    command.env("TMPDIR", folder).stdin(Stdio::null()).stdout(io::stderr());
    let status = command.status().context("cannot start python3")?;
    ensure!(
        status.success(),
        "pip could not download the wheels ({status}); see its message above. \"No matching distribution\" means \
         that pip's index cannot be reached, or that this system is too old for the wheels: Linux needs glibc 2.28 or \
         newer, macOS 11. Without a network, {instead}"
    );
    Ok(())
}
