//! Chess functions of single values, on plain text and numbers.

pub(crate) mod book;
pub(crate) mod fen;

use dc0_core::board::{Move, Position};

/// Moves in UCI notation with spaces between them.
pub(crate) fn uci(moves: &[Move]) -> Option<String> {
    Some(moves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

/// The name of a game's opening.
pub(crate) fn opening(moves: &[Move]) -> Option<String> {
    book::find(moves).map(|opening| opening.name.to_owned())
}

/// The ECO code of a game's opening.
pub(crate) fn eco(moves: &[Move]) -> Option<String> {
    book::find(moves).map(|opening| opening.eco.to_owned())
}

/// A move in algebraic notation; `None` if it is not legal.
pub(crate) fn san(fen: &str, mv: Move) -> Option<String> {
    let position = Position::from_fen(fen).ok()?;
    position.is_legal(mv).then(|| position.san(mv))
}
