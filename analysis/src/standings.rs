//! Standings: the players of a run's matches with one joint rating, for reports and as the table `ratings`.

use std::collections::BTreeMap;

use dc0_core::arena::rating::{Estimate, PairResult, Rating, Tally, fit};
use dc0_core::params::Value;
use dc0_core::store::MatchGameRow;

use crate::answer::Answer;
use crate::computed_tables::{ColumnDef, cells, names};
use crate::error::AnalysisError;
use crate::source::RunSource;

/// The name of the table of ratings.
pub(crate) const RATINGS: &str = "ratings";

const COLUMNS: [ColumnDef<Row>; 12] = [
    ("player", "text", |row| row.rated.player.as_str().into()),
    ("net", "u32", |row| row.rated.net.into()),
    ("games", "u32", |row| row.rated.tally.games().into()),
    ("wins", "u32", |row| row.rated.tally.wins.into()),
    ("draws", "u32", |row| row.rated.tally.draws.into()),
    ("losses", "u32", |row| row.rated.tally.losses.into()),
    ("score", "f64", |row| row.rated.tally.score().into()),
    ("elo", "f64", |row| figure(row, |rating| rating.elo)),
    ("elo_low", "f64", |row| figure(row, |rating| rating.low)),
    ("elo_high", "f64", |row| figure(row, |rating| rating.high)),
    ("white_advantage", "f64", |row| estimate(row.white_advantage)),
    ("draw_rate", "f64", |row| estimate(row.draw_rate)),
];

/// A player with what is fitted for all of its run.
struct Row {
    rated: Rated,
    white_advantage: Option<Estimate>,
    draw_rate: Option<Estimate>,
}

fn figure(row: &Row, figure: fn(&Rating) -> f64) -> Value {
    row.rated.rating.as_ref().map(figure).into()
}

fn estimate(estimate: Option<Estimate>) -> Value {
    estimate.map(|estimate| estimate.value).into()
}

/// A player of a run's matches: a net of the run, or a player without a net.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rated {
    /// As in the table of matches: the first 16 hex digits of a net's digest, or a name.
    pub(crate) player: String,
    /// The net's number in the run, also with a search of its own.
    pub(crate) net: Option<u32>,
    /// All games of all matches.
    pub(crate) tally: Tally,
    /// The joint rating; `None` if no chain of matches connects the player to the anchor, or to the others that are rated.
    pub(crate) rating: Option<Rating>,
}

/// All players of a run's matches, and what is fitted together with their ratings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AllRated {
    /// First the nets by number, then the others by name.
    pub(crate) players: Vec<Rated>,
    /// The player that ratings are relative to; `None` if no net played.
    pub(crate) anchor: Option<String>,
    /// White's advantage in Elo; `None` if nobody is rated.
    pub(crate) white_advantage: Option<Estimate>,
    /// How often equal players draw; `None` if nobody is rated.
    pub(crate) draw_rate: Option<Estimate>,
}

/// All players of some pairs. `nets` has the nets' numbers by the first 16 digits of their digests. Ratings are relative to the first
/// net; if no net played, to the mean of the rated players.
pub(crate) fn rated(nets: &BTreeMap<String, u32>, pairs: &[PairResult<String>]) -> AllRated {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for pair in pairs {
        for (player, tally) in [(&pair.first, pair.tally()), (&pair.second, pair.tally().mirrored())] {
            let sum = tallies.entry(player).or_default();
            *sum = *sum + tally;
        }
    }
    let player = |(id, tally): (&str, Tally)| Rated {
        player: id.to_owned(),
        net: MatchGameRow::net_of(id).and_then(|(digits, _)| nets.get(digits)).copied(),
        tally,
        rating: None,
    };
    let mut players: Vec<Rated> = tallies.into_iter().map(player).collect();
    players.sort_by_key(|player| (player.net.is_none(), player.net, player.player.clone()));
    let indices: BTreeMap<&str, usize> =
        players.iter().enumerate().map(|(index, player)| (player.player.as_str(), index)).collect();
    let numbered = |pair: &PairResult<String>| PairResult {
        first: indices[pair.first.as_str()],
        second: indices[pair.second.as_str()],
        white: pair.white,
        black: pair.black,
    };
    let results: Vec<PairResult> = pairs.iter().map(numbered).collect();
    let anchor = players.first().filter(|first| first.net.is_some()).map(|first| first.player.clone());
    let fixed = anchor.iter().map(|_| (0, 0.0)).collect();
    let fitted = fit(players.len(), &results, &fixed);
    players.iter_mut().zip(fitted.players).for_each(|(player, rating)| player.rating = rating);
    let (white_advantage, draw_rate) = (fitted.white_advantage, fitted.draw_rate);
    AllRated { players, anchor, white_advantage, draw_rate }
}

/// The names and types of the table's own columns.
pub(crate) fn columns() -> Vec<(&'static str, &'static str)> {
    names(&COLUMNS).collect()
}

/// The pairs of games of runs' matches, each with the first player's results by colour.
pub(crate) const PAIRS: &str = "select run, \"match\", pair, first, second, \
    sum(case when first_is_white and score = 1 then 1 else 0 end) as white_wins, \
    sum(case when first_is_white and score = 0.5 then 1 else 0 end) as white_draws, \
    sum(case when first_is_white and score = 0 then 1 else 0 end) as white_losses, \
    sum(case when not first_is_white and score = 1 then 1 else 0 end) as black_wins, \
    sum(case when not first_is_white and score = 0.5 then 1 else 0 end) as black_draws, \
    sum(case when not first_is_white and score = 0 then 1 else 0 end) as black_losses \
    from matches group by run, \"match\", pair, first, second order by run, \"match\", pair, first, second";

/// A pair of games of a match.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchPair {
    pub(crate) run: String,
    /// The match's number.
    pub(crate) number: u32,
    pub(crate) result: PairResult<String>,
}

/// All pairs of all matches, by run, match and number, from the answer to [`PAIRS`].
pub(crate) fn pairs(answer: &Answer) -> Result<Vec<MatchPair>, AnalysisError> {
    let (runs, numbers) = (answer.texts("run")?, answer.numbers("match")?);
    let (firsts, seconds) = (answer.texts("first")?, answer.texts("second")?);
    let tallies = |colour: &str| -> Result<Vec<Tally>, AnalysisError> {
        let column = |result: &str| answer.numbers(&format!("{colour}_{result}"));
        let (wins, draws, losses) = (column("wins")?, column("draws")?, column("losses")?);
        let tally = |index: usize| Tally {
            wins: wins[index] as u32,
            draws: draws[index] as u32,
            losses: losses[index] as u32,
        };
        Ok((0..answer.len()).map(tally).collect())
    };
    let (white, black) = (tallies("white")?, tallies("black")?);
    let pair = |index: usize| MatchPair {
        run: runs[index].clone(),
        number: numbers[index] as u32,
        result: PairResult {
            first: firsts[index].clone(),
            second: seconds[index].clone(),
            white: white[index],
            black: black[index],
        },
    };
    Ok((0..answer.len()).map(pair).collect())
}

/// The rows of the players of a run's matches, from the answer to [`PAIRS`].
pub(crate) fn rows(run: &RunSource, answer: &Answer) -> Result<Vec<Vec<Value>>, AnalysisError> {
    let results: Vec<PairResult<String>> = pairs(answer)?.into_iter().map(|pair| pair.result).collect();
    let AllRated { players, white_advantage, draw_rate, .. } = rated(&nets(run), &results);
    let rows = players.into_iter().map(|rated| Row { rated, white_advantage, draw_rate });
    Ok(rows.map(|row| cells(&COLUMNS, &row).collect()).collect())
}

/// The numbers of the nets that a run's finished steps made, by the first 16 digits of their digests.
fn nets(run: &RunSource) -> BTreeMap<String, u32> {
    let steps = run.steps.iter().filter(|step| step.makes_net());
    let mut numbers = BTreeMap::new();
    for (net, number) in steps.filter_map(|step| Some((step.network.as_ref()?.get(..16)?, step.number?))) {
        // Equal nets of several steps are one, which counts as the first of them.
        numbers.entry(net.to_owned()).or_insert(number);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dc0_core::arena::rating::{PairResult, Tally};

    use dc0_core::params::Value;

    use super::{nets, rated};
    use crate::source::{RunSource, StepRow};

    /// A pair of games; the one with White gives the points beyond one.
    fn pair(first: &str, second: &str, points: f64) -> PairResult<String> {
        let [mut white, mut black] = [Tally::default(); 2];
        black.count(points.min(1.0));
        white.count((points - 1.0).max(0.0));
        PairResult { first: first.to_owned(), second: second.to_owned(), white, black }
    }

    #[test]
    fn ratings_are_relative_to_the_first_net_that_played() {
        const A: &str = "aaaaaaaaaaaaaaaa";
        const B: &str = "bbbbbbbbbbbbbbbb";
        let nets: BTreeMap<String, u32> = [(B.to_owned(), 0), (A.to_owned(), 3)].into();
        let all = rated(&nets, &[pair(A, B, 1.5), pair(A, "random", 2.0), pair("x", "y", 1.0)]);
        assert_eq!(all.anchor.as_deref(), Some(B));
        let players = all.players;
        let names: Vec<&str> = players.iter().map(|player| player.player.as_str()).collect();
        assert_eq!(names, [B, A, "random", "x", "y"]);
        assert_eq!(players.iter().map(|player| player.tally.games()).collect::<Vec<_>>(), [2, 4, 2, 2, 2]);
        let elo: Vec<_> = players.iter().map(|player| player.rating.map(|rating| rating.elo)).collect();
        assert!(elo[0] == Some(0.0) && elo[1] > Some(0.0) && elo[2] < elo[1], "{elo:?}");
        assert_eq!(elo[3..], [None, None]);
    }

    #[test]
    fn equal_nets_have_the_number_of_the_first() {
        let step = |number: u32, kind: &str| StepRow {
            step: number,
            kind: kind.to_owned(),
            series: Some("network".to_owned()),
            number: Some(number),
            identity: format!("{number:08}"),
            network: Some("a".repeat(64)),
            seconds: None,
            bytes: 0,
            summary: Value::group(),
            params: Value::group(),
            inputs: Vec::new(),
        };
        let steps = vec![step(0, "network"), step(1, "load_network")];
        let run = RunSource { steps, ..RunSource::from_folder("x", "x") };
        assert_eq!(nets(&run), [("a".repeat(16), 0)].into());
    }

    #[test]
    fn ratings_without_a_net_are_relative_to_the_mean() {
        let pairs = [pair("greedy", "random", 2.0), pair("greedy", "alphabeta-1", 0.5), pair("x", "y", 1.0)];
        let players = rated(&BTreeMap::new(), &pairs).players;
        let elo = |id: &str| players.iter().find(|player| player.player == id).unwrap().rating.map(|r| r.elo);
        let [alphabeta, greedy, random] = ["alphabeta-1", "greedy", "random"].map(|id| elo(id).unwrap());
        assert!(alphabeta > greedy && greedy > random && (alphabeta + greedy + random).abs() < 1e-6);
        assert_eq!((elo("x"), elo("y")), (None, None));
        assert!(rated(&BTreeMap::new(), &[]).players.is_empty());
    }
}
