//! Whether a value keeps its word: of positions given the same value, what did their games give?
//!
//! Positions are sorted into bins of equal width by their value (the reliability diagram of `DeGroot` and Fienberg 1983), and the
//! mean value of each bin stands beside the mean result. The expected calibration error is the mean distance of the two,
//! weighted by the positions (Guo et al. 2017, equation 3). Values and results lie in [−1, 1].
//!
//! The positions of a game share its result, so a bin's interval treats each game as one observation: it is that of a ratio of
//! sums over games (Cochran 1977, chapter 6).

use std::collections::BTreeMap;

use super::inputs::ReportRun;
use crate::database::{Database, Iteration};
use crate::error::AnalysisError;

const QUANTILE_95: f64 = 1.959_963_984_540_054;

/// Bins from −1 to 1. Chosen.
pub(super) const BINS: i64 = 20;

/// What one game puts into one bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    /// The bin, in 0..`BINS`.
    pub(super) bin: i64,
    /// Positions.
    pub(super) positions: f64,
    /// The sum of their values.
    pub(super) values: f64,
    /// The sum of their results.
    pub(super) results: f64,
}

/// A bin with everything that fell into it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    /// The mean value.
    pub(super) value: f64,
    /// The mean result.
    pub(super) result: f64,
    /// The 95 % interval of the mean result; none where a single game is all there is.
    pub(super) interval: Option<(f64, f64)>,
    /// Positions.
    pub(super) positions: f64,
    /// Games they come from.
    pub(super) games: usize,
}

/// The bins that are not empty, from the left.
pub(super) fn bins(shares: &[Share]) -> Vec<Bin> {
    let mut sorted: BTreeMap<i64, Vec<&Share>> = BTreeMap::new();
    for share in shares {
        sorted.entry(share.bin).or_default().push(share);
    }
    sorted.into_values().map(|shares| bin(&shares)).collect()
}

fn bin(shares: &[&Share]) -> Bin {
    let sum = |of: fn(&Share) -> f64| shares.iter().map(|share| of(share)).sum::<f64>();
    let positions = sum(|share| share.positions);
    let (value, result) = (sum(|share| share.values) / positions, sum(|share| share.results) / positions);
    let games = shares.len() as f64;
    let squares: f64 = shares.iter().map(|share| (share.results - result * share.positions).powi(2)).sum();
    let margin = QUANTILE_95 * (squares * games / (games - 1.0)).sqrt() / positions;
    let interval = (shares.len() > 1).then(|| ((result - margin).max(-1.0), (result + margin).min(1.0)));
    Bin { value, result, interval, positions, games: shares.len() }
}

/// The expected calibration error; `None` without positions.
pub(super) fn error(bins: &[Bin]) -> Option<f64> {
    let positions: f64 = bins.iter().map(|bin| bin.positions).sum();
    let distance = |bin: &Bin| bin.positions * (bin.value - bin.result).abs();
    (positions > 0.0).then(|| bins.iter().map(distance).sum::<f64>() / positions)
}

/// A value of positions: the column, and what people call it.
pub(super) const VALUES: [(&str, &str); 2] = [("root_q", "search"), ("net_q", "net")];

/// The calibration of one run's values.
pub(super) struct Trust {
    pub(super) run: String,
    /// For each of [`VALUES`] the bins of each iteration.
    pub(super) values: Vec<BTreeMap<u32, Vec<Bin>>>,
}

impl Trust {
    /// The net's calibration error in the last iteration up to this one that has any.
    pub(super) fn error_of_net(&self, last: u32) -> Option<(u32, f64)> {
        let (iteration, bins) = self.values[1].range(..=last).next_back()?;
        Some((*iteration, error(bins)?))
    }
}

/// Of all runs that have games with a result.
pub(super) fn all(runs: &[ReportRun], iterations: &[Iteration]) -> Result<Vec<Trust>, AnalysisError> {
    let of_run = |run: &ReportRun| {
        let mut values = vec![BTreeMap::new(); VALUES.len()];
        for iteration in iterations.iter().filter(|iteration| iteration.run == run.name) {
            for (values, shares) in values.iter_mut().zip(shares(&iteration.database)?) {
                if !shares.is_empty() {
                    values.insert(iteration.number, bins(&shares));
                }
            }
        }
        Ok(Trust { run: run.name.clone(), values })
    };
    let trusts = runs.iter().map(of_run).collect::<Result<Vec<_>, AnalysisError>>()?;
    Ok(trusts.into_iter().filter(|trust| !trust.values[1].is_empty()).collect())
}

/// What each game of an iteration puts into each bin, for each of [`VALUES`]. Games that the ply cap ended have no result worth
/// the name.
fn shares(database: &Database) -> Result<Vec<Vec<Share>>, AnalysisError> {
    // A value of exactly 1 belongs to the last bin.
    let bin =
        |column: &str| format!("least(cast(floor((p.{column} + 1.0) * {}) as int), {})", BINS / 2, BINS - 1);
    let (bins, columns) = (VALUES.map(|(column, _)| bin(column)), VALUES.map(|(column, _)| column));
    // Both values are sorted at once, so that positions are read once; the groups are few beside them.
    let statement = format!(
        "select p.game as game, {0} as bin_0, {1} as bin_1, count(*) as positions, \
         sum(p.{2}) as value_0, sum(p.{3}) as value_1, sum(cast(p.result as int)) as results \
         from positions as p join games as g on p.game = g.game where g.reason <> 'ply_cap' \
         group by p.game, bin_0, bin_1 order by game, bin_0, bin_1",
        bins[0], bins[1], columns[0], columns[1],
    );
    let answer = database.ask(&statement)?;
    let (games, positions) = (answer.numbers("game")?, answer.numbers("positions")?);
    let results = answer.numbers("results")?;
    let of_value = |number: usize| {
        let bins = answer.numbers(&format!("bin_{number}"))?;
        let values = answer.numbers(&format!("value_{number}"))?;
        let mut summed: BTreeMap<(u32, i64), Share> = BTreeMap::new();
        for at in 0..answer.len() {
            let bin = bins[at] as i64;
            let share = summed.entry((games[at] as u32, bin)).or_insert(Share {
                bin,
                positions: 0.0,
                values: 0.0,
                results: 0.0,
            });
            share.positions += positions[at];
            share.values += values[at];
            share.results += results[at];
        }
        Ok(summed.into_values().collect())
    };
    (0..VALUES.len()).map(of_value).collect()
}

#[cfg(test)]
mod tests {
    use super::{Share, bins, error};

    fn share(bin: i64, positions: f64, value: f64, result: f64) -> Share {
        Share { bin, positions, values: positions * value, results: positions * result }
    }

    #[test]
    fn bins_have_the_means_of_positions_and_the_error_their_weights() {
        // Worked by hand: three positions at 0.5 that won, one that lost: a mean of 0.5. Two at −0.8 that lost: −1.
        let all = [share(15, 3.0, 0.5, 1.0), share(15, 1.0, 0.5, -1.0), share(2, 2.0, -0.8, -1.0)];
        let bins = bins(&all);
        assert_eq!(bins.len(), 2);
        assert!((bins[0].value + 0.8).abs() < 1e-12 && bins[0].result == -1.0 && bins[0].interval.is_none());
        assert!((bins[1].result - 0.5).abs() < 1e-12 && bins[1].positions == 4.0 && bins[1].games == 2);
        assert!((error(&bins).expect("positions") - 2.0 * 0.2 / 6.0).abs() < 1e-12);
        assert_eq!(error(&[]), None);
    }

    #[test]
    fn intervals_count_games_and_not_positions() {
        let game = |at: u32, positions: f64| {
            share(10, positions, 0.0, if at.is_multiple_of(2) { 1.0 } else { -1.0 })
        };
        let width = |positions: f64| {
            let all: Vec<Share> = (0..100).map(|at| game(at, positions)).collect();
            let (low, high) = bins(&all)[0].interval.expect("many games");
            high - low
        };
        // 100 results of ±1: a standard error of 0.1, with n − 1 in place of n 0.1005, whatever the positions of a game.
        assert!((width(1.0) - 2.0 * 1.96 * 0.1005).abs() < 1e-3, "{}", width(1.0));
        assert!((width(50.0) - width(1.0)).abs() < 1e-12);
    }
}
