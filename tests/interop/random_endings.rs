//! Random legal positions with few pieces.

use dc0_core::board::{Game, Move, Position};
use dc0_core::rng::Stream;
use rand::RngExt;

/// A random position with these pieces (capitals are White's) and the two kings, and a random side to move.
pub(crate) fn random(pieces: &str, clock: u32, stream: &mut Stream) -> Position {
    loop {
        let mut board = [' '; 64];
        for piece in "Kk".chars().chain(pieces.chars()) {
            board[free_square(&board, piece, stream)] = piece;
        }
        let side = if stream.random() { 'w' } else { 'b' };
        let position = Position::from_fen(&format!("{} {side} - - {clock} 60", placement(&board)));
        if let Some(position) = position.ok().filter(Position::has_legal_move) {
            return position;
        }
    }
}

fn free_square(board: &[char; 64], piece: char, stream: &mut Stream) -> usize {
    let ranks = if piece.eq_ignore_ascii_case(&'p') { 8..56 } else { 0..64 };
    loop {
        let square = stream.random_range(ranks.clone());
        if board[square] == ' ' {
            return square;
        }
    }
}

/// The first field of the FEN.
fn placement(board: &[char; 64]) -> String {
    let rank = |pieces: &[char]| -> String {
        pieces.iter().map(|&piece| if piece == ' ' { '1' } else { piece }).collect()
    };
    board.chunks(8).map(rank).collect::<Vec<_>>().join("/")
}

/// A random position in which an en-passant capture is legal.
pub(crate) fn with_en_passant(stream: &mut Stream) -> Position {
    loop {
        let (file, left) = (stream.random_range(1..7_u8), stream.random::<bool>());
        let (mut board, black) = ([' '; 64], if left { file - 1 } else { file + 1 });
        // Index 0 is a8, so White's second rank begins at 48 and its fourth at 32.
        board[usize::from(48 + file)] = 'P';
        board[usize::from(32 + black)] = 'p';
        for king in ['K', 'k'] {
            board[free_square(&board, king, stream)] = king;
        }
        let Ok(position) = Position::from_fen(&format!("{} w - - 0 60", placement(&board))) else { continue };
        let double_step = Move::new(8 + file, 24 + file, None);
        if position.is_legal(double_step) {
            let mut game = Game::from_position(position);
            game.play_unchecked(double_step);
            if game.position().legal_en_passant().is_some() {
                return game.position().clone();
            }
        }
    }
}
