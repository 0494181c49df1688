//! Checks of what comes from other processes.

use std::path::Path;

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Params, read};
use dc0_core::selfplay::Shard;
use dc0_core::store::{TableRow, decode_table};

use super::job::{Job, JobPlayer, Reply, is_exact};
use super::prepared::{Artefacts, JobError};

/// Games of a file that is read; those of the largest shard are fewer.
pub(crate) const MOST_GAMES: u64 = 100_000_000;

/// Positions of a file that is read.
pub(crate) const MOST_POSITIONS: u64 = 1000 * MOST_GAMES;

/// The parameters of a job, each within its range.
pub(crate) fn params<P: Params>(job: &Job) -> Result<P, JobError> {
    Ok(read(&job.kind, &job.params)?)
}

/// The net of a player.
pub(crate) fn net(player: &JobPlayer, artefacts: &dyn Artefacts) -> Result<Option<Checkpoint>, JobError> {
    let Some(net) = &player.net else { return Ok(None) };
    let (weights, manifest) = (artefacts.content(&net.weights)?, artefacts.content(&net.manifest)?);
    let loaded = Checkpoint::from_bytes(Path::new("net.safetensors"), &manifest, &weights);
    Ok(Some(loaded.map_err(|cause| JobError::part("net", &cause))?.checkpoint))
}

/// The net of the only player, with its name.
pub(crate) fn only_net(job: &Job, artefacts: &dyn Artefacts) -> Result<(String, Checkpoint), JobError> {
    let [player] = job.players.as_slice() else {
        return Err(JobError::part("players", &format!("expected one, found {}", job.players.len())));
    };
    let net = net(player, artefacts)?.ok_or_else(|| JobError::part("players", "expected a net"))?;
    Ok((player.name.clone(), net))
}

/// Whether a job says rightly that all its nets are computed in integers.
pub(crate) fn exact(job: &Job, nets: &[&Checkpoint]) -> Result<(), JobError> {
    if job.evaluation.is_exact && !is_exact(nets) {
        return Err(JobError::part("evaluation", "it says that its nets are computed in integers"));
    }
    Ok(())
}

/// An error unless a shard is one of a step with this many games.
pub(crate) fn shard(shard: Shard, games: u32, shard_games: u32) -> Result<(), JobError> {
    let first = u64::from(shard.index) * u64::from(shard_games);
    let expected = u64::from(games).saturating_sub(first).min(shard_games.into());
    if expected > 0 && u64::from(shard.first_game) == first && u64::from(shard.games) == expected {
        return Ok(());
    }
    let Shard { index, first_game, games: found } = shard;
    let cause = format!(
        "{found} games from {first_game} on as number {index}, but the step has {games} in shards of {shard_games}"
    );
    Err(JobError::part("shard", &cause))
}

/// An error if a job names folders of tablebases. They would be read on this machine, where they may be others or none.
pub(crate) fn no_tablebases<'a>(mut folders: impl Iterator<Item = &'a str>) -> Result<(), JobError> {
    match folders.next() {
        Some(folder) => {
            Err(JobError::part("tablebases", &format!("workers use none, and it names {folder}")))
        }
        None => Ok(()),
    }
}

/// The rows of a file of a job.
pub(crate) fn table<R: TableRow>(content: Vec<u8>, most: u64) -> Result<Vec<R>, JobError> {
    decode_table(content, Path::new(R::TABLE), most).map_err(|cause| JobError::part(R::TABLE, &cause))
}

/// The rows of the tables of a reply, of which each may have so many at most, and its figures.
pub(crate) fn two_tables<A: TableRow, B: TableRow>(
    reply: Reply,
    most: (u64, u64),
) -> Result<(Vec<A>, Vec<B>, serde_json::Value), String> {
    let names: Vec<&str> = reply.tables.iter().map(|table| table.name.as_str()).collect();
    if names != [A::TABLE, B::TABLE] {
        return Err(format!("its tables are {names:?}, expected {:?}", [A::TABLE, B::TABLE]));
    }
    let mut contents = reply.tables.into_iter().map(|table| table.content);
    let mut next = || contents.next().unwrap_or_default();
    let first = rows(next(), most.0)?;
    Ok((first, rows(next(), most.1)?, reply.figures))
}

/// The rows of the only table of a reply, which may have so many at most, and its figures.
pub(crate) fn one_table<R: TableRow>(reply: Reply, most: u64) -> Result<(Vec<R>, serde_json::Value), String> {
    match <[_; 1]>::try_from(reply.tables) {
        Ok([table]) if table.name == R::TABLE => Ok((rows(table.content, most)?, reply.figures)),
        _ => Err(format!("expected one table, {}", R::TABLE)),
    }
}

fn rows<R: TableRow>(content: Vec<u8>, most: u64) -> Result<Vec<R>, String> {
    decode_table(content, Path::new(R::TABLE), most).map_err(|cause| dc0_process::fault::chain(&cause))
}
