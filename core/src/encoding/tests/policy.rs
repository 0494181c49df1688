//! Policy indices.

use std::collections::HashSet;

use super::{ORIENTATIONS, sample_games};
use crate::board::{Move, Promotion, Side};
use crate::encoding::{Encoding, EncodingName, POLICY_SIZE, PolicyIndex};

/// One encoding of each orientation; another test shows that policy indices depend on nothing else.
fn encodings() -> [Encoding; 2] {
    ORIENTATIONS.map(|orientation| Encoding::new(EncodingName::DummyChess, orientation))
}

#[test]
fn every_legal_move_has_its_own_index_and_round_trips() {
    for encoding in encodings() {
        for game in sample_games() {
            let position = game.position();
            let mut seen = HashSet::new();
            for mv in position.legal_moves() {
                let index = encoding.policy_index(mv, position.side_to_move());
                assert!(seen.insert(index), "{mv} shares an index in {}", position.fen());
                assert_eq!(encoding.move_at(index, position), Some(mv), "{}", position.fen());
            }
        }
    }
}

/// The plane of a queen or knight move, from its file and rank differences.
fn plane_by_formula(from: u8, to: u8) -> Option<u16> {
    let files = (to % 8) as i8 - (from % 8) as i8;
    let ranks = (to / 8) as i8 - (from / 8) as i8;
    let direction =
        |steps: [(i8, i8); 8], step| steps.iter().position(|known| *known == step).map(|index| index as u16);
    let knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    if let Some(direction) = direction(knight, (files, ranks)) {
        return Some(56 + direction);
    }
    let straight = files == 0 || ranks == 0 || files.abs() == ranks.abs();
    let queen = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
    let direction = direction(queen, (files.signum(), ranks.signum())).filter(|_| straight)?;
    Some(7 * direction + files.abs().max(ranks.abs()) as u16 - 1)
}

#[test]
fn the_index_table_agrees_with_the_formula() {
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
fn every_index_maps_to_a_move_or_none() {
    for encoding in encodings() {
        for game in sample_games().iter().take(20) {
            for index in 0..POLICY_SIZE as u16 {
                let index = PolicyIndex::new(index).expect("below the size");
                let back = encoding.move_at(index, game.position());
                if let Some(back) = back.filter(|back| game.position().is_legal(*back)) {
                    assert_eq!(encoding.policy_index(back, game.position().side_to_move()), index);
                }
            }
        }
    }
    assert_eq!(PolicyIndex::new(POLICY_SIZE as u16), None);
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
