//! Calibration: how well values predict the results of games.
//!
//! Positions are grouped into bins of equal width by their value, and each bin's mean value is compared with its mean result (the
//! reliability diagram of `DeGroot` and Fienberg 1983). The expected calibration error is the mean distance of the two, weighted by
//! positions (Guo et al. 2017, equation 3). Values and results lie in [−1, 1].
//!
//! The positions of a game share its result, so a bin's interval treats each game as one observation: it is the interval of a ratio
//! of sums over games (Cochran 1977, chapter 6).

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::ReportRun;
use crate::database::{Database, Iteration};
use crate::error::AnalysisError;

const QUANTILE_95: f64 = 1.959_963_984_540_054;

/// The number of bins from −1 to 1. Chosen.
pub(super) const BINS: i64 = 20;

/// The positions of one game in one bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GameBin {
    /// The game's number.
    pub(super) game: u32,
    /// The bin, in 0..`BINS`.
    pub(super) bin: i64,
    /// The number of positions.
    pub(super) positions: f64,
    /// The sum of their values.
    pub(super) values: f64,
    /// The sum of their results.
    pub(super) results: f64,
}

/// A bin of positions with similar values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    /// The mean value.
    pub(super) value: f64,
    /// The mean result.
    pub(super) result: f64,
    /// The 95 % interval of the mean result; `None` for a single game.
    pub(super) interval: Option<(f64, f64)>,
    /// The number of positions.
    pub(super) positions: f64,
    /// The number of games that they come from.
    pub(super) games: usize,
}

/// The non-empty bins, by increasing value.
pub(super) fn bins(games: &[GameBin]) -> Vec<Bin> {
    let mut sorted: BTreeMap<i64, Vec<&GameBin>> = BTreeMap::new();
    for game in games {
        sorted.entry(game.bin).or_default().push(game);
    }
    sorted.into_values().map(|games| bin(&games)).collect()
}

fn bin(games: &[&GameBin]) -> Bin {
    let sum = |field: fn(&GameBin) -> f64| games.iter().map(|game| field(game)).sum::<f64>();
    let positions = sum(|game| game.positions);
    let (value, result) = (sum(|game| game.values) / positions, sum(|game| game.results) / positions);
    let count = games.len() as f64;
    let squares: f64 = games.iter().map(|game| (game.results - result * game.positions).powi(2)).sum();
    let margin = QUANTILE_95 * (squares * count / (count - 1.0)).sqrt() / positions;
    let interval = (games.len() > 1).then(|| ((result - margin).max(-1.0), (result + margin).min(1.0)));
    Bin { value, result, interval, positions, games: games.len() }
}

/// The expected calibration error; `None` without positions.
pub(super) fn error(bins: &[Bin]) -> Option<f64> {
    let positions: f64 = bins.iter().map(|bin| bin.positions).sum();
    let distance = |bin: &Bin| bin.positions * (bin.value - bin.result).abs();
    (positions > 0.0).then(|| bins.iter().map(distance).sum::<f64>() / positions)
}

/// The values that are checked: the column of `positions`, and its name in the report.
pub(super) const VALUES: [(&str, &str); 2] = [("root_q", "search"), ("net_q", "net")];

/// The calibration of one run's values.
pub(super) struct Calibration {
    pub(super) run: String,
    /// For each of [`VALUES`], the bins of each iteration.
    pub(super) values: Vec<BTreeMap<u32, Vec<Bin>>>,
    /// The number of games in each iteration.
    games: BTreeMap<u32, usize>,
}

impl Calibration {
    /// The last iteration up to `last` that has games, with the net's calibration error and the number of games.
    pub(super) fn net_error(&self, last: u32) -> Option<(u32, f64, usize)> {
        let (iteration, bins) = self.values[1].range(..=last).next_back()?;
        Some((*iteration, error(bins)?, self.games.get(iteration).copied().unwrap_or(0)))
    }
}

/// The calibration of each run that has games with a result.
pub(super) fn all(runs: &[ReportRun], iterations: &[Iteration]) -> Result<Vec<Calibration>, AnalysisError> {
    let of_run = |run: &ReportRun| {
        let mut values = vec![BTreeMap::new(); VALUES.len()];
        let mut counts = BTreeMap::new();
        for iteration in iterations.iter().filter(|iteration| iteration.run == run.name) {
            for (values, games) in values.iter_mut().zip(game_bins(&iteration.database)?) {
                if !games.is_empty() {
                    let distinct: BTreeSet<u32> = games.iter().map(|bin| bin.game).collect();
                    counts.insert(iteration.number, distinct.len());
                    values.insert(iteration.number, bins(&games));
                }
            }
        }
        Ok(Calibration { run: run.name.clone(), values, games: counts })
    };
    let calibrations = runs.iter().map(of_run).collect::<Result<Vec<_>, AnalysisError>>()?;
    Ok(calibrations.into_iter().filter(|calibration| !calibration.values[1].is_empty()).collect())
}

/// The bins of each game of an iteration, for each of [`VALUES`]. Games ended by the ply cap are left out, since their result is
/// not a real one, and so are positions of imported games of PGN that were not searched again: their values are those of the file, or results.
fn game_bins(database: &Database) -> Result<Vec<Vec<GameBin>>, AnalysisError> {
    // A value of exactly 1 belongs to the last bin.
    let bin =
        |column: &str| format!("least(cast(floor((p.{column} + 1.0) * {}) as int), {})", BINS / 2, BINS - 1);
    let (bins, columns) = (VALUES.map(|(column, _)| bin(column)), VALUES.map(|(column, _)| column));
    // One query bins both values, so that positions are read once; it returns few rows.
    let statement = format!(
        "select p.game as game, {0} as bin_0, {1} as bin_1, count(*) as positions, \
         sum(p.{2}) as value_0, sum(p.{3}) as value_1, sum(cast(p.result as int)) as results \
         from positions as p join games as g on p.game = g.game \
         where g.reason <> 'ply_cap' and (g.network <> '' or p.simulations > 1) \
         group by p.game, bin_0, bin_1 order by game, bin_0, bin_1",
        bins[0], bins[1], columns[0], columns[1],
    );
    let answer = database.fetch(&statement)?;
    let (games, positions) = (answer.numbers("game")?, answer.numbers("positions")?);
    let results = answer.numbers("results")?;
    let bins_of_value = |number: usize| {
        let bins = answer.numbers(&format!("bin_{number}"))?;
        let values = answer.numbers(&format!("value_{number}"))?;
        let mut sums: BTreeMap<(u32, i64), GameBin> = BTreeMap::new();
        for row in 0..answer.len() {
            let bin = bins[row] as i64;
            let sum = sums.entry((games[row] as u32, bin)).or_insert(GameBin {
                game: games[row] as u32,
                bin,
                positions: 0.0,
                values: 0.0,
                results: 0.0,
            });
            sum.positions += positions[row];
            sum.values += values[row];
            sum.results += results[row];
        }
        Ok(sums.into_values().collect())
    };
    (0..VALUES.len()).map(bins_of_value).collect()
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{GameResult, Move, Reason};
    use dc0_core::store::{GameRow, PositionRow, Provenance, write_table};

    use super::{GameBin, bins, error, game_bins};
    use crate::database::Database;
    use crate::session::Work;
    use crate::source::RunSource;

    fn game_bin(bin: i64, positions: f64, value: f64, result: f64) -> GameBin {
        GameBin { game: 0, bin, positions, values: positions * value, results: positions * result }
    }

    #[test]
    fn bins_average_positions_and_the_error_weights_bins_by_positions() {
        // Worked by hand: three positions at 0.5 that won, one that lost: a mean of 0.5. Two at −0.8 that lost: −1.
        let all = [game_bin(15, 3.0, 0.5, 1.0), game_bin(15, 1.0, 0.5, -1.0), game_bin(2, 2.0, -0.8, -1.0)];
        let bins = bins(&all);
        assert_eq!(bins.len(), 2);
        assert!((bins[0].value + 0.8).abs() < 1e-12 && bins[0].result == -1.0 && bins[0].interval.is_none());
        assert!((bins[1].result - 0.5).abs() < 1e-12 && bins[1].positions == 4.0 && bins[1].games == 2);
        assert!((error(&bins).expect("positions") - 2.0 * 0.2 / 6.0).abs() < 1e-12);
        assert_eq!(error(&[]), None);
    }

    #[test]
    fn imported_games_count_if_they_were_searched() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let folder = tempfile::tempdir().expect("a folder");
        let played = Move::from_uci("e2e4").expect("a move").packed();
        // A game of PGN, one of lc0, one of self-play with a single simulation, and one of PGN with an evaluation.
        let games = [("", 1, 1.0), ("", 800, 1.0), ("0123456789abcdef", 1, 1.0), ("", 1, 0.25)];
        let game = |(number, (network, _, _)): (u32, (&str, u32, f32))| GameRow {
            game: number,
            network: network.to_owned(),
            start_fen: START.to_owned(),
            moves: vec![played],
            opening_plies: 0,
            result: GameResult::WhiteWins,
            reason: Reason::Threefold.into(),
        };
        let position = |(number, (_, simulations, q)): (u32, (&str, u32, f32))| PositionRow {
            game: number,
            ply: 0,
            fen: START.to_owned(),
            played,
            legal: 20,
            moves: vec![played],
            visits: vec![1],
            target: vec![1],
            root_q: q,
            root_d: 0.0,
            net_q: q,
            net_d: 0.0,
            simulations,
            full: true,
            policy_surprise: 0.0,
            result: 1,
        };
        let path = |table: &str| format!("{table}/iteration=0000/part-0a-00000.parquet");
        let (rows, positions): (Vec<GameRow>, Vec<PositionRow>) =
            (0..).zip(games).map(|row| (game(row), position(row))).unzip();
        write_table(folder.path(), &path("games"), &rows, &Provenance::new()).expect("valid rows");
        write_table(folder.path(), &path("positions"), &positions, &Provenance::new()).expect("valid rows");
        let run = RunSource::from_folder("x", folder.path());
        let binned = game_bins(&Database::new(vec![run], Vec::new(), Work::Exact)).expect("bins");
        let numbers = |bins: &Vec<GameBin>| bins.iter().map(|bin| bin.game).collect::<Vec<_>>();
        assert_eq!(binned.iter().map(numbers).collect::<Vec<_>>(), [[1, 2], [1, 2]]);
    }

    #[test]
    fn intervals_count_games_not_positions() {
        let game = |number: u32, positions: f64| {
            game_bin(10, positions, 0.0, if number.is_multiple_of(2) { 1.0 } else { -1.0 })
        };
        let width = |positions: f64| {
            let all: Vec<GameBin> = (0..100).map(|number| game(number, positions)).collect();
            let (low, high) = bins(&all)[0].interval.expect("many games");
            high - low
        };
        // 100 results of ±1: the standard error is 0.1, or 0.1005 with n − 1 for n, whatever the number of positions.
        assert!((width(1.0) - 2.0 * 1.96 * 0.1005).abs() < 1e-3, "{}", width(1.0));
        assert!((width(50.0) - width(1.0)).abs() < 1e-12);
    }
}
