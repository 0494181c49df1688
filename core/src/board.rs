//! The rules of chess, with the history that draws depend on. Only this module uses shakmaty and its tablebases.

mod castling;
mod chess960;
mod endgames;
mod ending;
mod epd;
mod fen;
mod game;
mod illegal;
mod known_move;
mod mate;
mod moves;
mod opening;
mod outcome;
mod pgn;
mod pgn_comment;
mod pgn_reader;
mod pgn_tokens;
mod position;
mod reading;
mod san;
mod tablebase;
mod text;
mod text_file;

pub use castling::CastlingSquares;
pub use chess960::CHESS960_STARTS;
pub use endgames::ENDGAMES;
pub use ending::{Adjudication, Ending, Fault};
pub use epd::{Epd, EpdError, Operands, read_epd};
pub use fen::FenError;
pub use game::Game;
pub use illegal::IllegalReason;
pub use known_move::KnownMove;
pub use mate::PossibleChecks;
pub use moves::{Move, Promotion};
pub use opening::{random_games, random_moves, random_opening};
pub use outcome::{GameResult, Outcome, Reason, Rules};
pub use pgn::{PgnRoster, PgnWriter, numbered_moves};
pub use pgn_comment::{MoveNote, PgnEval, ScoreView};
pub use pgn_reader::{PgnEnd, PgnFault, PgnFaultKind, PgnGame, PgnReader, PgnRecord, PgnTags, read_pgn};
pub use pgn_tokens::FIRST_TAG as PGN_FIRST_TAG;
pub use position::{Castling, Piece, Position, Side};
pub use san::MoveTextError;
pub use tablebase::{RankedMove, Tablebase, TablebaseError, TablebaseResult};
pub use text::GameTextError;
pub use text_file::{TextFileError, TextProblem};

#[cfg(test)]
pub(crate) mod image;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod thinned;
