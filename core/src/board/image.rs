//! Mirror images and flipped positions for tests, made from the text of FENs.

use super::{Game, Move, Position};

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

/// The position with its ranks reversed and its colours swapped.
pub(crate) fn flipped_fen(fen: &str) -> String {
    let swapped = |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let fields: Vec<&str> = fen.split(' ').collect();
    let ranks: Vec<String> =
        fields[0].split('/').rev().map(|rank| rank.chars().map(swapped).collect()).collect();
    let side = if fields[1] == "w" { "b" } else { "w" };
    let mut castling: Vec<char> = fields[2].chars().map(swapped).collect();
    castling.sort_unstable();
    let castling = String::from_iter(castling);
    let en_passant = fields[3].replace('3', "x").replace('6', "3").replace('x', "6");
    format!("{} {side} {castling} {en_passant} {} {}", ranks.join("/"), fields[4], fields[5])
}

/// The same move with its ranks reversed.
pub(crate) fn flipped_move(mv: Move) -> Move {
    Move::new(mv.from() ^ 56, mv.to() ^ 56, mv.promotion())
}

/// The same game with ranks reversed and colours swapped, including its history.
pub(crate) fn flipped_game(game: &Game) -> Game {
    let start = Position::from_fen(&flipped_fen(&game.start().fen())).expect("as legal as the original");
    let mut flipped = Game::from_position(start);
    for mv in game.moves() {
        flipped.play_unchecked(flipped_move(*mv));
    }
    flipped
}
