//! History planes.

use super::{ORIENTATIONS, encode, encodings, from_fen, from_text, sample_games};
use crate::board::{Game, Move, Piece};
use crate::encoding::{Encoding, EncodingName, Orientation, Plane, Viewed};

/// The piece and repetition planes of a history step.
fn width(encoding: &Encoding) -> usize {
    encoding.planes().iter().filter(|plane| matches!(plane, Plane::Pieces { ago: 0, .. })).count()
        + encoding.planes().iter().filter(|plane| matches!(plane, Plane::Repeated { ago: 0, .. })).count()
}

fn step(encoding: &Encoding, binary: &[u64], ago: usize) -> Vec<u64> {
    binary[ago * width(encoding)..][..width(encoding)].to_vec()
}

fn with_history() -> impl Iterator<Item = Encoding> {
    encodings().into_iter().filter(|encoding| encoding.history() > 1)
}

#[test]
fn a_history_step_is_the_earlier_encoding_from_the_present_side() {
    for encoding in with_history() {
        for game in sample_games() {
            let (now, _) = encode(&encoding, &game);
            let mut earlier = game.clone();
            for ago in 1..(encoding.history() as usize).min(game.ply() + 1) {
                earlier.take_back_to(game.ply() - ago);
                let (then, _) = encode(&encoding, &earlier);
                let mut expected = step(&encoding, &then, 0);
                // An odd number of plies ago the other side was to move, and the board was seen from its side.
                if encoding.orientation() == Orientation::SideToMove && ago % 2 == 1 {
                    expected[..12].rotate_left(6);
                    expected[..12].iter_mut().for_each(|squares| *squares = squares.swap_bytes());
                }
                assert_eq!(step(&encoding, &now, ago), expected, "{ago} plies before {:?}", game.moves());
            }
        }
    }
}

#[test]
fn taking_moves_back_restores_the_encoding() {
    for encoding in encodings() {
        let mut game = from_text("startpos moves e2e4 e7e5 g1f3 b8c6 f1b5");
        let before = encode(&encoding, &game);
        for text in ["a7a6", "b5c6", "d7c6"] {
            game.play_unchecked(Move::from_uci(text).expect("a move"));
        }
        assert_ne!(encode(&encoding, &game), before);
        game.take_back_to(5);
        assert_eq!(encode(&encoding, &game), before);
    }
}

#[test]
fn steps_before_the_initial_position_are_zero() {
    for encoding in with_history() {
        let game = from_text("startpos moves e2e4 e7e5");
        let (binary, _) = encode(&encoding, &game);
        let initial = encode(&encoding, &Game::initial()).0;
        let history = encoding.history() as usize;
        // White is to move in both positions.
        assert_eq!(
            (2..history.min(3)).map(|ago| step(&encoding, &binary, ago)).collect::<Vec<_>>(),
            vec![step(&encoding, &initial, 0); history.min(3) - 2]
        );
        for ago in 3..history {
            assert_eq!(step(&encoding, &binary, ago), vec![0; width(&encoding)]);
        }
    }
}

#[test]
fn az_119_is_zero_before_another_start_too() {
    for orientation in ORIENTATIONS {
        let encoding = Encoding::new(EncodingName::AlphaZero, orientation);
        let (binary, _) = encode(&encoding, &from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"));
        assert_eq!(binary[14..112], [0; 98]);
    }
}

#[test]
fn lc0_112_repeats_another_start() {
    for orientation in ORIENTATIONS {
        let encoding = Encoding::new(EncodingName::Leela, orientation);
        let game = from_text("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e3 e8e7 e1e2");
        let (binary, _) = encode(&encoding, &game);
        let start = step(&encoding, &binary, 3);
        assert!(start.iter().any(|squares| *squares != 0));
        for ago in 4..8 {
            assert_eq!(step(&encoding, &binary, ago), start);
        }
    }
}

#[test]
fn pieces_side_and_rights_decide_whether_a_start_is_initial() {
    let encoding = Encoding::new(EncodingName::Leela, Orientation::SideToMove);
    let filled = |fen| encode(&encoding, &from_fen(fen)).0[13..104].iter().any(|squares| *squares != 0);
    assert!(!filled("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 6 4"));
    assert!(filled("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1"));
    assert!(filled("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"));
    assert!(filled("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1RBQKBNR w Kkq - 0 1"));
}

#[test]
fn lc0_112_takes_back_a_double_step_before_the_start() {
    let own_pawns = |encoding: &Encoding, ago| {
        let plane = Plane::Pieces { side: Viewed::First, piece: Piece::Pawn, ago };
        super::index_in_kind(encoding, plane)
    };
    // White has just played d2d4, and the pawn on e4 can capture it.
    let game = from_text("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1 moves e8e7");
    let [absolute, oriented] =
        ORIENTATIONS.map(|orientation| Encoding::new(EncodingName::Leela, orientation));
    for encoding in [&absolute, &oriented] {
        let (binary, _) = encode(encoding, &game);
        // White is to move, so both orientations see the same.
        assert_eq!(binary[own_pawns(encoding, 1)], 1 << 27, "d4 at the start");
        assert!((2..8).all(|ago| binary[own_pawns(encoding, ago)] == 1 << 11), "d2 before it");
    }
    // Black has just played d7d5; Black to move sees its own pawns from its side.
    let game = from_text("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1 moves e1e2");
    let (binary, _) = encode(&oriented, &game);
    assert_eq!(binary[own_pawns(&oriented, 1)], 1 << 27, "d5 is seen on d4");
    assert_eq!(binary[own_pawns(&oriented, 2)], 1 << 11, "d7 is seen on d2");
    // Without a legal capture the en-passant square is ignored.
    let game = from_fen("4k3/8/8/8/3P4/8/8/4K3 b - d3 0 1");
    let (binary, _) = encode(&absolute, &game);
    assert!((0..8).all(|ago| binary[own_pawns(&absolute, ago)] == 1 << 27));
}

#[test]
fn each_step_has_the_repetitions_of_its_own_position() {
    let mut game = Game::initial();
    let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"];
    for text in shuffle {
        game.play_unchecked(Move::from_uci(text).expect("a move"));
    }
    // Earlier occurrences, from the current position back: the initial position occurs for the third time.
    let before: [u8; 8] = [2, 1, 1, 1, 1, 0, 0, 0];
    for encoding in encodings() {
        let (binary, _) = encode(&encoding, &game);
        for (ago, occurred) in before.into_iter().enumerate().take(encoding.history() as usize) {
            let planes = &step(&encoding, &binary, ago)[12..];
            let expected = [1, 2].map(|times| if occurred >= times { u64::MAX } else { 0 });
            assert_eq!(planes, &expected[..planes.len()], "{ago} plies ago");
        }
    }
}
