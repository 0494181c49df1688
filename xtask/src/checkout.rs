//! The checkout xtask works in, and the cargo that started it.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;

/// Builds the program with the features of the whole workspace, so that the tests do not build everything again.
pub(crate) const BUILD: &[&str] = &["build", "--release", "--workspace", "--bin", "dc0-run"];

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

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A cargo command in the checkout's root, with the cargo that runs xtask.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root).args(args);
        command
    }

    /// Builds dc0-run and replaces this process by it, so signals reach it directly and its exit code is ours.
    /// The working folder stays the user's, so relative script paths work.
    pub(crate) fn run_program(&self, args: &[String]) -> anyhow::Result<ExitCode> {
        let status = self.cargo(BUILD).status().context("cannot start cargo")?;
        if !status.success() {
            return Ok(exit_code(status));
        }
        let program = target_dir()?.join("release/dc0-run");
        let cause = Command::new(&program).args(args).exec();
        Err(cause).with_context(|| format!("cannot start {}", program.display()))
    }
}

/// The folder of build results: cargo has chosen it for this program, too, from all its variables and configuration files.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let program = env::current_exe().context("cannot find the program of xtask")?;
    let target = target_of(&program);
    target.map(Path::to_owned).with_context(|| {
        format!(
            "{} lies in no folder of build results; run it as `cargo xtask` inside the checkout",
            program.display()
        )
    })
}

/// The folder of build results that holds a program, as the program of a profile.
fn target_of(program: &Path) -> Option<&Path> {
    program.parent()?.parent()
}

/// Cargo with the environment of the user's shell. Build scripts watch variables of the package being built, such as
/// `CARGO_PKG_NAME`: if they inherited xtask's, switching between `cargo xtask` and plain cargo would recompile ring and
/// everything that depends on it.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(describes_xtask)) {
        command.env_remove(name);
    }
    command
}

/// Whether cargo sets the variable to describe the program that it runs; the user's settings (`CARGO_HOME`, `CARGO_TARGET_DIR`,
/// `CARGO_PROFILE_…`) are not among these.
fn describes_xtask(variable: &str) -> bool {
    let names = [
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_MANIFEST_PATH",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_TMPDIR",
        "OUT_DIR",
    ];
    names.contains(&variable) || variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_BIN_EXE_")
}

/// The exit code to pass on: the command's, or 1 if a signal ended it.
pub(crate) fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_where_cargo_has_put_this_program() {
        for target in ["/checkout/target", "/elsewhere", "/elsewhere/x86_64-unknown-linux-gnu"] {
            for profile in ["debug", "release"] {
                let program = Path::new(target).join(profile).join("xtask");
                assert_eq!(target_of(&program), Some(Path::new(target)));
            }
        }
    }

    #[test]
    fn cargo_does_not_inherit_variables_of_xtask() {
        let is_ours =
            |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix));
        // Cargo sets the same variables for tests as for programs.
        let ours: Vec<String> = env::vars().map(|(name, _)| name).filter(|name| is_ours(name)).collect();
        assert!(ours.len() > 10, "cargo set only {ours:?}");
        let command = cargo();
        for name in ours {
            let removed = command.get_envs().any(|(other, value)| other == name.as_str() && value.is_none());
            assert!(removed, "{name} is passed on to cargo");
        }
    }

    #[test]
    fn cargo_keeps_the_users_settings() {
        for name in
            ["CARGO", "CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_PROFILE_RELEASE_LTO", "LIBTORCH", "PATH"]
        {
            assert!(!describes_xtask(name), "{name} is removed");
        }
        assert!(cargo().get_envs().all(|(_, value)| value.is_none()), "nothing is set");
    }
}
