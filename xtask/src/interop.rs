//! The Python environment of the interop tests, which compare dc0's files and moves with outside programs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use crate::checkout::{Checkout, target_dir};
use crate::install::{self, remove, step};

/// The Python packages of the interop tests.
pub(crate) const REQUIREMENTS: &str = "tests/interop/requirements.txt";

/// The path of the environment's Python. The environment is made again only if `requirements.txt` has changed.
pub(crate) fn python(checkout: &Checkout) -> anyhow::Result<PathBuf> {
    let requirements = checkout.path(REQUIREMENTS);
    let wanted = fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let venv = target_dir()?.join("interop-venv");
    let python = venv.join("bin/python");
    install::ensure(
        "the Python environment of the interop tests",
        &venv,
        &wanted,
        || python.exists() && install::stamp(&venv) == wanted,
        |_| {
            // Its programs name it by its path, so it is made where it stays.
            remove(&venv)?;
            step(
                Command::new("python3").args(["-m", "venv"]).arg(&venv),
                "Python 3.11 or newer with its venv module is needed (Debian and Ubuntu: apt install python3-venv); \
                 `cargo xtask test --fast` does not need it",
            )?;
            step(
                Command::new(&python)
                    .args([
                        "-m",
                        "pip",
                        "install",
                        "--quiet",
                        "--disable-pip-version-check",
                        "--prefer-binary",
                        "-r",
                    ])
                    .arg(&requirements),
                "pip could not install the packages of tests/interop/requirements.txt. \
                 Without a network, `cargo xtask test --fast` still works",
            )
        },
    )?;
    Ok(python)
}
