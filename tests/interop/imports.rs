//! Imported games, compared with what python-chess reads from the same files, or wrote to them.

use std::process::Command;

use crate::program::{PROGRAM, root, succeed};
use crate::{interop_command, stdout_of};

#[test]
fn python_chess_reads_the_same_games_as_an_import() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let files = ["tests/data/engines.pgn", "tests/data/imports.pgn"].map(|file| root().join(file));
    let mut import = Command::new(PROGRAM);
    import.current_dir(folder.path()).args(["import", "pgn", "--out", "datasets/d"]).args(&files);
    succeed(&mut import);
    let dataset = folder.path().join("datasets/d");
    let read = stdout_of(interop_command("replay_import.py").arg(dataset).args(&files));
    assert!(read.contains("same: 45\nrejected: 6\nwithout moves: 1\n"), "{read}");
}

#[test]
fn training_data_of_lc0_that_python_chess_makes_is_imported_position_by_position() {
    let folder = tempfile::tempdir().expect("temporary folder");
    succeed(interop_command("write_lc0.py").arg(folder.path()).arg("100"));
    let run = |args: &[&str]| succeed(Command::new(PROGRAM).current_dir(folder.path()).args(args));
    run(&["import", "lc0", "training.tar", "--out", "datasets/d"]);
    run(&["verify", "datasets/d"]);
    let mut compare = interop_command("compare_lc0.py");
    let read = stdout_of(compare.arg(folder.path().join("datasets/d")).arg(folder.path()));
    assert_eq!(read, "same: 5097\ndamaged: 10\nplanes: 20\n");
}
