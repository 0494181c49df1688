//! Downloading wheels with pip, which knows the user's index, proxy, certificates and cache.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// The Python the wheels are asked for: the same on every machine, so that everyone gets the same libtorch, whichever
/// Python runs pip. No Python code of the wheels is used.
const WHEELS_FOR: [&str; 6] = ["--implementation", "cp", "--python-version", "3.11", "--abi", "cp311"];

const PYTHON_NEEDED: &str = "the libraries come from Python wheels, so `python3` with pip is needed (Debian and Ubuntu: \
     apt install python3-pip; or set LIBTORCH to a libtorch 2.11.0 you have)";

/// Checks that there is a Python with pip, before anything else is done.
pub(super) fn check() -> anyhow::Result<()> {
    let output = match Command::new("python3").args(["-m", "pip", "--version"]).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("there is no python3: {PYTHON_NEEDED}")
        }
        Err(error) => return Err(error).context("cannot start python3"),
    };
    ensure!(output.status.success(), "python3 has no pip: {PYTHON_NEEDED}");
    Ok(())
}

/// Downloads exactly the wheels named.
pub(super) fn download_one(requirement: &str, folder: &Path) -> anyhow::Result<()> {
    download([OsStr::new("--no-deps"), OsStr::new(requirement)], folder)
}

/// Downloads the wheels named and those they depend on.
pub(super) fn download_all(requirements: &[String], folder: &Path) -> anyhow::Result<()> {
    download(requirements, folder)
}

/// Pip's own messages and progress go to the user's terminal; its scratch files go where there is known to be room.
fn download<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>, folder: &Path) -> anyhow::Result<()> {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "download", "--disable-pip-version-check", "--only-binary=:all:"]);
    command.args(WHEELS_FOR).arg("--dest").arg(folder).args(arguments);
    command.env("TMPDIR", folder).stdin(Stdio::null()).stdout(io::stderr());
    let status = command.status().context("cannot start python3")?;
    ensure!(
        status.success(),
        "pip could not download the wheels ({status}); its message stands above. \"No matching distribution\" means \
         that pip's index cannot be reached, or that this system is too old for the wheels: Linux needs glibc 2.28 or \
         newer, macOS 11. Without a network, download them elsewhere and run `cargo xtask setup --wheels DIR` \
         (docs/guides/setup.md says which)"
    );
    Ok(())
}
