//! Parsing and writing FEN.

use std::fmt::Write;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position as _, PositionError, Square};
use thiserror::Error;

use super::{Castling, Piece, Position, Side};

/// Text that is not the FEN of a legal position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FenError {
    #[error(
        "\"{fen}\" is not a FEN ({cause}); expected six fields such as \"8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\", or the first four of them"
    )]
    Syntax { fen: String, cause: String },
    #[error("\"{fen}\" is not a legal position: {cause}")]
    Illegal { fen: String, cause: String },
}

impl Position {
    /// Parses a FEN. Castling rights are letters for the outermost rooks (X-FEN, which is FEN in standard chess), or the files of
    /// the rooks (Shredder-FEN). Without the last two fields the halfmove clock is 0 and the move number 1; a move number of 0, which some
    /// programs write, is 1 as well.
    pub fn from_fen(fen: &str) -> Result<Self, FenError> {
        match parsed(fen)? {
            Ok(position) => Ok(Self(position)),
            Err(error) => Err(FenError::Illegal { fen: fen.to_owned(), cause: error.to_string() }),
        }
    }

    /// As [`from_fen`](Self::from_fen), but without castling rights whose king or rook is elsewhere and an en-passant square that no pawn
    /// has passed, if there are any, and also for positions that no game reaches: with checks that no move gives, or up to 16 pieces a
    /// side that promotions do not explain. Also returns the rules that the FEN broke.
    pub fn from_inexact_fen(fen: &str) -> Result<(Self, Option<String>), FenError> {
        let error = match parsed(fen)? {
            Ok(position) => return Ok((Self(position), None)),
            Err(error) => error,
        };
        let broken = error.to_string();
        let illegal = |cause: String| FenError::Illegal { fen: fen.to_owned(), cause };
        let position = error
            .ignore_invalid_castling_rights()
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .map_err(|error| illegal(error.to_string()))?;
        let board = position.board();
        if board.white().count().max(board.black().count()) > MOST_PIECES {
            return Err(illegal(format!("more than {MOST_PIECES} pieces of a side")));
        }
        Ok((Self(position), Some(broken)))
    }

    /// The FEN, with the en-passant square only where a capture there is legal. A castling right is the file of its rook only where
    /// another rook stands farther out (X-FEN).
    pub fn fen(&self) -> String {
        let mut text = String::with_capacity(LONGEST);
        self.write_placement(&mut text);
        text.push_str(if self.side_to_move() == Side::White { " w " } else { " b " });
        let before = text.len();
        for (side, wing, letter) in CASTLING {
            if let Some(rook) = self.0.castles().rook(side.color(), wing.wing()) {
                text.push(if self.is_outermost(rook, side, wing) { letter } else { file_letter(rook, side) });
            }
        }
        if text.len() == before {
            text.push('-');
        }
        text.push(' ');
        match self.0.legal_ep_square() {
            Some(square) => text.extend([square.file().char(), square.rank().char()]),
            None => text.push('-'),
        }
        write!(text, " {} {}", self.halfmove_clock(), self.fullmove_number())
            .expect("memory takes every write");
        text
    }

    /// Whether no other rook of a side stands between a rook of its first rank and the corner.
    fn is_outermost(&self, rook: Square, side: Side, wing: Castling) -> bool {
        let rooks = self.0.board().by_piece(side.color().rook()) & side.color().backrank();
        let outermost = match wing {
            Castling::KingSide => rooks.last(),
            Castling::QueenSide => rooks.first(),
        };
        outermost == Some(rook)
    }

    /// The first field: pieces from a8 to h1, with runs of empty squares as digits.
    fn write_placement(&self, text: &mut String) {
        let mut letters = [0u8; 64];
        for (piece, [white, black]) in Piece::ALL.into_iter().zip(LETTERS) {
            for (side, letter) in [(Side::White, white), (Side::Black, black)] {
                let mut squares = self.pieces(side, piece);
                while squares != 0 {
                    letters[squares.trailing_zeros() as usize] = letter;
                    squares &= squares - 1;
                }
            }
        }
        for (number, rank) in letters.chunks_exact(8).rev().enumerate() {
            if number > 0 {
                text.push('/');
            }
            let mut empty = 0;
            for letter in rank {
                if *letter == 0 {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    text.push(char::from(b'0' + empty));
                    empty = 0;
                }
                text.push(char::from(*letter));
            }
            if empty > 0 {
                text.push(char::from(b'0' + empty));
            }
        }
    }
}

/// A FEN's position, or the rules that it breaks.
fn parsed(fen: &str) -> Result<Result<Chess, PositionError<Chess>>, FenError> {
    let syntax = |cause: String| FenError::Syntax { fen: fen.to_owned(), cause };
    let parsed = Fen::from_ascii(fen.trim().as_bytes()).map_err(|cause| syntax(cause.to_string()))?;
    let setup = parsed.as_setup();
    if setup.pockets.is_some() || setup.remaining_checks.is_some() || setup.promoted.any() {
        let cause = "pieces in hand, promoted pieces and remaining checks belong to other variants of chess";
        return Err(syntax(cause.to_owned()));
    }
    // The parser takes defaults for all fields but the first, separates them at `_`, too, and cuts counters that are too large.
    if fen.contains('_') {
        return Err(syntax("an underscore; expected blanks between the fields".to_owned()));
    }
    let fields: Vec<&str> = fen.split_whitespace().collect();
    if ![4, 6].contains(&fields.len()) {
        return Err(syntax(format!("number of fields: {}", fields.len())));
    }
    if let Some(wrong) = fields[4..].iter().find(|counter| counter.parse::<u32>().is_err()) {
        return Err(syntax(format!("the counter {wrong} is above {}", u32::MAX)));
    }
    // In this mode the rights of standard chess are what they are in the other.
    Ok(parsed.into_position(CastlingMode::Chess960))
}

/// The file of a rook, in the case of its side.
fn file_letter(rook: Square, side: Side) -> char {
    let letter = rook.file().char();
    if side == Side::White { letter.to_ascii_uppercase() } else { letter }
}

/// Pieces of a side: `network::nnue` and static exchange evaluation have room for 32 of both, and the tree of `search` for the moves of
/// 16 queens.
const MOST_PIECES: usize = 16;

/// Bytes that hold nearly every FEN.
const LONGEST: usize = 92;

/// The letters of White's and Black's pieces, in the order of [`Piece::ALL`].
const LETTERS: [[u8; 2]; 6] = [*b"Pp", *b"Nn", *b"Bb", *b"Rr", *b"Qq", *b"Kk"];

/// The castling rights in the order of the third field.
const CASTLING: [(Side, Castling, char); 4] = [
    (Side::White, Castling::KingSide, 'K'),
    (Side::White, Castling::QueenSide, 'Q'),
    (Side::Black, Castling::KingSide, 'k'),
    (Side::Black, Castling::QueenSide, 'q'),
];

#[cfg(test)]
mod tests {
    use shakmaty::EnPassantMode;
    use shakmaty::fen::Fen;

    use crate::board::{Game, Position, Rules, random_opening};
    use crate::rng::{Purpose, Seed};

    #[test]
    fn rights_and_squares_that_cannot_be_are_left_out_where_that_is_allowed() {
        let initial = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq";
        let cases = [
            ("4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "castling rights"),
            (&format!("{initial} e4 0 1"), &format!("{initial} - 0 1"), "ep square"),
            ("4k3/8/8/8/8/8/8/4K3 w KQ e6 3 9", "4k3/8/8/8/8/8/8/4K3 w - - 3 9", "castling rights"),
        ];
        for (fen, expected, rule) in cases {
            let (position, broken) = Position::from_inexact_fen(fen).expect("a position");
            assert_eq!(position.fen(), expected);
            assert!(broken.expect("a rule").contains(rule), "{fen}");
            assert!(Position::from_fen(fen).unwrap_err().to_string().contains("is not a legal position"));
        }
        assert_eq!(Position::from_inexact_fen(&format!("{initial} - 0 1")).expect("legal").1, None);
        let error = |fen| Position::from_inexact_fen(fen).expect_err("an illegal position").to_string();
        assert!(error("8/8/8/8/8/8/8/4K3 w KQ - 0 1").contains("king"));
        assert!(error("nonsense").contains("is not a FEN"));
        for other in ["8/8/8/4k3/8/8/4P3/4K3[Q] w - - 0 1", "8/8/8/4k3/8/8/4P3/4K3 w - - 1+1 0 1"] {
            assert!(error(other).contains("belong to other variants"), "{other}");
        }
    }

    #[test]
    fn positions_that_no_game_reaches_are_read_where_that_is_allowed() {
        let cases = [
            ("4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNQ w - - 0 1", "too much material", 20),
            ("4k3/8/8/8/8/PPPPPPPP/PPPPPPP1/7K w - - 0 1", "too much material", 10),
            // Checks by a knight and a pawn, by two knights, by three pieces, and by two rooks with the king between them.
            ("3k4/4P3/2n1N3/8/6B1/8/3K4/7r b - - 0 1", "impossible check", 4),
            ("3k4/1N6/4N3/8/8/8/8/4K3 b - - 0 1", "impossible check", 4),
            ("3k4/8/4N3/6B1/8/8/8/3RK3 b - - 0 1", "impossible check", 2),
            ("8/8/8/R3k2R/8/8/8/4K3 b - - 0 1", "impossible check", 6),
        ];
        for (fen, rule, moves) in cases {
            let (position, broken) = Position::from_inexact_fen(fen).expect("a position");
            assert_eq!(position.fen(), fen);
            assert!(broken.expect("a rule").contains(rule), "{fen}");
            assert_eq!(position.legal_moves().len(), moves, "{fen}");
            assert!(Position::from_fen(fen).is_err(), "{fen}");
        }
        let refused = [
            ("8/8/8/3kK3/8/8/8/8 w - - 0 1", "opposite check"),
            ("4k3/8/8/8/8/8/PPPP1PPP/RNQQRKNQ w - - 0 1", "opposite check"),
            ("4k3/8/8/8/8/P7/PPPPPPPP/RNBQKBNR w - - 0 1", "more than 16 pieces of a side"),
            ("3k4/8/8/8/8/8/PPPPPPPP/RNBQKKNQ w - - 0 1", "too many kings"),
            ("P3k3/8/8/8/8/8/8/QQQQKQQQ b - - 0 1", "pawns on backrank"),
        ];
        for (fen, cause) in refused {
            let error = Position::from_inexact_fen(fen).expect_err("an illegal position").to_string();
            assert!(error.contains(cause), "{fen}: {error}");
        }
    }

    #[test]
    fn a_fen_has_six_fields_or_four() {
        let fen = |text: &str| Position::from_fen(text).map(|position| position.fen());
        let pawn = "8/8/8/4k3/8/8/4P3/4K3";
        let expected = format!("{pawn} b - - 0 1");
        for text in ["b - -", " b  -  -  0  1 ", "b - - 0 0"] {
            assert_eq!(fen(&format!("{pawn} {text}")).expect("a FEN"), expected, "{text}");
        }
        let most = format!("{pawn} w - - 7 {}", u32::MAX);
        assert_eq!(fen(&most).expect("a FEN"), most);
        for (text, cause) in [
            ("", "number of fields: 1"),
            ("w", "number of fields: 2"),
            ("w - - 0", "number of fields: 5"),
            ("w_-_-_0_1", "an underscore"),
            ("w_- - 99999999999 1", "an underscore"),
            ("w - - 99999999999 1", "the counter 99999999999 is above 4294967295"),
            ("w - - 0 4294967296", "the counter 4294967296 is above"),
        ] {
            let error = fen(&format!("{pawn} {text}")).expect_err("no FEN").to_string();
            assert!(error.contains(cause), "{text}: {error}");
        }
        assert!(fen("8/8/8/4k3/8/8/4Q~3/4K3 w - - 0 1").is_err());
    }

    #[test]
    fn positions_are_written_as_shakmaty_writes_them() {
        let check = |game: &Game| {
            for position in game.positions() {
                let expected = Fen::from_position(&position.0, EnPassantMode::Legal).to_string();
                assert_eq!(position.fen(), expected);
                assert_eq!(Position::from_fen(&expected).expect("a position").fen(), expected);
            }
        };
        for number in 0..100 {
            let mut stream = Seed { run: 3, step: 0 }.stream(number, Purpose::Opening);
            check(&random_opening(number as u32 * 2, &Rules { max_plies: 512 }, &mut stream));
        }
        let fens = [
            "4k3/8/8/8/4p3/8/3P4/4K3 w - - 99 1234 moves d2d4",
            "r3k2r/8/8/8/8/8/8/R3K2R b Qk - 0 1 moves e8g8",
            "nrk1bbqr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1 moves d1c3 c8d8",
            // Rooks on both sides of those that may castle.
            "r1r1k1rr/8/8/8/8/8/8/RR1K1RR1 w FBcg - 0 1 moves b1b2 h8h7",
            "1r1k1r2/8/8/8/8/8/8/1RR1K3 b Cfb - 0 1",
        ];
        for text in &fens {
            check(&Game::from_text(text).expect("a game"));
        }
    }
}
