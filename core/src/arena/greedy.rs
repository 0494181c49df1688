//! Players without a net: yardsticks for the first hours of a run.

use rand::RngExt;

use crate::board::{Game, Move, Piece, Position, Reason, Rules, Side};
use crate::rng::Stream;

/// A legal move, each with the same probability.
pub(super) fn random_move(game: &Game, stream: &mut Stream) -> Move {
    let moves = game.position().legal_moves();
    moves[stream.random_range(0..moves.len())]
}

/// The move that leaves the best material balance one ply on; a mate is best, a draw counts as balance 0, and equal moves
/// are chosen at random.
pub(super) fn greedy_move(game: &mut Game, rules: &Rules, stream: &mut Stream) -> Move {
    let mut best: (i32, Vec<Move>) = (i32::MIN, Vec::new());
    for played in game.position().legal_moves() {
        let worth = worth_of(game, played, rules);
        if worth > best.0 {
            best = (worth, Vec::new());
        }
        if worth == best.0 {
            best.1.push(played);
        }
    }
    best.1[stream.random_range(0..best.1.len())]
}

fn worth_of(game: &mut Game, played: Move, rules: &Rules) -> i32 {
    let (ply, mover) = (game.ply(), game.position().side_to_move());
    game.play_unchecked(played);
    let worth = match game.outcome(rules) {
        Some(outcome) if outcome.reason == Reason::Checkmate => i32::MAX,
        Some(_) => 0,
        None => balance(game.position(), mover),
    };
    game.take_back_to(ply);
    worth
}

/// Material of a side less the opponent's, in pawns (1, 3, 3, 5, 9).
fn balance(position: &Position, side: Side) -> i32 {
    const WORTH: [(Piece, i32); 5] =
        [(Piece::Pawn, 1), (Piece::Knight, 3), (Piece::Bishop, 3), (Piece::Rook, 5), (Piece::Queen, 9)];
    let material = |side: Side| -> i32 {
        WORTH.iter().map(|(piece, worth)| worth * position.pieces(side, *piece).count_ones() as i32).sum()
    };
    material(side) - material(side.other())
}
