//! The start positions of Chess960 (Fischer random chess), by their numbers.

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

/// The pieces of a row from the a- to the h-file, in the numbering of Reinhard Scharnagl ("Fischer-Random-Schach", 2004): the number's
/// remainders place the bishops and the queen, what is left of it the knights.
fn row(number: u16) -> Option<String> {
    if number >= CHESS960_STARTS {
        return None;
    }
    let mut row = [None; 8];
    let (number, light) = (number / 4, number % 4);
    row[usize::from(2 * light + 1)] = Some('B');
    let (number, dark) = (number / 4, number % 4);
    row[usize::from(2 * dark)] = Some('B');
    let (knights, queen) = (number / 6, number % 6);
    let (first, second) = KNIGHTS[usize::from(knights)];
    // Each piece takes one of the free squares, counted from the a-file; the knights of the two that are then left of five.
    put(&mut row, queen.into(), 'Q');
    put(&mut row, second, 'N');
    put(&mut row, first, 'N');
    for piece in ['R', 'K', 'R'] {
        put(&mut row, 0, piece);
    }
    row.into_iter().collect()
}

/// The free squares of the two knights, for each number that is left.
const KNIGHTS: [(usize, usize); 10] =
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];

/// Puts a piece on the free square of a number.
fn put(row: &mut [Option<char>; 8], number: usize, piece: char) {
    let free = row.iter_mut().filter(|square| square.is_none()).nth(number);
    *free.expect("fewer pieces than squares were placed") = Some(piece);
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
    fn rows_differ_and_obey_the_rules() {
        let mut rows = HashSet::new();
        for number in 0..CHESS960_STARTS {
            let row = row(number).expect("a row");
            let files = |piece| row.match_indices(piece).map(|(file, _)| file).collect::<Vec<_>>();
            let (bishops, rooks, kings) = (files('B'), files('R'), files('K'));
            assert!(rooks[0] < kings[0] && kings[0] < rooks[1], "{row}");
            assert_eq!((bishops[0] + bishops[1]) % 2, 1, "{row}: bishops of both colours");
            assert_eq!((files('Q').len(), files('N').len()), (1, 2), "{row}");
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
