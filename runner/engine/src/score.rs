//! Scores as people read them: chances, centipawns and mates, from the values of a search. Every command that shows scores takes
//! them from here.

mod mating_line;

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::{LEELA_SCALE, PositionValue, ValueCalibration, centipawns};
use dc0_core::params;
use dc0_core::search::{Line, Search};
use dc0_runs::net::{Named, shipped_nnue, shipped_residual};

pub(crate) use mating_line::{line_to_mate, mate};

params! {
    /// How `dc0-run uci` and `dc0-run play` turn the values of a search into the scores and WDL that they show: the options
    /// `score.…`. No script call has these members, and they change no search and no move.
    pub struct ScoreParams {
        /// What the value of a sure win counts; below 1 where what looks won is sometimes not, as with nets that learn from what
        /// their searches think of themselves. () for what was fitted to a shipped net, and 1 for others;
        /// `core/examples/calibrate.rs` fits all four.
        value_factor: Option<f64> = None, in 0.01..=1.0;
        /// Exponent of the size of a value v = P(win) − P(loss); below 1 where advantages win more often than the net's values say,
        /// as those of nets trained with `discount` do. () as for `value_factor`.
        value_exponent: Option<f64> = None, in 0.01..=100.0;
        /// Exponent of the share of draws among what is undecided, `P(draw) / (1 − |v|)`; above 1 where fewer games are drawn than
        /// the net's values say. () as for `value_factor`.
        draw_exponent: Option<f64> = None, in 0.01..=100.0;
        /// Hundredths of a pawn where the tangent of `score cp` is 1: more for weak players, to whom a pawn matters less. () for
        /// what was fitted to a shipped net, and for Leela Chess Zero's 90 otherwise.
        scale: Option<f64> = None, in 1.0..=100_000.0;
    }
}

/// How values of a net's searches become scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreFit {
    /// From values to chances.
    pub values: ValueCalibration,
    /// Hundredths of a pawn where the tangent is 1.
    pub scale: f64,
}

impl ScoreFit {
    /// For nets that nothing was fitted to, with the scale of Leela Chess Zero.
    pub const NONE: Self = Self { values: ValueCalibration::NONE, scale: LEELA_SCALE };

    /// That of `az_small`, the shipped residual net, by `core/examples/calibrate.rs` from 300 games with 100 simulations.
    pub const AZ_SMALL: Self =
        Self { values: ValueCalibration { factor: 1.0, value: 0.75, draw: 0.58 }, scale: 137.0 };

    /// That of `az_nnue`, the shipped net that plays by default, by the same from 300 games with 400 simulations;
    /// docs/guides/uci.md shows how well it fits.
    pub const AZ_NNUE: Self =
        Self { values: ValueCalibration { factor: 0.99, value: 0.93, draw: 0.4 }, scale: 94.0 };

    /// The fit of a net, if it is a shipped one.
    pub fn of_net(net: &Checkpoint) -> Self {
        let is = |shipped: &Named| net.spec == shipped.net.spec && net.weights == shipped.net.weights;
        if is(shipped_nnue()) {
            return Self::AZ_NNUE;
        }
        if is(shipped_residual()) { Self::AZ_SMALL } else { Self::NONE }
    }

    /// What people read for a value P(win) − P(loss) and P(draw) of a search or a net.
    pub(crate) fn of_value(self, value: f64, draw: f64) -> Calibrated {
        // A net is never sure of a result, so this one is proven.
        let is_proven = value.abs() >= 1.0;
        let proven = PositionValue { value: value.signum(), draw: 0.0 };
        let PositionValue { value, draw } = if is_proven { proven } else { self.values.apply(value, draw) };
        Calibrated { value, draw, centipawns: self.centipawns(value), mate: None }
    }

    /// What people read for a line of a search.
    pub(crate) fn of_line(self, search: &Search, line: &Line) -> Calibrated {
        let value = line.first.value.unwrap_or_else(|| search.root_value().value);
        Calibrated { mate: mate(search, line), ..self.of_value(value, line.draw) }
    }

    /// What people read for the position that was searched, whose best lines these are.
    pub(crate) fn of_root(self, search: &Search, lines: &[Line]) -> Calibrated {
        let PositionValue { value, draw } = search.root_value();
        Calibrated { mate: lines.first().and_then(|line| mate(search, line)), ..self.of_value(value, draw) }
    }

    /// A chance v = P(win) − P(loss), draw score included, in hundredths of a pawn.
    fn centipawns(self, value: f64) -> i64 {
        centipawns(value, self.scale).round() as i64
    }
}

impl ScoreParams {
    /// The fit of a net, with what is set here in place of its own.
    pub fn applied_to(&self, net: ScoreFit) -> ScoreFit {
        let ValueCalibration { factor, value, draw } = net.values;
        let values = ValueCalibration {
            factor: self.value_factor.unwrap_or(factor),
            value: self.value_exponent.unwrap_or(value),
            draw: self.draw_exponent.unwrap_or(draw),
        };
        ScoreFit { values, scale: self.scale.unwrap_or(net.scale) }
    }
}

/// A value as people read it, for the side to move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibrated {
    /// The chance P(win) − P(loss).
    pub(crate) value: f64,
    /// The chance P(draw).
    pub(crate) draw: f64,
    /// Hundredths of a pawn.
    pub(crate) centipawns: i64,
    /// Moves to a proven mate, below 0 if this side is mated.
    pub(crate) mate: Option<i64>,
}

impl Calibrated {
    /// The chances of a win, a draw and a loss.
    pub(crate) fn wdl(self) -> [f64; 3] {
        let Self { value, draw, .. } = self;
        [0.5 * (1.0 - draw + value), draw, 0.5 * (1.0 - draw - value)]
    }

    /// The same in thousandths that sum to 1000.
    pub(crate) fn thousandths(self) -> [u32; 3] {
        thousandths(self.value, self.draw)
    }

    /// Hundredths of a pawn, unless there is a mate.
    pub(crate) fn cp(self) -> Option<i64> {
        self.mate.is_none().then_some(self.centipawns)
    }

    /// The score as text.
    pub(crate) fn text(self) -> String {
        score_text(self.centipawns, self.mate)
    }
}

/// A score in pawns, such as `+0.31`, or `#3` and `#-3` for a mate.
pub(crate) fn score_text(centipawns: i64, mate: Option<i64>) -> String {
    mate.map_or_else(|| format!("{:+.2}", centipawns as f64 / 100.0), |moves| format!("#{moves}"))
}

/// WDL in thousandths that sum to 1000, from `value` = P(win) − P(loss) and P(draw).
fn thousandths(value: f64, draw: f64) -> [u32; 3] {
    let draw = draw.clamp(0.0, 1.0 - value.abs().min(1.0));
    let win = (500.0 * (1.0 - draw + value)).round() as u32;
    let loss = (500.0 * (1.0 - draw - value)).round() as u32;
    let (win, loss) = (win.min(1000), loss.min(1000 - win.min(1000)));
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use dc0_core::network::ValueCalibration;

    use super::{ScoreFit, ScoreParams, thousandths};

    #[test]
    fn centipawns_without_a_fit_are_those_of_leela() {
        let centipawns = |value| ScoreFit::NONE.centipawns(value);
        assert_eq!(centipawns(0.0), 0);
        // tan(0.78188) = 0.99297 and tan(0.156375) = 0.15766.
        assert_eq!((centipawns(0.5), centipawns(-0.5), centipawns(0.1)), (89, -89, 14));
        assert_eq!((centipawns(1.0), centipawns(-1.0), centipawns(7.0)), (12_780, -12_780, 12_780));
        let fitted = |value| ScoreFit::AZ_SMALL.centipawns(value);
        assert_eq!((fitted(0.5), fitted(-1.0)), (136, -12_780));
    }

    #[test]
    fn proven_results_are_sure() {
        let wdl = |value, draw| ScoreFit::AZ_NNUE.of_value(value, draw).thousandths();
        assert_eq!(
            [wdl(1.0, 0.0), wdl(0.0, 1.0), wdl(-1.0, 0.0)],
            [[1000, 0, 0], [0, 1000, 0], [0, 0, 1000]]
        );
        assert!(wdl(0.999, 0.0)[0] < 1000, "a net is not");
    }

    #[test]
    fn chances_sum_to_a_thousand() {
        assert_eq!(thousandths(0.2, 0.5), [350, 500, 150]);
        assert_eq!(
            (thousandths(1.0, 0.0), thousandths(-1.0, 0.3), thousandths(0.0, 1.0)),
            ([1000, 0, 0], [0, 0, 1000], [0, 1000, 0])
        );
        for step in -1000..=1000 {
            let [win, draw, loss] = thousandths(f64::from(step) / 1000.0, 0.333);
            assert_eq!(win + draw + loss, 1000);
        }
    }

    #[test]
    fn what_is_set_replaces_what_was_fitted() {
        let net = ScoreFit { values: ValueCalibration { factor: 0.9, value: 0.5, draw: 5.0 }, scale: 300.0 };
        assert_eq!(ScoreParams::default().applied_to(net), net);
        let set = ScoreParams { draw_exponent: Some(1.0), scale: Some(90.0), ..ScoreParams::default() };
        let values = ValueCalibration { factor: 0.9, value: 0.5, draw: 1.0 };
        assert_eq!(set.applied_to(net), ScoreFit { values, scale: 90.0 });
    }
}
