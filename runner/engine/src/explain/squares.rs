//! Small boards as SVG.

use std::fmt::Write as _;

use dc0_core::board::{Move, Piece, Position, Side};

/// Width and height of the box that a piece is drawn in.
const PIECE: f64 = 45.0;

/// A board at (x, y) with a width, White below unless it is flipped; the squares of the last move are marked.
pub(super) fn squares(
    position: &Position,
    last: Option<Move>,
    is_flipped: bool,
    (x, y, width): (f64, f64, f64),
) -> String {
    let size = width / 8.0;
    let mut drawn = format!("<g transform=\"translate({x:.1} {y:.1})\">");
    for square in 0..64u8 {
        let shown_at = if is_flipped { square ^ 7 } else { square ^ 56 };
        let (left, top) = (f64::from(shown_at % 8) * size, f64::from(shown_at / 8) * size);
        let is_moved = last.is_some_and(|last| last.from() == square || last.to() == square);
        let is_light = (square / 8 + square % 8) % 2 == 1;
        let class = match (is_moved, is_light) {
            (true, _) => "moved",
            (false, true) => "light",
            (false, false) => "dark",
        };
        write!(drawn, "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{size:.1}\" height=\"{size:.1}\"/>")
            .expect("writing to a string cannot fail");
        if let Some(piece) = position.piece_at(square) {
            drawn += &piece_use(position, square, piece, (left, top, size / PIECE));
        }
    }
    drawn + "</g>"
}

fn piece_use(position: &Position, square: u8, piece: Piece, (left, top, scale): (f64, f64, f64)) -> String {
    let is_white = position.occupied(Side::White) >> square & 1 == 1;
    let side = if is_white { "white" } else { "black" };
    let letter = ['p', 'n', 'b', 'r', 'q', 'k'][piece as usize];
    format!(
        "<use class=\"piece {side}\" href=\"#pc-{letter}\" transform=\"translate({left:.1} {top:.1}) scale({scale:.3})\"/>"
    )
}
