//! The sequential probability ratio test of a match (SPRT, Wald 1945): it ends once its pairs are so much likelier under one of two
//! hypotheses about the strength of the first player that errors stay rare.
//!
//! The statistic is the generalised log-likelihood ratio of the pairs' results, as in fishtest and fastchess: under each hypothesis,
//! the distribution of results that is likeliest among those that fulfil it (Michel Van den Bergh, "The Generalized Sequential
//! Probability Ratio Test", <https://hardy.uhasselt.be/Fishtest>; "Comments on Normalized Elo" for the normalised model).

use crate::params::Value;
use crate::{param_enum, params};

param_enum! {
    /// What the hypotheses of a test are about.
    pub enum EloModel {
        /// The expected score, as Elo of the logistic curve. Games needed depend on how often games are drawn.
        Logistic = "logistic",
        /// The expected score in units of the standard deviation of a game's result, times 800 / ln 10. The length of a test hardly
        /// depends on draws and openings.
        Normalized = "normalized",
    }
}

params! {
    /// A sequential test: the match ends as soon as one of two hypotheses can be accepted, and after `games` at the latest.
    pub struct SprtParams {
        /// The first player is stronger by this under the hypothesis that fails the test.
        elo0: f64 = 0.0, in -1000.0..=1000.0;
        /// The first player is stronger by this under the hypothesis that passes it.
        elo1: f64 = 20.0, in -1000.0..=1000.0;
        /// The probability that a player with `elo0` passes.
        alpha: f64 = 0.05, in 0.000_1..=0.4999;
        /// The probability that a player with `elo1` fails.
        beta: f64 = 0.05, in 0.000_1..=0.4999;
        /// What Elo means here.
        model: EloModel = EloModel::Logistic;
    }
    check |params| {
        let (elo0, elo1) = (params.elo0, params.elo1);
        if elo0 < elo1 { Vec::new() } else { vec![("elo1", format!("must be larger than elo0 = {elo0}, got {elo1}"))] }
    };
}

/// What a test has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The hypothesis of `elo1` is accepted.
    Passed,
    /// The hypothesis of `elo0` is accepted.
    Failed,
    /// Neither yet.
    Undecided,
}

/// A test after some pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprt {
    /// The log-likelihood ratio of the hypotheses `elo1` and `elo0`.
    pub llr: f64,
    /// The test fails at or below this ratio.
    pub lower: f64,
    /// The test passes at or above this ratio.
    pub upper: f64,
}

/// The pairs of a test so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SprtPairs {
    counts: [u32; 5],
    number: u32,
}

impl SprtPairs {
    /// How many there are.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl SprtParams {
    /// The test after pairs with these points for the first player: counts of 0, ½, 1, 1½ and 2.
    pub fn test(&self, pentanomial: &[u32; 5]) -> Sprt {
        let (lower, upper) = ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln());
        Sprt { llr: self.log_likelihood_ratio(pentanomial), lower, upper }
    }

    /// Adds the next pair, by the first player's points; the test if this one decides it. Pairs count in the order of their numbers and
    /// later ones do not, so the decision does not depend on the order in which games end.
    pub fn add(&self, pairs: &mut SprtPairs, points: f64) -> Option<Sprt> {
        pairs.counts[(points * 2.0) as usize] += 1;
        pairs.number += 1;
        Some(self.test(&pairs.counts)).filter(|test| test.verdict() != Verdict::Undecided)
    }

    fn log_likelihood_ratio(&self, pentanomial: &[u32; 5]) -> f64 {
        if pentanomial.iter().all(|count| *count == 0) {
            return 0.0;
        }
        let counts = pentanomial.map(|count| if count == 0 { MISSING } else { f64::from(count) });
        let total: f64 = counts.iter().sum();
        let found = counts.map(|count| count / total);
        let likeliest = |elo: f64| match self.model {
            EloModel::Logistic => with_mean(&found, score_of(elo)),
            EloModel::Normalized => with_t_value(&found, elo / NORMALIZED_ELO * std::f64::consts::SQRT_2),
        };
        let (under0, under1) = (likeliest(self.elo0), likeliest(self.elo1));
        total * (0..5).map(|result| found[result] * (under1[result] / under0[result]).ln()).sum::<f64>()
    }
}

impl Sprt {
    /// What it has found.
    pub fn verdict(&self) -> Verdict {
        if self.llr >= self.upper {
            Verdict::Passed
        } else if self.llr <= self.lower {
            Verdict::Failed
        } else {
            Verdict::Undecided
        }
    }

    /// The result by name, for scripts and manifests.
    pub fn to_value(&self) -> Value {
        let verdict = match self.verdict() {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Undecided => "undecided",
        };
        let fields = [
            ("verdict", Value::Text(verdict.to_owned())),
            ("llr", Value::Float(self.llr)),
            ("lower", Value::Float(self.lower)),
            ("upper", Value::Float(self.upper)),
        ];
        Value::of(fields)
    }
}

/// What a result that has not occurred counts as, so that all logarithms are finite; as in fishtest.
const MISSING: f64 = 1e-3;

/// Normalised Elo of one standard deviation of a game.
pub(super) const NORMALIZED_ELO: f64 = 800.0 / std::f64::consts::LN_10;

/// A game's mean score in a pair, by the pair's points.
pub(super) const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The expected score of a difference in Elo.
fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The likeliest distribution with this mean, given the shares that were found.
fn with_mean(found: &[f64; 5], mean: f64) -> [f64; 5] {
    constrained(found, &SCORES.map(|score| score - mean))
}

/// Mean and standard deviation of a game's score.
fn moments(shares: &[f64; 5]) -> (f64, f64) {
    let mean: f64 = (0..5).map(|result| shares[result] * SCORES[result]).sum();
    let variance: f64 = (0..5).map(|result| shares[result] * (SCORES[result] - mean).powi(2)).sum();
    (mean, variance.sqrt())
}

/// The distribution with shares in proportion to `e^(x · score)` whose mean exceeds ½ by `t` standard deviations.
fn tilted(t: f64) -> [f64; 5] {
    let shares = |x: f64| {
        // The largest weight is 1.
        let weights = SCORES.map(|score| (x * (score - 0.5) - x.abs() / 2.0).exp());
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    };
    shares(bisect([-MOST_TILT, MOST_TILT], 60, |x| {
        let (mean, deviation) = moments(&shares(x));
        (mean - 0.5) / deviation < t
    }))
}

/// At this x, t is 1000; that of 1000 normalised Elo is 4.
const MOST_TILT: f64 = 50.0;

/// The likeliest distribution whose mean exceeds ½ by `t` standard deviations, by iteration: given mean and deviation of the last
/// one, the condition is linear ("Comments on Normalized Elo", section 4.1). The first one fulfils it, so that the linear condition can be
/// fulfilled as well; with equal shares, as in fishtest, it cannot where |t| is above 0.94.
fn with_t_value(found: &[f64; 5], t: f64) -> [f64; 5] {
    let mut shares = tilted(t);
    for _ in 0..MOST_ROUNDS {
        let (mean, deviation) = moments(&shares);
        let bend = |score: f64| 1.0 + ((mean - score) / deviation).powi(2);
        let next = constrained(found, &SCORES.map(|score| score - 0.5 - 0.5 * t * deviation * bend(score)));
        let change = (0..5).map(|result| (next[result] - shares[result]).abs()).fold(0.0, f64::max);
        shares = next;
        if change < 1e-9 {
            break;
        }
    }
    shares
}

/// Rounds after which the iteration ends; mostly five suffice, and 110 for a few pairs and |t| of 4.
const MOST_ROUNDS: u32 = 200;

/// The likeliest distribution under which `values` have the mean 0, given the shares that were found: `p / (1 + x · value)`, where x
/// makes the mean 0 (Owen 2001, Empirical Likelihood, section 2.4). Some values must be below 0 and some above.
fn constrained(found: &[f64; 5], values: &[f64; 5]) -> [f64; 5] {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = |x: f64| -> f64 { (0..5).map(|i| found[i] * values[i] / (1.0 + x * values[i])).sum() };
    // The mean falls from infinity to minus infinity between these.
    let x = bisect([-1.0 / most, -1.0 / least], 200, |x| mean(x) > 0.0);
    std::array::from_fn(|i| found[i] / (1.0 + x * values[i]))
}

/// Where `is_below` turns from true to false, after halving the interval between `low` and `high` so often.
pub(super) fn bisect([mut low, mut high]: [f64; 2], rounds: u32, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..rounds {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::{EloModel, Sprt, SprtPairs, SprtParams, Verdict};
    use crate::rng::{Purpose, Seed};

    fn params(elo0: f64, elo1: f64, model: EloModel) -> SprtParams {
        SprtParams { elo0, elo1, model, ..SprtParams::default() }
    }

    /// The pairs until the first that decides, and the test then.
    fn first_decided(params: &SprtParams, points: &[f64]) -> Option<(u32, Sprt)> {
        let mut pairs = SprtPairs::default();
        let test = points.iter().find_map(|points| params.add(&mut pairs, *points))?;
        Some((pairs.number(), test))
    }

    #[test]
    fn ratios_are_those_of_fastchess() {
        // The pentanomial cases of fastchess' own tests (app/tests/sprt_test.cpp), from fishtest.
        use EloModel::{Logistic, Normalized};
        let cases = [
            (params(0.0, 2.0, Normalized), [365, 16618, 36229, 16974, 390], 2.25),
            (params(-1.75, 0.25, Normalized), [127, 4883, 10712, 5150, 104], 3.01),
            (params(0.0, 5.0, Normalized), [0, 0, 0, 0, 5550], 111.82),
            (params(0.5, 2.5, Logistic), [223, 9863, 21279, 10037, 246], -3.07),
            (params(0.0, 2.0, Logistic), [871, 26175, 55983, 26678, 821], -4.98),
        ];
        for (params, pentanomial, expected) in cases {
            let llr = params.test(&pentanomial).llr;
            assert!((llr / expected - 1.0).abs() < 0.005, "{pentanomial:?}: {llr}, expected {expected}");
        }
    }

    #[test]
    fn bounds_are_walds() {
        let test = SprtParams { alpha: 0.05, beta: 0.1, ..SprtParams::default() }.test(&[0; 5]);
        // ln(0.1 / 0.95) and ln(0.9 / 0.05).
        assert!((test.lower + 2.2513).abs() < 1e-4 && (test.upper - 2.8904).abs() < 1e-4, "{test:?}");
        assert_eq!((test.llr, test.verdict()), (0.0, Verdict::Undecided));
    }

    #[test]
    fn exchanging_the_players_mirrors_the_ratio() {
        for model in [EloModel::Logistic, EloModel::Normalized] {
            let there = params(-10.0, 30.0, model).test(&[3, 20, 41, 33, 9]).llr;
            let back = params(-30.0, 10.0, model).test(&[9, 33, 41, 20, 3]).llr;
            assert!((there + back).abs() < 1e-6, "{there} {back}");
        }
    }

    #[test]
    fn the_decision_is_the_first_and_later_pairs_do_not_count() {
        let params = params(0.0, 50.0, EloModel::Logistic);
        let pairs: Vec<f64> = (0..200).map(|pair| if pair % 4 == 3 { 0.5 } else { 1.5 }).collect();
        let (decided, test) = first_decided(&params, &pairs).expect("a clear match");
        assert_eq!(test.verdict(), Verdict::Passed);
        assert!(first_decided(&params, &pairs[..decided as usize - 1]).is_none());
        let longer: Vec<f64> = pairs[..decided as usize].iter().copied().chain([0.0; 500]).collect();
        assert_eq!(first_decided(&params, &longer), Some((decided, test)));
    }

    #[test]
    fn large_normalised_differences_are_fulfilled_by_the_likeliest_distribution() {
        let mut stream = Seed { run: 3, step: 1 }.stream(0, Purpose::RandomPlayer);
        for _ in 0..300 {
            let weights: [f64; 5] = std::array::from_fn(|_| stream.random::<f64>().powi(4) + 1e-4);
            let total: f64 = weights.iter().sum();
            let found = weights.map(|weight| weight / total);
            let t = 8.2 * (stream.random::<f64>() - 0.5);
            let shares = super::with_t_value(&found, t);
            let (mean, deviation) = super::moments(&shares);
            assert!(((mean - 0.5) / deviation - t).abs() < 1e-6, "{found:?} {t}: {shares:?}");
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
        }
        // A player that wins all pairs is far above 1000, one that wins none far below 0.
        for (elo1, pairs, verdict) in
            [(1000.0, [0, 0, 0, 0, 200], Verdict::Passed), (300.0, [0, 200, 0, 0, 0], Verdict::Failed)]
        {
            assert_eq!(params(0.0, elo1, EloModel::Normalized).test(&pairs).verdict(), verdict, "{elo1}");
        }
    }

    #[test]
    fn error_rates_stay_below_their_bounds() {
        // Pairs with the pentanomial of a drawish match, tilted so that the score is that of the hypothesis.
        let params = params(0.0, 40.0, EloModel::Logistic);
        for (elo, wrong) in [(0.0, Verdict::Passed), (40.0, Verdict::Failed)] {
            let shares = super::with_mean(&[0.08, 0.22, 0.4, 0.22, 0.08], super::score_of(elo));
            let mut stream = Seed { run: 3, step: 0 }.stream(0, Purpose::RandomPlayer);
            let mut points = || {
                let mut rest: f64 = stream.random();
                let result = shares.iter().position(|share| {
                    rest -= share;
                    rest < 0.0
                });
                result.unwrap_or(4) as f64 / 2.0
            };
            let verdicts = (0..300).map(|_| {
                let pairs: Vec<f64> = (0..2000).map(|_| points()).collect();
                first_decided(&params, &pairs).expect("a test this long decides").1.verdict()
            });
            let errors = verdicts.filter(|verdict| *verdict == wrong).count();
            // 5 % of 300 and three standard errors; the ratio jumps over its bound, so errors are rarer than that.
            assert!((1..=27).contains(&errors), "{errors} of 300 at {elo}");
        }
    }
}
