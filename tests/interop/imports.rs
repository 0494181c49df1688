//! Imported games, compared with what python-chess reads from the same files.

use std::process::Command;

use crate::interop_command;
use crate::program::{PROGRAM, root};

#[test]
fn python_chess_reads_the_same_games_as_an_import() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = ["tests/data/engines.pgn", "tests/data/imports.pgn"].map(|file| root().join(file));
    let mut import = Command::new(PROGRAM);
    import.current_dir(folder.path()).args(["import", "pgn", "--out", "datasets/d"]).args(&files);
    let output = import.output().expect("ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let dataset = folder.path().join("datasets/d");
    let output =
        interop_command("replay_import.py").arg(dataset).args(&files).output().expect("Python starts");
    let read = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{read}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(read.contains("same: 45\nrejected: 6\nwithout moves: 1\n"), "{read}");
}
