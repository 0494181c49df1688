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
    /// Its displayed name: a net of the run is named by its number.
    pub(super) name: String,
    /// The net's number in the run; `None` for a net with a search of its own, which is none of the generations.
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
    pub(super) players: Vec<Player>,
    /// The displayed name of the anchor, the first of the run's nets that played a match; `None` if no net played, so that ratings are
    /// relative to the mean of those rated.
    pub(super) anchor: Option<String>,
    /// White's advantage in Elo.
    pub(super) white_advantage: Option<Estimate>,
    /// How often equal players draw.
    pub(super) draw_rate: Option<Estimate>,
}

/// The standing of a run's players; `None` if there was no match.
pub(super) fn standing(run: &ReportRun, steps: &[Step], pairs: &[MatchPair]) -> Option<Standing> {
    let of_run = pairs.iter().filter(|pair| pair.run == run.name);
    let results: Vec<PairResult<String>> = of_run.map(|pair| pair.result.clone()).collect();
    let mut nets: BTreeMap<&str, &Step> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.run == run.name && step.makes_net()) {
        // Equal nets of several steps are one, which counts as the first of them.
        nets.entry(step.network.as_str()).or_insert(step);
    }
    let numbers = nets.iter().filter_map(|(id, step)| Some(((*id).to_owned(), step.number?))).collect();
    let all = rated(&numbers, &results);
    all.players.first()?;
    let (white_advantage, draw_rate) = (all.white_advantage, all.draw_rate);
    let step_of = |rated: &Rated| nets.get(MatchGameRow::net_of(&rated.player)?.0).copied();
    let players: Vec<Player> =
        all.players.into_iter().map(|rated| player(run, step_of(&rated), rated)).collect();
    let anchor = players.iter().find(|player| all.anchor.as_ref() == Some(&player.id));
    let anchor = anchor.map(|player| player.name.clone());
    Some(Standing { run: run.name.clone(), players, anchor, white_advantage, draw_rate })
}

fn player(run: &ReportRun, step: Option<&Step>, rated: Rated) -> Player {
    let Rated { player: id, net, tally, rating } = rated;
    let own = MatchGameRow::net_of(&id).and_then(|(_, own)| own);
    let spent = step.map_or(Spent::default(), |step| step.spent);
    if let (Some(net), Some(own)) = (net, own) {
        let name = format!("{net:04}@{own}");
        return Player { id, name, net: None, generation: None, spent, tally, rating };
    }
    let name = net.map_or_else(|| id.clone(), |net| format!("{net:04}"));
    let promoted = |(_, digest): &&(u32, String)| digest.starts_with(&id) || *digest == id;
    Player {
        net,
        generation: run.generations.iter().find(promoted).map(|(generation, _)| *generation),
        spent,
        tally,
        rating,
        id,
        name,
    }
}
