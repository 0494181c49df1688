//! The pages of `dc0-run serve` in a browser, while a run goes on, is killed and goes on again. `cargo xtask test` makes the browser;
//! without it the test fails and says so.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{PROGRAM, root};

fn made(variable: &str, place: &str) -> PathBuf {
    let path = env::var_os(variable).map_or_else(|| root().join("target/browser").join(place), PathBuf::from);
    assert!(path.exists(), "no browser at {}; run `cargo xtask test`, which installs it", path.display());
    path
}

#[test]
fn a_browser_follows_a_run_that_is_killed_and_resumed_and_plays_against_its_net() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut node = Command::new("node");
    node.arg(root().join("tests/interop/browser/live.mjs")).arg(PROGRAM);
    node.arg(root().join("experiments/smoke.rhai"));
    node.arg(made("DC0_CHROMIUM", "unpacked/chromium")).arg(made("DC0_BROWSER", "")).arg(folder.path());
    let output = node.output().expect("Node.js starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, "live pages are right\n");
}
