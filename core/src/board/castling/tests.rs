use std::collections::HashSet;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, CastlingSide, EnPassantMode, Position as _, fen::Fen};

use super::CastlingSquares;
use crate::board::position::pack;
use crate::board::thinned::chess960_games;
use crate::board::{Castling, Game, Move, Position};
use crate::effort::cases;

fn position(fen: &str) -> Position {
    Position::from_fen(fen).expect("a position")
}

/// How a position packs its castlings.
fn castlings(fen: &str) -> Vec<String> {
    let position = position(fen);
    let mut castlings: Vec<String> = position
        .legal_moves()
        .iter()
        .filter(|mv| position.castling(**mv).is_some())
        .map(ToString::to_string)
        .collect();
    castlings.sort();
    castlings
}

#[test]
fn counts_of_positions_match_published_values() {
    // The first three are from the "Chess960 Perft Results" of the chess programming wiki, the next five the X-FEN positions that several
    // engines test with; python-chess counts the same in them, and the numbers of the last two, of double Chess960, are its own.
    let published: [(&str, [u64; 4]); 10] = [
        ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", [21, 528, 12_189, 326_672]),
        ("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", [21, 807, 18_002, 667_366]),
        ("b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9", [20, 479, 10_471, 273_318]),
        ("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", [23, 522, 12_333, 285_754]),
        ("r1k2r1q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K2R1Q w KQkq - 0 1", [28, 738, 20_218, 541_480]),
        ("8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1", [34, 318, 9002, 118_388]),
        ("2r5/8/8/8/8/8/6PP/k2KR3 w K - 0 1", [17, 242, 3931, 57_700]),
        ("4r3/3k4/8/8/8/8/6PP/qR1K1R2 w KQ - 0 1", [19, 628, 12_858, 405_636]),
        ("rk5r/8/8/8/8/8/8/R2K1R1R w FAha - 0 1", [33, 630, 18_511, 402_712]),
        ("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/RKRNNQBB w KQkq - 0 1", [20, 400, 9014, 202_136]),
    ];
    for (fen, counts) in published {
        let position = position(fen);
        assert_eq!([1, 2, 3, 4].map(|depth| position.perft(depth)), counts, "{fen}");
    }
}

#[test]
fn castling_is_packed_as_in_standard_chess_only_between_standard_squares() {
    assert_eq!(castlings("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), ["e1c1", "e1g1"]);
    assert_eq!(castlings("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"), ["e8c8", "e8g8"]);
    assert_eq!(castlings("4k3/8/8/8/8/8/8/1R2K1R1 w KQ - 0 1"), ["e1b1", "e1g1"]);
    assert_eq!(castlings("4k3/8/8/8/8/8/8/R4K1R w KQ - 0 1"), ["f1a1", "f1h1"]);
    // The rook on the g-file castles, though e1g1 is how the one on the h-file would.
    let inner = position("4k3/8/8/8/8/8/8/4K1RR w G - 0 1");
    let mv = inner.read_uci("e1g1").expect("castles");
    let squares =
        CastlingSquares { wing: Castling::KingSide, king_from: 4, king_to: 6, rook_from: 6, rook_to: 5 };
    assert_eq!(inner.castling(mv), Some(squares));
    let mut after = inner.clone();
    after.play_unchecked(mv, inner.key());
    assert_eq!(after.fen(), "4k3/8/8/8/8/8/8/5RKR b - - 1 1");
}

#[test]
fn every_move_of_chess960_keeps_its_meaning_in_every_form() {
    let mut castled = [0; 2];
    for game in chess960_games(cases(1500).into()) {
        for position in game.positions() {
            let legal = position.0.legal_moves();
            let packed: HashSet<Move> = legal.iter().map(pack).collect();
            assert_eq!(packed.len(), legal.len(), "{}", position.fen());
            for full in &legal {
                let (mv, fen) = (pack(full), position.fen());
                assert_eq!(position.unpack(mv), *full, "{mv} in {fen}");
                let to_rook = full.to_uci(CastlingMode::Chess960);
                assert_eq!(position.to_rook(mv).to_string(), to_rook.to_string(), "{fen}");
                for text in [mv.to_string(), to_rook.to_string()] {
                    assert_eq!(position.read_uci(&text), Some(mv), "{text} in {fen}");
                    assert_eq!(position.read_move(&text), Ok(mv), "{text} in {fen}");
                }
                assert_eq!(position.read_move(&position.san(mv)), Ok(mv), "{} in {fen}", position.san(mv));
                // How standard chess writes it, where no step of the king is meant.
                if let (UciMove::Normal { from, to, .. }, Some(side)) =
                    (full.to_uci(CastlingMode::Standard), full.castling_side())
                {
                    let text = format!("{from}{to}");
                    let is_step = from.distance(to) <= 1;
                    assert_eq!(
                        position.read_uci(&text) == Some(mv),
                        !is_step || position.to_rook(mv).to_string() == text
                    );
                    castled[usize::from(side == CastlingSide::KingSide)] += 1;
                }
            }
        }
    }
    assert!(castled.iter().all(|count| *count > cases(1000)), "{castled:?}");
}

#[test]
fn fens_of_chess960_are_read_back_and_name_files_only_where_they_must() {
    let mut with_files = 0;
    for game in chess960_games(1000) {
        for position in game.positions() {
            let fen = position.fen();
            assert_eq!(fen, Fen::from_position(&position.0, EnPassantMode::Legal).to_string());
            assert_eq!(Position::from_fen(&fen).as_ref(), Ok(position), "{fen}");
            with_files += usize::from(
                fen.split(' ')
                    .nth(2)
                    .is_some_and(|rights| rights.contains(|c| "abcdefghABCDEFGH".contains(c))),
            );
        }
    }
    assert!(with_files > 100, "{with_files}");
    for (given, written) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1", "KQkq"),
        ("bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1", "KQkq"),
        ("4k3/8/8/8/8/8/8/R1R1K1RR w GC - 0 1", "GC"),
        ("4k3/8/8/8/8/8/8/R1R1K1RR w KQ - 0 1", "KQ"),
    ] {
        assert_eq!(position(given).fen().split(' ').nth(2), Some(written), "{given}");
    }
    for illegal in [
        "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
        "4k3/8/8/8/8/8/4K3/7R w K - 0 1",
        "4k3/8/8/8/8/8/8/4K1R1 w H - 0 1",
        "4k3/8/8/8/8/8/8/4K1RR w HG - 0 1",
        "4k3/8/8/8/8/8/8/3RR1K1 w ED - 0 1",
    ] {
        let error = Position::from_fen(illegal).expect_err(illegal).to_string();
        assert!(error.contains("is not a legal position: ") && error.contains("castling"), "{error}");
    }
}

#[test]
fn rooks_that_may_castle_to_the_same_side_make_different_positions() {
    let (inner, outer) =
        (position("4k3/8/8/8/8/8/8/3K2RR w G - 0 1"), position("4k3/8/8/8/8/8/8/3K2RR w H - 0 1"));
    assert_ne!(inner.key(), outer.key());
    // When the right is lost they are one position again, and the keys, which are updated, are equal.
    let after = |start: &Position| {
        let game = Game::from_text(&format!("{} moves d1c1 e8d8", start.fen())).expect("legal moves");
        (game.key(), game.position().key())
    };
    assert_eq!(after(&inner), after(&outer));
    assert_eq!(after(&inner).0, after(&inner).1);
}

#[test]
fn keys_of_chess960_are_updated_to_what_they_are_afresh() {
    for game in chess960_games(500) {
        for (key, position) in game.keys().zip(game.positions()) {
            assert_eq!(key, position.key(), "{}", position.fen());
        }
    }
}

#[test]
fn a_kings_step_is_never_taken_for_castling() {
    // The king may step to g1 or castle to it.
    let both = position("4k3/8/8/8/8/8/8/5K1R w K - 0 1");
    assert_eq!(both.read_uci("f1g1").and_then(|mv| both.castling(mv)), None);
    assert_eq!(both.san(both.read_move("Kg1").expect("a step")), "Kg1");
    assert_eq!(both.san(both.read_uci("f1h1").expect("castles")), "O-O");
    // Far from where it ends, the king's squares say it.
    let far = position("4k3/8/8/8/8/8/8/1K5R w K - 0 1");
    for text in ["b1g1", "b1h1"] {
        assert_eq!(far.san(far.read_uci(text).expect("castles")), "O-O");
    }
    assert_eq!(far.read_uci("b1h1q"), None);
    let error = |fen: &str, text: &str| position(fen).read_move(text).expect_err("is illegal").to_string();
    let blocked = "4k3/8/8/8/8/8/8/1K3N1R w K - 0 1";
    for text in ["O-O", "b1h1"] {
        assert!(
            error(blocked, text).ends_with("other pieces stand where king and rook would pass"),
            "{text}"
        );
    }
    assert!(error("4k3/8/8/8/8/8/8/1K5R w - - 0 1", "b1h1").ends_with("your own rook stands on h1"));
    assert!(error("4kr2/8/8/8/8/8/8/1K5R w K - 0 1", "O-O").contains("pass or reach an attacked square"));
}
