//! Ending games before the rules do, by what both players think of them or by tablebases.

use super::error::ArenaError;
use crate::board::{Adjudication, Game, GameResult, Side, Tablebase};
use crate::params;

params! {
    /// When a player resigns. Scores are in centipawns; see the column `scores` of `matches`.
    pub struct ResignationParams {
        /// A player resigns after this many of its moves in a row with a score of −`score` or less.
        moves: u32 = 4, in 1..=1000;
        /// See `moves`. A net's own scores end at 12,780, those of other programs do not.
        score: f64 = 800.0, in 1.0..=40_000.0;
        /// Whether the opponent's scores must agree, by `score` or more at the move before each of these.
        agreed: bool = true;
    }
}

params! {
    /// When the players agree to a draw. Scores are in centipawns; see the column `scores` of `matches`.
    pub struct AgreedDrawParams {
        /// The game is drawn after this many moves of each player in a row with a score of at most `score` in size.
        moves: u32 = 8, in 1..=1000;
        /// See `moves`.
        score: f64 = 10.0, in 0.0..=1000.0;
        /// Not before this move of the game, by either player.
        first_move: u32 = 40, in 1..=10_000;
    }
}

params! {
    /// What ends games before the rules do; each is counted in the match's `endings`.
    pub struct AdjudicationParams {
        /// Players resign, by their own scores; () for never. A player without scores, such as `"random"`, neither resigns nor agrees.
        resignation: Option<ResignationParams> = None;
        /// Players agree to a draw, by their own scores; () for never.
        agreed_draw: Option<AgreedDrawParams> = None;
        /// Folder of Syzygy tablebases, or several separated by `:`, that decide games as soon as they cover a position after a
        /// capture or a pawn move; () for none. Wins that the fifty-move rule prevents are draws.
        tablebases: Option<String> = None;
    }
}

impl AdjudicationParams {
    /// How the game ends now, if it does; it is not over by the rules. `scores` has one for each move, from the side that made it.
    pub(super) fn decide(
        &self,
        game: &Game,
        scores: &[f32],
        tables: Option<&Tablebase>,
    ) -> Result<Option<(GameResult, Adjudication)>, ArenaError> {
        if let Some(tables) = tables
            && let Some(result) = tables.adjudicate(game.position())?
        {
            return Ok(Some((result, Adjudication::Tablebase)));
        }
        let mover = game.position().side_to_move().other();
        if self.resignation.as_ref().is_some_and(|params| params.holds(scores)) {
            return Ok(Some((GameResult::won_by(Some(mover.other())), Adjudication::Resignation)));
        }
        let made = game.position().fullmove_number() - u32::from(mover == Side::Black);
        let is_level = |params: &AgreedDrawParams| made >= params.first_move && params.holds(scores);
        let agreed = self.agreed_draw.as_ref().is_some_and(is_level);
        Ok(agreed.then_some((GameResult::Draw, Adjudication::AgreedDraw)))
    }
}

impl ResignationParams {
    /// Whether the player of the last move resigns.
    fn holds(&self, scores: &[f32]) -> bool {
        let moves = self.moves as usize;
        let mut own = scores.iter().rev().step_by(2).take(moves);
        let mut others = scores.iter().rev().skip(1).step_by(2).take(moves);
        let is_lost = |score: &f32| f64::from(*score) <= -self.score;
        let is_won = |score: &f32| f64::from(*score) >= self.score;
        let enough = scores.len() >= 2 * moves;
        enough && own.all(is_lost) && (!self.agreed || others.all(is_won))
    }
}

impl AgreedDrawParams {
    fn holds(&self, scores: &[f32]) -> bool {
        let plies = 2 * self.moves as usize;
        scores.len() >= plies
            && scores[scores.len() - plies..].iter().all(|score| f64::from(score.abs()) <= self.score)
    }
}

#[cfg(test)]
mod tests {
    use super::{AdjudicationParams, AgreedDrawParams, ResignationParams};
    use crate::board::{Adjudication, Game, GameResult, Move};

    /// A game of this many plies of knights that go out and back.
    fn game(plies: usize) -> Game {
        let mut game = Game::initial();
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].map(|uci| Move::from_uci(uci).expect("a move"));
        moves.into_iter().cycle().take(plies).for_each(|mv| game.play_unchecked(mv));
        game
    }

    fn decided(params: &AdjudicationParams, scores: &[f32]) -> Option<(GameResult, Adjudication)> {
        params.decide(&game(scores.len()), scores, None).expect("no tablebases are read")
    }

    #[test]
    fn a_player_resigns_only_after_enough_moves_and_with_its_opponents_consent() {
        let resigns = |agreed, scores: &[f32]| {
            let resignation = ResignationParams { moves: 2, score: 500.0, agreed };
            decided(
                &AdjudicationParams { resignation: Some(resignation), ..AdjudicationParams::default() },
                scores,
            )
        };
        let white_lost = Some((GameResult::BlackWins, Adjudication::Resignation));
        let black_lost = Some((GameResult::WhiteWins, Adjudication::Resignation));
        assert_eq!(resigns(true, &[-600.0, 550.0, -700.0]), None, "one answer of Black is missing");
        assert_eq!(resigns(true, &[0.0, 510.0, -600.0, 550.0, -700.0]), white_lost);
        assert_eq!(resigns(true, &[0.0, 490.0, -600.0, 550.0, -700.0]), None, "Black did not agree once");
        assert_eq!(resigns(true, &[0.0, 500.0, -500.0, 500.0, -500.0]), white_lost, "the bounds count");
        assert_eq!(resigns(false, &[0.0, 490.0, -600.0, 550.0, -700.0]), white_lost);
        assert_eq!(resigns(true, &[900.0, -500.0, 900.0, -31_000.0]), black_lost);
        assert_eq!(resigns(false, &[f32::NAN, -500.0, f32::NAN, -900.0]), black_lost);
        assert_eq!(resigns(true, &[f32::NAN, -500.0, f32::NAN, -900.0]), None, "no score agrees to nothing");
        assert_eq!(resigns(false, &[f32::NAN; 6]), None);
    }

    #[test]
    fn a_draw_needs_both_players_and_the_move_number() {
        let drawn = |first_move, scores: &[f32]| {
            let agreed_draw = AgreedDrawParams { moves: 2, score: 10.0, first_move };
            decided(
                &AdjudicationParams { agreed_draw: Some(agreed_draw), ..AdjudicationParams::default() },
                scores,
            )
        };
        let level = [0.0, 10.0, -10.0, 3.0];
        let agreed = Some((GameResult::Draw, Adjudication::AgreedDraw));
        assert_eq!((drawn(2, &level), drawn(3, &level)), (agreed, None), "Black has made move 2");
        assert_eq!((drawn(3, &[0.0; 5]), drawn(4, &[0.0; 5])), (agreed, None), "White has made move 3");
        assert_eq!(drawn(1, &level[1..]), None, "three plies only");
        assert_eq!(drawn(1, &[0.0, 11.0, 0.0, 0.0]), None);
        assert_eq!(drawn(1, &[0.0, f32::NAN, 0.0, 0.0]), None);
    }
}
