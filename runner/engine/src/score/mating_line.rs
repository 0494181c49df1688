//! Lines that end in mate.

use dc0_core::board::{Game, Move};
use dc0_core::search::{Line, Proof, Search};

/// The moves to a proven mate along a line, below 0 if the side to move is mated. Wins that tablebases prove have none.
pub(crate) fn mate(search: &Search, line: &Line) -> Option<i64> {
    let plies = mating_line(search, line)?.len() as i64;
    Some(if line.first.proof == Some(Proof::Win) { (plies + 1) / 2 } else { -(plies / 2) })
}

/// The moves of a line, up to the mate if it has one.
pub(crate) fn line_to_mate(search: &Search, line: &Line) -> Vec<Move> {
    mating_line(search, line).unwrap_or_else(|| line.moves.clone())
}

/// The moves of a proven line up to the mate, if it ends in mate or one move before.
fn mating_line(search: &Search, line: &Line) -> Option<Vec<Move>> {
    let is_won = match line.first.proof {
        Some(Proof::Win) => true,
        Some(Proof::Loss) => false,
        _ => return None,
    };
    let mut moves = line.moves.clone();
    let mut game: Game = search.game().clone();
    for mv in &moves {
        game.play_unchecked(*mv);
    }
    let legal = game.position().legal_moves();
    if !legal.is_empty() {
        moves.push(game.position().mate_in_one(&legal)?);
    } else if !game.position().is_check() {
        return None;
    }
    let ends_with_own_move = moves.len() % 2 == 1;
    (ends_with_own_move == is_won).then_some(moves)
}
