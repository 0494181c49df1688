//! Games as one line of text, as in UCI's `position` command.

use thiserror::Error;

use super::{FenError, Game, Move, Position};

/// Text that is not a game.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GameTextError {
    #[error(transparent)]
    Start(#[from] FenError),
    #[error("move {number}, \"{text}\", is not legal in {fen}; {}", expected(example.as_deref()))]
    Move {
        /// Its number among the moves, from 1.
        number: usize,
        text: String,
        fen: String,
        /// A move that is legal there; `None` after mate and stalemate.
        example: Option<String>,
    },
}

fn expected(example: Option<&str>) -> String {
    example.map_or_else(
        || "no move is, the game is over".to_owned(),
        |example| format!("expected a legal move such as \"{example}\""),
    )
}

impl Game {
    /// Parses `startpos` or a FEN, optionally followed by `moves e2e4 e7e5 …`, as after UCI's `position`.
    pub fn from_text(text: &str) -> Result<Self, GameTextError> {
        Self::read(text, Position::from_fen)
    }

    /// As [`from_text`](Self::from_text), with a start as [`Position::from_inexact_fen`] reads it. Also returns the rules that the start broke.
    pub fn from_inexact_text(text: &str) -> Result<(Self, Option<String>), GameTextError> {
        let mut broken = None;
        let game = Self::read(text, |fen| {
            let start = Position::from_inexact_fen(fen)?;
            broken = start.1;
            Ok(start.0)
        })?;
        Ok((game, broken))
    }

    fn read(
        text: &str,
        position: impl FnOnce(&str) -> Result<Position, FenError>,
    ) -> Result<Self, GameTextError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let start_words = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
        let start = words[..start_words].join(" ");
        let start = start.strip_prefix("fen ").unwrap_or(&start);
        let mut game =
            if start == "startpos" { Self::initial() } else { Self::from_position(position(start)?) };
        for (number, text) in (1..).zip(words.iter().skip(start_words + 1)) {
            game.play_text(number, text)?;
        }
        Ok(game)
    }

    /// Plays packed moves from a FEN, as tables store them; each must be legal.
    pub fn from_packed(start_fen: &str, moves: &[u16]) -> Result<Self, GameTextError> {
        let mut game = Self::from_position(Position::from_fen(start_fen)?);
        for (number, &packed) in (1..).zip(moves) {
            let mv = Move::from_packed(packed).filter(|mv| game.position().is_legal(*mv));
            let text = || Move::from_packed(packed).map_or_else(|| packed.to_string(), |mv| mv.to_string());
            game.play_unchecked(mv.ok_or_else(|| game.illegal_move(number, text()))?);
        }
        Ok(game)
    }

    /// The start's FEN, followed by `moves e2e4 e7e5 …` if there are any; [`Game::from_text`] parses it.
    pub fn to_text(&self) -> String {
        let moves: String = self.moves().iter().map(|mv| format!(" {mv}")).collect();
        if moves.is_empty() { self.start().fen() } else { format!("{} moves{moves}", self.start().fen()) }
    }

    fn play_text(&mut self, number: usize, text: &str) -> Result<(), GameTextError> {
        let mv = self.position().read_uci(text);
        self.play_unchecked(mv.ok_or_else(|| self.illegal_move(number, text.to_owned()))?);
        Ok(())
    }

    /// The error for a move that is not legal in the current position.
    fn illegal_move(&self, number: usize, text: String) -> GameTextError {
        let legal = self.position().legal_moves();
        GameTextError::Move {
            number,
            text,
            fen: self.position().fen(),
            example: legal.first().map(ToString::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::board::{Game, Move, Position};

    #[test]
    fn a_start_and_moves_are_parsed() {
        let game = Game::from_text("startpos moves e2e4 e7e5 g1f3").unwrap();
        assert_eq!((game.ply(), game.position().fullmove_number()), (3, 2));
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        assert_eq!(Game::from_text(fen).unwrap().position().fen(), fen);
        assert_eq!(Game::from_text(&format!("fen {fen} moves e2e4")).unwrap().ply(), 1);
        assert_eq!(Game::from_text("startpos moves").unwrap().ply(), 0);
    }

    #[test]
    fn text_and_packed_moves_round_trip() {
        let text = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4 e8d7";
        let game = Game::from_text(text).unwrap();
        assert_eq!(game.to_text(), text);
        let packed: Vec<u16> = game.moves().iter().map(|mv| mv.packed()).collect();
        let again = Game::from_packed(&game.start().fen(), &packed).unwrap();
        assert_eq!((again.to_text().as_str(), again.state_key()), (text, game.state_key()));
        let fens: Vec<String> = again.positions().map(Position::fen).collect();
        assert_eq!((fens.len(), &fens[0], &fens[2]), (3, &game.start().fen(), &game.position().fen()));
        assert_eq!(Game::from_packed(&fens[0], &[]).unwrap().to_text(), fens[0]);
    }

    #[test]
    fn an_illegal_packed_move_is_named() {
        let start = Game::initial().start().fen();
        let e4 = Move::from_uci("e2e4").unwrap().packed();
        let error = |moves: &[u16]| Game::from_packed(&start, moves).unwrap_err().to_string();
        assert!(error(&[e4, e4]).starts_with("move 2, \"e2e4\", is not legal in rnbqkbnr"));
        assert!(error(&[0xffff]).starts_with("move 1, \"65535\", is not legal in"));
        assert!(Game::from_packed("no FEN", &[]).is_err());
    }

    #[test]
    fn invalid_text_is_an_error_that_names_it() {
        let error = |text| Game::from_text(text).unwrap_err().to_string();
        assert!(error("startpos moves e2e4 e2e4").starts_with("move 2, \"e2e4\", is not legal in rnbqkbnr"));
        assert!(error("").contains("is not a FEN"));
        assert!(error("8/8/8/8/8/8/8/8 w - - 0 1").contains("is not a legal position"));
        assert!(error("startpos moves castle").contains("such as \""));
        let after_mate = error("startpos moves f2f3 e7e5 g2g4 d8h4 a2a3");
        assert!(after_mate.ends_with("; no move is, the game is over"), "{after_mate}");
    }
}
