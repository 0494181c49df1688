//! What the tests share: running `dc0-run`, digests of what a run stored, and positions for tablebases.

pub mod endings;
pub mod nets;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

/// The Python with the packages of the interop tests.
///
/// # Panics
/// If `cargo xtask test` has not made it.
pub fn interop_python() -> PathBuf {
    let own = root().join("target/interop-venv/bin/python");
    let python = env::var_os("DC0_PYTHON").map_or(own, PathBuf::from);
    assert!(python.exists(), "no Python at {}; run `cargo xtask test`, which installs it", python.display());
    python
}

/// What a script of `tests/interop` says of a path.
///
/// # Panics
/// If there is no Python with the packages it needs.
pub fn interop_script(script: &str, path: &Path) -> Output {
    interop_command(script).arg(path).output().expect("Python starts")
}

/// The command that runs a script of `tests/interop`, still without arguments.
///
/// # Panics
/// If there is no Python with the packages it needs.
pub fn interop_command(script: &str) -> Command {
    let mut command = Command::new(interop_python());
    command.arg(root().join("tests/interop").join(script));
    command
}

/// The folder of the tablebases with three and four pieces.
///
/// # Panics
/// If `cargo xtask test` has not made it.
pub fn syzygy() -> PathBuf {
    let folder = env::var_os("DC0_SYZYGY").map_or_else(|| root().join("target/syzygy"), PathBuf::from);
    assert!(
        folder.exists(),
        "no tablebases at {}; run `cargo xtask test`, which fetches them",
        folder.display()
    );
    folder
}

/// The command that runs a script of the workspace with its runs in `out`; `program` is the test's own
/// `env!("CARGO_BIN_EXE_dc0-run-under-test")`.
pub fn dc0_run(program: &str, script: &str, out: &Path) -> Command {
    let mut command = Command::new(program);
    // The backend is given, so that no measurement decides what the bytes are.
    command.arg(root().join(script)).args(["--backend", "torch", "--out"]).arg(out).stdin(Stdio::null());
    command
}

/// Runs a command to its end.
///
/// # Panics
/// If it does not succeed; with everything it printed.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    output
}

/// The digest of every file of a run that must be the same bytes each time: experience, networks, curves and matches.
pub fn digests(run: &Path) -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for folder in ["games", "positions", "networks", "training", "matches", "searches", "trees"] {
        for file in files_below(&run.join(folder)) {
            let name = file.strip_prefix(run).expect("below the run").to_string_lossy().into_owned();
            let digest = blake3::hash(&fs::read(&file).expect("a stored file")).to_hex().to_string();
            digests.insert(name, digest);
        }
    }
    digests
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
