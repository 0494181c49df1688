//! Every plane and every index of `dc0-run encode` against those that Python makes from the definitions.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::interop_command;
use crate::program::{PROGRAM, succeed};

/// The number that stands before some words in a text.
fn number_of(what: &str, text: &str) -> u32 {
    let line = text.lines().find(|line| line.ends_with(what)).expect("a line for each kind");
    line.split(' ').next().and_then(|word| word.parse().ok()).expect("a number first")
}

#[test]
fn python_sees_the_same_planes_and_indices_in_five_thousand_positions() {
    let said = succeed(interop_command("encodings.py").arg(PROGRAM)).stdout;
    let said = String::from_utf8_lossy(&said);
    let compared: u32 = said.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    assert!(compared >= 5000 && said.contains(" in 8 encodings, "), "{said}");
    for (kind, least) in [
        ("with a castling", 50),
        ("with an en-passant capture", 50),
        ("with a promotion", 100),
        ("repeated once", 100),
        ("repeated twice or more", 50),
        ("after a FEN start", 1000),
        ("with missing history", 500),
    ] {
        assert!(number_of(kind, &said) >= least, "{kind}: {said}");
    }
}

/// What is done to a line that the program prints, and what Python says of it.
const MISTAKES: [(&str, &str); 7] = [
    (r#"1s/"policy":[0-9]*/"policy":4671/"#, "'policy': 4671, "),
    (r#"2s/"leela":[0-9]*/"leela":1857/"#, "'leela': 1857}, expected the indices ["),
    (r#"3s/"uci":"..../"uci":"a1a1/"#, "other legal moves"),
    (r#"4s/"planes":\["[0-9a-f]/"planes":["f/"#, "plane 0:"),
    (r"5s/,0\.[0-9]*,/,0.75,/", "plane 15:"),
    (r#"6s/"planes":\[/"planes":[0.5,/"#, "shape (23, 8, 8), expected (22, 8, 8)"),
    ("$d", " lines for "),
];

#[test]
fn the_comparison_notices_every_kind_of_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("dc0-run");
    let edit = MISTAKES.map(|(edit, _)| edit).join("\n");
    fs::write(&program, format!("#!/bin/sh\n'{PROGRAM}' \"$@\" | sed '{edit}'\n")).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
    let output = interop_command("encodings.py").arg(&program).arg("20").output().expect("Python starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for (edit, expected) in MISTAKES {
        assert!(said.contains(expected), "{edit}: expected {expected}, got {said}");
    }
}
