//! The step that searches the positions of stored games again, and stores the games with the new targets.

mod remote;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use dc0_core::event::Observer;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Problem, Value};
use dc0_core::selfplay::{
    GameRow, PositionRow, ReanalysisJob, ReanalysisParams, Reanalyzed, SelfPlayStats, Shard, lanes,
};
use dc0_core::store::{FileEntry, Provenance, ShardFiles, read_entry, write_shard_table};
use dc0_process::format::counted;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace};
use serde::{Deserialize, Serialize};

use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    self, Estimate, GAME_BYTES, ShardPlan, TABLE_BYTES, evaluated_flops, flops, most_evaluations, number,
};
use crate::executor::{
    Described, Job, Keep, RemoteWork, Reply, ReplyTable, ShardWork, Sources, Task, Unaccepted,
    shard_provenance, step_provenance,
};
use crate::files;
use crate::handles::{Made, Network, Window, short_digest};
use crate::kinds::self_play::report;
use crate::memory::{Machine, Memory};
use crate::metered::only_metered;
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

pub(super) use remote::REMOTE;

/// The net that searches, and the games whose positions it searches.
pub(crate) struct Reanalysis {
    network: Network,
    window: Window,
}

/// The figures of a finished shard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    stats: SelfPlayStats,
    searched: u64,
}

impl Step for Reanalysis {
    const KIND: &'static StepKind = &StepKind::REANALYZE;
    const VERSION: u32 = 10;
    const USAGES: &'static [Usage] = &[Usage {
        name: "reanalyze",
        form: "run.reanalyze(network, window, #{…})",
        returns: "games",
        meaning: "A step: searches the positions of a window's games again, without noise, and stores the games with the new policy \
            targets and values. The games themselves stay as they were played.",
        example: "let newer = run.reanalyze(trained, games, #{ search: #{ simulations: p.simulations }, share: 0.5 });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[ArgumentKind::Network, ArgumentKind::Window]];

    type Params = ReanalysisParams;

    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String> {
        match <[Argument; 2]>::try_from(arguments) {
            Ok([Argument::Network(network), Argument::Window(window)]) => {
                window.refuse_weights(problems);
                Ok(Self { network, window })
            }
            _ => Err(no_matching_form()),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self { network: past.read(manifest, "network")?.clone(), window: Window::default() })
    }

    fn conflict(&self, params: &ReanalysisParams, _: &Value) -> Option<String> {
        unmet("search", &params.search, &self.network.0.spec)
    }

    fn inputs(&self, params: &ReanalysisParams) -> Result<Vec<Input>, StepError> {
        let mut inputs = vec![Input { name: "network".to_owned(), digest: self.network.0.digest.clone() }];
        inputs.extend(files::tablebases(&params.search)?);
        for (number, part) in self.window.parts().enumerate() {
            for (kind, entry) in [("games", part.games), ("positions", part.positions)] {
                inputs.push(Input { name: format!("{kind} {number:05}"), digest: entry.blake3.clone() });
            }
        }
        Ok(inputs)
    }

    fn run(
        &self,
        params: &ReanalysisParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let net = files::load(&workspace.folder, &self.network)?;
        let shards = Shards::<Part>::find(workspace, self.window.shards())?;
        let done = shards.sum(|part| part.stats.games);
        let amount = Amount { unit: "games", done, total: self.games().into() };
        let label = format!("reanalysis by {}", self.network.name());
        let progress = context.progress(workspace, &label, amount);
        workspace.meter.set_lanes(context.lanes);
        let network = short_digest(&self.network.0.digest);
        let provenance = step_provenance(workspace, &[&net], context.is_mixed(), [("network", network)]);
        let work = Work { step: self, params, workspace, context, net: &net, provenance };
        context.do_shards(&work, &shards.rest, &progress)?;
        context.close(&progress);
        product(workspace, shards.count)
    }

    fn result(&self, _: &ReanalysisParams, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(output.games(Made::Copied(Some(self.network.0.number))))
    }

    fn figures(summary: &Value) -> String {
        let [games, positions, searched] =
            ["games", "positions", "reanalyzed"].map(|name| number(summary, name) as usize);
        let (games, positions) = (counted(games, "game"), counted(positions, "position"));
        format!("{games}, {positions}, {} searched again", counted(searched, "position"))
    }

    fn planned(&self, _: &ReanalysisParams, number: u32) -> Result<String, StepError> {
        let (net, games) = (self.network.name(), counted(self.games() as usize, "game"));
        Ok(format!("iteration {number:04}: {games} reanalyzed by {net}"))
    }

    fn begun(&self, _: &ReanalysisParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        Ok(Shards::<Part>::find(workspace, self.window.shards())?.progress(|part| part.stats.games))
    }

    fn memory(&self, _: &ReanalysisParams, machine: Machine) -> Memory {
        Memory::of_inference(&[&self.network], self.window.shards().len() as u32, machine)
    }

    fn estimate(
        &self,
        params: &ReanalysisParams,
        done: u64,
        summary: Option<&Value>,
        lanes: u32,
    ) -> Estimate {
        let summary = summary.cloned().unwrap_or_else(|| self.assumed(params));
        let [games, positions, evaluations] =
            ["games", "positions", "evaluations"].map(|name| number(&summary, name));
        let left = games.saturating_sub(done);
        let share = left as f64 / games.max(1) as f64;
        let [positions, evaluations] = [positions, evaluations].map(|count| (count as f64 * share) as u64);
        let row_bytes = 20.0 + 5.0 * f64::from(params.search.simulations).sqrt();
        let shards = self.window.shards();
        let bytes = left as f64 * GAME_BYTES
            + positions as f64 * row_bytes
            + shards.len() as f64 * share * 2.0 * TABLE_BYTES;
        let flops = evaluations as f64 * flops(&self.network);
        // In a plan, the shards of games that are not played yet have no rows.
        let shard = self.games().div_ceil(shards.len().max(1) as u32).max(1);
        let plan = ShardPlan { count: left as u32, shard, game_slots: params.game_slots, lanes };
        let rows = most_evaluations(params.search.leaf_batch.into(), &params.search);
        let sequential = evaluations as f64 / left.max(1) as f64 / rows as f64;
        let pace = plan.pace(sequential, 1.0, evaluations as f64, flops);
        let work =
            estimate::Work { games: left, positions, evaluations, flops, bytes, ..estimate::Work::default() };
        Estimate { work, pace }
    }

    fn mock_result(&self, params: &ReanalysisParams, _: u32, _: u32, _: Assumption) -> MockResult {
        let shards = 0..self.window.shards().len();
        let files = shards
            .flat_map(|shard| ["games", "positions"].map(|folder| format!("{folder}/{shard:05}.parquet")))
            .collect();
        MockResult { summary: self.assumed(params), files }
    }

    /// Its games were counted when they were played.
    fn spent(&self, _: &ReanalysisParams, summary: &Value) -> Spent {
        let evaluations = summary.figure("evaluations").unwrap_or(0.0);
        Spent { evaluations, flops: evaluated_flops(summary, &self.network), ..Spent::default() }
    }
}

impl Reanalysis {
    fn games(&self) -> u32 {
        self.window.sum("games") as u32
    }

    /// The games of a shard with their positions, numbered through the whole window.
    fn read(
        &self,
        workspace: &StepWorkspace,
        shard: Shard,
    ) -> Result<(Vec<GameRow>, Vec<PositionRow>), StepError> {
        let (part, root) = self.part(workspace, shard);
        let mut games: Vec<GameRow> = read_entry(root, part.games)?;
        let mut positions: Vec<PositionRow> = read_entry(root, part.positions)?;
        renumber(shard, &mut games, &mut positions)
            .map_err(|game| StepError::StrayPosition { file: part.positions.path.clone(), game })?;
        Ok((games, positions))
    }

    /// The files of a shard, and the folder that their paths are relative to.
    fn part<'a>(&'a self, workspace: &'a StepWorkspace, shard: Shard) -> (ShardFiles<'a>, &'a Path) {
        let stored = self.window.stored_shard(shard);
        (stored.files, stored.games.root(workspace.folder.root()))
    }

    /// The mock result: the games as their summaries have them.
    fn assumed(&self, params: &ReanalysisParams) -> Value {
        let count = |name| self.window.sum(name) as u64;
        let searched = (count("positions") as f64 * params.share) as u64;
        let simulations = searched * u64::from(params.search.simulations);
        let stats = SelfPlayStats {
            games: self.games().into(),
            white_wins: count("white_wins"),
            draws: count("draws"),
            black_wins: count("black_wins"),
            plies: count("positions"),
            positions: count("positions"),
            evaluations: most_evaluations(simulations, &params.search),
            batches: simulations.div_ceil(u64::from(params.game_slots)),
            simulations,
            entropy_sum: count("positions") as f64,
            ..SelfPlayStats::default()
        };
        summary(&stats, searched)
    }
}

/// Numbers the games of a file, and with them their positions, as a shard does; the error is a game of a position that is not there.
fn renumber(shard: Shard, games: &mut [GameRow], positions: &mut [PositionRow]) -> Result<(), u32> {
    let mut numbers = HashMap::new();
    for (row, number) in games.iter_mut().zip(shard.game_numbers()) {
        numbers.insert(row.game, number);
        row.game = number;
    }
    for row in positions {
        row.game = numbers.get(&row.game).copied().ok_or(row.game)?;
    }
    Ok(())
}

/// The shards of a reanalysis.
struct Work<'a> {
    step: &'a Reanalysis,
    params: &'a ReanalysisParams,
    workspace: &'a StepWorkspace,
    context: &'a StepContext,
    net: &'a Checkpoint,
    /// That of the step's tables.
    provenance: Provenance,
}

impl ShardWork for Work<'_> {
    type Found = Reanalyzed;

    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, Reanalyzed>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let (context, meter) = (self.context, &self.workspace.meter);
        let make_evaluator = || only_metered(&context.evaluators, self.net, meter);
        let tables = self.params.search.open_tablebases()?;
        let job = ReanalysisJob {
            params: self.params,
            seed: self.workspace.seed,
            make_evaluator: &make_evaluator,
            tables: tables.as_ref(),
        };
        lanes::run::<_, _, StepError>(
            shards,
            lanes,
            &|| Ok(job.evaluator()?),
            &|evaluator, shard| {
                let (games, positions) = self.step.read(self.workspace, shard)?;
                Ok(job.shard(games, positions, evaluator, observer)?)
            },
            keep,
        )
    }

    fn workspace(&self) -> &StepWorkspace {
        self.workspace
    }

    fn remote(&self) -> Result<&dyn RemoteWork<Found = Reanalyzed>, &'static str> {
        match self.params.search.tablebases {
            None => Ok(self),
            Some(_) => Err("workers have no tablebases"),
        }
    }

    fn store(&self, shard: Shard, found: &Reanalyzed) -> Result<Vec<FileEntry>, StepError> {
        let provenance = shard_provenance(&self.provenance, shard);
        let root = self.workspace.folder.root();
        let path = |table| self.workspace.part(table, shard.index);
        let games = write_shard_table(root, &path("games"), &found.shard.games, &provenance)?;
        let positions = write_shard_table(root, &path("positions"), &found.shard.positions, &provenance)?;
        Ok(vec![games, positions])
    }

    fn finish(
        &self,
        shard: Shard,
        found: Reanalyzed,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError> {
        let part = Part { stats: found.shard.stats, searched: found.searched };
        self.workspace.keep_shard(shard.index, &ShardNote { files, part })?;
        Ok(ControlFlow::Continue(()))
    }
}

impl RemoteWork for Work<'_> {
    type Found = Reanalyzed;

    fn job(&self) -> Result<Described<Job>, StepError> {
        let Self { step, params, workspace, context, net, .. } = *self;
        let mut job = context.job(&REMOTE, params, &[net], workspace, &self.provenance)?;
        job.add_net(workspace, short_digest(&step.network.0.digest), &step.network)?;
        Ok(job)
    }

    fn task(&self, shard: Shard) -> Result<Described<Task>, StepError> {
        let mut task = Described { of: Task::of(shard), sources: Sources::new() };
        let (part, root) = self.step.part(self.workspace, shard);
        for entry in [part.games, part.positions] {
            let file = task.name(entry.path.clone(), root.join(&entry.path), entry.bytes, &entry.blake3);
            task.of.files.push(file);
        }
        Ok(task)
    }

    fn read(&self, shard: Shard, reply: Reply) -> Result<Reanalyzed, Unaccepted> {
        let (games, positions) = self.step.read(self.workspace, shard).map_err(Unaccepted::Failed)?;
        remote::read(self.params.positions, reply, &games, &positions).map_err(Unaccepted::Refused)
    }

    fn tables(&self, shard: Shard, found: &Reanalyzed) -> Result<Vec<ReplyTable>, StepError> {
        let provenance = shard_provenance(&self.provenance, shard);
        Ok(vec![
            ReplyTable::of(&found.shard.games, &provenance)?,
            ReplyTable::of(&found.shard.positions, &provenance)?,
        ])
    }

    /// The positions are not new.
    fn report(&self, found: &Reanalyzed, observer: &dyn Observer) {
        let stats = SelfPlayStats { positions: 0, ..found.shard.stats.clone() };
        report(&stats, observer);
    }
}

fn summary(stats: &SelfPlayStats, searched: u64) -> Value {
    let mut summary = stats.to_value();
    if let Value::Group(members) = &mut summary {
        members.retain(|name, _| !name.ends_with("resignations") && !name.starts_with("resignations"));
    }
    summary.put("reanalyzed", Value::Int(searched as i64));
    summary
}

/// Merges the shards in order from their notes, so that the result does not depend on when they were done.
fn product(workspace: &StepWorkspace, shards: u32) -> Result<Product, StepError> {
    let (mut stats, mut searched) = (SelfPlayStats::default(), 0);
    let mut entries = Vec::new();
    for note in workspace.all_shards::<Part>(shards)? {
        stats.merge(&note.part.stats);
        searched += note.part.searched;
        entries.extend(note.files);
    }
    Ok(Product { files: entries, summary: summary(&stats, searched) })
}
