//! A run's matches: the pairs of games, and the standings by joint rating.

use std::collections::BTreeMap;

use super::inputs::ReportRun;
use super::steps::{Spent, Step};
use crate::database::Database;
use crate::error::AnalysisError;
use crate::rating::Rating;
use crate::standings::{Pair, Rated, rated};

/// A pair of games of a match.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MatchPair {
    pub(super) run: String,
    pub(super) number: u32,
    pub(super) first: String,
    pub(super) second: String,
    pub(super) games: f64,
    pub(super) points: f64,
}

/// A player of a run's matches: a net of the run, or a player without a net.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Player {
    /// As in the table of matches: the first 16 hex digits of a net's digest, or a name.
    pub(super) id: String,
    /// The net's number in the run.
    pub(super) net: Option<u32>,
    /// The generation that it was promoted to, if any.
    pub(super) generation: Option<u32>,
    /// The run's cost up to its making.
    pub(super) spent: Spent,
    /// The joint rating; `None` if no chain of matches connects the player to the first net.
    pub(super) rating: Option<Rating>,
}

/// All players of a run's matches, first the nets by number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) run: String,
    /// The first one is the anchor of the ratings: the first of the run's nets that played a match.
    pub(super) players: Vec<Player>,
}

impl Standing {
    /// The displayed name of the anchor.
    pub(super) fn anchor_name(&self) -> String {
        self.players[0].name()
    }
}

impl Player {
    /// Its displayed name.
    pub(super) fn name(&self) -> String {
        self.net.map_or_else(|| self.id.clone(), |net| format!("{net:04}"))
    }
}

/// All pairs of all matches.
pub(super) fn pairs(database: &Database) -> Result<Vec<MatchPair>, AnalysisError> {
    let statement = "select run, \"match\", pair, first, second, count(*) as games, sum(score) as points from matches \
        group by run, \"match\", pair, first, second order by run, \"match\", pair";
    let answer = database.fetch(statement)?;
    let (runs, firsts, seconds) = (answer.texts("run")?, answer.texts("first")?, answer.texts("second")?);
    let (numbers, games, points) =
        (answer.numbers("match")?, answer.numbers("games")?, answer.numbers("points")?);
    let row = |index: usize| MatchPair {
        run: runs[index].clone(),
        number: numbers[index] as u32,
        first: firsts[index].clone(),
        second: seconds[index].clone(),
        games: games[index],
        points: points[index],
    };
    Ok((0..answer.len()).map(row).collect())
}

/// The standing of a run's players; `None` if no net played a match.
pub(super) fn standing(run: &ReportRun, steps: &[Step], pairs: &[MatchPair]) -> Option<Standing> {
    let run_pairs: Vec<Pair> =
        pairs.iter().filter(|pair| pair.run == run.name).map(MatchPair::to_pair).collect();
    let nets: BTreeMap<&str, &Step> = steps
        .iter()
        .filter(|step| step.run == run.name && step.makes_net())
        .map(|step| (step.network.as_str(), step))
        .collect();
    let numbers = nets.iter().filter_map(|(id, step)| Some(((*id).to_owned(), step.number?))).collect();
    let rated = rated(&numbers, &run_pairs);
    rated.first()?.net?;
    let players =
        rated.into_iter().map(|rated| player(run, nets.get(rated.player.as_str()), rated)).collect();
    Some(Standing { run: run.name.clone(), players })
}

fn player(run: &ReportRun, step: Option<&&Step>, rated: Rated) -> Player {
    let id = rated.player;
    let promoted = |(_, digest): &&(u32, String)| digest.starts_with(&id) || *digest == id;
    Player {
        net: rated.net,
        generation: run.generations.iter().find(promoted).map(|(generation, _)| *generation),
        spent: step.map_or(Spent::default(), |step| step.spent),
        rating: rated.rating,
        id,
    }
}

impl MatchPair {
    /// The pair without its run and match.
    fn to_pair(&self) -> Pair {
        Pair {
            first: self.first.clone(),
            second: self.second.clone(),
            games: self.games,
            points: self.points,
        }
    }
}
