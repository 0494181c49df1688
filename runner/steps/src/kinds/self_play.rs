//! The step that plays games of a net against itself, with one games file and one positions file per shard.

mod remote;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use dc0_backend::Evaluators;
use dc0_core::book::Book;
use dc0_core::event::{Event, Observer};
use dc0_core::network::Tower;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::NnueNet;
use dc0_core::params::{Problem, Value};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::rng::Seed;
use dc0_core::selfplay::{
    self, Archive, GameRow, KeepShard, Openings, SearcherKind, SelfPlayJob, SelfPlayParams, SelfPlaySearch,
    SelfPlayStats, Shard, ShardResult, StartParams, shards_of,
};
use dc0_core::store::{FileEntry, Provenance, read_entry, write_shard_table};
use dc0_process::format::counted;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{
    Folder, Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace,
};

use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    self, Estimate, GAME_BYTES, ShardPlan, TABLE_BYTES, assumed_plies, evaluated_flops, flops,
    most_evaluations, number,
};
use crate::executor::{
    Described, Job, Keep, RemoteWork, Reply, ReplyTable, ShardWork, Unaccepted, shard_provenance,
    step_provenance,
};
use crate::files;
use crate::handles::{Made, Network, StoredShard, Window, short_digest};
use crate::memory::{Machine, Memory};
use crate::metered::only_metered;
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::summary::cut_off;
use crate::usage::Usage;

pub(super) use remote::{REMOTE, stats_fault, stray_fault};

/// An evaluation of alpha-beta takes this share of the time of one of a tree search, besides the net's: the positions that are searched
/// for it take 2.5 µs, against 13.6 µs. Measured.
const ALPHABETA_ITEM: f64 = 0.2;

/// The positions that alpha-beta searches for each that it evaluates. Measured.
const NODES_PER_EVALUATION: u64 = 2;

/// Precedes the name of a shard of the archive among the inputs.
pub const ARCHIVE: &str = "archive ";

/// The book's name among the inputs.
const OPENINGS: &str = "openings";

/// The net that plays, and the games whose positions games start from.
pub struct SelfPlay {
    network: Network,
    archive: Option<Window>,
}

impl Step for SelfPlay {
    const KIND: &'static StepKind = &StepKind::SELF_PLAY;
    const VERSION: u32 = 16;
    const USAGES: &'static [Usage] = &[
        Usage {
            name: "self_play",
            form: "run.self_play(network, #{…}) or run.self_play(network, window, #{…})",
            returns: "games",
            meaning: "A step: plays games of a net against itself. With a window, some of them start from positions of its games \
                (`archive_share`).",
            example: "let games = run.self_play(net, #{ games: p.games, search: #{ simulations: p.simulations } });",
        },
        Usage {
            name: "window",
            form: "run.window(#{…})",
            returns: "a window",
            meaning: "The games of the latest iterations.",
            example: "let window = run.window(#{ iterations: 2 });",
        },
    ];
    const FORMS: &'static [&'static [ArgumentKind]] =
        &[&[ArgumentKind::Network], &[ArgumentKind::Network, ArgumentKind::Window]];

    type Params = SelfPlayParams;

    fn schedules() -> Option<(&'static str, u32)> {
        Some(("max_plies", SelfPlayParams::default().max_plies))
    }

    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        match (arguments.next(), arguments.next()) {
            (Some(Argument::Network(network)), None) => Ok(Self { network, archive: None }),
            (Some(Argument::Network(network)), Some(Argument::Window(archive))) => {
                archive.refuse_weights(problems);
                Ok(Self { network, archive: Some(archive) })
            }
            _ => Err(no_matching_form()),
        }
    }

    fn conflict(&self, params: &SelfPlayParams, _: &Value) -> Option<String> {
        let tower = self.network.0.spec.tower.kind;
        if params.search.searcher() == SearcherKind::AlphaBeta && tower != Tower::Nnue {
            return Some(format!(
                "search.kind: \"alphabeta\" searches by the values of a net of the kind nnue, and this one is of the kind {}; give \
                 a net with `tower: #{{ kind: \"nnue\" }}`, or leave the kind out for a tree search",
                tower.name()
            ));
        }
        if let SelfPlaySearch::Tree(search) = &params.search
            && let Some(unmet) = unmet("search", search, &self.network.0.spec)
        {
            return Some(unmet);
        }
        match (&self.archive, params.archive_share > 0.0) {
            (None, true) => Some(
                "archive_share: expected the games to start from, as in `run.self_play(net, window, #{…})`, got none"
                    .to_owned(),
            ),
            (Some(_), false) => {
                Some("archive_share: expected more than 0, as the call names games to start from".to_owned())
            }
            _ => None,
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self { network: past.read(manifest, "network")?.clone(), archive: None })
    }

    fn inputs(&self, params: &SelfPlayParams) -> Result<Vec<Input>, StepError> {
        let mut inputs = vec![Input { name: "network".to_owned(), digest: self.network.0.digest.clone() }];
        inputs.extend(params.search.open_tablebases()?.as_ref().map(files::tablebases_input));
        if let Some(book) = starts(params)? {
            inputs.push(Input { name: OPENINGS.to_owned(), digest: book.digest().to_owned() });
        }
        for part in self.archive.iter().flat_map(Window::parts) {
            inputs
                .push(Input { name: format!("{ARCHIVE}{}", part.name()), digest: part.games.blake3.clone() });
        }
        Ok(inputs)
    }

    fn run(
        &self,
        params: &SelfPlayParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let net = files::load(&workspace.folder, &self.network)?;
        let shards = Self::shards(params, workspace)?;
        let label = format!("self-play of {}", self.network.name());
        let amount =
            Amount { unit: "games", done: shards.sum(|part| part.games), total: params.games.into() };
        let progress = context.progress(workspace, &label, amount);
        workspace.meter.set_lanes(context.lanes);
        let book = starts(params)?;
        if let (Some(book), Some(StartParams { file, plies, .. })) = (&book, &params.openings) {
            files::warn_of_finished(book, file, *plies, &progress);
        }
        let openings = Openings { book, archive: self.archive(&workspace.folder)? };
        let network = short_digest(&self.network.0.digest);
        let provenance = step_provenance(workspace, &[&net], context.is_mixed(), [("network", network)]);
        let work =
            Work { step: self, params, workspace, context, net: &net, openings: &openings, provenance };
        context.do_shards(&work, &shards.rest, &progress)?;
        context.close(&progress);
        product(workspace, shards.count)
    }

    fn result(&self, _: &SelfPlayParams, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(output.games(Made::Played(Some(self.network.0.number))))
    }

    fn figures(summary: &Value) -> String {
        let figure = |name| summary.figure(name).unwrap_or(f64::NAN);
        let [games, positions, draws, plies] = ["games", "positions", "draws", "mean_plies"].map(figure);
        let share = |count: f64, what: &str| format!("{:.1}% {what}", 100.0 * count / games);
        // A game that the ply cap cut off is stored as a draw.
        let cut_off = cut_off(summary, "reasons");
        let ends = if cut_off > 0.0 { format!(", {}", share(cut_off, "cut off")) } else { String::new() };
        format!(
            "{}, {}, {}{ends}, {plies:.1} plies each",
            counted(games as usize, "game"),
            counted(positions as usize, "position"),
            share(draws - cut_off, "drawn")
        )
    }

    fn planned(&self, _: &SelfPlayParams, number: u32) -> Result<String, StepError> {
        Ok(format!("iteration {number:04}: self-play of {}", self.network.name()))
    }

    fn begun(&self, params: &SelfPlayParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        Ok(Self::shards(params, workspace)?.progress(|part| part.games))
    }

    fn memory(&self, params: &SelfPlayParams, machine: Machine) -> Memory {
        let shards = params.games.div_ceil(params.shard_games);
        let tables = match &params.search {
            SelfPlaySearch::Tree(_) => None,
            SelfPlaySearch::AlphaBeta(search) => Some(search.hash_mb),
        };
        Memory::of_inference(&[&self.network], shards, machine)
            .and(Memory::of_tables(tables, shards, machine))
    }

    /// The row of a position has the visits of its moves, so more simulations make it longer.
    fn estimate(&self, params: &SelfPlayParams, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate {
        let left = SelfPlayParams { games: files::left(params.games, done), ..params.clone() };
        let summary = summary.cloned().unwrap_or_else(|| assumed(&left, Assumption::Even).to_value());
        let [games, positions, evaluations] =
            ["games", "positions", "evaluations"].map(|name| number(&summary, name));
        let moves = match &left.search {
            SelfPlaySearch::Tree(search) => f64::from(search.simulations).sqrt(),
            SelfPlaySearch::AlphaBeta(_) => 1.0,
        };
        let row_bytes = 20.0 + 5.0 * moves;
        let shards = f64::from(left.games.div_ceil(left.shard_games));
        let bytes = games as f64 * GAME_BYTES + positions as f64 * row_bytes + shards * 2.0 * TABLE_BYTES;
        let flops = evaluations as f64 * flops(&self.network);
        let plan =
            ShardPlan { count: left.games, shard: left.shard_games, game_slots: left.game_slots, lanes };
        let pace = match &left.search {
            SelfPlaySearch::Tree(search) => {
                // A position and its mirror image are in the same batch.
                let rows = most_evaluations(search.leaf_batch.into(), search);
                let sequential = evaluations as f64 / games.max(1) as f64 / rows as f64;
                plan.pace(sequential, 1.0, evaluations as f64, flops)
            }
            SelfPlaySearch::AlphaBeta(_) => plan.pace(0.0, 1.0, ALPHABETA_ITEM * evaluations as f64, 0.0),
        };
        let work = estimate::Work { games, positions, evaluations, flops, bytes, ..Default::default() };
        Estimate { work, pace }
    }

    fn mock_result(&self, params: &SelfPlayParams, _: u32, _: u32, assumption: Assumption) -> MockResult {
        let shards = 0..params.games.div_ceil(params.shard_games);
        let files = shards
            .flat_map(|shard| ["games", "positions"].map(|folder| format!("{folder}/{shard:05}.parquet")))
            .collect();
        MockResult { summary: assumed(params, assumption).to_value(), files }
    }

    fn spent(&self, _: &SelfPlayParams, summary: &Value) -> Spent {
        let figure = |name| summary.figure(name).unwrap_or(0.0);
        let flops = evaluated_flops(summary, &self.network);
        Spent { games: figure("games"), evaluations: figure("evaluations"), flops, ..Spent::default() }
    }
}

impl SelfPlay {
    fn shards(params: &SelfPlayParams, workspace: &StepWorkspace) -> Result<Shards<SelfPlayStats>, RunError> {
        Shards::find(workspace, shards_of(params.games, params.shard_games))
    }

    /// The games whose positions games start from.
    fn archive(&self, folder: &Folder) -> Result<Archive, StepError> {
        let mut archive = Archive::default();
        for StoredShard { games, files, .. } in self.archive.iter().flat_map(Window::stored) {
            archive.add(&read_entry::<GameRow>(games.root(folder.root()), files.games)?);
        }
        Ok(archive)
    }
}

/// The book of openings.
pub fn starts(params: &SelfPlayParams) -> Result<Option<Book>, StepError> {
    let Some(StartParams { file, plies, .. }) = &params.openings else { return Ok(None) };
    check_length(files::book(file, *plies)?, params).map(Some)
}

/// An error if a book's openings leave no moves to play.
fn check_length(book: Book, params: &SelfPlayParams) -> Result<Book, StepError> {
    let longest = book.longest();
    if longest as u32 + params.opening_plies < params.max_plies {
        return Ok(book);
    }
    let file = params.openings.as_ref().map(|start| start.file.clone()).unwrap_or_default();
    Err(StepError::LongOpenings { file, plies: longest, max_plies: params.max_plies })
}

/// The mock result: games as they might end.
fn assumed(params: &SelfPlayParams, assumption: Assumption) -> SelfPlayStats {
    let games = u64::from(params.games);
    let draws = games * assumption.pick([3, 1, 6]) / 10;
    let white_wins = (games - draws).div_ceil(2);
    let positions = games * assumed_plies(params.max_plies, params.opening_plies);
    let (simulations, evaluations, batches) = match &params.search {
        SelfPlaySearch::Tree(search) => {
            let simulations = positions * u64::from(search.simulations);
            let batches = simulations.div_ceil(u64::from(params.game_slots));
            (simulations, most_evaluations(simulations, search), batches)
        }
        SelfPlaySearch::AlphaBeta(search) => {
            let simulations = positions * search.nodes;
            let evaluations = simulations / NODES_PER_EVALUATION;
            (simulations, evaluations, evaluations)
        }
    };
    SelfPlayStats {
        games,
        white_wins,
        draws,
        black_wins: games - draws - white_wins,
        reasons: [("checkmate".to_owned(), games - draws)].into(),
        plies: positions + games * u64::from(params.opening_plies),
        positions,
        evaluations,
        cache_hits: 0,
        batches,
        simulations,
        entropy_sum: positions as f64 * assumption.pick([1.0, 0.3, 2.5]),
        resignations_tested: 0,
        false_resignations: 0,
    }
}

/// Plays shards with the search of the job's parameters; alpha-beta evaluates positions in the net's integers, without the job's
/// evaluators.
fn play(
    job: &SelfPlayJob<'_>,
    net: &Checkpoint,
    shards: &[Shard],
    lanes: u32,
    keep: &KeepShard<'_>,
    observer: &dyn Observer,
) -> Result<(), StepError> {
    match &job.params.search {
        SelfPlaySearch::Tree(_) => selfplay::play(job, shards, lanes, keep, observer)?,
        SelfPlaySearch::AlphaBeta(_) => {
            let net = NnueNet::shared(&net.spec, &net.weights)?;
            selfplay::play_alphabeta(job, &net, shards, lanes, keep, observer)?;
        }
    }
    Ok(())
}

/// Plays one shard of an iteration without storing it.
pub fn play_shard(
    params: &SelfPlayParams,
    seed: Seed,
    (net, digest): (&Checkpoint, &str),
    archive: Archive,
    shard: Shard,
    evaluators: &Evaluators,
    observer: &dyn Observer,
) -> Result<ShardResult, StepError> {
    let make_evaluator = || evaluators.make(net);
    let tables = params.search.open_tablebases()?;
    let network = short_digest(digest);
    let openings = Openings { book: starts(params)?, archive };
    let tables = tables.as_ref();
    let job = SelfPlayJob {
        params,
        seed,
        network,
        make_evaluator: &make_evaluator,
        tables,
        openings: Some(&openings),
    };
    play_one(&job, net, shard, observer)
}

/// Plays one shard of a job on one lane, without storing it.
pub fn play_one(
    job: &SelfPlayJob<'_>,
    net: &Checkpoint,
    shard: Shard,
    observer: &dyn Observer,
) -> Result<ShardResult, StepError> {
    let finished = Mutex::new(None);
    let keep = |_, result| {
        *finished.lock().ignore_poison() = Some(result);
        Ok(())
    };
    play(job, net, &[shard], 1, &keep, observer)?;
    let result = finished.into_inner().ignore_poison();
    Ok(result.expect("a shard that was played to its end was kept"))
}

/// The shards of an iteration.
struct Work<'a> {
    step: &'a SelfPlay,
    params: &'a SelfPlayParams,
    workspace: &'a StepWorkspace,
    context: &'a StepContext,
    net: &'a Checkpoint,
    openings: &'a Openings,
    /// That of the step's tables.
    provenance: Provenance,
}

impl Work<'_> {
    /// The net's name in rows.
    fn network(&self) -> &str {
        short_digest(&self.step.network.0.digest)
    }
}

impl ShardWork for Work<'_> {
    type Found = ShardResult;

    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, ShardResult>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let (context, meter) = (self.context, &self.workspace.meter);
        let make_evaluator = || only_metered(&context.evaluators, self.net, meter);
        let tables = self.params.search.open_tablebases()?;
        let job = SelfPlayJob {
            params: self.params,
            seed: self.workspace.seed,
            network: self.network(),
            make_evaluator: &make_evaluator,
            tables: tables.as_ref(),
            openings: Some(self.openings),
        };
        let is_alone = self.params.search.searcher() == SearcherKind::AlphaBeta;
        let flops = flops(&self.step.network);
        let keep = |shard, result: ShardResult| {
            let evaluations = result.stats.evaluations;
            // No result of self-play ends its step.
            let _ = keep(shard, result)?;
            if is_alone {
                meter.evaluated_alone(evaluations, evaluations as f64 * flops);
            }
            Ok(())
        };
        play(&job, self.net, shards, lanes, &keep, observer)
    }

    fn workspace(&self) -> &StepWorkspace {
        self.workspace
    }

    fn remote(&self) -> Result<&dyn RemoteWork<Found = ShardResult>, &'static str> {
        match self.params.search.tablebases() {
            None => Ok(self),
            Some(_) => Err("workers have no tablebases"),
        }
    }

    fn store(&self, shard: Shard, found: &ShardResult) -> Result<Vec<FileEntry>, StepError> {
        let provenance = shard_provenance(&self.provenance, shard);
        let root = self.workspace.folder.root();
        let path = |table| self.workspace.part(table, shard.index);
        let games = write_shard_table(root, &path("games"), &found.games, &provenance)?;
        let positions = write_shard_table(root, &path("positions"), &found.positions, &provenance)?;
        Ok(vec![games, positions])
    }

    fn finish(
        &self,
        shard: Shard,
        found: ShardResult,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError> {
        self.workspace.keep_shard(shard.index, &ShardNote { files, part: found.stats })?;
        Ok(ControlFlow::Continue(()))
    }
}

impl RemoteWork for Work<'_> {
    type Found = ShardResult;

    fn job(&self) -> Result<Described<Job>, StepError> {
        let Self { step, params, workspace, context, net, .. } = *self;
        let mut job = context.job(&REMOTE, params, &[net], workspace, &self.provenance)?;
        job.add_net(workspace, self.network(), &step.network)?;
        if let Some(StartParams { file, .. }) =
            params.openings.as_ref().filter(|start| Book::named(&start.file).is_none())
        {
            let book = job.name_file(OPENINGS, Path::new(file))?;
            job.of.files.push(book);
        }
        for StoredShard { games, files, .. } in step.archive.iter().flat_map(Window::stored) {
            let path = games.root(workspace.folder.root()).join(&files.games.path);
            let name = format!("{ARCHIVE}{}", files.name());
            let file = job.name(name, path, files.games.bytes, &files.games.blake3);
            job.of.files.push(file);
        }
        Ok(job)
    }

    fn read(&self, shard: Shard, reply: Reply) -> Result<ShardResult, Unaccepted> {
        let Self { params, workspace, openings, .. } = *self;
        let expected = remote::Expected { params, seed: workspace.seed, network: self.network(), openings };
        expected.read(shard, reply).map_err(Unaccepted::Refused)
    }

    fn tables(&self, shard: Shard, found: &ShardResult) -> Result<Vec<ReplyTable>, StepError> {
        let provenance = shard_provenance(&self.provenance, shard);
        Ok(vec![ReplyTable::of(&found.games, &provenance)?, ReplyTable::of(&found.positions, &provenance)?])
    }

    fn report(&self, found: &ShardResult, observer: &dyn Observer) {
        report(&found.stats, observer);
    }
}

/// Reports the work behind games of another process.
pub(super) fn report(stats: &SelfPlayStats, observer: &dyn Observer) {
    for (unit, amount) in
        [("evaluations", stats.evaluations), ("positions", stats.positions), ("games", stats.games)]
    {
        if amount > 0 {
            observer.event(Event::Work { unit, amount });
        }
    }
}

/// Merges the shards in order from their notes, so that the result does not depend on when they were played.
fn product(workspace: &StepWorkspace, shards: u32) -> Result<Product, StepError> {
    let mut stats = SelfPlayStats::default();
    let mut entries = Vec::new();
    for note in workspace.all_shards::<SelfPlayStats>(shards)? {
        stats.merge(&note.part);
        entries.extend(note.files);
    }
    Ok(Product { files: entries, summary: stats.to_value() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Network, SelfPlay, SelfPlayParams};
    use crate::handles::NetworkFields;
    use crate::step::Step;
    use dc0_core::network::NetworkSpec;
    use dc0_core::params::Value;
    use dc0_core::selfplay::SelfPlayStats;

    #[test]
    fn evaluations_that_the_cache_answered_cost_no_operations() {
        let (digest, file) = ("ab".repeat(32), "networks/0000.safetensors".to_owned());
        let (spec, summary) = (NetworkSpec::default(), Value::of([("flops", Value::Int(1000))]).into());
        let fields =
            NetworkFields { run: "run".into(), number: 0, digest, spec, file, training_state: None, summary };
        let step = SelfPlay { network: Network(Arc::new(fields)), archive: None };
        let stats = SelfPlayStats { games: 8, evaluations: 100, cache_hits: 15, ..Default::default() };
        let spent = step.spent(&SelfPlayParams::default(), &stats.to_value());
        assert_eq!((spent.games, spent.evaluations, spent.flops), (8.0, 100.0, 85_000.0));
    }

    #[test]
    fn games_that_the_ply_cap_cut_off_are_not_called_drawn() {
        let figures = |draws: u64, reasons: &[(&str, u64)]| {
            let reasons = reasons.iter().map(|(reason, games)| ((*reason).to_owned(), *games)).collect();
            let stats =
                SelfPlayStats { games: 120, draws, reasons, plies: 6000, positions: 9, ..Default::default() };
            SelfPlay::figures(&stats.to_value())
        };
        let decided = ("checkmate", 17);
        assert_eq!(
            figures(103, &[decided, ("ply_cap", 103)]),
            "120 games, 9 positions, 0.0% drawn, 85.8% cut off, 50.0 plies each"
        );
        assert_eq!(
            figures(103, &[decided, ("threefold", 103)]),
            "120 games, 9 positions, 85.8% drawn, 50.0 plies each"
        );
    }
}
