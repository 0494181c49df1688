//! Parsing and writing FEN.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode};
use thiserror::Error;

use super::Position;

/// Text that is not the FEN of a legal position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FenError {
    /// The text is not a FEN.
    #[error(
        "\"{fen}\" is not a FEN ({cause}); expected six fields such as \"8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\""
    )]
    Syntax {
        /// The given text.
        fen: String,
        /// The parser's message.
        cause: String,
    },
    /// The FEN is well-formed, but the position is illegal.
    #[error("\"{fen}\" is not a legal position: {cause}")]
    Illegal {
        /// The given text.
        fen: String,
        /// The rule that it breaks.
        cause: String,
    },
}

/// Why a position with the castling rights of Chess960 is refused.
const NO_CHESS960: &str = "its castling rights are those of Chess960, and dc0 plays standard chess only; leave out rights of rooks and kings that are not \
     on their squares";

impl Position {
    /// Parses a FEN of standard chess, with castling rights as letters or, in X-FEN and Shredder-FEN, as the files of the rooks.
    pub fn from_fen(fen: &str) -> Result<Self, FenError> {
        let parsed = Fen::from_ascii(fen.trim().as_bytes())
            .map_err(|cause| FenError::Syntax { fen: fen.to_owned(), cause: cause.to_string() })?;
        let position = parsed.clone().into_position(CastlingMode::Standard).map_err(|cause| {
            let is_chess960 = parsed.into_position::<Chess>(CastlingMode::Chess960).is_ok();
            let cause = if is_chess960 { NO_CHESS960.to_owned() } else { cause.to_string() };
            FenError::Illegal { fen: fen.to_owned(), cause }
        })?;
        Ok(Self(position))
    }

    /// The FEN, with the en-passant square only where a capture there is legal.
    pub fn fen(&self) -> String {
        Fen::from_position(&self.0, EnPassantMode::Legal).to_string()
    }
}
