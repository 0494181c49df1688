//! `cargo xtask test`: what CI runs, in the order that finds mistakes soonest.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::checkout::{BUILD, Checkout, exit_code};
use crate::report::print;
use crate::{browser, interop, syzygy};

const FORMATTING: &[&str] = &["fmt", "--all", "--check"];
/// Lints and tests use the release profile, so that the C++ part of tch is compiled once for both and for the user.
const LINTS: &[&str] = &["clippy", "--workspace", "--all-targets", "--release", "--", "-D", "warnings"];
/// Runs all tests: a failure does not hide those after it.
const TESTS: &[&str] = &["test", "--workspace", "--release", "--no-fail-fast"];
/// Plain `cargo test` and `--all-targets` leave these out, because they need what is fetched here.
const INTEROP_LINTS: &[&str] =
    &["clippy", "--workspace", "--test", "interop", "--release", "--", "-D", "warnings"];
const INTEROP_TESTS: &[&str] = &["test", "--workspace", "--release", "--test", "interop"];
/// The tests beside the code. Of the programs, xtask and the benchmarks have some.
const UNIT_TESTS: &[&str] =
    &["test", "--workspace", "--release", "--lib", "--bin", "xtask", "--bin", "dc0-benches"];

/// The build command of the README; its default members and features are those of `BUILD`.
const PLAIN_BUILD: &[&str] = &["build", "--release"];

const LEFT_OUT: &str = "== left out by --fast: whole runs, outside programs, tablebases, the core's examples";

/// Runs the stages in order; a failure gives the exit code.
/// `fast` leaves out the tests that run whole programs, dc0's own and others.
pub(crate) fn run(checkout: &Checkout, fast: bool) -> anyhow::Result<ExitCode> {
    for (name, args) in [("formatting", FORMATTING), ("lints", LINTS), ("lints of interop", INTEROP_LINTS)] {
        if let Some(failure) = run_stage(name, checkout.cargo(args))? {
            return Ok(failure);
        }
    }
    if fast {
        let failure = run_stage("unit tests", checkout.cargo(UNIT_TESTS))?;
        print(LEFT_OUT);
        return Ok(failure.unwrap_or(ExitCode::SUCCESS));
    }
    if let Some(failure) = plain_build(checkout)? {
        return Ok(failure);
    }
    let interop = interop_tests(checkout)?;
    let tests = run_stage("tests", checkout.cargo(TESTS))?;
    let interop = run_stage("interop", interop)?;
    Ok(tests.or(interop).unwrap_or(ExitCode::SUCCESS))
}

/// Fetches what the tests against outside programs need, and returns their command.
fn interop_tests(checkout: &Checkout) -> anyhow::Result<Command> {
    let mut tests = checkout.cargo(INTEROP_TESTS);
    let python = interop::python(checkout)?;
    tests.env("DC0_SYZYGY", syzygy::tables(checkout)?);
    tests.env("DC0_PYTHON", python);
    let browser = browser::browser(checkout)?;
    tests.env("DC0_CHROMIUM", browser.program).env("DC0_BROWSER", browser.packages);
    Ok(tests)
}

/// Builds the program as `cargo xtask run` does and then with plain cargo, which must find everything built. Other members or
/// features would compile polars twice.
fn plain_build(checkout: &Checkout) -> anyhow::Result<Option<ExitCode>> {
    if let Some(failure) = run_stage("build", checkout.cargo(BUILD))? {
        return Ok(Some(failure));
    }
    let mut plain = checkout.cargo(PLAIN_BUILD);
    let output =
        plain.arg("--message-format=json").stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let compiled = compiled(&messages);
    if output.status.success() && compiled.is_empty() {
        print("== plain build compiled nothing");
        return Ok(None);
    }
    print(&format!(
        "== plain build FAILED: after `cargo {}`, `cargo {}` should find everything built, but compiled {}",
        BUILD.join(" "),
        PLAIN_BUILD.join(" "),
        compiled.join(", ")
    ));
    Ok(Some(ExitCode::FAILURE))
}

/// The packages that cargo compiled, from its messages, one per line.
fn compiled(messages: &str) -> Vec<&str> {
    let artifacts = messages.lines().filter(|line| line.contains(r#""reason":"compiler-artifact""#));
    let stale = artifacts.filter(|line| !line.contains(r#""fresh":true"#));
    stale.filter_map(|line| line.split(r#""package_id":""#).nth(1)?.split('"').next()).collect()
}

/// Runs one stage under a header line; returns an exit code only if it failed.
fn run_stage(name: &str, mut command: Command) -> anyhow::Result<Option<ExitCode>> {
    print(&format!("== {name}"));
    let (status, took) = timed(|| command.status());
    let status = status.with_context(|| format!("cannot start the stage `{name}`: {command:?}"))?;
    let outcome = if status.success() { "passed" } else { "FAILED" };
    print(&format!("== {name} {outcome} in {:.1} s", took.as_secs_f64()));
    Ok(if status.success() { None } else { Some(exit_code(status)) })
}

#[expect(clippy::disallowed_methods, reason = "stage times are shown to the user; no result depends on them")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_packages_are_listed_and_fresh_ones_are_not() {
        let messages = r#"{"reason":"compiler-artifact","package_id":"registry+x#ring@0.17.14","target":{"kind":["lib"]},"fresh":false}
{"reason":"compiler-artifact","package_id":"registry+x#log@0.4.28","target":{"kind":["lib"]},"fresh":true}
{"reason":"build-script-executed","package_id":"registry+x#libc@0.2.191","env":[]}
{"reason":"build-finished","success":true}"#;
        assert_eq!(compiled(messages), ["registry+x#ring@0.17.14"]);
    }
}
