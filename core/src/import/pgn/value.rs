//! Values from evaluations.

use super::params::{EvalFormula, PgnParams};
use crate::board::{GameResult, PgnEval, Side};

/// What decides a win against a loss, per centipawn, in games of players; see [`EvalFormula::Lichess`].
const LICHESS_SCALE: f64 = 0.003_682_08;

/// P(win) − P(loss) and P(draw) for a side: by the evaluation of the position, or else by the game's result.
pub fn value_of(eval: Option<PgnEval>, result: GameResult, side: Side, params: &PgnParams) -> (f32, f32) {
    let eval = eval.filter(|_| params.evals == EvalFormula::Lichess);
    let sign = if side == Side::White { 1.0 } else { -1.0 };
    let (q, draw) = match eval {
        None => {
            let score = f64::from(result.score_for(Side::White));
            (score, 1.0 - score.abs())
        }
        Some(PgnEval::Mate(moves)) => (f64::from(moves.signum()), 0.0),
        Some(PgnEval::Centipawns(score)) => {
            let q = 2.0 / (1.0 + (-LICHESS_SCALE * f64::from(score)).exp()) - 1.0;
            (q, draw_of(q, params.level_draws))
        }
    };
    ((sign * q) as f32, draw as f32)
}

/// P(draw) where P(win) − P(loss) is `q`, and P(draw) of a level position is `level`.
///
/// In the model of Davidson (1970) win, draw and loss are in the ratio t : ν : 1/t, so that ν/(2 + ν) is P(draw) of a level
/// position. Then q = (t − 1/t) / (t + ν + 1/t), which is quadratic in t.
fn draw_of(q: f64, level: f64) -> f64 {
    let q = q.abs();
    if q >= 1.0 {
        return 0.0;
    }
    let ties = 2.0 * level / (1.0 - level);
    let root = (q * q * ties * ties + 4.0 * (1.0 - q * q)).sqrt();
    let odds = (q * ties + root) / (2.0 * (1.0 - q));
    ties / (odds + ties + 1.0 / odds)
}

#[cfg(test)]
mod tests {
    use super::{draw_of, value_of};
    use crate::board::{GameResult, PgnEval, Side};
    use crate::import::{EvalFormula, PgnParams};

    fn value(eval: Option<PgnEval>, side: Side) -> (f32, f32) {
        value_of(eval, GameResult::BlackWins, side, &PgnParams::default())
    }

    #[test]
    fn results_count_where_there_is_no_evaluation() {
        assert_eq!(value(None, Side::White), (-1.0, 0.0));
        assert_eq!(value(None, Side::Black), (1.0, 0.0));
        let params = PgnParams { evals: EvalFormula::Ignore, ..PgnParams::default() };
        let drawn = value_of(Some(PgnEval::Mate(1)), GameResult::Draw, Side::White, &params);
        assert_eq!(drawn, (0.0, 1.0));
    }

    #[test]
    fn evaluations_become_winning_chances_of_the_side_to_move() {
        assert_eq!(value(Some(PgnEval::Centipawns(0.0)), Side::White), (0.0, 0.3));
        assert_eq!(value(Some(PgnEval::Mate(-4)), Side::White), (-1.0, 0.0));
        assert_eq!(value(Some(PgnEval::Mate(-4)), Side::Black), (1.0, 0.0));
        // Lichess's page gives a win percentage of 59.1 for 100 centipawns: 50 + 50 · (2 / (1 + exp(−0.368208)) − 1).
        let (q, draw) = value(Some(PgnEval::Centipawns(100.0)), Side::White);
        assert!((q - 0.182_05).abs() < 1e-4, "{q}");
        assert!(draw < 0.3 && draw > 0.28, "{draw}");
        assert_eq!(value(Some(PgnEval::Centipawns(100.0)), Side::Black), (-q, draw));
    }

    #[test]
    fn win_draw_and_loss_are_in_davidsons_ratio() {
        for level in [0.0, 0.1, 0.3, 0.6, 0.95] {
            assert!((draw_of(0.0, level) - level).abs() < 1e-12);
            let ties: f64 = 2.0 * level / (1.0 - level);
            for q in [0.05f64, 0.3, 0.7, 0.99, 0.9999] {
                let draw = draw_of(q, level);
                let (win, loss) = (f64::midpoint(1.0 - draw, q), f64::midpoint(1.0 - draw, -q));
                assert!(loss >= 0.0 && draw >= 0.0, "{level} {q}: {win} {draw} {loss}");
                // t : ν : 1/t means that the draws are ν times the geometric mean of wins and losses.
                assert!((draw - ties * (win * loss).sqrt()).abs() < 1e-9, "{level} {q}: {win} {draw} {loss}");
            }
        }
    }
}
