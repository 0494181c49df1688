//! Matches of a run: who met whom, and what one joint rating makes of it.

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

/// A net of a run, or a player that is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Player {
    /// As in the table of matches: 16 hex digits of a net, or a word.
    pub(super) id: String,
    /// The net's number in the run.
    pub(super) net: Option<u32>,
    /// The generation that it was promoted to.
    pub(super) generation: Option<u32>,
    /// What was spent until it was made.
    pub(super) spent: Spent,
    /// What the joint rating says; none where no match joins it with the first net.
    pub(super) rating: Option<Rating>,
}

/// All players of a run's matches, the nets first in their order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) run: String,
    /// The first is whom ratings are relative to: the first of the run's nets that played a match.
    pub(super) players: Vec<Player>,
}

impl Standing {
    /// What people call the net that ratings are relative to.
    pub(super) fn anchor_name(&self) -> String {
        self.players[0].name()
    }
}

impl Player {
    /// What people call it.
    pub(super) fn name(&self) -> String {
        self.net.map_or_else(|| self.id.clone(), |net| format!("{net:04}"))
    }
}

/// All pairs of all matches.
pub(super) fn pairs(database: &Database) -> Result<Vec<MatchPair>, AnalysisError> {
    let statement = "select run, \"match\", pair, first, second, count(*) as games, sum(score) as points from matches \
        group by run, \"match\", pair, first, second order by run, \"match\", pair";
    let answer = database.ask(statement)?;
    let (runs, firsts, seconds) = (answer.texts("run")?, answer.texts("first")?, answer.texts("second")?);
    let (numbers, games, points) =
        (answer.numbers("match")?, answer.numbers("games")?, answer.numbers("points")?);
    let row = |at: usize| MatchPair {
        run: runs[at].clone(),
        number: numbers[at] as u32,
        first: firsts[at].clone(),
        second: seconds[at].clone(),
        games: games[at],
        points: points[at],
    };
    Ok((0..answer.len()).map(row).collect())
}

/// The standing of a run's players; `None` where no net played a match.
pub(super) fn standing(run: &ReportRun, steps: &[Step], pairs: &[MatchPair]) -> Option<Standing> {
    let own: Vec<Pair> = pairs.iter().filter(|pair| pair.run == run.name).map(MatchPair::apart).collect();
    let nets: BTreeMap<&str, &Step> = steps
        .iter()
        .filter(|step| step.run == run.name && step.makes_net())
        .map(|step| (step.network.as_str(), step))
        .collect();
    let numbers = nets.iter().filter_map(|(id, step)| Some(((*id).to_owned(), step.number?))).collect();
    let rated = rated(&numbers, &own);
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
    fn apart(&self) -> Pair {
        Pair {
            first: self.first.clone(),
            second: self.second.clone(),
            games: self.games,
            points: self.points,
        }
    }
}
