//! The engine driven by python-chess, a strict UCI client.

use crate::interop_command;
use crate::program::{PROGRAM, succeed};

#[test]
fn python_chess_plays_analyses_and_ponders_with_the_engine() {
    let mut command = interop_command("uci_client.py");
    let output = succeed(command.arg(PROGRAM));
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["10 analyses", " games", " 0 losses on time", " ponder hits", " ponder misses", " 30 stops"]
    {
        assert!(summary.contains(part), "{part} in {summary}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_over_games() {
    let mut command = interop_command("uci_memory.py");
    command.arg(PROGRAM).args(["--moves", "5000"]);
    let output = succeed(&mut command);
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(summary.contains("after 5000 moves") && summary.contains("memory is steady"), "{summary}");
}
