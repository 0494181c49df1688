//! The step that plays a match. Shards are kept beside the step's bookkeeping, and become one table at the end.

use serde::{Deserialize, Serialize};

use dc0_core::arena::{self, ArenaParams, KeepMatchShard, Match, MatchShard, Player};
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::Param;
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{Shard, shards_of};
use dc0_core::store::{MatchGameRow, read_entry, write_table};

use super::metered::metered;
use super::{Shop, StepError, files};
use crate::handles::{Network, Opponent};
use dc0_backend::Evaluators;
use dc0_runs::{Begun, Input, Product, RunError, ShardNote, StepCall, Workplace};

/// The name and the version of the step.
pub const KIND: (&str, u32) = ("arena", 1);

/// What is noted of a finished shard.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Part {
    games: u64,
    evaluations: u64,
}

pub(crate) fn call(first: &Network, second: &Opponent, params: &ArenaParams) -> Result<StepCall, StepError> {
    let second = match second {
        Opponent::Network(network) => network.0.digest.clone(),
        word => word.name(),
    };
    let inputs = [("first", first.0.digest.clone()), ("second", second)];
    let mut inputs = inputs.map(|(name, digest)| Input { name: name.to_owned(), digest }).to_vec();
    for search in std::iter::once(&params.search).chain(&params.opponent_search) {
        inputs.extend(files::tablebases(search)?);
    }
    Ok(StepCall { kind: KIND.0, version: KIND.1, params: params.to_value(), inputs })
}

/// What a kill left of such a step.
pub(crate) fn begun(place: &Workplace, params: &ArenaParams) -> Result<Begun, RunError> {
    let of = shards_of(params.games, params.shard_games).len() as u32;
    let finished = place.finished_shards::<Part>(of)?;
    let amount = finished.values().map(|note| note.part.games).sum();
    Ok(Begun { parts: finished.len() as u32, of, unit: "shards", amount })
}

pub(super) fn body(
    place: &Workplace,
    shop: &Shop,
    (first, second): (&Network, &Opponent),
    params: &ArenaParams,
) -> Result<Product, StepError> {
    let nets = [Some(first), network_of(second)]
        .map(|network| network.map(|network| files::load(&place.folder, network)));
    let [first_net, second_net] = nets.map(Option::transpose);
    let (first_net, second_net) = (first_net?, second_net?);
    let shards = shards_of(params.games, params.shard_games);
    let finished = place.finished_shards::<Part>(shards.len() as u32)?;
    let rest: Vec<Shard> =
        shards.iter().copied().filter(|shard| !finished.contains_key(&shard.index)).collect();
    let label = format!("match {} vs {}", first.name(), second.name());
    let done = finished.values().map(|note| note.part.games).sum();
    let progress = shop.progress(place, &label, ("games", done, params.games.into()));
    let names = names(first, second);
    let nets = [first_net.as_ref(), second_net.as_ref()];
    let meeting = Meeting { params, seed: place.seed, names: &names, nets, evaluators: &shop.evaluators };
    let of_lane = nets.iter().flatten().count() as u32;
    let measured = |evaluator, net: &Checkpoint| metered(evaluator, (&place.meter, of_lane), &net.spec);
    let keep = |shard, played: MatchShard| keep(place, shard, &played).map_err(Into::into);
    place.meter.plays_on(shop.lanes);
    meeting.play((&rest, shop.lanes), &measured, &keep, &progress)?;
    shop.close(&progress);
    product(place, shards.len() as u32, &names)
}

/// Two players and how they meet: everything that fixes the games of a match.
pub struct Meeting<'a> {
    /// How the match is played.
    pub params: &'a ArenaParams,
    /// Of the step.
    pub seed: Seed,
    /// The players as rows have them.
    pub names: &'a [String; 2],
    /// Their nets; `None` for a player that its name says all of.
    pub nets: [Option<&'a Checkpoint>; 2],
    /// Makes what plays the nets.
    pub evaluators: &'a Evaluators,
}

/// What is put around the evaluators of nets.
pub(crate) type Around<'a> = dyn Fn(Box<dyn Evaluator>, &Checkpoint) -> Box<dyn Evaluator> + Sync + 'a;

impl Meeting<'_> {
    /// Plays shards on some lanes.
    pub fn play(
        &self,
        (shards, lanes): (&[Shard], u32),
        around: &Around<'_>,
        keep: &KeepMatchShard<'_>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let Self { params, seed, names, nets, evaluators } = *self;
        let make_first = || evaluators.make(given(nets[0])).map(|made| around(made, given(nets[0])));
        let make_second = || {
            let made = match params.opponent_precision {
                Some(precision) => evaluators.make_in(given(nets[1]), precision),
                None => evaluators.make(given(nets[1])),
            };
            made.map(|made| around(made, given(nets[1])))
        };
        let first = Player::Network { name: &names[0], make_evaluator: &make_first };
        let second = match (nets[1], names[1].as_str()) {
            (Some(_), name) => Player::Network { name, make_evaluator: &make_second },
            (None, "random") => Player::Random,
            (None, _) => Player::Greedy,
        };
        let own = params.search.open_tablebases()?;
        let rival = params.opponent_search.as_ref().map(SearchParams::open_tablebases).transpose()?;
        let tables = [own.as_ref(), rival.as_ref().unwrap_or(&own).as_ref()];
        let job = Match { params, seed, players: [first, second], tables };
        Ok(arena::play(&job, shards, lanes, keep, observer)?)
    }
}

fn given(net: Option<&Checkpoint>) -> &Checkpoint {
    net.expect("only nets have evaluators")
}

fn network_of(opponent: &Opponent) -> Option<&Network> {
    match opponent {
        Opponent::Network(network) => Some(network),
        Opponent::Random | Opponent::Greedy => None,
    }
}

/// Players as rows and file names have them: by content, because a net's number changes with the script.
fn names(first: &Network, second: &Opponent) -> [String; 2] {
    let second = match second {
        Opponent::Network(network) => files::short_digest(&network.0.digest).to_owned(),
        word => word.name(),
    };
    [files::short_digest(&first.0.digest).to_owned(), second]
}

fn keep(place: &Workplace, shard: Shard, played: &MatchShard) -> Result<(), StepError> {
    let path = format!("steps/work/{}/shard-{:05}.parquet", place.identity.short(), shard.index);
    let file = write_table(place.folder.root(), &path, &played.rows, &files::provenance(place, []))?;
    let part = Part { games: shard.games.into(), evaluations: played.evaluations };
    Ok(place.keep_shard(shard.index, &ShardNote { files: vec![file], part })?)
}

fn product(place: &Workplace, shards: u32, names: &[String; 2]) -> Result<Product, StepError> {
    let mut rows: Vec<MatchGameRow> = Vec::new();
    let mut evaluations = 0;
    for note in place.finished_shards::<Part>(shards)?.into_values() {
        evaluations += note.part.evaluations;
        for entry in &note.files {
            rows.extend(read_entry(place.folder.root(), entry)?);
        }
    }
    let path = place.slot.path("matches", &format!("-{}-vs-{}.parquet", names[0], names[1]));
    let provenance = files::provenance(place, [("first", &names[0]), ("second", &names[1])]);
    let file = write_table(place.folder.root(), &path, &rows, &provenance)?;
    Ok(Product { files: vec![file], summary: arena::summarise(&rows, evaluations).to_value() })
}
