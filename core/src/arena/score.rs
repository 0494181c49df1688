//! The score of a match with its confidence interval.
//!
//! The two games of a pair share an opening and are not independent, so the interval is computed from pairs (the pentanomial
//! model, as in fishtest). Few pairs, or pairs with equal results, underestimate the variance. So the interval uses Student's t
//! distribution, and one virtual pair is added, half of it won and half of it lost 2–0 (as Agresti and Coull 1998 add outcomes to
//! proportions). It covers the true score in at least 95 of 100 matches of independent games, however short; where all pairs are level or
//! won 2–0 and one of the two is rare, in 94 of 100 at worst with 5 pairs, 88 with 20 and 87 with 100. A single pair shows nothing.
//!
//! Normalised Elo is the score's distance from ½ in standard deviations of a game, 800 / ln 10 for each (Van den Bergh, "Normalized Elo
//! Practical", <https://hardy.uhasselt.be/Fishtest>; fastchess, `elo_pentanomial.cpp`). Its interval includes the uncertainty of the
//! deviation.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::sprt::{NORMALIZED_ELO, SCORES, Sprt};
use super::student::{student, student_below};
use crate::params::Value;
use crate::store::MatchGameRow;

/// Pairs added to those played.
const VIRTUAL_PAIRS: f64 = 1.0;

/// What the searches of one player requested of its net in a match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requested {
    /// Evaluations.
    pub evaluations: u64,
    /// Of these, evaluations that came from the cache instead of the net.
    pub cache_hits: u64,
}

impl AddAssign for Requested {
    fn add_assign(&mut self, other: Self) {
        self.evaluations += other.evaluations;
        self.cache_hits += other.cache_hits;
    }
}

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
    /// Mean plies of a game, its opening included; 0 without games.
    pub mean_plies: f64,
    /// The likelihood of superiority, in [0, 1].
    pub los: f64,
    /// The normalised Elo difference.
    pub normalized: EloInterval,
    /// The sequential test, if the match has one.
    pub sprt: Option<Sprt>,
    /// What the searches of each player requested.
    pub requested: [Requested; 2],
}

/// An Elo difference with its 95 % interval; each figure is `None` where there is none: for Elo at a score of 0 or 1, which no
/// difference predicts; for normalised Elo also where nothing bounds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EloInterval {
    /// The lower end.
    pub low: Option<f64>,
    /// The difference.
    pub elo: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The Elo difference that predicts a score (logistic model); `None` for a score of 0 or 1, which no difference predicts.
pub fn elo_of(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 0.0 - 400.0 * (1.0 / score - 1.0).log10())
}

/// Summarises a match from its games, in any order, and what its players' searches requested. A pair counts once both games are finished.
pub fn summarise(rows: &[MatchGameRow], requested: [Requested; 2]) -> MatchSummary {
    let count = |score: f64| rows.iter().filter(|row| row.score == score).count() as u32;
    let (wins, draws, losses) = (count(1.0), count(0.5), count(0.0));
    let games = wins + draws + losses;
    let score = if games == 0 { 0.5 } else { (f64::from(wins) + 0.5 * f64::from(draws)) / f64::from(games) };
    let pentanomial = pentanomial(rows);
    let (low, high) = interval(&pentanomial);
    let plies: f64 = rows.iter().map(|row| f64::from(row.plies)).sum();
    MatchSummary {
        games,
        wins,
        draws,
        losses,
        score,
        score_low: low.min(score),
        score_high: high.max(score),
        pentanomial,
        mean_plies: plies / rows.len().max(1) as f64,
        los: superiority(&pentanomial),
        normalized: normalized(&pentanomial),
        sprt: None,
        requested,
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
    let pairs = count(pentanomial);
    if pairs == 0 {
        return (0.0, 1.0);
    }
    let moments = Moments::of(&with_virtual_pair(pentanomial));
    let margin = student(pairs as f64) * moments.error();
    ((moments.mean - margin).max(0.0), (moments.mean + margin).min(1.0))
}

/// The likelihood of superiority: how sure it is that the first player's expected score is above ½, by Student's distribution with one
/// virtual pair; ½ if no pair is finished. fastchess and fishtest use the normal distribution without a virtual pair, which is too
/// sure after few pairs.
pub fn superiority(pentanomial: &[u32; 5]) -> f64 {
    let pairs = count(pentanomial);
    if pairs == 0 {
        return 0.5;
    }
    let moments = Moments::of(&with_virtual_pair(pentanomial));
    student_below((moments.mean - 0.5) / moments.error(), pairs as f64)
}

/// The normalised Elo difference with its 95 % interval. The figure itself is missing if all pairs ended alike and not level, since no
/// deviation was seen.
///
/// The interval is that of the estimate's asymptotic variance, (1 − γt + (κ − 1) t² / 4) / pairs for t = (mean − ½) / deviation and the
/// skewness γ and kurtosis κ of the pairs' points. It never excludes more than the score's interval does: a pair's deviation is at most
/// √(mean (1 − mean)). Where that interval reaches 0 or 1, at which pairs do not deviate, nothing bounds it.
pub fn normalized(pentanomial: &[u32; 5]) -> EloInterval {
    let none = EloInterval { low: None, elo: None, high: None };
    let pairs = count(pentanomial);
    if pairs == 0 {
        return none;
    }
    let found = Moments::of(&pentanomial.map(f64::from));
    let elo = match (found.mean - 0.5, found.variance) {
        (0.0, _) => Some(0.0),
        (_, 0.0) => None,
        (excess, variance) => Some(normalized_of(excess / variance.sqrt())),
    };
    let moments = Moments::of(&with_virtual_pair(pentanomial));
    let t = (moments.mean - 0.5) / moments.variance.sqrt();
    let relative = 1.0 - moments.skewness * t + (moments.kurtosis - 1.0) * t * t / 4.0;
    let margin = student(pairs as f64) * (relative.max(0.0) / moments.total).sqrt();
    // The least that a score beyond ½ can mean, in deviations.
    let least = |score: f64| (score - 0.5) / (score * (1.0 - score)).sqrt();
    let (score_low, score_high) = interval(pentanomial);
    let low = if score_low > 0.5 { (t - margin).max(least(score_low)) } else { t - margin };
    let high = if score_high < 0.5 { (t + margin).min(least(score_high)) } else { t + margin };
    let low = (score_low > 0.0).then(|| normalized_of(low));
    let high = (score_high < 1.0).then(|| normalized_of(high));
    EloInterval {
        low: low.map(|low| elo.map_or(low, |elo| low.min(elo))),
        elo,
        high: high.map(|high| elo.map_or(high, |elo| high.max(elo))),
    }
}

/// Normalised Elo of a number of standard deviations of a pair's mean score.
fn normalized_of(deviations: f64) -> f64 {
    deviations / std::f64::consts::SQRT_2 * NORMALIZED_ELO
}

fn count(pentanomial: &[u32; 5]) -> usize {
    pentanomial.iter().sum::<u32>() as usize
}

fn with_virtual_pair(pentanomial: &[u32; 5]) -> [f64; 5] {
    let mut counts = pentanomial.map(f64::from);
    counts[0] += VIRTUAL_PAIRS / 2.0;
    counts[4] += VIRTUAL_PAIRS / 2.0;
    counts
}

/// Moments of a pair's mean score.
struct Moments {
    /// Number of pairs.
    total: f64,
    mean: f64,
    variance: f64,
    /// 0 where the variance is 0, like the kurtosis.
    skewness: f64,
    kurtosis: f64,
}

impl Moments {
    fn of(counts: &[f64; 5]) -> Self {
        let total: f64 = counts.iter().sum();
        let mean_of = |function: &dyn Fn(f64) -> f64| -> f64 {
            counts.iter().zip(SCORES).map(|(count, score)| count * function(score)).sum::<f64>() / total
        };
        let mean = mean_of(&|score| score);
        let variance = mean_of(&|score| (score - mean).powi(2));
        let standard = |power| {
            let moment = mean_of(&|score| (score - mean).powi(power));
            if variance > 0.0 { moment / variance.powf(0.5 * f64::from(power)) } else { 0.0 }
        };
        Self { total, mean, variance, skewness: standard(3), kurtosis: standard(4) }
    }

    /// The standard error of the mean.
    fn error(&self) -> f64 {
        (self.variance / self.total).sqrt()
    }
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
        let [first, second] = self.requested;
        let large = |count: u64| Value::Int(count as i64);
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
            ("los", Value::Float(self.los)),
            ("normalized_elo", elo_or_none(self.normalized.elo)),
            ("normalized_elo_low", elo_or_none(self.normalized.low)),
            ("normalized_elo_high", elo_or_none(self.normalized.high)),
            ("pentanomial", Value::List(self.pentanomial.map(count).to_vec())),
            ("sprt", self.sprt.as_ref().map_or(Value::None, Sprt::to_value)),
            ("mean_plies", Value::Float(self.mean_plies)),
            ("evaluations", large(first.evaluations + second.evaluations)),
            ("first_evaluations", large(first.evaluations)),
            ("second_evaluations", large(second.evaluations)),
            ("first_cache_hits", large(first.cache_hits)),
            ("second_cache_hits", large(second.cache_hits)),
        ];
        Value::of(fields)
    }
}
