//! Standings: the players of a run's matches with one joint rating, for reports and as the table `ratings`.

use std::collections::BTreeMap;

use dc0_core::params::Value;

use crate::answer::Answer;
use crate::computed_tables::{ColumnDef, cells, names, text};
use crate::error::AnalysisError;
use crate::rating::{PairResult, Rating, ratings};
use crate::source::RunSource;

/// The name of the table of ratings.
pub(crate) const RATINGS: &str = "ratings";

const COLUMNS: [ColumnDef<Rated>; 6] = [
    ("player", "text", |row| text(&row.player)),
    ("net", "u32", |row| row.net.map_or(Value::None, |net| Value::Int(net.into()))),
    ("games", "u32", |row| Value::Int(row.games.into())),
    ("elo", "f64", |row| figure(row, |rating| rating.elo)),
    ("elo_low", "f64", |row| figure(row, |rating| rating.low)),
    ("elo_high", "f64", |row| figure(row, |rating| rating.high)),
];

fn figure(row: &Rated, figure: fn(&Rating) -> f64) -> Value {
    row.rating.as_ref().map_or(Value::None, |rating| Value::Float(figure(rating)))
}

/// A pair of games of a match; players are named as in the table of matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: String,
    pub(crate) second: String,
    /// Number of games played, at most two.
    pub(crate) games: f64,
    /// The first player's points.
    pub(crate) points: f64,
}

/// A player of a run's matches: a net of the run, or a player without a net.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rated {
    /// As in the table of matches: the first 16 hex digits of a net's digest, or a name.
    pub(crate) player: String,
    /// The net's number in the run.
    pub(crate) net: Option<u32>,
    /// Number of games in all matches.
    pub(crate) games: u32,
    /// The joint rating; `None` if no chain of matches connects the player to the first net.
    pub(crate) rating: Option<Rating>,
}

/// All players of some pairs: first the nets by number, then the others. `nets` has the nets' numbers by the first 16 digits of
/// their digests. Ratings are relative to the first net; if no net played, there are none.
pub(crate) fn rated(nets: &BTreeMap<String, u32>, pairs: &[Pair]) -> Vec<Rated> {
    let mut games: BTreeMap<&str, f64> = BTreeMap::new();
    for pair in pairs {
        *games.entry(&pair.first).or_default() += pair.games;
        *games.entry(&pair.second).or_default() += pair.games;
    }
    let player = |(id, games): (&str, f64)| Rated {
        player: id.to_owned(),
        net: nets.get(id).copied(),
        games: games as u32,
        rating: None,
    };
    let mut players: Vec<Rated> = games.into_iter().map(player).collect();
    players.sort_by_key(|player| (player.net.is_none(), player.net, player.player.clone()));
    if players.first().is_some_and(|first| first.net.is_some()) {
        let indices: BTreeMap<&str, usize> =
            players.iter().enumerate().map(|(index, player)| (player.player.as_str(), index)).collect();
        let result = |pair: &Pair| PairResult {
            first: indices[pair.first.as_str()],
            second: indices[pair.second.as_str()],
            games: pair.games,
            points: pair.points,
        };
        let results: Vec<PairResult> =
            pairs.iter().filter(|pair| pair.first != pair.second).map(result).collect();
        let fitted = ratings(players.len(), 0, &results);
        players.iter_mut().zip(fitted).for_each(|(player, rating)| player.rating = rating);
    }
    players
}

/// The names and types of the table's own columns.
pub(crate) fn columns() -> Vec<(&'static str, &'static str)> {
    names(&COLUMNS).collect()
}

/// The pairs of games of a run's matches.
pub(crate) const PAIRS: &str = "select first, second, count(*) as games, sum(score) as points from matches \
    group by \"match\", pair, first, second order by \"match\", pair, first, second";

/// The rows of the players of a run's matches, from the answer to [`PAIRS`].
pub(crate) fn rows(run: &RunSource, answer: &Answer) -> Result<Vec<Vec<Value>>, AnalysisError> {
    Ok(of_run(run, answer)?.iter().map(|player| cells(&COLUMNS, player).collect()).collect())
}

/// The players of a run's matches.
fn of_run(run: &RunSource, answer: &Answer) -> Result<Vec<Rated>, AnalysisError> {
    let (firsts, seconds) = (answer.texts("first")?, answer.texts("second")?);
    let (games, points) = (answer.numbers("games")?, answer.numbers("points")?);
    let pair = |index: usize| Pair {
        first: firsts[index].clone(),
        second: seconds[index].clone(),
        games: games[index],
        points: points[index],
    };
    let pairs: Vec<Pair> = (0..answer.len()).map(pair).collect();
    Ok(rated(&nets(run), &pairs))
}

/// The numbers of the nets that a run's finished steps made, by the first 16 digits of their digests.
fn nets(run: &RunSource) -> BTreeMap<String, u32> {
    let makes_net = |kind: &str| ["network", "load_network", "grow", "train"].contains(&kind);
    let steps = run.steps.iter().filter(|step| makes_net(&step.kind));
    steps.filter_map(|step| Some((step.network.as_ref()?.get(..16)?.to_owned(), step.number?))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Pair, rated};

    fn pair(first: &str, second: &str, points: f64) -> Pair {
        Pair { first: first.to_owned(), second: second.to_owned(), games: 2.0, points }
    }

    #[test]
    fn ratings_are_relative_to_the_first_net_that_played() {
        let nets: BTreeMap<String, u32> = [("b".to_owned(), 0), ("a".to_owned(), 3)].into();
        let players = rated(&nets, &[pair("a", "b", 1.5), pair("a", "random", 2.0), pair("x", "y", 1.0)]);
        let names: Vec<&str> = players.iter().map(|player| player.player.as_str()).collect();
        assert_eq!(names, ["b", "a", "random", "x", "y"]);
        assert_eq!(players.iter().map(|player| player.games).collect::<Vec<_>>(), [2, 4, 2, 2, 2]);
        let elo: Vec<_> = players.iter().map(|player| player.rating.map(|rating| rating.elo)).collect();
        assert!(elo[0] == Some(0.0) && elo[1] > Some(0.0) && elo[2] < elo[1], "{elo:?}");
        assert_eq!(elo[3..], [None, None]);
    }

    #[test]
    fn players_are_not_rated_without_a_net() {
        let players = rated(&BTreeMap::new(), &[pair("greedy", "random", 2.0)]);
        assert!(players.len() == 2 && players.iter().all(|player| player.rating.is_none()));
    }
}
