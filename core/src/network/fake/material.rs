//! An evaluator that counts material, which is enough guidance for tactical tests.

use super::Uniform;
use crate::board::Piece;
use crate::encoding::{Encoding, Orientation, Plane, PlaneKind, Viewed};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, Wdl};

/// Counts material: a uniform policy, and the value `v = tanh(balance / 4)` for the side to move.
///
/// A pawn counts 1, a knight or bishop 3, a rook 5, a queen 9. P(win) is the positive part of `v`, P(loss) its negative
/// part, and P(draw) the rest.
#[derive(Debug, Clone)]
pub struct Material {
    policy: Uniform,
    /// Indices of the piece planes among the binary ones, and the signed value of their pieces for the first side.
    piece_values: Vec<(usize, f32)>,
    /// The index of the plane with the side to move and its content if White is to move; only if the first side is White.
    white_to_move: Option<(usize, u64)>,
}

impl Material {
    /// For positions of an encoding.
    pub fn new(encoding: Encoding) -> Self {
        let binary = encoding.planes().iter().filter(|plane| plane.kind() == PlaneKind::Binary);
        let (mut piece_values, mut white_to_move) = (Vec::new(), None);
        for (index, plane) in binary.enumerate() {
            match *plane {
                Plane::Pieces { side: Viewed::First, piece, ago: 0 } => {
                    piece_values.push((index, value(piece)));
                }
                Plane::Pieces { side: Viewed::Second, piece, ago: 0 } => {
                    piece_values.push((index, -value(piece)));
                }
                Plane::WhiteToMove => white_to_move = Some((index, u64::MAX)),
                Plane::BlackToMove => white_to_move = Some((index, 0)),
                _ => {}
            }
        }
        let white_to_move = white_to_move.filter(|_| encoding.orientation() == Orientation::Absolute);
        Self { policy: Uniform::new(encoding), piece_values, white_to_move }
    }

    /// The material balance for the side to move, in pawns.
    fn balance(&self, planes: &[u64]) -> f32 {
        let count = |(index, value): &(usize, f32)| planes[*index].count_ones() as f32 * value;
        let first: f32 = self.piece_values.iter().map(count).sum();
        let is_second = self.white_to_move.is_some_and(|(index, white)| planes[index] != white);
        if is_second { -first } else { first }
    }
}

/// In pawns; both sides have one king.
fn value(piece: Piece) -> f32 {
    match piece {
        Piece::Pawn => 1.0,
        Piece::Knight | Piece::Bishop => 3.0,
        Piece::Rook => 5.0,
        Piece::Queen => 9.0,
        Piece::King => 0.0,
    }
}

fn wdl(balance: f32) -> Wdl {
    let value = (balance / 4.0).tanh();
    Wdl { win: value.max(0.0), draw: 1.0 - value.abs(), loss: (-value).max(0.0) }
}

impl Evaluator for Material {
    fn encoding(&self) -> &Encoding {
        self.policy.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.policy.evaluate(batch, out)?;
        let width = self.encoding().binary_count();
        for (wdl_of_row, planes) in out.wdl.iter_mut().zip(batch.binary.chunks_exact(width)) {
            *wdl_of_row = wdl(self.balance(planes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Material;
    use crate::board::{Game, Position};
    use crate::encoding::{Encoding, EncodingName, Orientation};
    use crate::network::{Batch, Evaluations, Evaluator};

    /// One row for each FEN.
    fn evaluated(fens: &[&str], name: EncodingName, orientation: Orientation) -> Evaluations {
        let encoding = Encoding::new(name, orientation);
        let mut batch = Batch::default();
        for fen in fens {
            let game = Game::from_position(Position::from_fen(fen).expect("test FEN"));
            encoding.encode(&game, &mut batch.binary, &mut batch.scalars);
            let side = game.position().side_to_move();
            let moves = game.position().legal_moves();
            batch.legal.extend(moves.iter().map(|mv| encoding.policy_index(*mv, side)));
            batch.legal_ends.push(batch.legal.len() as u32);
            batch.keys.push(game.key());
        }
        let mut evaluations = Evaluations::default();
        Material::new(encoding).evaluate(&batch, &mut evaluations).expect("fakes do not fail");
        evaluations
    }

    #[test]
    fn the_value_is_for_the_side_to_move_in_every_encoding() {
        let fens = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            // White has a rook and two pawns for a knight and a bishop: 1 pawn ahead.
            "4k3/8/8/2nb4/8/8/PP6/R3K3 w - - 0 1",
            "4k3/8/8/2nb4/8/8/PP6/R3K3 b - - 0 1",
            "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1",
        ];
        for (name, orientation) in EncodingName::ALL
            .into_iter()
            .flat_map(|name| name.orientations().iter().map(move |orientation| (name, *orientation)))
        {
            let evaluations = evaluated(&fens, name, orientation);
            let expected = [0.0, 0.25f32.tanh(), -0.25f32.tanh(), -2.25f32.tanh()];
            let values: Vec<f32> = evaluations.wdl.iter().map(|wdl| wdl.value()).collect();
            assert_eq!(values, expected, "{name:?} {orientation:?}");
            assert!(evaluations.wdl.iter().all(|wdl| (wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-6));
            assert_eq!(evaluations.policy[..20], [0.05; 20], "the initial position has twenty moves");
        }
    }
}
