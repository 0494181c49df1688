//! The standings of a run's players by joint rating.

use std::collections::BTreeMap;

use dc0_core::arena::rating::{Estimate, PairResult, Rating, Tally};
use dc0_core::store::MatchGameRow;

use super::inputs::ReportRun;
use super::steps::{Spent, Step};
use crate::standings::{MatchPair, Rated, rated};

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
    /// All its games in matches.
    pub(super) tally: Tally,
    /// The joint rating; `None` if no chain of matches connects the player to the anchor, or to the others that are rated.
    pub(super) rating: Option<Rating>,
}

/// All players of a run's matches, first the nets by number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) run: String,
    /// The first one, if it is a net, is the anchor of the ratings: the first of the run's nets that played a match.
    pub(super) players: Vec<Player>,
    /// White's advantage in Elo.
    pub(super) white_advantage: Option<Estimate>,
    /// How often equal players draw.
    pub(super) draw_rate: Option<Estimate>,
}

impl Standing {
    /// The displayed name of the anchor; `None` if no net played, so that ratings are relative to the mean of those rated.
    pub(super) fn anchor_name(&self) -> Option<String> {
        self.players.first().filter(|first| first.net.is_some()).map(Player::name)
    }
}

impl Player {
    /// Its displayed name.
    pub(super) fn name(&self) -> String {
        self.net.map_or_else(|| self.id.clone(), |net| format!("{net:04}"))
    }
}

/// The standing of a run's players; `None` if there was no match.
pub(super) fn standing(run: &ReportRun, steps: &[Step], pairs: &[MatchPair]) -> Option<Standing> {
    let of_run = pairs.iter().filter(|pair| pair.run == run.name);
    let results: Vec<PairResult<String>> = of_run.map(|pair| pair.result.clone()).collect();
    let nets: BTreeMap<&str, &Step> = steps
        .iter()
        .filter(|step| step.run == run.name && step.makes_net())
        .map(|step| (step.network.as_str(), step))
        .collect();
    let numbers = nets.iter().filter_map(|(id, step)| Some(((*id).to_owned(), step.number?))).collect();
    let all = rated(&numbers, &results);
    all.players.first()?;
    let (white_advantage, draw_rate) = (all.white_advantage, all.draw_rate);
    let players =
        all.players.into_iter().map(|rated| player(run, nets.get(rated.player.as_str()), rated)).collect();
    Some(Standing { run: run.name.clone(), players, white_advantage, draw_rate })
}

fn player(run: &ReportRun, step: Option<&&Step>, rated: Rated) -> Player {
    let own = MatchGameRow::net_of(&rated.player).and_then(|(_, own)| own);
    if let (Some(net), Some(own)) = (rated.net, own) {
        // A net with a search of its own is none of the generations.
        let id = format!("{net:04}@{own}");
        let spent = Spent::default();
        return Player { net: None, generation: None, spent, tally: rated.tally, rating: rated.rating, id };
    }
    let id = rated.player;
    let promoted = |(_, digest): &&(u32, String)| digest.starts_with(&id) || *digest == id;
    Player {
        net: rated.net,
        generation: run.generations.iter().find(promoted).map(|(generation, _)| *generation),
        spent: step.map_or(Spent::default(), |step| step.spent),
        tally: rated.tally,
        rating: rated.rating,
        id,
    }
}
