//! What the model predicts for one game.

/// Elo per unit of the logistic scale.
pub(super) const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// The probabilities of a game's results, for one player.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chances {
    /// Of a win.
    pub win: f64,
    /// Of a draw.
    pub draw: f64,
    /// Of a loss.
    pub loss: f64,
}

/// The chances of a player who is stronger by `elo` in this game, White's advantage included, where equal players draw with
/// probability `draw_rate` in [0, 1].
///
/// The expected score is that of the logistic curve, and P(draw) / √(P(win) P(loss)) is the same in all games, as in Davidson (1970).
/// This is the model of the program Ordo (Ballicora, `xpect.c`).
pub fn chances(elo: f64, draw_rate: f64) -> Chances {
    let score = expected(elo / ELO);
    let draw = drawn(score, draw_rate / (1.0 - draw_rate)).probability;
    Chances { win: score - 0.5 * draw, draw, loss: 1.0 - score - 0.5 * draw }
}

/// The expected score of a difference on the logistic scale.
pub(super) fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

/// The probability of a draw, and its derivatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub(super) probability: f64,
    /// By the logit of the draw rate of equal players.
    pub(super) by_rate: f64,
    /// By the expected score.
    pub(super) by_score: f64,
}

/// The probability of a draw at an expected score; `odds` are those of a draw between equal players, infinite if they always draw.
pub(super) fn drawn(score: f64, odds: f64) -> Drawn {
    let spread = score * (1.0 - score);
    if odds > 1e7 {
        // As many draws as the score permits.
        let probability = 2.0 * score.min(1.0 - score);
        return Drawn { probability, by_rate: 0.0, by_score: if score < 0.5 { 2.0 } else { -2.0 } };
    }
    // P(draw)² = 4 k P(win) P(loss), where k = odds² and both are the score's rest after half the draws: the positive root of
    // (1 − k) p² + 2 k p − 4 k · score · (1 − score) = 0.
    let k = odds * odds;
    let root = (k * k + 4.0 * k * (1.0 - k) * spread).max(0.0).sqrt();
    if k + root == 0.0 {
        return Drawn { probability: 0.0, by_rate: 0.0, by_score: 0.0 };
    }
    let probability = 4.0 * k * spread / (k + root);
    let slope = 2.0 * root;
    let by_k = (probability * probability - 2.0 * probability + 4.0 * spread) / slope;
    let by_spread = 4.0 * k / slope;
    Drawn { probability, by_rate: by_k * 2.0 * k, by_score: by_spread * (1.0 - 2.0 * score) }
}

#[cfg(test)]
mod tests {
    use super::{chances, drawn, expected};

    #[test]
    fn chances_have_the_logistic_score_and_davidsons_draws() {
        for draw_rate in [0.0, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0] {
            let level = chances(0.0, draw_rate);
            assert!((level.draw - draw_rate).abs() < 1e-9, "{draw_rate}: {level:?}");
            for elo in [-1200.0, -200.0, 35.0, 400.0] {
                let found = chances(elo, draw_rate);
                let score = found.win + 0.5 * found.draw;
                assert!((score - 1.0 / (1.0 + 10f64.powf(-elo / 400.0))).abs() < 1e-12);
                assert!(found.win >= 0.0 && found.draw >= 0.0 && found.loss >= 0.0, "{found:?}");
                if draw_rate < 1.0 {
                    // Davidson's ν is 2 · 0.3 / 0.7 for 30 % draws between equal players.
                    let ratio = 2.0 * draw_rate / (1.0 - draw_rate);
                    let davidson = ratio * (found.win * found.loss).sqrt();
                    assert!((found.draw - davidson).abs() < 1e-6 * found.draw.max(1e-3), "{draw_rate} {elo}");
                }
            }
        }
    }

    #[test]
    fn derivatives_are_differences() {
        for logit in [-3.0_f64, 0.0, 0.5, 2.0] {
            for difference in [-2.0, -0.1, 0.7, 3.0] {
                let at = |logit: f64, score: f64| drawn(score, logit.exp()).probability;
                let (score, found) = (expected(difference), drawn(expected(difference), logit.exp()));
                let by_rate = (at(logit + 1e-6, score) - at(logit - 1e-6, score)) / 2e-6;
                let by_score = (at(logit, score + 1e-7) - at(logit, score - 1e-7)) / 2e-7;
                assert!((found.by_rate - by_rate).abs() < 1e-6, "{logit} {difference}: {found:?} {by_rate}");
                assert!(
                    (found.by_score - by_score).abs() < 1e-5,
                    "{logit} {difference}: {found:?} {by_score}"
                );
            }
        }
    }
}
