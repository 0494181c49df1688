//! The start positions of Chess960 (Fischer random chess), by their numbers.

use shakmaty::Board;

use super::Position;

/// How many start positions there are; of double Chess960, with a row of pieces for each side, the square of this.
pub const CHESS960_STARTS: u16 = 960;

impl Position {
    /// The start position with the rows of pieces of these numbers, which are equal except in double Chess960; `None` if a number is
    /// not below [`CHESS960_STARTS`]. Number 518 is the row of standard chess.
    pub fn chess960(white: u16, black: u16) -> Option<Self> {
        let (white, black) = (row(white)?, row(black)?.to_ascii_lowercase());
        let fen = format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1");
        Some(Self::from_fen(&fen).expect("a row has a king between two rooks"))
    }
}

/// The pieces of a row from the a- to the h-file, in the numbering of Reinhard Scharnagl ("Fischer-Random-Schach", 2004).
fn row(number: u16) -> Option<String> {
    (number < CHESS960_STARTS).then(|| Board::chess960(number.into()).to_string()[..8].to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{CHESS960_STARTS, row};
    use crate::board::{Castling, Position, Side};

    #[test]
    fn rows_have_the_published_numbers() {
        // Of the table in Wikipedia's "Fischer random chess numbering scheme".
        for (number, expected) in
            [(0, "BBQNNRKR"), (1, "BQNBNRKR"), (518, "RNBQKBNR"), (534, "RNBKQBNR"), (959, "RKRNNQBB")]
        {
            assert_eq!(row(number).as_deref(), Some(expected));
        }
        assert_eq!(Position::chess960(518, 518), Some(Position::initial()));
        assert_eq!((Position::chess960(960, 0), Position::chess960(0, 960)), (None, None));
    }

    #[test]
    fn rows_differ_and_every_start_may_castle() {
        let mut rows = HashSet::new();
        for number in 0..CHESS960_STARTS {
            let row = row(number).expect("a row");
            let start = Position::chess960(number, 959 - number).expect("a start");
            let all = [Side::White, Side::Black].map(|side| {
                start.may_castle(side, Castling::KingSide) && start.may_castle(side, Castling::QueenSide)
            });
            assert_eq!((all, start.is_check()), ([true; 2], false), "{row}");
            rows.insert(row);
        }
        assert_eq!(rows.len(), 960);
    }
}
