//! A game against the engine: its moves, their scores, and how it ended.

use dc0_core::board::{Game, GameResult, Move, Outcome, Position, Reason, Rules, Side};

use super::score::Score;

/// No ply limit: only the rules of chess end a game.
const RULES: Rules = Rules { max_plies: u32::MAX };

/// Ends that the players agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreed {
    /// This side resigned.
    Resigned(Side),
    Draw,
}

/// A game with the scores of its searches.
#[derive(Debug, Clone)]
pub struct Record {
    /// The moves so far.
    pub game: Game,
    /// For each ply the score of its search, if it was searched.
    scores: Vec<Option<Score>>,
    pub(crate) agreed: Option<Agreed>,
}

impl Record {
    /// A game without scores.
    pub fn new(game: Game) -> Self {
        Self { scores: vec![None; game.ply()], game, agreed: None }
    }

    /// Plays a legal move.
    pub fn play(&mut self, played: Move, score: Option<Score>) {
        self.game.play_unchecked(played);
        self.scores.push(score);
    }

    /// Goes back to a ply; drops the scores of later ones.
    pub fn take_back_to(&mut self, ply: usize) {
        self.game.take_back_to(ply);
        self.scores.truncate(ply);
        self.agreed = None;
    }

    /// The outcome by the rules of chess.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(&RULES)
    }

    /// Whether the rules or the players have ended it.
    pub fn is_over(&self) -> bool {
        self.agreed.is_some() || self.outcome().is_some()
    }

    /// Whether there is nothing to save.
    pub(crate) fn is_empty(&self) -> bool {
        self.game.ply() == 0 && self.agreed.is_none()
    }

    /// How the game ended, if it did.
    pub(crate) fn game_result(&self) -> Option<GameResult> {
        match (self.agreed, self.outcome()) {
            (Some(Agreed::Resigned(Side::White)), _) => Some(GameResult::BlackWins),
            (Some(Agreed::Resigned(Side::Black)), _) => Some(GameResult::WhiteWins),
            (Some(Agreed::Draw), _) => Some(GameResult::Draw),
            (None, outcome) => outcome.map(|outcome| outcome.result()),
        }
    }

    /// The result as PGN has it.
    pub fn result(&self) -> &'static str {
        self.game_result().map_or("*", GameResult::symbol)
    }

    /// Why the game is over, as text.
    pub fn reason(&self) -> Option<String> {
        if let Some(agreed) = self.agreed {
            return Some(match agreed {
                Agreed::Resigned(side) => format!("{side:?} resigned"),
                Agreed::Draw => "draw by agreement".to_owned(),
            });
        }
        let outcome = self.outcome()?;
        Some(match outcome.reason {
            Reason::Checkmate => {
                let winner = self.game.position().side_to_move().other();
                format!("{winner:?} won by checkmate")
            }
            Reason::Stalemate => "draw by stalemate".to_owned(),
            Reason::InsufficientMaterial => "draw by insufficient material".to_owned(),
            Reason::Threefold => "draw by threefold repetition".to_owned(),
            Reason::FiftyMoves => "draw by the fifty-move rule".to_owned(),
            Reason::PlyCap => "draw: the game is too long".to_owned(),
        })
    }

    /// The ply that taking back returns to: the last earlier one with this side to move.
    pub fn last_turn_of(&self, side: Side) -> Option<usize> {
        let is_turn = |ply: &usize| self.before(*ply).side_to_move() == side;
        (0..self.game.ply()).rev().find(is_turn)
    }

    /// The score of the last move.
    pub(crate) fn last_score(&self) -> Option<Score> {
        self.scores.last().copied().flatten()
    }

    /// The position before a ply.
    pub(crate) fn before(&self, ply: usize) -> &Position {
        let plies = self.game.ply() - ply;
        self.game.position_before(plies).expect("a ply of the game")
    }

    /// Every ply with its position, its move and its score.
    pub fn plies(&self) -> impl Iterator<Item = (&Position, Move, Option<Score>)> {
        let moves = self.game.moves().iter().zip(&self.scores);
        self.game.positions().zip(moves).map(|(before, (played, score))| (before, *played, *score))
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Game, Side};

    use super::{Agreed, Record};

    fn record(text: &str) -> Record {
        Record::new(Game::from_text(text).unwrap())
    }

    #[test]
    fn finished_games_have_results_and_reasons() {
        let end = |text: &str| {
            let record = record(text);
            (record.result(), record.reason().unwrap_or_default())
        };
        let mate = end("startpos moves f2f3 e7e5 g2g4 d8h4");
        assert_eq!(mate, ("0-1", "Black won by checkmate".to_owned()));
        assert_eq!(end("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), ("1/2-1/2", "draw by stalemate".to_owned()));
        assert_eq!(end("startpos"), ("*", String::new()));
        let mut record = record("startpos moves e2e4");
        record.agreed = Some(Agreed::Resigned(Side::White));
        assert_eq!((record.result(), record.reason().as_deref()), ("0-1", Some("White resigned")));
        record.take_back_to(0);
        assert!(record.is_empty() && !record.is_over());
    }

    #[test]
    fn taking_back_returns_to_the_last_turn() {
        let two = record("startpos moves e2e4 e7e5");
        assert_eq!((two.last_turn_of(Side::White), two.last_turn_of(Side::Black)), (Some(0), Some(1)));
        let one = record("startpos moves e2e4");
        assert_eq!((one.last_turn_of(Side::White), one.last_turn_of(Side::Black)), (Some(0), None));
    }
}
