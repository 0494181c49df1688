//! The contract that every encoding must pass, and worked cases of `dc0-22`.

use std::collections::HashSet;

use super::{Encoding, EncodingName, Orientation, PlaneKind, PolicyIndex};
use crate::board::{Game, Move, Position, Promotion, Rules, Side, random_opening};
use crate::rng::{Purpose, Seed};

fn encodings() -> [Encoding; 2] {
    [Orientation::Absolute, Orientation::SideToMove].map(|seen| Encoding::new(EncodingName::Dc0, seen))
}

/// Positions of random games, with promotions, castling and en passant among their moves.
fn sample_games() -> Vec<Game> {
    let fens = [
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "r3k2r/ppp2ppp/8/8/8/8/PpPP1PPp/R3K1BR b KQkq - 0 1",
        "8/PPPPPPPP/8/2k1K3/8/8/pppppppp/8 w - - 0 1",
        "8/PPPPPPPP/8/2k1K3/8/8/pppppppp/8 b - - 0 1",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    ];
    let mut games: Vec<Game> =
        fens.iter().map(|fen| Game::from_position(Position::from_fen(fen).expect("test FEN"))).collect();
    let rules = Rules { max_plies: 512 };
    for game in 0..300 {
        let mut stream = Seed { run: 7, step: 0 }.stream(game, Purpose::Opening);
        games.push(random_opening((game % 100) as u32, &rules, &mut stream));
    }
    games
}

fn encode(encoding: &Encoding, game: &Game) -> (Vec<u64>, Vec<f32>) {
    let (mut binary, mut scalars) = (Vec::new(), Vec::new());
    encoding.encode(game, &mut binary, &mut scalars);
    (binary, scalars)
}

#[test]
fn every_legal_move_has_its_own_index_and_comes_back() {
    for encoding in encodings() {
        for game in sample_games() {
            let position = game.position();
            let mut seen = HashSet::new();
            for played in position.legal_moves() {
                let index = encoding.policy_index(played, position.side_to_move());
                assert!(seen.insert(index), "{played} shares an index in {}", position.fen());
                assert_eq!(encoding.move_at(index, position), Some(played), "{}", position.fen());
            }
        }
    }
}

/// The plane of a queen's or a knight's move, from the differences of its files and ranks.
fn plane_by_formula(from: u8, to: u8) -> Option<u16> {
    let files = (to % 8) as i8 - (from % 8) as i8;
    let ranks = (to / 8) as i8 - (from / 8) as i8;
    let place = |steps: [(i8, i8); 8], step| steps.iter().position(|at| *at == step).map(|at| at as u16);
    let knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    if let Some(place) = place(knight, (files, ranks)) {
        return Some(56 + place);
    }
    let straight = files == 0 || ranks == 0 || files.abs() == ranks.abs();
    let queen = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
    let direction = place(queen, (files.signum(), ranks.signum())).filter(|_| straight)?;
    Some(7 * direction + files.abs().max(ranks.abs()) as u16 - 1)
}

#[test]
fn the_table_of_indices_is_the_formula() {
    let [absolute, oriented] = encodings();
    for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
        let Some(plane) = plane_by_formula(from, to) else { continue };
        let index = plane * 64 + u16::from(from);
        for promotion in [None, Some(Promotion::Queen)] {
            let (plain, mirrored) =
                (Move::new(from, to, promotion), Move::new(from ^ 56, to ^ 56, promotion));
            for side in [Side::White, Side::Black] {
                assert_eq!(absolute.policy_index(plain, side).get(), index, "{plain}");
            }
            assert_eq!(oriented.policy_index(plain, Side::White).get(), index, "{plain}");
            assert_eq!(oriented.policy_index(mirrored, Side::Black).get(), index, "{mirrored}");
        }
    }
}

#[test]
fn no_index_makes_the_way_back_panic() {
    for encoding in encodings() {
        for game in sample_games().iter().take(20) {
            for index in 0..super::POLICY_SIZE as u16 {
                let index = PolicyIndex::new(index).expect("below the size");
                let back = encoding.move_at(index, game.position());
                if let Some(back) = back.filter(|back| game.position().is_legal(*back)) {
                    assert_eq!(encoding.policy_index(back, game.position().side_to_move()), index);
                }
            }
        }
    }
    assert_eq!(PolicyIndex::new(super::POLICY_SIZE as u16), None);
}

#[test]
fn rows_have_the_width_that_the_table_says() {
    for encoding in encodings() {
        assert_eq!(encoding.planes().len(), 22);
        assert_eq!((encoding.binary_count(), encoding.scalar_count()), (20, 2));
        let (binary, scalars) = encode(&encoding, &Game::initial());
        assert_eq!((binary.len(), scalars.len()), (20, 2));
    }
}

/// The same position with colours exchanged and the board turned over.
fn colour_swapped(fen: &str) -> String {
    let fields: Vec<&str> = fen.split(' ').collect();
    let swap = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
            .collect()
    };
    let board: Vec<String> = fields[0].split('/').rev().map(swap).collect();
    let side = if fields[1] == "w" { "b" } else { "w" };
    let mut castling: Vec<char> = swap(fields[2]).chars().collect();
    castling.sort_unstable();
    let castling: String = castling.into_iter().collect();
    let en_passant = match fields[3].as_bytes() {
        [file, rank] => format!("{}{}", *file as char, if *rank == b'3' { '6' } else { '3' }),
        _ => "-".to_owned(),
    };
    format!("{} {side} {castling} {en_passant} {} {}", board.join("/"), fields[4], fields[5])
}

#[test]
fn a_colour_swapped_position_looks_the_same_to_its_side_to_move() {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let white_to_move = 14;
    for game in sample_games() {
        let fen = game.position().fen();
        let original = Game::from_position(Position::from_fen(&fen).expect("own FEN"));
        let swapped = Game::from_position(Position::from_fen(&colour_swapped(&fen)).expect("swapped FEN"));
        let (mut a, scalars_a) = encode(&encoding, &original);
        let (mut b, scalars_b) = encode(&encoding, &swapped);
        assert_eq!(a[white_to_move], !b[white_to_move]);
        (a[white_to_move], b[white_to_move]) = (0, 0);
        assert_eq!((a, scalars_a), (b, scalars_b), "{fen}");

        let indices = |game: &Game| -> HashSet<PolicyIndex> {
            let side = game.position().side_to_move();
            game.position().legal_moves().iter().map(|played| encoding.policy_index(*played, side)).collect()
        };
        assert_eq!(indices(&original), indices(&swapped), "{fen}");
    }
}

#[test]
fn worked_planes_of_dc0_22() {
    let [absolute, oriented] = encodings();
    // Black to move; White may still castle king side, Black queen side; d3 can be captured by the pawn on e4.
    let fen = "r3k3/8/8/8/3Pp3/8/8/4K2R b Kq d3 0 42";
    let game = Game::from_position(Position::from_fen(fen).unwrap());
    let (seen, scalars) = encode(&absolute, &game);
    assert_eq!(seen[0], 1 << 27, "white pawn on d4");
    assert_eq!(seen[6], 1 << 28, "black pawn on e4");
    assert_eq!(seen[12..15], [0, 0, 0], "no repetition, Black to move");
    assert_eq!(seen[15..19], [u64::MAX, 0, 0, u64::MAX], "castling K, Q, k, q");
    assert_eq!(seen[19], 1 << 19, "d3");
    assert_eq!(scalars, [0.42, 0.0]);
    let (seen, _) = encode(&oriented, &game);
    assert_eq!(seen[0], 1 << (28 ^ 56), "own pawn on e4 is seen on e5");
    assert_eq!(seen[6], 1 << (27 ^ 56), "the opponent's on d4 is seen on d5");
    assert_eq!(seen[15..19], [0, u64::MAX, u64::MAX, 0], "own q, the opponent's K");
    assert_eq!(seen[19], 1 << (19 ^ 56), "d3 is seen on d6");
}

#[test]
fn repetitions_show_in_their_planes() {
    let [encoding, _] = encodings();
    let mut game = Game::initial();
    let mut planes = Vec::new();
    for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"] {
        game.play_unchecked(Move::from_uci(text).unwrap());
        let (binary, _) = encode(&encoding, &game);
        planes.push((binary[12] != 0, binary[13] != 0));
    }
    assert_eq!(planes[2..4], [(false, false), (true, false)]);
    assert_eq!(planes[7], (true, true));
}

#[test]
fn worked_policy_indices() {
    let [absolute, oriented] = encodings();
    let index = |encoding: &Encoding, text: &str, side| {
        encoding.policy_index(Move::from_uci(text).unwrap(), side).get() as usize
    };
    assert_eq!(index(&absolute, "e2e4", Side::White), 64 + 12, "north by 2 from e2");
    assert_eq!(index(&absolute, "g1f3", Side::White), 63 * 64 + 6, "NNW from g1");
    assert_eq!(index(&absolute, "e7e5", Side::Black), (4 * 7 + 1) * 64 + 52, "south by 2 from e7");
    assert_eq!(index(&oriented, "e7e5", Side::Black), 64 + 12, "as White's e2e4");
    assert_eq!(index(&absolute, "a7b8n", Side::White), (64 + 6) * 64 + 48, "right, knight");
    assert_eq!(index(&oriented, "a2b1n", Side::Black), (64 + 6) * 64 + 48, "as White's a7b8n");
    assert_eq!(index(&absolute, "a7a8q", Side::White), 48, "a queen promotion is a queen move");
}

#[test]
fn plane_kinds_say_how_planes_are_stored() {
    let [encoding, _] = encodings();
    let scalar: Vec<usize> =
        (0..22).filter(|at| encoding.planes()[*at].kind() == PlaneKind::Scalar).collect();
    assert_eq!(scalar, [15, 21]);
}
