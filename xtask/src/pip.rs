//! Unpacks wheels with pip, which knows the user's index, proxy, certificates and cache. No Python code of them is run.

use std::path::Path;
use std::process::Command;

use crate::install::step;

/// Always the wheels for this version of Python, so that everyone gets the same libraries, whichever version runs pip.
const WHEELS: [&str; 13] = [
    "--only-binary=:all:",
    "--ignore-requires-python",
    "--no-compile",
    "--no-warn-conflicts",
    "--implementation=cp",
    "--python-version=3.11",
    "--abi=cp311",
    "--disable-pip-version-check",
    // Where a user has set these for other installations, the files would land elsewhere.
    "--prefix",
    "",
    "--root",
    "/",
    "--target",
];

/// Nothing is installed into the Python that runs pip; what a user has set for that does not count.
const SETTINGS: [(&str, &str); 5] = [
    ("PIP_DRY_RUN", "0"),
    ("PIP_NO_DEPS", "0"),
    ("PIP_REQUIRE_VIRTUALENV", "0"),
    ("PIP_ROOT_USER_ACTION", "ignore"),
    ("PIP_USER", "0"),
];

/// Has pip unpack the wheels that `arguments` name into the new folder `target`, with temporary files beside it, where there is space.
/// `instead` is what to do where pip cannot.
pub(crate) fn unpack(arguments: &[String], target: &Path, instead: &str) -> anyhow::Result<()> {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "install"]).args(WHEELS).arg(target).args(arguments);
    command.envs(SETTINGS).envs(target.parent().map(|folder| ("TMPDIR", folder)));
    step(
        &mut command,
        &format!(
            "the libraries come from Python wheels, so `python3` with pip is needed (Debian and Ubuntu: apt install python3-pip). \
             \"No matching distribution\" means that pip cannot reach its index, that the folder of --wheels lacks a wheel, or that \
             pip or this system is too old for the wheels: they need pip 20.3, and Linux with glibc 2.28 or macOS 11. Otherwise, {instead}"
        ),
    )
}
