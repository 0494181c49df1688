//! The program under test, and how to run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_dc0-run");

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").exists()).expect("a workspace").to_owned()
}

/// The command that runs a script of the workspace with its runs in `out`.
pub(crate) fn dc0_run(script: &str, out: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    // The backend is fixed, so that no measurement decides which bytes are written.
    command.arg(root().join(script)).args(["--backend", "torch", "--out"]).arg(out).stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn succeed(command: &mut Command) -> Output {
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
