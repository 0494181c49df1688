//! Imported games, compared with what python-chess reads from the same files, or wrote to them.

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

#[test]
fn training_data_of_lc0_that_python_chess_makes_is_imported_position_by_position() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let written =
        interop_command("write_lc0.py").arg(folder.path()).arg("100").output().expect("Python starts");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let run = |args: &[&str]| {
        let mut command = Command::new(PROGRAM);
        let output = command.current_dir(folder.path()).args(args).output().expect("ends");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["import", "lc0", "training.tar", "--out", "datasets/d"]);
    run(&["verify", "datasets/d"]);
    let output = interop_command("compare_lc0.py")
        .args([&folder.path().join("datasets/d"), folder.path()])
        .output()
        .expect("Python starts");
    let read = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{read}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read, "same: 5097\ndamaged: 10\nplanes: 20\n");
}
