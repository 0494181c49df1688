//! A position with colours exchanged is searched like the original.

use super::*;
use crate::encoding::{Plane, PlaneKind};

/// Evaluates positions from the view of the side to move: pieces, repetitions, castling rights and en passant, but neither its
/// colour nor the clocks.
struct Oriented {
    hashed: Hashed,
    /// Indices of the planes used, among the binary ones.
    planes: Vec<usize>,
}

impl Oriented {
    fn new() -> Self {
        let encoding = encoding();
        let binary = encoding.planes().iter().filter(|plane| plane.kind() == PlaneKind::Binary);
        let used = binary.enumerate().filter(|(_, plane)| **plane != Plane::WhiteToMove);
        Self { planes: used.map(|(index, _)| index).collect(), hashed: Hashed::new(encoding, 6) }
    }

    fn key(&self, planes: &[u64]) -> u64 {
        // FNV-1a's step (Fowler, Noll & Vo), rotated so that upper bits reach lower ones.
        let step =
            |hash: u64, index: &usize| (hash ^ planes[*index]).wrapping_mul(0x100_0000_01b3).rotate_left(29);
        self.planes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

impl Evaluator for Oriented {
    fn encoding(&self) -> &Encoding {
        self.hashed.encoding()
    }

    /// Sorts the legal moves: their order differs between the colours, and with it the rounding of the sum.
    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let mut sorted = batch.clone();
        let width = self.encoding().binary_count();
        sorted.keys = batch.binary.chunks_exact(width).map(|planes| self.key(planes)).collect();
        for row in 0..batch.len() {
            sorted.legal[batch.legal_range(row)].sort_unstable();
        }
        self.hashed.evaluate(&sorted, out)?;
        let policy = out.policy.clone();
        for row in 0..batch.len() {
            let range = batch.legal_range(row);
            for at in range.clone() {
                let index =
                    sorted.legal[range.clone()].binary_search(&batch.legal[at]).expect("the same moves");
                out.policy[at] = policy[range.start + index];
            }
        }
        Ok(())
    }
}

/// The same position with colours exchanged and the board flipped.
fn mirrored_fen(fen: &str) -> String {
    let swapped = |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let fields: Vec<&str> = fen.split(' ').collect();
    let ranks: Vec<String> =
        fields[0].split('/').rev().map(|rank| rank.chars().map(swapped).collect()).collect();
    let side = if fields[1] == "w" { "b" } else { "w" };
    let castling: String = fields[2].chars().map(swapped).collect();
    let en_passant = fields[3].replace('3', "x").replace('6', "3").replace('x', "6");
    format!("{} {side} {castling} {en_passant} {} {}", ranks.join("/"), fields[4], fields[5])
}

fn mirrored_move(mv: Move) -> Move {
    Move::new(mv.from() ^ 56, mv.to() ^ 56, mv.promotion())
}

/// The same game with colours exchanged, including its history.
fn mirrored(game: &Game) -> Game {
    let mut mirrored = from_fen(&mirrored_fen(&game.start().fen()));
    for played in game.moves() {
        mirrored.play_unchecked(mirrored_move(*played));
    }
    mirrored
}

#[test]
fn mirroring_twice_gives_the_position_back() {
    for game in sample(100) {
        let fen = game.position().fen();
        let (once, position) = (mirrored(&game), from_fen(&mirrored_fen(&fen)));
        assert_eq!(once.position().fen().split(' ').next(), position.position().fen().split(' ').next());
        assert_eq!(mirrored(&once).position().fen(), fen);
        assert_ne!(once.position().side_to_move(), game.position().side_to_move());
    }
}

#[test]
fn mirrored_positions_have_mirrored_results() {
    let mut sides = [0, 0];
    for game in sample(150) {
        let mirror = mirrored(&game);
        sides[usize::from(game.position().side_to_move() == Side::White)] += 1;
        for params in kinds(60) {
            let original = searched(&game, &params, &mut Oriented::new());
            let other = searched(&mirror, &params, &mut Oriented::new());
            let mirrored_back = |mv: RootMove| RootMove { played: mirrored_move(mv.played), ..mv };
            let (found, expected): (Vec<RootMove>, Vec<RootMove>) =
                (other.root_moves().map(mirrored_back).collect(), original.root_moves().collect());
            assert_eq!(found, expected, "{}, {params:?}", game.position().fen());
            assert_eq!(other.root_value(), original.root_value());
            assert_eq!(other.proof(), original.proof());
        }
    }
    assert!(sides.iter().all(|count| *count > 40), "both sides are to move often");
}
