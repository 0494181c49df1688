//! Parsing and writing FEN.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, PositionError};
use thiserror::Error;

use super::Position;

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
        Fen::from_position(&self.0, EnPassantMode::Legal).append_to_string(&mut text);
        text
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

/// Pieces of a side: `network::nnue` and static exchange evaluation have room for 32 of both, and the tree of `search` for the moves of
/// 16 queens.
const MOST_PIECES: usize = 16;

/// Bytes that hold nearly every FEN.
const LONGEST: usize = 92;

#[cfg(test)]
mod tests {
    use crate::board::{Game, Position};

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
    fn positions_are_read_as_they_were_written() {
        let cases = [
            ("4k3/8/8/8/4p3/8/3P4/4K3 w - - 99 1234 moves d2d4", "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1234"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Qk - 0 1 moves e8g8", "r4rk1/8/8/8/8/8/8/R3K2R w Q - 1 2"),
            // Rooks on both sides of those that may castle.
            ("r1r1k1rr/8/8/8/8/8/8/RR1K1RR1 w FBcg - 0 1", "r1r1k1rr/8/8/8/8/8/8/RR1K1RR1 w FBgc - 0 1"),
            ("1r1k1r2/8/8/8/8/8/8/1RR1K3 b Cfb - 0 1", "1r1k1r2/8/8/8/8/8/8/1RR1K3 b Ckq - 0 1"),
        ];
        for (text, fen) in cases {
            assert_eq!(Game::from_text(text).expect("a game").position().fen(), fen);
            assert_eq!(Position::from_fen(fen).expect("a position").fen(), fen);
        }
    }
}
