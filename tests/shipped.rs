//! The books and suites in `datasets` are what their documentation says.

use std::fs;

use dc0_core::arena::{RandomBookParams, generate_book, mating_moves, read_puzzles};
use dc0_core::board::read_epd;
use dc0_core::book::Book;
use dc0_core::event::Silent;
use dc0_core::rng::Seed;

use crate::program::root;

fn read(file: &str) -> Vec<u8> {
    fs::read(root().join(file)).expect("the file is checked in")
}

#[test]
fn the_book_of_openings_is_made_by_its_command() {
    let content = read("datasets/openings/balanced-8ply.epd");
    let book = Book::read("balanced-8ply.epd", &content, None).expect("a book");
    assert_eq!((book.len(), book.duplicates()), (3000, &[][..]));
    // A larger book begins with the smaller one.
    let params =
        RandomBookParams { count: 25, plies: 8, depth: 5, max_score: 40, ..RandomBookParams::default() };
    let made = generate_book(&params, Seed { run: 1, step: 0 }, 2, None, &Silent).expect("a book");
    let made: String = made.iter().map(|epd| format!("{epd}\n")).collect();
    assert!(content.starts_with(made.as_bytes()), "{made}");
}

#[test]
fn every_shipped_puzzle_has_a_single_fastest_mate() {
    let content = read("datasets/puzzles/mates.epd");
    let puzzles = read_puzzles("mates.epd", &content).expect("puzzles");
    let lines = read_epd("mates.epd", &content).expect("lines");
    assert!(puzzles.len() >= 150, "{}", puzzles.len());
    for (puzzle, (line, epd)) in puzzles.into_iter().zip(lines) {
        let moves = epd.mate_in().expect("a length");
        let mut game = puzzle.game;
        assert_eq!(mating_moves(&mut game, moves), puzzle.right, "line {line}");
        assert_eq!(puzzle.right.len(), 1, "line {line}");
        assert!(moves == 1 || mating_moves(&mut game, moves - 1).is_empty(), "line {line}");
    }
}

/// `tests/interop` proves them with tablebases.
#[test]
fn every_shipped_ending_has_a_single_right_move_and_at_most_four_pieces() {
    let content = read("datasets/puzzles/endings.epd");
    let puzzles = read_puzzles("endings.epd", &content).expect("puzzles");
    assert!(puzzles.len() >= 100, "{}", puzzles.len());
    for puzzle in puzzles {
        let fen = puzzle.game.position().fen();
        let board = fen.split(' ').next().unwrap_or_default();
        assert!(board.chars().filter(char::is_ascii_alphabetic).count() <= 4, "{fen}");
        assert_eq!(puzzle.right.len(), 1, "{fen}");
        let is_named =
            ["only winning move, ", "only drawing move, "].iter().any(|name| puzzle.id.starts_with(name));
        assert!(is_named, "{}", puzzle.id);
    }
}
