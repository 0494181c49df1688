//! The engine driven by python-chess, a strict UCI client.

use crate::program::PROGRAM;
use crate::{interop_command, stdout_of};

#[test]
fn python_chess_plays_analyses_and_ponders_with_the_engine() {
    let summary = stdout_of(interop_command("uci_client.py").arg(PROGRAM));
    for part in ["10 analyses", " games", " 0 losses on time", " ponder hits", " ponder misses", " 30 stops"]
    {
        assert!(summary.contains(part), "{part} in {summary}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_over_games() {
    let summary = stdout_of(interop_command("uci_memory.py").arg(PROGRAM).args(["--moves", "5000"]));
    assert!(summary.contains("after 5000 moves") && summary.contains("memory is steady"), "{summary}");
}
