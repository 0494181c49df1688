//! The score of a match with its confidence interval.
//!
//! The two games of a pair share an opening and are not independent, so the interval is computed from pairs (the pentanomial
//! model, as in fishtest). Few pairs, or pairs with equal results, underestimate the variance. So the interval uses Student's t
//! distribution, and one virtual pair is added, half of it won and half of it lost 2–0 (as Agresti and Coull 1998 add outcomes to
//! proportions). It covers the true score in at least 95 of 100 matches, however short; a single pair shows nothing.

use std::collections::BTreeMap;

use super::sprt::Sprt;
use crate::params::Value;
use crate::store::MatchGameRow;

/// Pairs added to those played.
const VIRTUAL_PAIRS: f64 = 1.0;

/// The result of a match, for the first player.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchSummary {
    /// Finished games.
    pub games: u32,
    /// Won by the first player.
    pub wins: u32,
    /// Drawn.
    pub draws: u32,
    /// Lost by the first player.
    pub losses: u32,
    /// (wins + draws / 2) / games, in [0, 1].
    pub score: f64,
    /// The lower end of the score's 95 % interval.
    pub score_low: f64,
    /// The upper end.
    pub score_high: f64,
    /// Pairs by the first player's points: 0, ½, 1, 1½, 2.
    pub pentanomial: [u32; 5],
    /// The sequential test, if the match has one.
    pub sprt: Option<Sprt>,
    /// Evaluations that searches requested.
    pub evaluations: u64,
}

/// An Elo difference with its 95 % interval; each bound is `None` if its score is 0 or 1, which no difference predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EloInterval {
    /// The lower end.
    pub low: Option<f64>,
    /// The difference that predicts the score.
    pub elo: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The Elo difference that predicts a score (logistic model); `None` for a score of 0 or 1, which no difference predicts.
pub fn elo_of(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 0.0 - 400.0 * (1.0 / score - 1.0).log10())
}

/// Summarises a match from its games, in any order, and its evaluations. A pair counts once both games are finished.
pub fn summarise(rows: &[MatchGameRow], evaluations: u64) -> MatchSummary {
    let count = |score: f64| rows.iter().filter(|row| row.score == score).count() as u32;
    let (wins, draws, losses) = (count(1.0), count(0.5), count(0.0));
    let games = wins + draws + losses;
    let score = if games == 0 { 0.5 } else { (f64::from(wins) + 0.5 * f64::from(draws)) / f64::from(games) };
    let pentanomial = pentanomial(rows);
    let (low, high) = interval(&pentanomial);
    MatchSummary {
        games,
        wins,
        draws,
        losses,
        score,
        score_low: low.min(score),
        score_high: high.max(score),
        pentanomial,
        sprt: None,
        evaluations,
    }
}

/// The first player's points in each pair whose games are finished, in the order of the pairs' numbers.
pub fn pair_points(rows: &[MatchGameRow]) -> Vec<f64> {
    let mut pairs: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for row in rows {
        let pair = pairs.entry(row.pair).or_default();
        pair.0 += row.score;
        pair.1 += 1;
    }
    pairs.into_values().filter(|(_, games)| *games == 2).map(|(points, _)| points).collect()
}

fn pentanomial(rows: &[MatchGameRow]) -> [u32; 5] {
    let mut counts = [0; 5];
    for points in pair_points(rows) {
        counts[(points * 2.0) as usize] += 1;
    }
    counts
}

/// The 95 % interval of the mean score of a game, by the points of pairs; [0, 1] if no pair is finished.
pub fn interval(pentanomial: &[u32; 5]) -> (f64, f64) {
    let pairs = pentanomial.iter().sum::<u32>() as usize;
    if pairs == 0 {
        return (0.0, 1.0);
    }
    let mut counts = pentanomial.map(f64::from);
    counts[0] += VIRTUAL_PAIRS / 2.0;
    counts[4] += VIRTUAL_PAIRS / 2.0;
    let total: f64 = counts.iter().sum();
    let mean_of = |function: &dyn Fn(f64) -> f64| -> f64 {
        let scores = [0.0, 0.25, 0.5, 0.75, 1.0];
        counts.iter().zip(scores).map(|(count, score)| count * function(score)).sum::<f64>() / total
    };
    let mean = mean_of(&|score| score);
    let variance = mean_of(&|score| (score - mean).powi(2));
    let margin = student(pairs) * (variance / total).sqrt();
    ((mean - margin).max(0.0), (mean + margin).min(1.0))
}

/// The 97.5 % quantile of Student's t distribution: tabulated up to 30 degrees of freedom, approximated beyond.
pub fn student(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let known = degrees.checked_sub(1).and_then(|row| TABLE.get(row));
    // Cornish and Fisher's expansion in 1/degrees.
    known.copied().unwrap_or_else(|| 1.959_964 + 2.372 / degrees as f64 + 2.82 / (degrees as f64).powi(2))
}

impl MatchSummary {
    /// Elo difference with the ends of its 95 % interval.
    pub fn elo(&self) -> EloInterval {
        EloInterval { low: elo_of(self.score_low), elo: elo_of(self.score), high: elo_of(self.score_high) }
    }

    /// The results by name, for scripts and manifests; () for an Elo without a bound.
    pub fn to_value(&self) -> Value {
        let count = |count: u32| Value::Int(i64::from(count));
        let EloInterval { low, elo, high } = self.elo();
        let elo_or_none = |elo: Option<f64>| elo.map_or(Value::None, Value::Float);
        let fields = [
            ("games", count(self.games)),
            ("wins", count(self.wins)),
            ("draws", count(self.draws)),
            ("losses", count(self.losses)),
            ("score", Value::Float(self.score)),
            ("score_low", Value::Float(self.score_low)),
            ("score_high", Value::Float(self.score_high)),
            ("elo", elo_or_none(elo)),
            ("elo_low", elo_or_none(low)),
            ("elo_high", elo_or_none(high)),
            ("pentanomial", Value::List(self.pentanomial.map(count).to_vec())),
            ("sprt", self.sprt.as_ref().map_or(Value::None, Sprt::to_value)),
            ("evaluations", Value::Int(self.evaluations as i64)),
        ];
        Value::Group(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }
}
