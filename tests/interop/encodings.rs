//! Every plane and every index of `dc0-run encode`, compared with those that Python computes from the definitions.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::program::PROGRAM;
use crate::{interop_command, stdout_of};

/// The number at the start of the line that ends with `what`.
fn number_of(what: &str, text: &str) -> u32 {
    let line = text.lines().find(|line| line.ends_with(what)).expect("a line for each kind");
    line.split(' ').next().and_then(|word| word.parse().ok()).expect("a number first")
}

#[test]
fn python_computes_the_same_planes_and_indices() {
    let printed = stdout_of(interop_command("encodings.py").arg(PROGRAM));
    let compared: u32 = printed.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    assert!(compared >= 5000 && printed.contains(" in 9 encodings, "), "{printed}");
    for (kind, least) in [
        ("with a castling", 50),
        ("with an en-passant capture", 50),
        ("with a promotion", 100),
        ("repeated once", 100),
        ("repeated twice or more", 50),
        ("after a FEN start", 1000),
        ("with missing history", 500),
        ("compared with a twin", 5000),
    ] {
        assert!(number_of(kind, &printed) >= least, "{kind}: {printed}");
    }
}

/// Edits of lines that the program prints, and what Python reports for each.
const ERRORS: [(&str, &str); 7] = [
    (r#"1s/"policy":[0-9]*/"policy":4671/"#, "'policy': 4671, "),
    (r#"2s/"leela":[0-9]*/"leela":1857/"#, "'leela': 1857}, expected the indices ["),
    (r#"3s/"uci":"..../"uci":"a1a1/"#, "other legal moves"),
    (r#"4s/"planes":\["[0-9a-f]/"planes":["f/"#, "plane 0:"),
    (r"5s/,0\.[0-9]*\]/,0.75]/", "plane 19:"),
    (r#"6s/"planes":\[/"planes":[0.5,/"#, "shape (21, 8, 8), expected (20, 8, 8)"),
    ("$d", " lines for "),
];

#[test]
fn the_comparison_detects_every_kind_of_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("dc0-run");
    let edit = ERRORS.map(|(edit, _)| edit).join("\n");
    fs::write(&program, format!("#!/bin/sh\n'{PROGRAM}' \"$@\" | sed '{edit}'\n")).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
    let output = interop_command("encodings.py").arg(&program).arg("20").output().expect("Python starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for (edit, expected) in ERRORS {
        assert!(printed.contains(expected), "{edit}: expected {expected}, got {printed}");
    }
}
