//! Tests that need what `cargo xtask test` installs: external programs that read and check dc0's files and output, ONNX Runtime,
//! and tablebases. The scripts in this folder drive those programs.

mod analysis;
mod arena;
mod chaos;
mod chess960;
mod damage;
mod encodings;
mod epd;
mod fastchess;
mod files;
mod fleet;
mod games;
mod hostile;
mod imports;
mod join;
mod lsp;
mod net_fixtures;
mod networks;
mod onnx;
mod play;
#[path = "../program.rs"]
mod program;
mod random_endings;
mod report;
mod serve;
mod sql;
mod stores;
mod strength;
mod sweeps;
mod tablebase_probes;
mod tablebase_search;
mod tablebases;
mod uci;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{root, succeed};

/// The Python interpreter with the packages of the interop tests.
pub(crate) fn interop_python() -> PathBuf {
    let own = root().join("target/interop-venv/bin/python");
    let python = env::var_os("DC0_PYTHON").map_or(own, PathBuf::from);
    assert!(python.exists(), "no Python at {}; run `cargo xtask test`, which installs it", python.display());
    python
}

/// What a command prints, which has to succeed.
pub(crate) fn stdout_of(command: &mut Command) -> String {
    String::from_utf8_lossy(&succeed(command).stdout).into_owned()
}

/// What a script of `tests/interop` prints about a path; it has to succeed.
pub(crate) fn interop_script(script: &str, path: &Path) -> String {
    stdout_of(interop_command(script).arg(path))
}

/// The command that runs a script of `tests/interop`, without arguments.
pub(crate) fn interop_command(script: &str) -> Command {
    let mut command = Command::new(interop_python());
    command.arg(root().join("tests/interop").join(script));
    command
}

/// A file or folder of the packages that are installed beside the browser.
pub(crate) fn browser_package(path: &str) -> PathBuf {
    let packages = env::var_os("DC0_BROWSER").map_or_else(|| root().join("target/browser"), PathBuf::from);
    installed(packages.join(path))
}

pub(crate) fn chromium() -> PathBuf {
    let own = || browser_package("unpacked/chromium");
    installed(env::var_os("DC0_CHROMIUM").map_or_else(own, PathBuf::from))
}

fn installed(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "no {}; run `cargo xtask test`, which installs it", path.display());
    path
}

/// The folder of the tablebases with three and four pieces.
pub(crate) fn syzygy() -> PathBuf {
    let folder = env::var_os("DC0_SYZYGY").map_or_else(|| root().join(".syzygy"), PathBuf::from);
    assert!(folder.exists(), "no tablebases at {}; run `cargo xtask tablebases`", folder.display());
    folder
}
