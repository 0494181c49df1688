//! `cargo xtask test`: what CI runs, in the order that finds a mistake soonest.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::checkout::{Checkout, exit_code};
use crate::report::say;
use crate::{browser, interop, syzygy};

const FORMATTING: &[&str] = &["fmt", "--all", "--check"];
/// Lints and tests use the release profile, so that the C++ part of tch is compiled once for both and for the user.
const LINTS: &[&str] = &["clippy", "--workspace", "--all-targets", "--release", "--", "-D", "warnings"];
/// All problems at once: a test that fails does not hide what the later ones say.
const TESTS: &[&str] = &["test", "--workspace", "--release", "--no-fail-fast"];
const UNIT_TESTS: &[&str] = &["test", "--workspace", "--release", "--lib", "--bins"];

const LEFT_OUT: &str = "== left out by --fast: whole runs, outside programs, tablebases, the core's examples";

/// Runs the stages one after the other; the first that fails ends the run with its exit code.
/// `fast` leaves out the tests that run whole programs, dc0's own and others.
pub(crate) fn run(checkout: &Checkout, fast: bool) -> anyhow::Result<ExitCode> {
    for (name, args) in [("formatting", FORMATTING), ("lints", LINTS)] {
        if let Some(failure) = run_stage(name, checkout.cargo(args))? {
            return Ok(failure);
        }
    }
    let (name, mut tests) =
        if fast { ("unit tests", checkout.cargo(UNIT_TESTS)) } else { ("tests", checkout.cargo(TESTS)) };
    if !fast {
        let python = interop::python(checkout)?;
        tests.env("DC0_SYZYGY", syzygy::tables(checkout, &python)?);
        tests.env("DC0_PYTHON", python);
        let browser = browser::browser(checkout)?;
        tests.env("DC0_CHROMIUM", browser.program).env("DC0_BROWSER", browser.packages);
    }
    let failure = run_stage(name, tests)?;
    if fast {
        say(LEFT_OUT);
    }
    Ok(failure.unwrap_or(ExitCode::SUCCESS))
}

/// Runs one stage under a header line; an exit code comes back only if it failed.
fn run_stage(name: &str, mut command: Command) -> anyhow::Result<Option<ExitCode>> {
    say(&format!("== {name}"));
    let (status, took) = timed(|| command.status());
    let status = status.with_context(|| format!("cannot start the stage `{name}`: {command:?}"))?;
    let outcome = if status.success() { "passed" } else { "FAILED" };
    say(&format!("== {name} {outcome} in {:.1} s", took.as_secs_f64()));
    Ok(if status.success() { None } else { Some(exit_code(status)) })
}

#[expect(clippy::disallowed_methods, reason = "stage times are shown to the user; no result depends on them")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}
