//! Whole runs of the program: killed and resumed, with one lane and with two, and with bad input.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dc0_tests::{dc0_run, digests, succeed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dc0-run-under-test");
/// A loop small enough to be run a dozen times: every kind of step, several shards, several training states.
const TINY: &str = "tests/data/tiny.rhai";

fn run_tiny(out: &Path, lanes: &str) {
    succeed(dc0_run(PROGRAM, TINY, out).args(["--lanes", lanes]));
}

#[test]
fn a_run_killed_at_any_moment_and_run_again_ends_with_the_same_bytes() {
    let whole = tempfile::tempdir().expect("a folder");
    run_tiny(whole.path(), "2");
    let expected = digests(&whole.path().join("tiny"));
    assert!(expected.keys().any(|name| name.starts_with("games/")), "{expected:?}");
    assert!(expected.keys().any(|name| name.starts_with("networks/")), "{expected:?}");

    let killed = tempfile::tempdir().expect("a folder");
    let mut kills = 0;
    // Each attempt is killed a little later than the one before, so that every kind of step is hit.
    for attempt in 1..=200u32 {
        let mut child = dc0_run(PROGRAM, TINY, killed.path())
            .args(["--lanes", "2"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_millis(150 + 37 * u64::from(attempt)));
        if child.try_wait().expect("its state").is_some() {
            break;
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("it ends");
        kills += 1;
    }
    run_tiny(killed.path(), "2");
    assert_eq!(digests(&killed.path().join("tiny")), expected);
    assert!(kills >= 10, "the run ended after only {kills} kills; make it longer");
}

#[test]
fn one_lane_and_three_give_the_same_bytes() {
    let (one, three) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    run_tiny(one.path(), "1");
    run_tiny(three.path(), "3");
    assert_eq!(digests(&one.path().join("tiny")), digests(&three.path().join("tiny")));
}

#[test]
fn another_seed_gives_other_games() {
    let (one, two) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    run_tiny(one.path(), "2");
    succeed(dc0_run(PROGRAM, TINY, two.path()).args(["--seed", "2"]));
    assert_ne!(digests(&one.path().join("tiny")), digests(&two.path().join("tiny")));
}
