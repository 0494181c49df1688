//! From the values of a net's searches to the results of games.
//!
//! A net that is trained on discounted results has values close to 0 and many draws, and a weak net trusts its advantage too little.
//! One that is trained on what searches think of themselves is too sure of itself. The search works with such values, since only
//! their order counts there; people read them as chances.

use super::batch::PositionValue;
use crate::math::{exp, ln, pow, tan};

/// How values of a net's searches relate to results: a factor and two exponents, all 1 for values that are chances already.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueCalibration {
    /// Size of the value of a sure win, at most 1.
    pub factor: f64,
    /// Exponent of the size of a value v = P(win) − P(loss).
    pub value: f64,
    /// Exponent of the share of draws among what is undecided, `P(draw) / (1 − |v|)`.
    pub draw: f64,
}

/// A value of a search, and how the game ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationSample {
    /// P(win) − P(loss) for the side to move.
    pub value: f64,
    /// P(draw).
    pub draw: f64,
    /// The result for the side to move: 1, 0 or −1.
    pub result: i8,
}

/// A chance v = P(win) − P(loss), draw score included, in hundredths of a pawn: `scale · tan(1.5637541897 · v)`, which are the
/// `centipawn` scores of Leela Chess Zero (`Search::SendUciInfo` in `src/search/classic/search.cc`) with another scale. At most
/// 12,780, as there: a certain win.
pub fn centipawns(value: f64, scale: f64) -> f64 {
    (scale * tan(1.563_754_189_7 * value.clamp(-1.0, 1.0))).clamp(-12_780.0, 12_780.0)
}

/// The scale of Leela Chess Zero's scores.
pub const LEELA_SCALE: f64 = 90.0;

/// Bounds of both exponents.
const EXPONENTS: (f64, f64) = (0.01, 100.0);

/// Bounds of the factor.
const FACTORS: (f64, f64) = (0.01, 1.0);

/// Steps of a search for the best of one number; each narrows the interval to 0.618 of it.
const STEPS: u32 = 30;

/// Rounds over the three numbers.
const ROUNDS: u32 = 20;

impl ValueCalibration {
    /// For values that are chances already.
    pub const NONE: Self = Self { factor: 1.0, value: 1.0, draw: 1.0 };

    /// P(win) − P(loss) and P(draw) as chances: `v' = factor · sign(v) · |v|^value`, and the share of draws in `1 − |v'|` is that in
    /// `1 − |v|` to the power `draw`. A power undoes a discount: a result that a net expects n plies later has the value `discount^n`.
    /// A factor below 1 says that even what looks won is sometimes not.
    pub fn apply(self, value: f64, draw: f64) -> PositionValue {
        let value = value.clamp(-1.0, 1.0);
        let undecided = 1.0 - value.abs();
        let share = if undecided > 0.0 { (draw / undecided).clamp(0.0, 1.0) } else { 0.0 };
        let calibrated = self.factor * value.signum() * pow(value.abs(), self.value);
        PositionValue { value: calibrated, draw: (1.0 - calibrated.abs()) * pow(share, self.draw) }
    }

    /// The numbers under which the results are the most likely; `None` without a decided game.
    pub fn fit(samples: &[CalibrationSample]) -> Option<Self> {
        if samples.iter().all(|sample| sample.result == 0) {
            return None;
        }
        let mut best = Self::NONE;
        for _ in 0..ROUNDS {
            best.value = minimum(EXPONENTS, |value| Self { value, ..best }.surprise(samples));
            best.factor = minimum(FACTORS, |factor| Self { factor, ..best }.surprise(samples));
            best.draw = minimum(EXPONENTS, |draw| Self { draw, ..best }.surprise(samples));
        }
        Some(best)
    }

    /// The mean of −ln P(result), in nats.
    pub fn surprise(self, samples: &[CalibrationSample]) -> f64 {
        let of = |sample: &CalibrationSample| {
            let PositionValue { value, draw } = self.apply(sample.value, sample.draw);
            let chance = match sample.result {
                0 => draw,
                result => 0.5 * (1.0 - draw + f64::from(result) * value),
            };
            // A proven value that the players threw away would otherwise decide alone.
            -ln(chance.max(1e-3))
        };
        samples.iter().map(of).sum::<f64>() / samples.len() as f64
    }
}

/// Where a function of a positive number is least: golden-section search over the logarithm (Kiefer 1953).
fn minimum((low, high): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let shrink = 0.5 * (5.0f64.sqrt() - 1.0);
    let (mut low, mut high) = (ln(low), ln(high));
    let at = |point: f64| (point, f(exp(point)));
    let (mut left, mut right) = (at(high - shrink * (high - low)), at(low + shrink * (high - low)));
    for _ in 0..STEPS {
        // One of the two inner points of an interval is one of the next.
        if left.1 <= right.1 {
            (high, right) = (right.0, left);
            left = at(high - shrink * (high - low));
        } else {
            (low, left) = (left.0, right);
            right = at(low + shrink * (high - low));
        }
    }
    exp(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::{CalibrationSample, PositionValue, ValueCalibration};
    use crate::rng::{Purpose, Seed};

    #[test]
    fn worked_examples() {
        let fit = ValueCalibration { value: 0.5, draw: 3.0, ..ValueCalibration::NONE };
        // The root of 0.64 is 0.8; half of what was undecided is drawn, then an eighth.
        let PositionValue { value, draw } = fit.apply(0.64, 0.18);
        assert!((value - 0.8).abs() < 1e-12 && (draw - 0.2 / 8.0).abs() < 1e-12, "{value} {draw}");
        let PositionValue { value, draw } = ValueCalibration::NONE.apply(-0.3, 0.4);
        assert!((value + 0.3).abs() < 1e-12 && (draw - 0.4).abs() < 1e-12);
        let PositionValue { value, draw } = ValueCalibration { factor: 0.5, ..fit }.apply(-0.64, 0.18);
        assert!((value + 0.4).abs() < 1e-12 && (draw - 0.6 / 8.0).abs() < 1e-12, "{value} {draw}");
        for (value, draw) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)] {
            assert_eq!(fit.apply(value, draw), PositionValue { value, draw });
        }
        // Draws beyond what is undecided, by rounding.
        assert_eq!(fit.apply(0.0, 1.000_001), PositionValue { value: 0.0, draw: 1.0 });
    }

    #[test]
    fn chances_stay_chances_and_in_order() {
        let fit = ValueCalibration { factor: 0.9, value: 0.6, draw: 0.3 };
        let mut last = -2.0;
        for step in -100..=100i32 {
            let value = f64::from(step) / 100.0;
            let PositionValue { value: calibrated, draw } = fit.apply(value, 0.7 * (1.0 - value.abs()));
            assert!(calibrated > last, "{value}: {calibrated}");
            assert!(draw >= 0.0 && draw + calibrated.abs() <= 1.0 + 1e-12, "{value}: {draw}");
            last = calibrated;
        }
    }

    #[test]
    fn the_fit_finds_the_numbers_that_made_the_results() {
        let truth = ValueCalibration { factor: 0.8, value: 0.6, draw: 2.0 };
        let mut stream = Seed { run: 1, step: 2 }.stream(3, Purpose::MoveChoice);
        let sample = |_| {
            let value = 2.0 * stream.random::<f64>() - 1.0;
            let draw = (0.3 + 0.7 * stream.random::<f64>()) * (1.0 - value.abs());
            let PositionValue { value: calibrated, draw: drawn } = truth.apply(value, draw);
            let at = stream.random::<f64>();
            let result = if at < drawn {
                0
            } else if at < drawn + 0.5 * (1.0 - drawn + calibrated) {
                1
            } else {
                -1
            };
            CalibrationSample { value, draw, result }
        };
        let samples: Vec<CalibrationSample> = (0..20_000).map(sample).collect();
        let found = ValueCalibration::fit(&samples).expect("games were decided");
        let near = |found: f64, truth: f64| (found / truth - 1.0).abs() < 0.05;
        assert!(near(found.factor, 0.8) && near(found.value, 0.6) && near(found.draw, 2.0), "{found:?}");
        assert!(found.surprise(&samples) < ValueCalibration::NONE.surprise(&samples));
        let drawn = [CalibrationSample { value: 0.1, draw: 0.9, result: 0 }];
        assert_eq!(ValueCalibration::fit(&drawn), None);
    }
}
