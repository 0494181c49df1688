//! Shards of matches for other processes, and checks of what they send back.

use std::sync::Arc;

use dc0_backend::Evaluators;
use dc0_core::arena::{self, ArenaParams, Lineup, MatchShard, Requested, baseline};
use dc0_core::board::Side;
use dc0_core::book::Book;
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::rng::Seed;
use dc0_core::selfplay::Shard;
use dc0_core::store::{MatchGameRow, Provenance, legality};
use dc0_runs::Meter;
use serde::{Deserialize, Serialize};

use super::setup::{MatchPlayer, MatchSetup};
use super::{Arena, OPENINGS};
use crate::executor::{Artefacts, Job, JobError, Lane, RemoteKind, RemoteShards, Reply, ReplyTable, checks};
use crate::metered::metered;
use crate::step::Step as _;

/// The shards of matches.
pub(crate) const REMOTE: RemoteKind = RemoteKind { kind: Arena::KIND.name, version: Arena::VERSION, prepare };

struct Remote {
    params: ArenaParams,
    seed: Seed,
    names: [String; 2],
    nets: [Option<Checkpoint>; 2],
    book: Option<Book>,
    provenance: Provenance,
}

/// The figures of a shard that are in no row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    requested: [Requested; 2],
}

fn prepare(job: &Job, seed: Seed, artefacts: &dyn Artefacts) -> Result<Box<dyn RemoteShards>, JobError> {
    let params: ArenaParams = checks::params(job)?;
    let own = [&params.first.search, &params.second.search].into_iter().flatten();
    let folders = std::iter::once(&params.search).chain(own).map(|search| &search.tablebases);
    let folders = folders.chain(params.alphabetas().map(|search| &search.tablebases));
    let folders = folders.chain([&params.adjudication.tablebases]).filter_map(Option::as_deref);
    checks::no_tablebases(folders)?;
    let [first, second] = job.players.as_slice() else {
        return Err(JobError::part("players", &format!("expected two, found {}", job.players.len())));
    };
    let nets = [checks::net(first, artefacts)?, checks::net(second, artefacts)?];
    checks::exact(job, &nets.iter().flatten().collect::<Vec<_>>())?;
    let names = [first.name.clone(), second.name.clone()];
    for (name, net) in names.iter().zip(&nets) {
        if net.is_none() && baseline(name).is_none() {
            return Err(JobError::part(
                "players",
                &format!("{name} has no net, and is no player without one"),
            ));
        }
    }
    let mut book = None;
    if let Some(opening) = &params.openings {
        book = Book::named(&opening.file);
    }
    if let Some(opening) = params.openings.as_ref().filter(|_| book.is_none()) {
        let file = job.files.iter().find(|file| file.name == OPENINGS);
        let file = file.ok_or_else(|| JobError::part("book of openings", "it is missing"))?;
        let plies = opening.plies.map(|plies| plies as usize);
        let read = Book::read(&opening.file, &artefacts.content(file)?, plies);
        book = Some(read.map_err(|cause| JobError::part("book of openings", &cause))?);
    }
    Ok(Box::new(Remote { params, seed, names, nets, book, provenance: job.provenance.clone() }))
}

impl Remote {
    fn player(&self, number: usize) -> MatchPlayer<'_> {
        let name = &self.names[number];
        match &self.nets[number] {
            Some(net) => MatchPlayer::Network { name, net },
            None => MatchPlayer::Baseline(baseline(name).expect("checked when the job was prepared")),
        }
    }

    fn setup<'a>(&'a self, evaluators: &'a Evaluators) -> MatchSetup<'a> {
        let players = [self.player(0), self.player(1)];
        MatchSetup { params: &self.params, seed: self.seed, players, book: self.book.as_ref(), evaluators }
    }
}

fn plain(evaluator: Box<dyn Evaluator>, _: &Checkpoint) -> Box<dyn Evaluator> {
    evaluator
}

impl RemoteShards for Remote {
    fn evaluators(
        &self,
        evaluators: &Evaluators,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Evaluator>>, JobError> {
        let setup = self.setup(evaluators);
        let per_lane = setup.evaluators_of_lane();
        let measured = |evaluator, net: &Checkpoint| metered(evaluator, meter, per_lane, &net.spec);
        let make = |job: &arena::Match<'_>| Ok(arena::evaluators(job)?);
        Ok(setup.with_match(&measured, make)?)
    }

    fn shard(
        &self,
        (evaluators, lane): (&Evaluators, &mut Lane),
        shard: Shard,
        _: Vec<Vec<u8>>,
        observer: &dyn Observer,
    ) -> Result<Reply, JobError> {
        let setup = self.setup(evaluators);
        let shard_games = Lineup::of_nets(setup.owns()).shard_games(&self.params);
        checks::shard(shard, self.params.games, shard_games)?;
        let play =
            |job: &arena::Match<'_>| Ok(arena::play_shard(job, shard, &mut lane.evaluators, observer)?);
        let MatchShard { rows, requested } = setup.with_match(&plain, play)?;
        let tables = vec![ReplyTable::of(&rows, &self.provenance)?];
        let figures = serde_json::to_value(Figures { requested }).expect("counts");
        Ok(Reply { tables, figures })
    }
}

/// What the games of a shard must be like.
pub(super) struct Expected<'a> {
    pub(super) params: &'a ArenaParams,
    pub(super) seed: Seed,
    pub(super) names: &'a [String; 2],
    pub(super) book: Option<&'a Book>,
}

impl Expected<'_> {
    /// Reads a shard that another process sent back; the error says what is wrong with it.
    pub(super) fn read(&self, shard: Shard, reply: Reply) -> Result<MatchShard, String> {
        let (rows, figures) = checks::one_table::<MatchGameRow>(reply, shard.games.into())?;
        let Figures { requested } =
            serde_json::from_value(figures).map_err(|cause| format!("its figures: {cause}"))?;
        if requested.iter().any(|own| own.cache_hits > own.evaluations) {
            return Err(format!("its figures are impossible: {requested:?}"));
        }
        if !rows.iter().map(|row| row.game).eq(shard.game_numbers()) {
            return Err(format!("its games are not those numbered {:?}", shard.game_numbers()));
        }
        for row in &rows {
            let fault = self
                .pairing_fault(row)
                .or_else(|| self.opening_fault(row))
                .or_else(|| legality::match_fault(row, &self.params.rules()));
            if let Some(fault) = fault {
                return Err(format!("game {}: {fault}", row.game));
            }
        }
        Ok(MatchShard { rows, requested })
    }

    /// What is wrong with who plays a game, and with its score.
    fn pairing_fault(&self, row: &MatchGameRow) -> Option<String> {
        let (found, names) = ([&row.first, &row.second], self.names);
        if found != [&names[0], &names[1]] {
            return Some(format!(
                "{} and {} play it, expected {} and {}",
                found[0], found[1], names[0], names[1]
            ));
        }
        if row.pair != row.game / 2 {
            return Some(format!("`pair` is {}, expected {}", row.pair, row.game / 2));
        }
        if row.first_is_white != row.game.is_multiple_of(2) {
            return Some("the colours of the players are exchanged".to_owned());
        }
        let side = if row.first_is_white { Side::White } else { Side::Black };
        let points = f64::from(row.result.score_for(side) + 1) / 2.0;
        (row.score != points).then(|| format!("`score` is {}, but its result gives {points}", row.score))
    }

    /// Whether a game has another opening than the seed gives its pair.
    fn opening_fault(&self, row: &MatchGameRow) -> Option<String> {
        let start = arena::opening(self.params, self.seed, self.book, row.pair);
        let opening: Vec<u16> = start.moves().iter().map(|mv| mv.packed()).collect();
        let is_it = row.start_fen == start.start().fen()
            && usize::from(row.opening_plies) == opening.len()
            && row.moves.starts_with(&opening);
        (!is_it).then(|| "its opening is not the one that the seed gives it".to_owned())
    }
}
