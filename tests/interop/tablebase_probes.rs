//! dc0's tablebase probes, compared with those of python-chess, which reads the same files with code of its own.
//! `cargo xtask test` installs both; without them these tests fail and say so.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{interop_script, random_endings, syzygy};
use dc0_core::board::{Game, Position, Tablebase, TablebaseResult};
use dc0_core::rng::{Purpose, Seed};
use rand::RngExt;
use serde_json::{Value, json};

/// All material balances with three and four pieces; either side is the stronger one.
const BALANCES: [&str; 35] = [
    "Q", "r", "b", "N", "P", "QQ", "qr", "QB", "qn", "QP", "RR", "rb", "RN", "rp", "BB", "bn", "BP", "nn",
    "NP", "pp", "Qq", "Qr", "bQ", "Qn", "Qp", "Rr", "Rb", "nR", "Rp", "Bb", "Bn", "Bp", "Nn", "pN", "Pp",
];

const EACH: u64 = 60;

fn number(result: TablebaseResult) -> i64 {
    result as i64 - TablebaseResult::Draw as i64
}

fn positions() -> Vec<Position> {
    let mut stream = Seed { run: 9, step: 1 }.stream(0, Purpose::RandomPlayer);
    let mut positions: Vec<Position> =
        (0..150).map(|_| random_endings::with_en_passant(&mut stream)).collect();
    for balance in BALANCES {
        for number in 0..EACH {
            // Half of the clocks are 0, a quarter anything, a quarter near 100.
            let clock =
                [0, 0, stream.random_range(1..100), stream.random_range(80..100)][number as usize % 4];
            positions.push(random_endings::random(balance, clock, &mut stream));
        }
    }
    positions
}

/// dc0's answers for a position, as a line for the script.
fn answers(tables: &Tablebase, position: &Position) -> Value {
    let game = Game::from_position(position.clone());
    let wdl = tables.probe_wdl(position).expect("sound tables").expect("covered");
    let outcome = tables.probe_with_clock(position).expect("sound tables").map(TablebaseResult::outcome);
    let ranked = tables.rank_root(&game).expect("sound tables").expect("covered");
    let moves: Vec<Value> = ranked
        .iter()
        .map(|ranked| json!([ranked.mv.to_string(), ranked.dtz, number(ranked.result), ranked.rank]))
        .collect();
    json!({ "fen": position.fen(), "wdl": number(wdl), "outcome": outcome, "moves": moves })
}

fn compare(lines: &[Value], folder: &Path) -> Output {
    let path = folder.join("positions.jsonl");
    let heading = json!({ "tables": syzygy().display().to_string() });
    let text: String = [&heading].into_iter().chain(lines).map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).expect("a file");
    interop_script("probe_tables.py", &path)
}

#[test]
fn python_chess_agrees_with_every_tablebase_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let lines: Vec<Value> = positions().iter().map(|position| answers(&tables, position)).collect();
    let output = compare(&lines, folder.path());
    let (printed, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{err}");
    assert!(printed.starts_with("compared 2250 positions, "), "{printed}");
}

#[test]
fn the_comparison_detects_every_kind_of_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let queen = Position::from_fen("4k3/8/8/8/8/8/8/3QK3 w - - 10 60").expect("a position");
    let right = answers(&tables, &queen);
    assert!(compare(std::slice::from_ref(&right), folder.path()).status.success());
    for (what, wrong) in
        [("wdl", json!(1)), ("outcome", json!(0)), ("outcome", json!(null)), ("moves", json!([]))]
    {
        let mut line = right.clone();
        line[what] = wrong;
        let output = compare(&[line], folder.path());
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("{what}: dc0 says")));
    }
}
