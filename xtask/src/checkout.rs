//! The checkout xtask works in, and the cargo that started it.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;

/// Folder of the workspace's root manifest.
#[derive(Debug, Clone)]
pub(crate) struct Checkout {
    root: PathBuf,
}

impl Checkout {
    /// Finds the workspace from the manifest folder that `cargo run` names, so that a moved checkout still works.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let member = env::var_os("CARGO_MANIFEST_DIR")
            .context("xtask was not started by cargo; run it as `cargo xtask` inside the checkout")?;
        let root = Path::new(&member).parent().context("the folder of xtask has no parent")?.to_owned();
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where build results go, as cargo decides it.
    pub(crate) fn target_dir(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), |dir| self.root.join(dir))
    }

    /// A cargo command in the checkout's root, with the same cargo that runs xtask.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root).args(args);
        command
    }

    /// Builds dc0-run and becomes it: signals go straight to the program, and its exit code is ours.
    /// The working folder stays the user's, so a relative script path means what it says.
    pub(crate) fn run_program(&self, args: &[String]) -> anyhow::Result<ExitCode> {
        // With the features of the whole workspace, so that the tests do not build everything once more.
        let build = ["build", "--release", "--workspace", "--bin", "dc0-run"];
        let status = self.cargo(&build).status().context("cannot start cargo")?;
        if !status.success() {
            return Ok(exit_code(status));
        }
        let program = self.target_dir().join("release/dc0-run");
        let cause = Command::new(&program).args(args).exec();
        Err(cause).with_context(|| format!("cannot start {}", program.display()))
    }
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The exit code to hand on: the command's own, or 1 where a signal ended it.
pub(crate) fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
