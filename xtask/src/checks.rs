//! `cargo xtask test`: what CI runs, in the order that finds a mistake soonest.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::checkout::{Checkout, exit_code};
use crate::interop;
use crate::report::say;

/// Runs the stages one after the other; the first that fails ends the run with its exit code.
/// Lints and tests use the release profile, so that the C++ part of tch is compiled once for both and for the user.
pub(crate) fn run(checkout: &Checkout, fast: bool) -> anyhow::Result<ExitCode> {
    let mut stages = vec![
        ("formatting", checkout.cargo(&["fmt", "--all", "--check"])),
        (
            "lints",
            checkout.cargo(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--release",
                "--",
                "-D",
                "warnings",
            ]),
        ),
    ];
    if fast {
        stages.push((
            "unit tests",
            checkout.cargo(&["test", "--workspace", "--release", "--lib", "--bins"]),
        ));
    } else {
        stages.push(("tests", checkout.cargo(&["test", "--workspace", "--release"])));
    }
    let python = if fast {
        None
    } else {
        Some(interop::python(checkout)?)
    };
    for (name, mut command) in stages {
        if let Some(python) = &python {
            command.env("DC0_PYTHON", python);
        }
        if let Some(failure) = run_stage(name, command)? {
            return Ok(failure);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs one stage under a header line; an exit code comes back only if it failed.
fn run_stage(name: &str, mut command: Command) -> anyhow::Result<Option<ExitCode>> {
    say(&format!("== {name}"));
    let (status, took) = timed(|| command.status());
    let status = status.with_context(|| format!("cannot start the stage `{name}`: {command:?}"))?;
    let outcome = if status.success() { "passed" } else { "FAILED" };
    say(&format!("== {name} {outcome} in {:.1} s", took.as_secs_f64()));
    Ok(if status.success() {
        None
    } else {
        Some(exit_code(status))
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "stage times are shown to the user; no result depends on them"
)]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}
