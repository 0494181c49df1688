//! Who stands where: the players of a run's matches with one joint rating, for reports and as the table `ratings`.

use std::collections::BTreeMap;

use dc0_core::params::Value;

use crate::answer::Answer;
use crate::catalog::{Catalog, Scan};
use crate::computed_tables::{Cells, Of, filled, names, text};
use crate::engine::Work;
use crate::error::AnalysisError;
use crate::frame::Frame;
use crate::rating::{PairResult, Rating, ratings};
use crate::source::RunSource;
use crate::statement::Statement;

/// The table of how players of matches stand.
pub(crate) const RATINGS: &str = "ratings";

const RATED: [Cells<Rated>; 6] = [
    ("player", "text", |row| text(&row.player)),
    ("net", "u32", |row| row.net.map_or(Value::None, |net| Value::Int(net.into()))),
    ("games", "u32", |row| Value::Int(row.games.into())),
    ("elo", "f64", |row| figure(row, |rating| rating.elo)),
    ("elo_low", "f64", |row| figure(row, |rating| rating.low)),
    ("elo_high", "f64", |row| figure(row, |rating| rating.high)),
];

fn figure(row: &Rated, of: fn(&Rating) -> f64) -> Value {
    row.rating.as_ref().map_or(Value::None, |rating| Value::Float(of(rating)))
}

/// A pair of games of a match, between players as the table of matches has them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: String,
    pub(crate) second: String,
    /// Games of it that are played, two at most.
    pub(crate) games: f64,
    /// The first player's points of them.
    pub(crate) points: f64,
}

/// A net of a run, or a player that is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rated {
    /// As in the table of matches: 16 hex digits of a net, or a word.
    pub(crate) player: String,
    /// The net's number in the run.
    pub(crate) net: Option<u32>,
    /// Games of all matches, whomever they were against.
    pub(crate) games: u32,
    /// What the joint rating says; none where no match joins the player with the first net.
    pub(crate) rating: Option<Rating>,
}

/// All players of some pairs, the nets first in their order, which are known by their digests' first 16 digits. Ratings are
/// relative to the first of the nets; without a net nobody has one.
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
        let places: BTreeMap<&str, usize> =
            players.iter().enumerate().map(|(place, player)| (player.player.as_str(), place)).collect();
        let result = |pair: &Pair| PairResult {
            first: places[pair.first.as_str()],
            second: places[pair.second.as_str()],
            games: pair.games,
            points: pair.points,
        };
        let met: Vec<PairResult> =
            pairs.iter().filter(|pair| pair.first != pair.second).map(result).collect();
        let found = ratings(players.len(), 0, &met);
        players.iter_mut().zip(found).for_each(|(player, rating)| player.rating = rating);
    }
    players
}

/// The names and types of the table's own columns.
pub(crate) fn columns() -> Vec<(&'static str, &'static str)> {
    names(&RATED).collect()
}

/// The table `ratings`.
pub(crate) fn table(catalog: &Catalog, work: Work) -> Result<Scan, AnalysisError> {
    let mut players = Vec::new();
    for run in &catalog.runs {
        players.extend(of_run(catalog, run, work)?.into_iter().map(|player| (run, player)));
    }
    let rows: Vec<Of<'_, Rated>> = players.iter().map(|(run, player)| (*run, player)).collect();
    catalog.computed(&rows, filled(&RATED, &rows))
}

/// The number of its rows.
pub(crate) fn count(catalog: &Catalog, work: Work) -> Result<u64, AnalysisError> {
    catalog.runs.iter().map(|run| Ok(of_run(catalog, run, work)?.len() as u64)).sum()
}

/// The players of a run's matches.
fn of_run(catalog: &Catalog, run: &RunSource, work: Work) -> Result<Vec<Rated>, AnalysisError> {
    let statement = "select first, second, count(*) as games, sum(score) as points from matches \
        group by \"match\", pair, first, second order by \"match\", pair, first, second";
    let matches = vec![("matches".to_owned(), catalog.of_one(run).scan("matches")?)];
    let frame = Frame::of_statement(Statement::parse(statement)?, matches, work)?;
    let answer = Answer::new(frame.rows()?);
    let (firsts, seconds) = (answer.texts("first")?, answer.texts("second")?);
    let (games, points) = (answer.numbers("games")?, answer.numbers("points")?);
    let pair = |at: usize| Pair {
        first: firsts[at].clone(),
        second: seconds[at].clone(),
        games: games[at],
        points: points[at],
    };
    let pairs: Vec<Pair> = (0..answer.len()).map(pair).collect();
    Ok(rated(&nets(run), &pairs))
}

/// The nets that a run's finished steps have made.
fn nets(run: &RunSource) -> BTreeMap<String, u32> {
    let makes_net = |kind: &str| ["network", "grow", "train"].contains(&kind);
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
    fn the_first_net_that_played_is_what_others_are_rated_by() {
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
    fn without_nets_nobody_is_rated() {
        let players = rated(&BTreeMap::new(), &[pair("greedy", "random", 2.0)]);
        assert!(players.len() == 2 && players.iter().all(|player| player.rating.is_none()));
    }
}
