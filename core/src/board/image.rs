//! Mirror images for tests, made by reversing the text of FENs.

use super::Move;

/// The position with its files reversed and without castling rights.
pub(crate) fn image_of_fen(fen: &str) -> String {
    let fields: Vec<&str> = fen.split(' ').collect();
    let reversed = |rank: &str| rank.chars().rev().collect::<String>();
    let ranks: Vec<String> = fields[0].split('/').map(reversed).collect();
    let file = |c: char| if c.is_ascii_lowercase() { (b'a' + b'h' - c as u8) as char } else { c };
    let en_passant: String = fields[3].chars().map(file).collect();
    format!("{} {} - {en_passant} {} {}", ranks.join("/"), fields[1], fields[4], fields[5])
}

/// The same move with its files reversed.
pub(crate) fn image_of_move(mv: Move) -> Move {
    Move::new(mv.from() ^ 7, mv.to() ^ 7, mv.promotion())
}
