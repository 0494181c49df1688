//! EPD lines, written and read by python-chess.

use std::fs;

use dc0_core::board::{Epd, Operands, Rules, random_opening, read_epd};
use dc0_core::rng::{Purpose, Seed};

use crate::interop_script;

/// Random positions of 1 to 160 plies, with moves, a number and texts.
fn random_lines(count: u64) -> Vec<Epd> {
    let rules = Rules { max_plies: 512 };
    let line = |number: u64| {
        let mut stream = Seed { run: 11, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(1 + number as u32 % 160, &rules, &mut stream);
        let mut moves = game.position().legal_moves();
        moves.sort_unstable();
        let avoided = moves.split_off(moves.len() / 2);
        let mut epd = Epd::of(game.position().clone());
        let mut add = |opcode: &str, operands| epd.operations.insert(opcode.to_owned(), operands);
        add("id", Operands::Text(format!("no. {number}; \"random\" \\ é")));
        add("am", Operands::Moves(avoided));
        if !moves.is_empty() {
            add("bm", Operands::Moves(moves));
        }
        if number.is_multiple_of(3) {
            add("dm", Operands::Number(1 + number as u32 % 7));
        }
        epd
    };
    (0..count).map(line).collect()
}

#[test]
fn python_chess_and_dc0_read_what_the_other_writes() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("random.epd");
    let written = random_lines(3000);
    let lines: String = written.iter().map(|epd| format!("{epd}\n")).collect();
    fs::write(&path, &lines).expect("writes");
    let printed = interop_script("rewrite_epd.py", &path);
    let rewritten = read_epd("python-chess", printed.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rewritten.len(), 2 * written.len());
    let is_castling = |epd: &&Epd| !epd.position.epd_fields().contains(" - ");
    assert!(written.iter().filter(is_castling).count() > 100);
    assert!(written.iter().filter(|epd| epd.position.legal_en_passant().is_some()).count() > 10);
    for (written, rewritten) in written.iter().zip(rewritten.chunks(2)) {
        let (mut epd, fen) = (rewritten[0].1.clone(), &rewritten[1].1);
        assert_eq!(fen.position, written.position);
        // python-chess keeps no order of moves.
        for operands in epd.operations.values_mut() {
            if let Operands::Moves(moves) = operands {
                moves.sort_unstable();
            }
        }
        assert_eq!(&epd, written);
    }
}
