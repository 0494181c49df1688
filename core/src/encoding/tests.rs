//! The contract that every encoding must satisfy.

mod history;
mod leela;
mod mirror;
mod policy;
mod worked;

use std::collections::HashSet;

use super::{Encoding, EncodingName, Orientation, Plane, PlaneKind, PolicyIndex};
use crate::board::image::{flipped_fen, flipped_game};
use crate::board::thinned::chess960_games;
use crate::board::{Game, Position, Rules, random_opening};
use crate::rng::{Purpose, Seed};

const ORIENTATIONS: [Orientation; 2] = [Orientation::Absolute, Orientation::SideToMove];

/// Every encoding with each orientation and history length that it supports.
fn encodings() -> Vec<Encoding> {
    let mut encodings = Vec::new();
    for name in EncodingName::ALL {
        for history in 1..=name.max_history() {
            encodings.extend(
                name.orientations().iter().map(|orientation| {
                    Encoding::try_new(name, *orientation, Some(history)).expect("supported")
                }),
            );
        }
    }
    encodings
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
    games.extend(chess960_games(200));
    games
}

fn encode(encoding: &Encoding, game: &Game) -> (Vec<u64>, Vec<f32>) {
    let (mut binary, mut scalars) = (Vec::new(), Vec::new());
    encoding.encode(game, &mut binary, &mut scalars);
    (binary, scalars)
}

fn from_fen(fen: &str) -> Game {
    Game::from_position(Position::from_fen(fen).expect("test FEN"))
}

fn from_text(text: &str) -> Game {
    Game::from_text(text).expect("a game")
}

/// The index of a plane among the planes of its kind.
fn index_in_kind(encoding: &Encoding, plane: Plane) -> usize {
    let mut same_kind = encoding.planes().iter().filter(|other| other.kind() == plane.kind());
    same_kind.position(|other| *other == plane).expect("the table has the plane")
}

#[test]
fn rows_have_the_width_of_their_table() {
    for encoding in encodings() {
        // Planes of a history step, and planes after the steps.
        let (step, rest) = match encoding.name() {
            EncodingName::Dc0 => (14, 6),
            EncodingName::DummyChess | EncodingName::Dlchess => (14, 8),
            EncodingName::AlphaZero => (14, 7),
            EncodingName::Leela => (13, 8),
        };
        assert_eq!(encoding.planes().len(), encoding.history() as usize * step + rest);
        assert_eq!(encoding.binary_count() + encoding.scalar_count(), encoding.planes().len());
        for game in sample_games().iter().take(20) {
            let (binary, scalars) = encode(&encoding, game);
            assert_eq!((binary.len(), scalars.len()), (encoding.binary_count(), encoding.scalar_count()));
        }
    }
}

#[test]
fn names_end_with_the_number_of_planes() {
    for name in EncodingName::ALL {
        let encoding = Encoding::new(name, Orientation::SideToMove);
        assert!(name.name().ends_with(&format!("-{}", encoding.planes().len())), "{name:?}");
        assert_eq!(encoding.history(), name.history());
    }
    assert_eq!(EncodingName::ALL.map(EncodingName::name).as_slice(), EncodingName::NAMES);
}

#[test]
fn a_history_other_than_the_default_is_displayed() {
    let [long, short] = [8, 2].map(|history| {
        Encoding::try_new(EncodingName::AlphaZero, Orientation::Absolute, Some(history))
            .expect("short")
            .to_string()
    });
    assert_eq!([long.as_str(), &short], ["az-119 absolute", "az-119 absolute with a history of 2"]);
}

#[test]
fn an_unsupported_history_is_rejected() {
    let error = |name, history| {
        Encoding::try_new(name, Orientation::SideToMove, Some(history)).expect_err("too long").to_string()
    };
    assert_eq!(error(EncodingName::Dc0, 2), "the encoding `dc0-20` takes a history of 1 position, got 2");
    assert!(error(EncodingName::AlphaZero, 9).ends_with("of 1 to 8 positions, got 9"));
    assert!(error(EncodingName::Leela, 0).ends_with("of 1 to 8 positions, got 0"));
}

#[test]
fn every_plane_of_a_table_has_its_own_description() {
    for encoding in encodings() {
        let descriptions: HashSet<String> =
            encoding.planes().iter().map(|plane| plane.describe(encoding.orientation())).collect();
        assert_eq!(descriptions.len(), encoding.planes().len(), "{:?}", encoding.name());
    }
}

#[test]
fn policy_indices_depend_only_on_the_orientation() {
    for encoding in encodings() {
        let plain = Encoding::new(EncodingName::DummyChess, encoding.orientation());
        for game in sample_games().iter().take(20) {
            let side = game.position().side_to_move();
            for mv in game.position().legal_moves() {
                assert_eq!(encoding.policy_index(mv, side), plain.policy_index(mv, side));
            }
        }
    }
}

#[test]
fn a_shorter_history_is_a_prefix_of_a_longer_one() {
    for name in [EncodingName::AlphaZero, EncodingName::Leela] {
        let long = Encoding::new(name, Orientation::SideToMove);
        for history in 1..8 {
            let short = Encoding::try_new(name, Orientation::SideToMove, Some(history)).expect("short");
            let step = (long.planes().len() - short.planes().len()) / (8 - history as usize);
            for game in sample_games() {
                let ((a, scalars_a), (b, scalars_b)) = (encode(&short, &game), encode(&long, &game));
                let steps = history as usize * step;
                assert_eq!(a[..steps], b[..steps]);
                assert_eq!((&a[steps..], scalars_a), (&b[8 * step..], scalars_b), "the rest is the same");
            }
        }
    }
}

#[test]
fn a_colour_swapped_game_has_the_same_planes_for_its_side_to_move() {
    for encoding in encodings().iter().filter(|encoding| encoding.orientation() == Orientation::SideToMove) {
        let colour = match encoding.name() {
            EncodingName::Dc0 => None,
            EncodingName::DummyChess => Some(index_in_kind(encoding, Plane::WhiteToMove)),
            _ => Some(index_in_kind(encoding, Plane::BlackToMove)),
        };
        for original in sample_games() {
            let swapped = flipped_game(&original);
            // With Black to move first the start is not the initial position, so the missing history differs.
            let steps_missing = encoding.history() as usize > original.ply() + 1;
            if encoding.name() == EncodingName::Leela && steps_missing && original.start().is_initial() {
                continue;
            }
            // The move number is incremented after Black's moves, so the two games differ in it.
            let has_number = encoding.planes().contains(&Plane::FullmoveNumber);
            let (mut a, mut scalars_a) = encode(encoding, &original);
            let (mut b, mut scalars_b) = encode(encoding, &swapped);
            if let Some(colour) = colour {
                assert_eq!(a[colour], !b[colour]);
                (a[colour], b[colour]) = (0, 0);
            }
            if has_number {
                let index = index_in_kind(encoding, Plane::FullmoveNumber);
                (scalars_a[index], scalars_b[index]) = (0.0, 0.0);
            }
            assert_eq!((a, scalars_a), (b, scalars_b), "{}", original.position().fen());
            assert_eq!(indices(encoding, &original), indices(encoding, &swapped));
        }
    }
}

fn indices(encoding: &Encoding, game: &Game) -> HashSet<PolicyIndex> {
    let side = game.position().side_to_move();
    game.position().legal_moves().iter().map(|mv| encoding.policy_index(*mv, side)).collect()
}

#[test]
fn scalar_planes_are_where_the_tables_have_them() {
    let scalar = |name| -> Vec<usize> {
        let encoding = Encoding::new(name, Orientation::SideToMove);
        let is_scalar = |index: &usize| encoding.planes()[*index].kind() == PlaneKind::Scalar;
        (0..encoding.planes().len()).filter(is_scalar).collect()
    };
    assert_eq!(EncodingName::ALL.map(scalar), [vec![19], vec![15, 21], vec![20], vec![113, 118], vec![109]]);
}

#[test]
fn only_a_table_with_the_side_to_move_has_an_absolute_orientation() {
    for name in EncodingName::ALL {
        let shows_side = name != EncodingName::Dc0;
        let absolute = Encoding::try_new(name, Orientation::Absolute, None);
        assert_eq!(absolute.is_ok(), shows_side, "{name:?}");
        // Two positions that differ only in the side to move are never the same input.
        for orientation in name.orientations() {
            let encoding = Encoding::new(name, *orientation);
            let [white, black] = ["w", "b"]
                .map(|side| encode(&encoding, &from_fen(&format!("4k3/8/8/3q4/8/3R4/8/4K3 {side} - - 0 1"))));
            assert_ne!(white, black, "{encoding}");
        }
    }
}

#[test]
fn the_default_table_sees_neither_the_colour_nor_the_number_of_the_move() {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut with_castling = 0;
    for game in sample_games() {
        let fen = game.position().fen();
        let (board, number) = fen.rsplit_once(' ').expect("six fields");
        let expected = encode(&encoding, &from_fen(&fen));
        with_castling += usize::from(fen.split(' ').nth(2) != Some("-"));
        for number in [1, 2, 150, number.parse().expect("a number")] {
            let same = from_fen(&format!("{board} {number}"));
            let twin = from_fen(&format!("{} {number}", flipped_fen(&fen).rsplit_once(' ').expect("six").0));
            assert_eq!(encode(&encoding, &same), expected, "{fen}");
            assert_eq!(encode(&encoding, &twin), expected, "{fen}");
            assert_eq!(indices(&encoding, &twin), indices(&encoding, &same), "{fen}");
        }
    }
    assert!(with_castling > 100, "{with_castling}");
}

#[test]
fn expanded_positions_have_the_bits_and_numbers_of_their_planes() {
    for encoding in encodings() {
        let (mut binary, mut scalars, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for game in &sample_games()[..3] {
            encoding.encode(game, &mut binary, &mut scalars);
        }
        encoding.expand(&binary, &scalars, &mut values);
        let (planes, order) = (encoding.planes().len(), encoding.stored_order());
        assert_eq!(values.len(), 3 * planes * 64);
        for (row, values) in values.chunks_exact(planes * 64).enumerate() {
            let bits = &binary[row * encoding.binary_count()..][..encoding.binary_count()];
            let numbers = &scalars[row * encoding.scalar_count()..][..encoding.scalar_count()];
            for (squares, stored) in values.as_chunks::<64>().0.iter().zip(&order) {
                let stored = *stored as usize;
                let expected = std::array::from_fn(|square| match bits.get(stored) {
                    Some(bits) => (bits >> square & 1) as f32,
                    None => numbers[stored - bits.len()],
                });
                assert_eq!(*squares, expected, "{encoding}, plane {stored}");
            }
        }
    }
}
