//! Shards of reanalysis for other processes, and checks of what they send back.

use std::sync::Arc;

use dc0_backend::Evaluators;
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::rng::Seed;
use dc0_core::selfplay::{
    GameRow, PositionRow, ReanalysisJob, ReanalysisParams, Reanalyzed, ReanalyzedPositions, SelfPlayStats,
    Shard, ShardResult, games_with_positions, with_cache,
};
use dc0_core::store::{Provenance, legality};
use dc0_runs::Meter;

use super::{Part, Reanalysis, renumber};
use crate::error::StepError;
use crate::executor::{
    Artefacts, Job, JobError, Lane, RemoteKind, RemoteShards, Reply, ReplyTable, checks, shard_provenance,
};
use crate::kinds::self_play::{stats_fault, stray_fault};
use crate::metered::only_metered;
use crate::step::Step as _;

/// The shards of reanalysis.
pub(crate) const REMOTE: RemoteKind =
    RemoteKind { kind: Reanalysis::KIND.name, version: Reanalysis::VERSION, prepare };

struct Remote {
    params: ReanalysisParams,
    seed: Seed,
    net: Checkpoint,
    provenance: Provenance,
}

fn prepare(job: &Job, seed: Seed, artefacts: &dyn Artefacts) -> Result<Box<dyn RemoteShards>, JobError> {
    let params: ReanalysisParams = checks::params(job)?;
    checks::no_tablebases(params.search.tablebases.as_deref().into_iter())?;
    let (_, net) = checks::only_net(job, artefacts)?;
    checks::exact(job, &[&net])?;
    Ok(Box::new(Remote { params, seed, net, provenance: job.provenance.clone() }))
}

impl RemoteShards for Remote {
    fn evaluators(
        &self,
        evaluators: &Evaluators,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Evaluator>>, JobError> {
        let evaluator = only_metered(evaluators, &self.net, meter).map_err(StepError::from)?;
        Ok(vec![with_cache(evaluator, self.params.cache)])
    }

    fn shard(
        &self,
        (_, lane): (&Evaluators, &mut Lane),
        shard: Shard,
        files: Vec<Vec<u8>>,
        observer: &dyn Observer,
    ) -> Result<Reply, JobError> {
        let [games, positions] = <[Vec<u8>; 2]>::try_from(files)
            .map_err(|files| JobError::part("files", &format!("expected 2, found {}", files.len())))?;
        let mut games: Vec<GameRow> = checks::table(games, checks::MOST_GAMES)?;
        let mut positions: Vec<PositionRow> = checks::table(positions, checks::MOST_POSITIONS)?;
        if games.len() != shard.games as usize {
            return Err(JobError::part("shard", &format!("{} games, expected {}", shard.games, games.len())));
        }
        renumber(shard, &mut games, &mut positions).map_err(|game| {
            JobError::part("files", &format!("they have positions of game {game}, which is not stored"))
        })?;
        let make_evaluator = || unreachable!("the lane has its evaluator");
        let job = ReanalysisJob {
            params: &self.params,
            seed: self.seed,
            make_evaluator: &make_evaluator,
            tables: None,
        };
        let found =
            job.shard(games, positions, &mut lane.evaluators[0], observer).map_err(StepError::from)?;
        let provenance = shard_provenance(&self.provenance, shard);
        let tables = vec![
            ReplyTable::of(&found.shard.games, &provenance)?,
            ReplyTable::of(&found.shard.positions, &provenance)?,
        ];
        let part = Part { stats: found.shard.stats, searched: found.searched };
        Ok(Reply { tables, figures: serde_json::to_value(part).expect("sums and counts") })
    }
}

/// Reads a shard that another process sent back, given the shard as it was before; the error says what is wrong with it.
pub(super) fn read(
    which: ReanalyzedPositions,
    reply: Reply,
    games: &[GameRow],
    positions: &[PositionRow],
) -> Result<Reanalyzed, String> {
    let most = (games.len() as u64, positions.len() as u64);
    let (sent_games, sent, figures) = checks::two_tables::<GameRow, PositionRow>(reply, most)?;
    let part: Part = serde_json::from_value(figures).map_err(|cause| format!("its figures: {cause}"))?;
    if sent_games != games {
        return Err("its games are not those that were to be searched".to_owned());
    }
    if sent.len() != positions.len() {
        return Err(format!("it has {} positions, expected {}", sent.len(), positions.len()));
    }
    let key = |row: &PositionRow| (row.game, row.ply, row.played, row.result);
    // A search gives those of fast searches a policy target, too.
    let may_be_searched = |old: &PositionRow| old.full || which == ReanalyzedPositions::All;
    let is_it = |row: &PositionRow, old: &PositionRow| {
        key(row) == key(old) && if row.full { may_be_searched(old) } else { row == old }
    };
    if let Some((row, _)) = sent.iter().zip(positions).find(|(row, old)| !is_it(row, old)) {
        return Err(format!(
            "game {}, ply {}: it is not the position that was to be searched",
            row.game, row.ply
        ));
    }
    let mut found = SelfPlayStats::default();
    for pair in games_with_positions(games, &sent) {
        let (row, own) = pair.map_err(stray_fault)?;
        if let Some(fault) = legality::reanalyzed_fault(row, own) {
            return Err(format!("game {}: {fault}", row.game));
        }
        found.add_game(row, own);
    }
    if part.searched > sent.len() as u64 {
        return Err(format!("{} positions searched, but it has {}", part.searched, sent.len()));
    }
    let Part { stats, searched } = part;
    stats_fault(&stats, &found).map_or(
        Ok(Reanalyzed { shard: ShardResult { games: sent_games, positions: sent, stats }, searched }),
        Err,
    )
}
