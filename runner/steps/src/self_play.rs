//! The step that plays games of a net against itself: one games file and one positions file for each shard.

use std::sync::{Mutex, PoisonError};

use dc0_core::event::Observer;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::Param;
use dc0_core::rng::Seed;
use dc0_core::selfplay::{self, SelfPlayJob, SelfPlayParams, SelfPlayStats, Shard, ShardResult, shards_of};
use dc0_core::store::write_table;

use super::metered::metered;
use super::{Shop, StepError, files};
use crate::handles::Network;
use dc0_backend::Evaluators;
use dc0_runs::{Begun, Input, Product, RunError, ShardNote, StepCall, Workplace};

/// The name and the version of the step.
pub const KIND: (&str, u32) = ("self_play", 1);

pub(crate) fn call(network: &Network, params: &SelfPlayParams) -> Result<StepCall, StepError> {
    let mut inputs = vec![Input { name: "network".to_owned(), digest: network.0.digest.clone() }];
    inputs.extend(files::tablebases(&params.search)?);
    Ok(StepCall { kind: KIND.0, version: KIND.1, params: params.to_value(), inputs })
}

/// What a kill left of such a step.
pub(crate) fn begun(place: &Workplace, params: &SelfPlayParams) -> Result<Begun, RunError> {
    let of = shards_of(params.games, params.shard_games).len() as u32;
    let finished = place.finished_shards::<SelfPlayStats>(of)?;
    let amount = finished.values().map(|note| note.part.games).sum();
    Ok(Begun { parts: finished.len() as u32, of, unit: "shards", amount })
}

pub(super) fn body(
    place: &Workplace,
    shop: &Shop,
    network: &Network,
    params: &SelfPlayParams,
) -> Result<Product, StepError> {
    let net = files::load(&place.folder, network)?;
    let shards = shards_of(params.games, params.shard_games);
    let finished = place.finished_shards::<SelfPlayStats>(shards.len() as u32)?;
    let done: u64 = finished.values().map(|note| note.part.games).sum();
    let rest: Vec<Shard> =
        shards.iter().copied().filter(|shard| !finished.contains_key(&shard.index)).collect();
    let label = format!("self-play of {}", network.name());
    let progress = shop.progress(place, &label, ("games", done, params.games.into()));
    let name = files::short_digest(&network.0.digest);
    let make_evaluator = || Ok(metered(shop.evaluators.make(&net)?, (&place.meter, 1), &net.spec));
    place.meter.plays_on(shop.lanes);
    let tables = params.search.open_tablebases()?;
    let job = SelfPlayJob {
        params,
        seed: place.seed,
        network: name,
        make_evaluator: &make_evaluator,
        tables: tables.as_ref(),
    };
    let keep = |shard, result| keep(place, name, shard, result).map_err(Into::into);
    selfplay::play(&job, &rest, shop.lanes, &keep, &progress)?;
    shop.close(&progress);
    product(place, shards.len() as u32)
}

/// Plays one shard of an iteration without storing it.
pub fn play_shard(
    (params, seed): (&SelfPlayParams, Seed),
    (net, digest): (&Checkpoint, &str),
    shard: Shard,
    (evaluators, observer): (&Evaluators, &dyn Observer),
) -> Result<ShardResult, StepError> {
    let make_evaluator = || evaluators.make(net);
    let tables = params.search.open_tablebases()?;
    let network = files::short_digest(digest);
    let job = SelfPlayJob { params, seed, network, make_evaluator: &make_evaluator, tables: tables.as_ref() };
    let played = Mutex::new(None);
    let keep = |_, result| {
        *played.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        Ok(())
    };
    selfplay::play(&job, &[shard], 1, &keep, observer)?;
    let played = played.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(played.expect("a shard that was played to its end was kept"))
}

/// Stores a finished shard: its tables first, then the note that says so.
fn keep(place: &Workplace, network: &str, shard: Shard, result: ShardResult) -> Result<(), StepError> {
    let number = shard.index.to_string();
    let provenance = files::provenance(place, [("network", network), ("shard", &number)]);
    let root = place.folder.root();
    let games = write_table(root, &place.part("games", shard.index), &result.games, &provenance)?;
    let positions = write_table(root, &place.part("positions", shard.index), &result.positions, &provenance)?;
    let note = ShardNote { files: vec![games, positions], part: result.stats };
    Ok(place.keep_shard(shard.index, &note)?)
}

/// Adds the shards up in their order, as read from their notes, so that it makes no difference when they were played.
fn product(place: &Workplace, shards: u32) -> Result<Product, StepError> {
    let mut stats = SelfPlayStats::default();
    let mut entries = Vec::new();
    for note in place.finished_shards::<SelfPlayStats>(shards)?.into_values() {
        stats.merge(&note.part);
        entries.extend(note.files);
    }
    Ok(Product { files: entries, summary: stats.to_value() })
}
