//! The engine in the hands of python-chess, a strict chess program.

use crate::interop_command;
use crate::program::{PROGRAM, succeed};

#[test]
fn python_chess_plays_analyses_and_ponders_with_the_engine() {
    let mut command = interop_command("uci_client.py");
    let output = succeed(command.arg(PROGRAM));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["10 analyses", " games", " 0 losses on time", " ponder hits", " ponder misses", " 30 stops"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_steady_over_a_few_games() {
    let mut command = interop_command("uci_memory.py");
    command.arg(PROGRAM).args(["--moves", "500"]);
    let output = succeed(&mut command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("after 500 moves") && said.contains("memory is steady"), "{said}");
}
