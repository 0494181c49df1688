//! The rules of chess, with the history that draws depend on. Only this module uses shakmaty and its tablebases.

mod ending;
mod epd;
mod fen;
mod game;
mod illegal;
mod mate;
mod moves;
mod opening;
mod outcome;
mod pgn;
mod pgn_reader;
mod position;
mod reading;
mod san;
mod tablebase;
mod text;
mod text_file;

pub use ending::{Adjudication, Ending, Fault};
pub use epd::{Epd, EpdError, Operands, read_epd};
pub use fen::FenError;
pub use game::Game;
pub use illegal::IllegalReason;
pub use moves::{Move, Promotion};
pub use opening::random_opening;
pub use outcome::{GameResult, Outcome, Reason, Rules};
pub use pgn::{PgnRoster, PgnWriter, numbered_moves};
pub use pgn_reader::{PgnGame, read_pgn};
pub use position::{Castling, Piece, Position, Side};
pub use san::MoveTextError;
pub use tablebase::{RankedMove, Tablebase, TablebaseError, TablebaseResult};
pub use text::GameTextError;
pub use text_file::{TextFileError, TextProblem};

#[cfg(test)]
mod tests;
