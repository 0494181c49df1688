//! The shards of a match: done here, or described for other processes.

use std::ops::ControlFlow;
use std::path::Path;

use dc0_core::arena::{self, ArenaParams, MatchShard};
use dc0_core::book::{Book, BookParams};
use dc0_core::event::{Event, Observer};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::selfplay::Shard;
use dc0_core::store::{FileEntry, Provenance, write_shard_table};
use dc0_runs::{ShardNote, StepWorkspace};

use super::match_so_far::MatchSoFar;
use super::setup::{MatchPlayer, MatchSetup};
use super::{Arena, OPENINGS, Part, remote};
use crate::context::StepContext;
use crate::error::StepError;
use crate::executor::{
    Described, Job, JobPlayer, Keep, RemoteWork, Reply, ReplyTable, ShardWork, Unaccepted,
};
use crate::handles::Player;
use crate::metered::metered;
use crate::progress::StepProgress;

/// The shards of a match.
pub(super) struct Work<'a> {
    pub(super) step: &'a Arena,
    pub(super) params: &'a ArenaParams,
    pub(super) workspace: &'a StepWorkspace,
    pub(super) context: &'a StepContext,
    /// That of the step's tables.
    pub(super) provenance: Provenance,
    pub(super) nets: &'a [Option<Checkpoint>],
    pub(super) names: &'a [String; 2],
    pub(super) book: Option<Book>,
    pub(super) so_far: &'a MatchSoFar<'a>,
    pub(super) progress: &'a StepProgress,
}

impl Work<'_> {
    fn player(&self, number: usize) -> MatchPlayer<'_> {
        match (&self.step.players[number], &self.nets[number]) {
            (Player::Baseline(baseline), _) => MatchPlayer::Baseline(*baseline),
            (Player::Program(program), _) => MatchPlayer::Program(program),
            (Player::Network { .. }, net) => {
                let net = net.as_ref().expect("the net of a network is loaded");
                MatchPlayer::Network { name: &self.names[number], net }
            }
        }
    }
}

impl ShardWork for Work<'_> {
    type Found = MatchShard;

    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, MatchShard>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let setup = MatchSetup {
            params: self.params,
            seed: self.workspace.seed,
            players: [self.player(0), self.player(1)],
            book: self.book.as_ref(),
            evaluators: &self.context.evaluators,
        };
        let per_lane = setup.evaluators_of_lane();
        let measured =
            |evaluator, net: &Checkpoint| metered(evaluator, &self.workspace.meter, per_lane, &net.spec);
        let keep = |shard, result| keep(shard, result).map_err(Into::into);
        setup.play(shards, lanes, &measured, &keep, observer)
    }

    fn workspace(&self) -> &StepWorkspace {
        self.workspace
    }

    fn remote(&self) -> Result<&dyn RemoteWork<Found = MatchShard>, &'static str> {
        let searches = [self.params.search_of(0), self.params.search_of(1)];
        if self.step.players.iter().any(|player| player.program().is_some()) {
            return Err("workers start no other programs");
        }
        if searches.iter().any(|search| search.tablebases.is_some())
            || self.params.alphabetas().any(|search| search.tablebases.is_some())
            || self.params.adjudication.tablebases.is_some()
        {
            return Err("workers have no tablebases");
        }
        Ok(self)
    }

    fn store(&self, shard: Shard, found: &MatchShard) -> Result<Vec<FileEntry>, StepError> {
        let path = self.workspace.scratch_part(shard.index);
        Ok(vec![write_shard_table(self.workspace.folder.root(), &path, &found.rows, &self.provenance)?])
    }

    fn finish(
        &self,
        shard: Shard,
        found: MatchShard,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError> {
        let half_points =
            arena::pair_points(&found.rows).into_iter().map(|points| (2.0 * points) as u8).collect();
        let part = Part { games: shard.games.into(), requested: found.requested, half_points };
        self.workspace.keep_shard(shard.index, &ShardNote { files, part: part.clone() })?;
        Ok(self.so_far.add(shard.index, part, self.progress))
    }

    fn discard(&self, shard: Shard) -> Result<(), StepError> {
        self.so_far.known().remove(shard.index);
        Ok(self.workspace.discard_shard(shard.index)?)
    }
}

impl RemoteWork for Work<'_> {
    type Found = MatchShard;

    fn job(&self) -> Result<Described<Job>, StepError> {
        let Self { step, params, workspace, context, .. } = *self;
        let nets: Vec<&Checkpoint> = self.nets.iter().flatten().collect();
        let mut job = context.job(&remote::REMOTE, params, &nets, workspace, &self.provenance)?;
        for (player, name) in step.players.iter().zip(self.names) {
            match player.network() {
                Some(network) => job.add_net(workspace, name, network)?,
                None => job.of.players.push(JobPlayer { name: name.clone(), net: None }),
            }
        }
        if let Some(BookParams { file, .. }) =
            params.openings.as_ref().filter(|book| Book::named(&book.file).is_none())
        {
            let book = job.name_file(OPENINGS, Path::new(file))?;
            job.of.files.push(book);
        }
        Ok(job)
    }

    fn read(&self, shard: Shard, reply: Reply) -> Result<MatchShard, Unaccepted> {
        let Self { params, workspace, names, .. } = *self;
        let expected = remote::Expected { params, seed: workspace.seed, names, book: self.book.as_ref() };
        expected.read(shard, reply).map_err(Unaccepted::Refused)
    }

    fn tables(&self, _: Shard, found: &MatchShard) -> Result<Vec<ReplyTable>, StepError> {
        Ok(vec![ReplyTable::of(&found.rows, &self.provenance)?])
    }

    fn report(&self, found: &MatchShard, observer: &dyn Observer) {
        let evaluations = found.requested.iter().map(|own| own.evaluations).sum();
        observer.event(Event::Work { unit: "evaluations", amount: evaluations });
        observer.event(Event::Work { unit: "games", amount: found.rows.len() as u64 });
    }
}
