//! Nothing of a program stays behind.

use std::fs;

use crate::engine::{mode, processes_with_argument, test_engine, wait_for_processes};
use dc0_opponents::{Opponent, UciParams};

/// The number of processes of the test program that have ended and were not waited for.
fn zombies() -> usize {
    let own = fs::read_to_string("/proc/self/stat").expect("is there");
    let own = own.split_whitespace().next().expect("the number of this process").to_owned();
    // Those that have ended have no command line any more, but still a parent.
    let stats = fs::read_dir("/proc").expect("is there").flatten();
    let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let is_zombie = |stat: &String| {
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str()) && stat.contains("(test_engine)")
    };
    stats.filter(is_zombie).count()
}

/// One test program has several tests at once, so this one counts in a process of its own.
#[test]
fn a_thousand_starts_leave_no_process_and_no_handle_behind() {
    if std::env::var_os("DC0_COUNTS_HANDLES").is_none() {
        let this = std::env::current_exe().expect("has a path");
        let name = "leftovers::a_thousand_starts_leave_no_process_and_no_handle_behind";
        let mut command = std::process::Command::new(this);
        let output = command.args(["--exact", name]).env("DC0_COUNTS_HANDLES", "1").output().expect("starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let argument = format!("unique-{}", std::process::id());
    let params = UciParams { start_timeout: 60.0, ..mode(&["uci", &argument]) };
    let opponent = Opponent::uci(&test_engine(), &params, true).expect("behaves");
    let handles = || fs::read_dir("/proc/self/fd").expect("is there").count();
    let threads = || fs::read_dir("/proc/self/task").expect("is there").count();
    let before = (handles(), threads());
    for round in 0..100 {
        let mut programs: Vec<_> = (0..10).map(|_| opponent.start().expect("starts")).collect();
        for program in programs.iter_mut().take(round % 11) {
            program.begin().expect("begins");
        }
    }
    assert_eq!((handles(), threads()), before);
    assert_eq!((processes_with_argument(&argument), zombies()), (0, 0));
}

/// The program ends with the thread of ours that serves it, as when this process is killed.
#[cfg(target_os = "linux")]
#[test]
fn programs_end_with_this_process_however_it_ends() {
    let argument = format!("orphan-{}", std::process::id());
    if let Ok(argument) = std::env::var("DC0_BECOMES_KILLED") {
        // Ends neither by a word nor with its input.
        let opponent =
            Opponent::uci(&test_engine(), &mode(&["stubborn", "1", &argument]), true).expect("behaves");
        let _program = opponent.start().expect("starts");
        std::process::abort();
    }
    let this = std::env::current_exe().expect("has a path");
    let mut command = std::process::Command::new(this);
    command.args(["--exact", "leftovers::programs_end_with_this_process_however_it_ends"]);
    let status = command.env("DC0_BECOMES_KILLED", &argument).output().expect("starts").status;
    assert!(!status.success());
    wait_for_processes(0, &argument);
}
