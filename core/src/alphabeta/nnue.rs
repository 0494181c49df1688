//! The value of an NNUE as an evaluation.

use std::sync::Arc;

use super::evaluator::StaticEvaluator;
use super::score::Score;
use crate::board::{KnownMove, Position};
use crate::network::Wdl;
use crate::network::nnue::{NnueLine, NnueNet};

/// Evaluates positions by the value head of a net of the kind `nnue`.
#[derive(Debug)]
pub struct NnueEvaluation {
    line: NnueLine,
    depth: usize,
}

impl NnueEvaluation {
    /// An evaluation by a net, which threads share.
    pub fn new(net: Arc<NnueNet>) -> Self {
        Self { line: NnueLine::new(net), depth: 0 }
    }
}

impl StaticEvaluator for NnueEvaluation {
    fn reset(&mut self, _: &Position) {
        self.depth = 0;
    }

    fn push(&mut self, _: &Position, _: KnownMove, _: &Position) {
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn evaluate(&mut self, position: &Position) -> i32 {
        nnue_centipawns(self.line.evaluate(self.depth, position).value())
    }

    fn name(&self) -> &'static str {
        "nnue"
    }
}

/// P(win) − P(loss) in hundredths of a pawn, at most 12,800: Leela Chess Zero's `centipawn_2019`
/// (`src/search/classic/search.cc`), which needs no function of a system's library.
pub fn nnue_centipawns(value: f32) -> i32 {
    unrounded(value.into()).round() as i32
}

fn unrounded(value: f64) -> f64 {
    let square = value * value;
    let fourth = square * square;
    let fourteenth = fourth * fourth * fourth * square;
    295.0 * value / (1.0 - 0.976_953_125 * fourteenth)
}

/// Halvings of an interval until it holds two neighbouring numbers of 64 bits at most.
const HALVINGS: u32 = 64;

/// P(win) − P(loss) whose [`nnue_centipawns`] these are, exactly before rounding; ±1 for mates, tablebase results and more than 12,800.
pub fn nnue_value(score: Score) -> f32 {
    let centipawns = match score {
        Score::Centipawns(centipawns) => f64::from(centipawns),
        Score::Mate(_) => return score.value() as f32,
    };
    let size = centipawns.abs();
    if size == 0.0 || size >= unrounded(1.0) {
        return if size == 0.0 { 0.0 } else { centipawns.signum() as f32 };
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if unrounded(middle) < size { low = middle } else { high = middle }
    }
    (centipawns.signum() * f64::midpoint(low, high)) as f32
}

/// P(draw) for a value of a search, which knows no draws: what the value leaves open is a draw with the same share as in the net's own
/// result of a position of the line.
pub fn nnue_draw(value: f32, own: Wdl) -> f32 {
    let open = 1.0 - own.value().abs();
    let share = if open > 0.0 { (own.draw / open).clamp(0.0, 1.0) } else { 0.0 };
    share * (1.0 - value.abs())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{NnueEvaluation, nnue_centipawns, nnue_draw, nnue_value};
    use crate::alphabeta::{AlphaBeta, AlphaBetaParams, Limits, Score, Unwatched};
    use crate::board::{Game, Position};
    use crate::network::nnue::NnueNet;
    use crate::network::{Wdl, initial_weights, preset};
    use crate::rng::Seed;

    #[test]
    fn values_become_centipawns() {
        assert_eq!([0.0, 1.0, -1.0, 0.5].map(nnue_centipawns), [0, 12_800, -12_800, 148]);
    }

    #[test]
    fn scores_become_the_values_that_they_were_made_of() {
        for score in -12_800..=12_800 {
            let value = nnue_value(Score::Centipawns(score));
            assert_eq!(nnue_centipawns(value), score, "{value}");
            assert!((value + nnue_value(Score::Centipawns(-score))).abs() < 1e-7);
        }
        let proven = [Score::Mate(1), Score::Centipawns(30_990), Score::Mate(-3), Score::Mate(0)];
        assert_eq!(proven.map(nnue_value), [1.0, 1.0, -1.0, -1.0]);
        assert_eq!(nnue_value(Score::Centipawns(0)), 0.0);
    }

    #[test]
    fn draws_keep_their_share_of_what_is_open() {
        // Of the half that the net's value leaves open, half is a draw.
        let own = Wdl { win: 0.625, draw: 0.25, loss: 0.125 };
        assert_eq!([0.5, 0.0, -0.75, 1.0].map(|value| nnue_draw(value, own)), [0.25, 0.5, 0.125, 0.0]);
        assert_eq!(nnue_draw(0.0, Wdl { win: 1.0, draw: 0.0, loss: 0.0 }), 0.0);
    }

    #[test]
    fn a_search_with_a_net_finds_mates_and_repeats_itself() {
        let spec = preset("nnue-128").expect("exists").spec;
        let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
        let net = Arc::new(NnueNet::new(&spec, &weights).expect("in range"));
        let search = || {
            let params = AlphaBetaParams::default();
            let make = || Box::new(NnueEvaluation::new(Arc::clone(&net))) as _;
            let mut searcher = AlphaBeta::new(&params, None, &make);
            assert_eq!(searcher.evaluator_name(), "nnue");
            let mate = Position::from_fen("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1").expect("a position");
            let limits = Limits { nodes: Some(3000), ..Limits::default() };
            let found =
                searcher.search(&Game::from_position(mate), &limits, &mut Unwatched).expect("no tables");
            assert_eq!(found.score(), Score::Mate(1));
            let opening = searcher.search(&Game::initial(), &limits, &mut Unwatched).expect("no tables");
            (opening.nodes, opening.best(), opening.score())
        };
        assert_eq!(search(), search());
    }
}
