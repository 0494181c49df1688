//! Games as people and chess programs write them down in one line.

use thiserror::Error;

use super::{FenError, Game, Move, Position};

/// A line that is no game.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GameTextError {
    /// The start is no position.
    #[error(transparent)]
    Start(#[from] FenError),
    /// A move cannot be made where it stands.
    #[error("move {number}, \"{text}\", is not legal in {fen}; expected a legal move such as \"{example}\"")]
    Move {
        /// Its place among the moves, from 1.
        number: usize,
        /// The text given.
        text: String,
        /// The position before it.
        fen: String,
        /// A move that is legal there, or `none`.
        example: String,
    },
}

impl Game {
    /// Reads `startpos` or a FEN, with `moves e2e4 e7e5 …` behind it if the game went on: what UCI writes after `position`.
    pub fn from_text(text: &str) -> Result<Self, GameTextError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let start_words = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
        let start = words[..start_words].join(" ");
        let start = start.strip_prefix("fen ").unwrap_or(&start);
        let mut game = if start == "startpos" {
            Self::initial()
        } else {
            Self::from_position(Position::from_fen(start)?)
        };
        for (number, text) in (1..).zip(words.iter().skip(start_words + 1)) {
            game.play_text(number, text)?;
        }
        Ok(game)
    }

    fn play_text(&mut self, number: usize, text: &str) -> Result<(), GameTextError> {
        let legal = self.position().legal_moves();
        match Move::from_uci(text).filter(|played| legal.contains(played)) {
            Some(played) => {
                self.play_unchecked(played);
                Ok(())
            }
            None => Err(GameTextError::Move {
                number,
                text: text.to_owned(),
                fen: self.position().fen(),
                example: legal.first().map_or("none".to_owned(), ToString::to_string),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::board::Game;

    #[test]
    fn a_game_is_a_start_and_its_moves() {
        let game = Game::from_text("startpos moves e2e4 e7e5 g1f3").unwrap();
        assert_eq!((game.ply(), game.position().fullmove_number()), (3, 2));
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        assert_eq!(Game::from_text(fen).unwrap().position().fen(), fen);
        assert_eq!(Game::from_text(&format!("fen {fen} moves e2e4")).unwrap().ply(), 1);
        assert_eq!(Game::from_text("startpos moves").unwrap().ply(), 0);
    }

    #[test]
    fn what_is_no_game_is_named() {
        let refused = |text| Game::from_text(text).unwrap_err().to_string();
        assert!(
            refused("startpos moves e2e4 e2e4").starts_with("move 2, \"e2e4\", is not legal in rnbqkbnr")
        );
        assert!(refused("").contains("is not a FEN"));
        assert!(refused("8/8/8/8/8/8/8/8 w - - 0 1").contains("is not a legal position"));
        assert!(refused("startpos moves castle").contains("such as \""));
    }
}
