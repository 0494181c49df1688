//! The pages of `dc0-run serve` in a browser, while a run is running, killed and resumed. `cargo xtask test` installs the browser;
//! without it the test fails and says so.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{PROGRAM, root};

fn installed(variable: &str, path: &str) -> PathBuf {
    let path = env::var_os(variable).map_or_else(|| root().join("target/browser").join(path), PathBuf::from);
    assert!(path.exists(), "no browser at {}; run `cargo xtask test`, which installs it", path.display());
    path
}

#[test]
fn a_browser_follows_a_killed_and_resumed_run_and_plays_its_net() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut node = Command::new("node");
    node.arg(root().join("tests/interop/browser/live.mjs")).arg(PROGRAM);
    node.arg(root().join("experiments/smoke.rhai"));
    node.arg(installed("DC0_CHROMIUM", "unpacked/chromium"))
        .arg(installed("DC0_BROWSER", ""))
        .arg(folder.path());
    let output = node.output().expect("Node.js starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(printed, "live pages are right\n");
}
