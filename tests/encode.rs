//! `dc0-run encode`: its output and its errors.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use crate::program::{PROGRAM, succeed};
use serde_json::Value;

/// `dc0-run encode` with arguments separated by spaces.
fn encode(words: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("encode").args(words.split(' ')).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn lines(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Exit code and message of a command that must fail.
fn refused(words: &str) -> (Option<i32>, String) {
    let output = encode(words).output().expect("starts");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    (output.status.code(), text(&output.stderr))
}

#[test]
fn text_shows_named_planes_and_the_indices_of_legal_moves() {
    let page = text(&succeed(&mut encode("4k3/8/8/8/8/8/4P3/4K3 w - - 12 30 --moves e2e4")).stdout);
    let pawns = "  6  the opponent's pawns:\n".to_owned()
        + "      . . . . . . . .\n".repeat(3).as_str()
        + "      . . . . 1 . . .\n"
        + "      . . . . . . . .\n".repeat(4).as_str();
    assert!(page.contains(&pawns), "{page}");
    for expected in [
        "dc0-20 side_to_move, version 1\n4k3/8/8/8/4P3/8/8/4K3 b - - 0 30\n",
        "  0  own pawns: no square\n",
        " 19  plies since the last capture or pawn move / 100: 0\n",
        "\n5 legal moves, each with its index of 4672 and Leela's of 1858\n",
        // North by 1 from e1, as Black sees it; Leela's e1e2.
        "e8e7     4  106",
    ] {
        assert!(page.contains(expected), "{expected} is missing in\n{page}");
    }
}

#[test]
fn json_has_bitboards_as_hex_and_scalars_as_numbers() {
    let words = "startpos moves g1f3 --moves g8f6 --encoding lc0-112 --orientation absolute --history 2";
    let output = succeed(encode(words).args(["--format", "json"]));
    let [line] = &lines(&output)[..] else { panic!("one line") };
    assert_eq!(
        (&line["encoding"], &line["version"], &line["history"]),
        (&"lc0-112".into(), &1.into(), &2.into())
    );
    let planes = line["planes"].as_array().expect("planes");
    assert_eq!(planes.len(), 34);
    assert_eq!(planes[1], "0000000000200002", "White's knights");
    assert_eq!(
        (&planes[7], &planes[20]),
        (&"0200200000000000".into(), &"4200000000000000".into()),
        "Black's knights"
    );
    assert_eq!(planes[31].as_f64().map(|plies| (plies * 99.0).round()), Some(2.0), "halfmove clock");
    let moves = line["moves"].as_array().expect("moves");
    let found = moves.iter().find(|one| one["uci"] == "e2e4").expect("legal");
    assert_eq!((&found["policy"], &found["leela"]), (&76.into(), &322.into()));
}

#[test]
fn npy_is_an_array_of_one_position_or_of_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let (array, positions) = (folder.path().join("deep/a.npy"), folder.path().join("positions.txt"));
    succeed(encode("startpos --format npy --out").arg(&array));
    let one = std::fs::read(&array).expect("written");
    let header = text(&one[10..128]);
    assert!(one.starts_with(b"\x93NUMPY\x01\x00") && header.contains("'shape': (20, 8, 8), "), "{header}");
    let values: Vec<f32> = one[128..]
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect();
    assert_eq!(values.len(), 20 * 64);
    assert_eq!(values[..24], [[0.0; 8], [1.0; 8], [0.0; 8]].concat(), "own pawns on the second rank");
    assert_eq!(values[14 * 64..18 * 64], [1.0; 256], "all castling rights");
    std::fs::write(&positions, "startpos\nstartpos moves e2e4\n").expect("written");
    let many = succeed(encode("--format npy --positions").arg(&positions)).stdout;
    assert!(text(&many[10..128]).contains("'shape': (2, 20, 8, 8), "));
    assert_eq!(many[128..][..4 * values.len()], one[128..]);
    assert_eq!(many.len(), 128 + 2 * 4 * values.len());
}

#[test]
fn many_positions_come_from_stdin() {
    let mut command = encode("--positions - --format json --encoding az-119");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"startpos moves e2e4\nfen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e3\n").expect("reads");
    drop(stdin);
    let output = child.wait_with_output().expect("ends");
    let fens: Vec<String> =
        lines(&output).iter().map(|line| line["fen"].as_str().expect("a FEN").to_owned()).collect();
    assert_eq!(
        fens,
        ["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "4k3/8/8/8/8/4P3/8/4K3 b - - 0 1"]
    );
}

#[test]
fn unencodable_input_is_reported() {
    let (code, message) = refused("startpos --moves e2e4 e2e4");
    assert_eq!(code, Some(2));
    assert!(message.starts_with("error: move 2, \"e2e4\", is not legal in rnbqkbnr/"), "{message}");
    let (code, message) = refused("8/8/8/8/8/8/8/8 w - - 0 1");
    assert_eq!(code, Some(2));
    assert!(message.contains("is not a legal position"), "{message}");
    let (code, message) = refused("startpos --encoding az-118");
    assert_eq!(code, Some(2));
    assert!(message.contains("a similar value exists: 'az-119'"), "{message}");
    let (code, message) = refused("startpos --encoding lc0-112 --history 9");
    assert_eq!(code, Some(2));
    assert!(message.contains("`lc0-112` takes a history of 1 to 8 positions, got 9"), "{message}");
    let (code, message) = refused("startpos --orientation absolute");
    assert_eq!(code, Some(2));
    assert!(message.contains("`dc0-20` does not show who is to move"), "{message}");
    let (code, message) = refused("--positions no/such/file");
    assert_eq!(code, Some(3));
    assert!(message.starts_with("error: cannot read the positions of no/such/file: "), "{message}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("positions.txt");
    std::fs::write(&file, "startpos\nstartpos moves e2e5\n").expect("written");
    let (code, message) = refused(&format!("--positions {}", file.display()));
    assert_eq!(code, Some(2));
    assert!(message.contains("positions.txt, line 2: move 1, \"e2e5\", is not legal"), "{message}");
    std::fs::write(&file, "").expect("written");
    assert!(refused(&format!("--positions {}", file.display())).1.contains("has no lines"));
}
