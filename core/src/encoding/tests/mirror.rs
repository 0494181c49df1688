//! Mirror images of positions and moves.

use std::collections::HashSet;

use rand::RngExt;

use super::{encode, encodings, from_fen, from_text};
use crate::board::image::{flipped_move, image_of_fen, image_of_move};
use crate::board::{Game, Move, Position, Promotion};
use crate::encoding::{Encoding, EncodingName, Orientation, POLICY_SIZE, PolicyIndex, mirrored};
use crate::rng::{Purpose, Seed};

/// Positions without castling rights, with promotions, en passant and pieces on every file.
const STARTS: [&str; 6] = [
    "r2q1r1k/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 b - - 7 40",
    "8/PPPPPPPP/8/2k1K3/8/8/pppppppp/8 w - - 0 1",
    "8/PPPPPPPP/8/2k1K3/8/8/pppppppp/8 b - - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b - e3 0 3",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

/// The same game with its files reversed.
fn image_of_game(game: &Game) -> Game {
    let mut image = from_fen(&image_of_fen(&game.start().fen()));
    for mv in game.moves() {
        assert!(image.position().is_legal(image_of_move(*mv)), "{mv} in {}", image.position().fen());
        image.play_unchecked(image_of_move(*mv));
    }
    image
}

/// Games of random moves, of which every third takes back the player's last one, so that positions repeat.
fn games() -> Vec<Game> {
    let mut games = Vec::new();
    for (start, number) in STARTS.iter().flat_map(|start| (0..20).map(move |number| (start, number))) {
        let mut stream = Seed { run: 8, step: 0 }.stream(number, Purpose::Opening);
        let mut game = from_fen(start);
        for ply in 0..number {
            let legal = game.position().legal_moves();
            let back = game.moves().iter().rev().nth(1).map(|mv| Move::new(mv.to(), mv.from(), None));
            let back = back.filter(|back| ply % 3 != 0 && legal.contains(back));
            let Some(any) = (!legal.is_empty()).then(|| legal[stream.random_range(0..legal.len())]) else {
                break;
            };
            game.play_unchecked(back.unwrap_or(any));
        }
        games.push(game);
    }
    games
}

/// Checks that mirroring the planes and the indices of a game gives those of its image.
#[track_caller]
fn check(encoding: &Encoding, game: &Game, image: &Game) {
    let ((binary, scalars), (expected, same)) = (encode(encoding, game), encode(encoding, image));
    let found: Vec<u64> = binary.iter().copied().map(mirrored).collect();
    assert_eq!((found, scalars), (expected, same), "{encoding}, {}", game.position().fen());
    assert!(encoding.can_mirror(&binary), "{encoding}, {}", game.position().fen());
    let side = game.position().side_to_move();
    for mv in game.position().legal_moves() {
        let expected = encoding.policy_index(image_of_move(mv), side);
        assert_eq!(encoding.policy_index(mv, side).mirrored(), expected, "{encoding}, {mv}");
    }
}

#[test]
fn mirrored_planes_and_indices_are_those_of_the_mirrored_game() {
    let (mut repeated, mut en_passant) = (0, 0);
    for game in games() {
        let image = image_of_game(&game);
        repeated += usize::from(game.has_repeated());
        en_passant += usize::from(game.position().legal_en_passant().is_some());
        for encoding in encodings() {
            check(&encoding, &game, &image);
        }
    }
    assert!(repeated > 10 && en_passant > 0, "{repeated} repetitions, {en_passant} en passant");
}

#[test]
fn rights_that_were_lost_in_the_history_do_not_matter() {
    // Both kings give up their rights; what earlier positions allowed is in no plane.
    let text = "r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1 moves";
    for encoding in encodings() {
        for moves in [" e1d2", " e1d2 e8e7", " e1d2 e8e7 a2a4", " e1d2 e8e7 a2a4 h7h5 d2e3"] {
            let game = from_text(&format!("{text}{moves}"));
            if moves.len() == 5 {
                assert!(!encoding.can_mirror(&encode(&encoding, &game).0), "Black may castle");
            } else {
                check(&encoding, &game, &image_of_game(&game));
            }
        }
    }
}

#[test]
fn a_position_with_any_castling_right_has_no_mirror_image() {
    for encoding in encodings() {
        for side in ["w", "b"] {
            let can_mirror = |rights: &str| {
                let game = from_fen(&format!("r3k2r/8/8/8/8/8/8/R3K2R {side} {rights} - 0 1"));
                encoding.can_mirror(&encode(&encoding, &game).0)
            };
            assert!(can_mirror("-"), "{encoding}");
            for rights in ["K", "Q", "k", "q", "KQ", "Qk", "KQkq"] {
                assert!(!can_mirror(rights), "{encoding} {rights}");
            }
        }
    }
}

#[test]
fn mirroring_twice_changes_nothing() {
    let indices: Vec<PolicyIndex> = (0..POLICY_SIZE as u16).filter_map(PolicyIndex::new).collect();
    let images: HashSet<PolicyIndex> = indices.iter().map(|index| index.mirrored()).collect();
    assert_eq!(images.len(), POLICY_SIZE);
    for index in indices {
        assert_eq!(index.mirrored().mirrored(), index);
        assert_ne!(index.mirrored(), index, "no square lies on the axis");
    }
    for squares in [1, 0x8040_2010_0804_0201, 0x0123_4567_89ab_cdef, u64::MAX] {
        assert_eq!(mirrored(mirrored(squares)), squares);
    }
    // a1 becomes h1, and c4 becomes f4.
    assert_eq!((mirrored(1), mirrored(1 << 26)), (1 << 7, 1 << 29));
}

#[test]
fn worked_mirrored_indices() {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let index = |fen: &str, uci: &str| {
        let game = from_fen(fen);
        let mv = Move::from_uci(uci).expect("UCI");
        encoding.policy_index(mv, game.position().side_to_move()).get()
    };
    let mirrored = |number| PolicyIndex::new(number).expect("an index").mirrored().get();
    let white = "4k3/PP6/8/8/8/8/8/1N2K3 w - - 0 1";
    // North-north-east becomes north-north-west, plane 63; capturing to the left becomes capturing to the right, planes 64 and 70.
    assert_eq!(mirrored(index(white, "b1c3")), 63 * 64 + 6);
    assert_eq!(mirrored(index(white, "b7a8n")), 70 * 64 + 54);
    assert_eq!(mirrored(index(white, "e1d1")), 2 * 7 * 64 + 3, "west becomes east");
    assert_eq!(mirrored(index(white, "e1f2")), 7 * 7 * 64 + 3, "north-east becomes north-west");
}

#[test]
fn a_flipped_index_is_that_of_the_same_move_seen_from_the_other_side() {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut promotions = 0;
    for game in games() {
        let side = game.position().side_to_move();
        for mv in game.position().legal_moves() {
            // The same move of the other colour on the turned board has the same index, so what differs is the view alone.
            let own = encoding.policy_index(mv, side);
            let flipped = encoding.policy_index(flipped_move(mv), side);
            if matches!(mv.promotion(), None | Some(Promotion::Queen)) {
                assert_eq!(own.flipped(), flipped, "{mv}");
            } else {
                assert_eq!(
                    (own.flipped().plane(), own.flipped().square()),
                    (own.plane(), own.square() ^ 56),
                    "{mv}"
                );
                promotions += 1;
            }
            assert_eq!(own.flipped().flipped(), own, "{mv}");
            assert_eq!(own.flipped().mirrored(), own.mirrored().flipped(), "{mv}");
        }
    }
    assert!(promotions > 100, "{promotions} underpromotions");
}

/// Counts the leaves of the tree of legal moves, and checks that the image has the same moves in every position.
fn perft(position: &Position, image: &Position, depth: u32) -> u64 {
    let legal = position.legal_moves();
    let mirrored: HashSet<u16> = legal.iter().map(|mv| image_of_move(*mv).packed()).collect();
    let expected: HashSet<u16> = image.legal_moves().iter().map(|mv| mv.packed()).collect();
    assert_eq!(mirrored, expected, "{}", position.fen());
    if depth == 1 {
        return legal.len() as u64;
    }
    let after = |position: &Position, mv: Move| {
        let mut game = Game::from_position(position.clone());
        game.play_unchecked(mv);
        game.position().clone()
    };
    legal.iter().map(|mv| perft(&after(position, *mv), &after(image, image_of_move(*mv)), depth - 1)).sum()
}

#[test]
fn legal_moves_of_an_image_are_mirrored_ones_throughout_the_tree() {
    let position = |fen: &str| Position::from_fen(fen).expect("test FEN");
    for fen in STARTS {
        let count = perft(&position(fen), &position(&image_of_fen(fen)), 3);
        // Position 3 of the Chess Programming Wiki's perft results.
        assert!(!fen.starts_with("8/2p5") || count == 2812, "{count}");
    }
}
