//! The pages of `dc0-run serve` in a browser, while a run is running, killed and resumed. `cargo xtask test` installs the browser;
//! without it the test fails and says so.

use std::process::Command;

use crate::program::{PROGRAM, root};
use crate::{browser_package, chromium, stdout_of};

#[test]
fn a_browser_follows_a_killed_and_resumed_run_and_plays_its_net() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut node = Command::new("node");
    node.arg(root().join("tests/interop/browser/live.mjs")).arg(PROGRAM);
    node.arg(root().join("experiments/smoke.rhai"));
    node.arg(chromium()).arg(browser_package("")).arg(folder.path());
    assert_eq!(stdout_of(&mut node), "live pages are right\n");
}
