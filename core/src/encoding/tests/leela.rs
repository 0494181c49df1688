//! Leela's 1858 moves.

use std::collections::{HashMap, HashSet};

use super::{from_fen, sample_games};
use crate::board::Move;
use crate::encoding::{Encoding, EncodingName, LEELA_POLICY_SIZE, Orientation, leela_index};

fn index(fen: &str, uci: &str) -> u16 {
    let game = from_fen(fen);
    let mv = Move::from_uci(uci).expect("UCI");
    assert!(game.position().is_legal(mv), "{uci} in {fen}");
    leela_index(mv, game.position())
}

#[test]
fn worked_leela_indices() {
    assert_eq!(LEELA_POLICY_SIZE, 1858);
    let bare = "8/7k/8/8/8/8/8/Q1K5 w - - 0 1";
    assert_eq!(index(bare, "a1b1"), 0, "the first");
    assert_eq!(index(bare, "a1a2"), 7, "after seven moves along the first rank");
    assert_eq!(index("7Q/k7/8/8/8/8/8/1K6 w - - 0 1", "h8g8"), 1791, "the last without promotion");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert_eq!(["g1f3", "d2d4", "e2e4"].map(|uci| index(start, uci)), [159, 293, 322]);
    assert_eq!(index(&start.replace(" w ", " b "), "e7e5"), 322, "the same for Black");
    let promoting = "1n3r1r/P5P1/8/2k5/8/8/8/K7 w - - 0 1";
    assert_eq!(index(promoting, "a7a8q"), 1792, "the first promotion");
    assert_eq!(index(promoting, "a7b8r"), 1792 + 4, "after those to a8 and to a queen on b8");
    assert_eq!(index(promoting, "g7h8q"), 1858 - 9, "before six of the h-file and two more to h8");
    assert_eq!(index("8/7P/8/k7/8/8/8/K7 w - - 0 1", "h7h8b"), 1857, "the last");
}

#[test]
fn a_knight_promotion_is_the_move_without_promotion() {
    let rook = index("8/R7/8/2k5/8/8/8/K7 w - - 0 1", "a7a8");
    assert_eq!(index("8/P7/8/2k5/8/8/8/K7 w - - 0 1", "a7a8n"), rook);
    assert_eq!(index("k7/8/8/8/2K5/8/p7/8 b - - 0 1", "a2a1n"), rook, "seen from Black's side");
}

#[test]
fn castling_is_the_kings_move_to_the_rook() {
    let (white, black) = ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1");
    let rook = |uci| index("3k4/8/8/8/8/8/3K4/4R3 w - - 0 1", uci);
    assert_eq!(index(white, "e1g1"), rook("e1h1"));
    assert_eq!(index(white, "e1c1"), rook("e1a1"));
    assert_eq!([index(black, "e8g8"), index(black, "e8c8")], [index(white, "e1g1"), index(white, "e1c1")]);
    let inner = "4k3/8/8/8/8/8/8/R3K1RR w G - 0 1";
    assert_eq!(index(inner, "e1g1"), index("3k4/8/8/8/8/8/3K4/4R3 w - - 0 1", "e1g1"));
}

#[test]
fn every_legal_move_has_its_own_leela_index_and_policy_index() {
    let encoding = Encoding::new(EncodingName::Leela, Orientation::SideToMove);
    // Castling and knight promotions share an index with moves of other pieces.
    let mut policies = HashMap::new();
    for game in sample_games() {
        let (position, mut seen) = (game.position(), HashSet::new());
        for mv in position.legal_moves() {
            let index = leela_index(mv, position);
            assert!(seen.insert(index), "{mv} shares an index in {}", position.fen());
            let policy = encoding.policy_index(mv, position.side_to_move());
            let known = *policies.entry((index, position.piece_at(mv.from()))).or_insert(policy);
            assert_eq!(policy, known, "{mv} in {}", position.fen());
        }
    }
}
