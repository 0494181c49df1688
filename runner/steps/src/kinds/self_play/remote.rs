//! Shards of self-play for other processes, and checks of what they send back.

use std::sync::Arc;

use dc0_backend::Evaluators;
use dc0_core::book::Book;
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::selfplay::{
    self, GameRow, Openings, PositionRow, SearcherKind, SelfPlayJob, SelfPlayParams, SelfPlayStats, Shard,
    ShardResult, games_with_positions,
};
use dc0_core::store::{Provenance, legality};
use dc0_runs::Meter;

use super::{ARCHIVE, OPENINGS, SelfPlay, check_length, play_one};
use crate::error::StepError;
use crate::executor::{
    Artefacts, Job, JobError, Lane, RemoteKind, RemoteShards, Reply, ReplyTable, checks, shard_provenance,
};
use crate::metered::{only_metered, row_flops};
use crate::step::Step as _;

/// The shards of self-play.
pub(crate) const REMOTE: RemoteKind =
    RemoteKind { kind: SelfPlay::KIND.name, version: SelfPlay::VERSION, prepare };

struct Remote {
    params: SelfPlayParams,
    seed: Seed,
    name: String,
    net: Checkpoint,
    openings: Openings,
    provenance: Provenance,
}

fn prepare(job: &Job, seed: Seed, artefacts: &dyn Artefacts) -> Result<Box<dyn RemoteShards>, JobError> {
    let params: SelfPlayParams = checks::params(job)?;
    checks::no_tablebases(params.search.tablebases().into_iter())?;
    let (name, net) = checks::only_net(job, artefacts)?;
    checks::exact(job, &[&net])?;
    let mut openings = Openings::default();
    for file in &job.files {
        let content = artefacts.content(file)?;
        if file.name.starts_with(ARCHIVE) {
            openings.archive.add(&checks::table::<GameRow>(content, checks::MOST_GAMES)?);
        } else if let Some(start) = params.openings.as_ref().filter(|_| file.name == OPENINGS) {
            let plies = start.plies.map(|plies| plies as usize);
            let book = Book::read(&start.file, &content, plies);
            let book = book.map_err(|cause| JobError::part("book of openings", &cause))?;
            openings.book = Some(check_length(book, &params)?);
        }
    }
    if let Some(named) = params.openings.as_ref().and_then(|start| Book::named(&start.file)) {
        openings.book = Some(check_length(named, &params)?);
    }
    if openings.book.is_some() != params.openings.is_some() {
        return Err(JobError::part("book of openings", "it is missing"));
    }
    if openings.archive.is_empty() && params.archive_share > 0.0 {
        return Err(JobError::part("archive", "it has no positions to start from"));
    }
    let provenance = job.provenance.clone();
    Ok(Box::new(Remote { params, seed, name, net, openings, provenance }))
}

impl RemoteShards for Remote {
    fn evaluators(
        &self,
        evaluators: &Evaluators,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Evaluator>>, JobError> {
        match self.params.search.searcher() {
            SearcherKind::Tree => {
                let evaluator = only_metered(evaluators, &self.net, meter).map_err(StepError::from)?;
                Ok(vec![selfplay::with_cache(evaluator, self.params.cache)])
            }
            // It evaluates positions itself.
            SearcherKind::AlphaBeta => Ok(Vec::new()),
        }
    }

    fn shard(
        &self,
        (_, lane): (&Evaluators, &mut Lane),
        shard: Shard,
        _: Vec<Vec<u8>>,
        observer: &dyn Observer,
    ) -> Result<Reply, JobError> {
        checks::shard(shard, self.params.games, self.params.shard_games)?;
        let make_evaluator = || unreachable!("the lane has its evaluator");
        let job = SelfPlayJob {
            params: &self.params,
            seed: self.seed,
            network: &self.name,
            make_evaluator: &make_evaluator,
            tables: None,
            openings: Some(&self.openings),
        };
        let found = match self.params.search.searcher() {
            SearcherKind::Tree => {
                let evaluators =
                    lane.evaluators.as_mut_slice().try_into().expect("a lane of self-play has one evaluator");
                selfplay::play_shard(&job, shard, evaluators, observer).map_err(StepError::from)?
            }
            SearcherKind::AlphaBeta => {
                let found = play_one(&job, &self.net, shard, observer)?;
                let rows = found.stats.evaluations;
                lane.meter.evaluated_alone(rows, rows as f64 * row_flops(&self.net.spec));
                found
            }
        };
        let provenance = shard_provenance(&self.provenance, shard);
        let tables =
            vec![ReplyTable::of(&found.games, &provenance)?, ReplyTable::of(&found.positions, &provenance)?];
        Ok(Reply { tables, figures: serde_json::to_value(found.stats).expect("sums and counts") })
    }
}

/// What the games of a shard must be like.
pub(super) struct Expected<'a> {
    pub(super) params: &'a SelfPlayParams,
    pub(super) seed: Seed,
    pub(super) network: &'a str,
    pub(super) openings: &'a Openings,
}

impl Expected<'_> {
    /// Reads a shard that another process sent back; the error says what is wrong with it.
    pub(super) fn read(&self, shard: Shard, reply: Reply) -> Result<ShardResult, String> {
        let most = u64::from(shard.games) * u64::from(self.params.max_plies);
        let (games, positions, figures) =
            checks::two_tables::<GameRow, PositionRow>(reply, (shard.games.into(), most))?;
        let stats: SelfPlayStats =
            serde_json::from_value(figures).map_err(|cause| format!("its figures: {cause}"))?;
        if !games.iter().map(|row| row.game).eq(shard.game_numbers()) {
            return Err(format!("its games are not those numbered {:?}", shard.game_numbers()));
        }
        let mut found = SelfPlayStats::default();
        for pair in games_with_positions(&games, &positions) {
            let (row, own) = pair.map_err(stray_fault)?;
            let fault =
                self.start_fault(row).or_else(|| legality::self_play_fault(row, own, &self.params.rules()));
            if let Some(fault) = fault {
                return Err(format!("game {}: {fault}", row.game));
            }
            found.add_game(row, own);
        }
        stats_fault(&stats, &found).map_or(Ok(ShardResult { games, positions, stats }), Err)
    }

    /// Whether a game has another net or another start than the seed gives it.
    fn start_fault(&self, row: &GameRow) -> Option<String> {
        if row.network != self.network {
            return Some(format!("the net {} played it, expected {}", row.network, self.network));
        }
        match self.openings.allow(self.params, self.seed, row) {
            Ok(true) => None,
            Ok(false) => Some("its opening is not the one that the seed gives it".to_owned()),
            Err(cause) => Some(cause.to_string()),
        }
    }
}

/// What is wrong with a shard that has a position of no game.
pub(in crate::kinds) fn stray_fault(position: &PositionRow) -> String {
    format!("it has positions of game {}, which it does not have", position.game)
}

/// What contradicts the rows in the figures of a shard, or themselves.
pub(in crate::kinds) fn stats_fault(sent: &SelfPlayStats, rows: &SelfPlayStats) -> Option<String> {
    // Those that are in no row.
    let SelfPlayStats { evaluations, cache_hits, batches, resignations_tested, false_resignations, .. } =
        *sent;
    let expected = SelfPlayStats {
        evaluations,
        cache_hits,
        batches,
        resignations_tested,
        false_resignations,
        entropy_sum: sent.entropy_sum,
        ..rows.clone()
    };
    let is_possible = cache_hits <= evaluations
        && batches <= evaluations
        && resignations_tested <= 2 * rows.games
        && false_resignations <= resignations_tested
        && (sent.entropy_sum - rows.entropy_sum).abs() <= 1e-6 * rows.entropy_sum.max(1.0);
    let shown = |stats: &SelfPlayStats| match stats.to_value() {
        Value::Group(members) => {
            members.into_iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    (!is_possible || *sent != expected)
        .then(|| format!("its figures are {}, but its rows have {}", shown(sent), shown(rows)))
}

#[cfg(test)]
mod tests;
