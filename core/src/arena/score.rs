//! The score of a match, and how sure it is.
//!
//! The two games of a pair share an opening and are not independent, so the interval is built from pairs (pentanomial
//! model, as fishtest's).

use std::collections::BTreeMap;

use crate::params::Value;
use crate::store::MatchGameRow;

/// The 97.5 % quantile of the normal distribution: two-sided intervals of 95 %.
const QUANTILE_95: f64 = 1.959_963_984_540_054;
/// Counts of zero are raised to this before the variance is taken, so that a one-sided match still has an interval
/// (fishtest's regularisation).
const SMALLEST_COUNT: f64 = 1e-3;

/// The first player's result.
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
    /// Positions that searches asked of nets.
    pub evaluations: u64,
}

/// Elo difference that predicts a score (logistic model); `None` for a score of 0 or 1, which no difference predicts.
pub fn elo_of(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 0.0 - 400.0 * (1.0 / score - 1.0).log10())
}

/// Sums up a match of which these are the games, in any order, and the evaluations. A pair counts once both its games are there.
pub fn summarise(rows: &[MatchGameRow], evaluations: u64) -> MatchSummary {
    let count = |score: f64| rows.iter().filter(|row| row.score == score).count() as u32;
    let (wins, draws, losses) = (count(1.0), count(0.5), count(0.0));
    let games = wins + draws + losses;
    let score = if games == 0 { 0.5 } else { (f64::from(wins) + 0.5 * f64::from(draws)) / f64::from(games) };
    let pentanomial = pentanomial(rows);
    let margin = margin(&pentanomial);
    MatchSummary {
        games,
        wins,
        draws,
        losses,
        score,
        score_low: (score - margin).max(0.0),
        score_high: (score + margin).min(1.0),
        pentanomial,
        evaluations,
    }
}

fn pentanomial(rows: &[MatchGameRow]) -> [u32; 5] {
    let mut pairs: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for row in rows {
        let pair = pairs.entry(row.pair).or_default();
        pair.0 += row.score;
        pair.1 += 1;
    }
    let mut counts = [0; 5];
    for (points, _) in pairs.values().filter(|(_, games)| *games == 2) {
        counts[(points * 2.0) as usize] += 1;
    }
    counts
}

/// Half the width of the 95 % interval of the mean score of a game; the whole range where no pair is finished.
fn margin(pentanomial: &[u32; 5]) -> f64 {
    let pairs: u32 = pentanomial.iter().sum();
    if pairs == 0 {
        return 1.0;
    }
    let counts = pentanomial.map(|count| f64::from(count).max(SMALLEST_COUNT));
    let total: f64 = counts.iter().sum();
    let scores = [0.0, 0.25, 0.5, 0.75, 1.0];
    let mean: f64 = counts.iter().zip(scores).map(|(count, score)| count * score).sum::<f64>() / total;
    let variance: f64 =
        counts.iter().zip(scores).map(|(count, score)| count * (score - mean).powi(2)).sum::<f64>() / total;
    QUANTILE_95 * (variance / f64::from(pairs)).sqrt()
}

impl MatchSummary {
    /// Elo difference with the ends of its 95 % interval; `None` where a score is 0 or 1.
    pub fn elo(&self) -> [Option<f64>; 3] {
        [self.score_low, self.score, self.score_high].map(elo_of)
    }

    /// Figures by name, as scripts and manifests see them; () where an Elo has no bound.
    pub fn to_value(&self) -> Value {
        let count = |count: u32| Value::Int(i64::from(count));
        let [low, elo, high] = self.elo().map(|elo| elo.map_or(Value::None, Value::Float));
        let fields = [
            ("games", count(self.games)),
            ("wins", count(self.wins)),
            ("draws", count(self.draws)),
            ("losses", count(self.losses)),
            ("score", Value::Float(self.score)),
            ("score_low", Value::Float(self.score_low)),
            ("score_high", Value::Float(self.score_high)),
            ("elo", elo),
            ("elo_low", low),
            ("elo_high", high),
            ("pentanomial", Value::List(self.pentanomial.map(count).to_vec())),
            ("evaluations", Value::Int(self.evaluations as i64)),
        ];
        Value::Group(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }
}
