//! The step that searches given positions, and stores their best lines and trees as tables.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use dc0_core::board::{Game, Move};
use dc0_core::durable;
use dc0_core::event::{Event, Observer};
use dc0_core::network::Evaluator;
use dc0_core::params::{Problem, Value};
use dc0_core::search::{ANALYSIS_RULES, AnalysisParams, LineRow, Search, SearchParams, TreeRow, analyse};
use dc0_core::selfplay::{Shard, lanes, shards_of};
use dc0_core::store::{FileEntry, SearchFiles, read_entry, write_table};
use dc0_process::format::{counted, counted_amount};
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace};
use serde::{Deserialize, Serialize};

use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    Estimate, ShardPlan, TABLE_BYTES, Work, flops, most_evaluations, sequential_evaluations,
};
use crate::files;
use crate::handles::{Analysis, AnalysisFields, Network, SearchInput, short_digest};
use crate::memory::{Machine, Memory};
use crate::metered::only_metered;
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

/// The net that searches, and the positions that it searches.
pub(crate) struct PositionSearch {
    network: Network,
    input: SearchInput,
}

/// Why a search with other parameters cannot go on from the tree of an earlier one.
fn cannot_continue(earlier: &SearchParams, params: &SearchParams) -> Option<String> {
    if params.root.rule.plans_ahead() {
        let planned = "search.root.rule: the search of such a root plans all its simulations before the first and cannot be continued; set \
                       it to \"puct\", or search the positions with more simulations";
        return Some(planned.to_owned());
    }
    // Sums and proofs in the stored tree depend on these.
    let fixed = [
        ("graph", earlier.graph.to_string(), params.graph.to_string()),
        ("solver", earlier.solver.to_string(), params.solver.to_string()),
        ("draw_score", earlier.draw_score.to_string(), params.draw_score.to_string()),
        ("two_fold_draws", earlier.two_fold_draws.to_string(), params.two_fold_draws.to_string()),
    ];
    let (name, stored, given) = fixed.into_iter().find(|(_, stored, given)| stored != given)?;
    Some(format!(
        "search.{name}: the searches that are continued have {stored}, not {given}; set it to {stored}, or search the positions again"
    ))
}

/// A shard's part of the summary.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    positions: u64,
    simulations: u64,
    evaluations: u64,
    proven: u64,
    /// The best move of each position.
    best: Vec<String>,
    /// Its value for the side to move.
    values: Vec<f64>,
}

impl Step for PositionSearch {
    const KIND: &'static StepKind = &StepKind::SEARCH;
    const VERSION: u32 = 11;
    const USAGES: &'static [Usage] = &[Usage {
        name: "search",
        form: "run.search(network, [\"startpos moves e2e4\", …] or an analysis, #{…})",
        returns: "an analysis",
        meaning: "A step: searches given positions, or continues earlier searches that stored whole trees.",
        example: "let analysis = run.search(trained, [\"startpos moves e2e4\"], #{ lines: 3 });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] =
        &[&[ArgumentKind::Network, ArgumentKind::Texts], &[ArgumentKind::Network, ArgumentKind::Analysis]];

    type Params = AnalysisParams;

    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String> {
        match <[Argument; 2]>::try_from(arguments) {
            Ok([Argument::Network(network), Argument::Texts(positions)]) => {
                let input = SearchInput::Games(games(positions, problems));
                Ok(Self { network, input })
            }
            Ok([Argument::Network(_), Argument::Analysis(earlier)]) if earlier.0.continues.is_none() => {
                let cause = "these searches stored no whole trees and cannot be continued; make them with `tree` and `untried` true";
                Err(cause.to_owned())
            }
            Ok([Argument::Network(network), Argument::Analysis(earlier)]) => {
                Ok(Self { network, input: SearchInput::Continue(earlier) })
            }
            _ => Err(no_matching_form()),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        let network = past.read(manifest, "network")?.clone();
        Ok(Self { network, input: SearchInput::Games(Vec::new()) })
    }

    fn conflict(&self, params: &AnalysisParams, _: &Value) -> Option<String> {
        let earlier = match &self.input {
            SearchInput::Continue(earlier) => earlier.0.continues.as_ref(),
            SearchInput::Games(_) => None,
        };
        earlier
            .and_then(|earlier| cannot_continue(earlier, &params.search))
            .or_else(|| unmet("search", &params.search, &self.network.0.spec))
    }

    fn inputs(&self, params: &AnalysisParams) -> Result<Vec<Input>, StepError> {
        let input = match &self.input {
            SearchInput::Games(games) => ("positions", durable::digest(texts(games).join("\n").as_bytes())),
            SearchInput::Continue(earlier) => {
                let digests: Vec<&str> = earlier.0.files.iter().map(|file| file.blake3.as_str()).collect();
                ("searches", durable::digest(digests.join("\n").as_bytes()))
            }
        };
        let inputs = [("network", self.network.0.digest.clone()), input];
        let mut inputs = inputs.map(|(name, digest)| Input { name: name.to_owned(), digest }).to_vec();
        inputs.extend(files::tablebases(&params.search)?);
        Ok(inputs)
    }

    fn run(
        &self,
        params: &AnalysisParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let (network, input) = (&self.network, &self.input);
        let net = files::load(&workspace.folder, network)?;
        let shards = self.shards(params, workspace)?;
        let done = shards.sum(|part| part.positions);
        let label = format!("searches by {}", network.name());
        let amount = Amount { unit: "positions", done, total: input.positions() as u64 };
        let progress = context.progress(workspace, &label, amount);
        let tables = params.search.open_tablebases()?;
        let new =
            |game: Game| Search::with_tablebases(game, ANALYSIS_RULES, params.search.clone(), tables.clone());
        let root = workspace.folder.root();
        let starts = Starts::of(root, input)?;
        let search = |evaluator: &mut Box<dyn Evaluator>, shard: Shard| {
            let mut searches = starts.searches(root, shard.game_numbers(), &new)?;
            evaluator.start_shard();
            let evaluations = analyse(&mut searches, &mut **evaluator, &progress)?;
            progress.event(Event::Work { unit: "positions", amount: searches.len() as u64 });
            Ok((searches, evaluations))
        };
        let keep = |shard, result: (Vec<Search>, u64)| {
            keep(workspace, network, params, (shard, &result)).map(|()| ControlFlow::Continue(()))
        };
        workspace.meter.set_lanes(context.lanes);
        let worker = || Ok::<_, StepError>(only_metered(&context.evaluators, &net, &workspace.meter)?);
        lanes::run(&shards.rest, context.lanes, &worker, &search, &keep)?;
        context.close(&progress);
        product(workspace, shards.count)
    }

    fn result(&self, params: &AnalysisParams, output: StepOutput) -> Result<StepResult, StepError> {
        let StepOutput { run, number, files, summary, .. } = output;
        let continues = (params.tree && params.untried).then(|| params.search.clone());
        let fields = AnalysisFields { run, number, files, continues, summary };
        Ok(StepResult::Analysis(Analysis(Arc::new(fields))))
    }

    fn players(&self) -> String {
        format!("by {}", self.network.name())
    }

    fn figures(summary: &Value) -> String {
        let figure = |name| summary.figure(name).unwrap_or(f64::NAN);
        let [positions, simulations, proven] = ["positions", "simulations", "proven"].map(figure);
        let positions = counted(positions as usize, "position");
        format!("{positions} searched, {}, {proven} proven", counted_amount(simulations, "simulation"))
    }

    fn planned(&self, _: &AnalysisParams, number: u32) -> Result<String, StepError> {
        let (positions, network) = (counted(self.input.positions(), "position"), self.network.name());
        Ok(format!("analysis {number:04}: {positions} searched by {network}"))
    }

    fn begun(&self, params: &AnalysisParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        Ok(self.shards(params, workspace)?.progress(|part| part.positions))
    }

    fn memory(&self, params: &AnalysisParams, machine: Machine) -> Memory {
        let positions = u32::try_from(self.input.positions()).unwrap_or(u32::MAX);
        Memory::of_inference(&[&self.network], positions.div_ceil(params.shard_positions), machine)
    }

    fn estimate(&self, params: &AnalysisParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        let all = u32::try_from(self.input.positions()).unwrap_or(u32::MAX);
        let count = files::left(all, done);
        let positions = u64::from(count);
        let evaluations = most_evaluations(positions * u64::from(params.search.simulations), &params.search);
        let flops = evaluations as f64 * flops(&self.network);
        let shard = params.shard_positions;
        let plan = ShardPlan { count, shard, game_slots: shard, lanes };
        let pace = plan.pace(sequential_evaluations(1.0, &params.search), 1.0, evaluations as f64, flops);
        let bytes = 2.0 * TABLE_BYTES;
        Estimate { work: Work { positions, evaluations, flops, bytes, ..Work::default() }, pace }
    }

    fn mock_result(&self, params: &AnalysisParams, _: u32, _: u32, assumption: Assumption) -> MockResult {
        let summary = assumed(self.input.positions() as u64, params, assumption);
        MockResult { summary, files: vec!["searches".to_owned()] }
    }

    fn spent(&self, _: &AnalysisParams, summary: &Value) -> Spent {
        let evaluations = summary.figure("evaluations").unwrap_or(0.0);
        Spent { evaluations, flops: evaluations * flops(&self.network), ..Spent::default() }
    }
}

impl PositionSearch {
    fn shards(&self, params: &AnalysisParams, workspace: &StepWorkspace) -> Result<Shards<Part>, RunError> {
        let positions = self.input.positions() as u32;
        Shards::find(workspace, shards_of(positions, params.shard_positions))
    }
}

/// Parses a script's positions; an error becomes a problem of the item's index.
fn games(positions: Vec<Result<String, String>>, problems: &mut Vec<Problem>) -> Vec<Game> {
    if positions.is_empty() {
        let message = "is empty; give at least one position".to_owned();
        problems.push(Problem { path: "positions".to_owned(), message });
    }
    let mut games = Vec::new();
    for (index, given) in positions.into_iter().enumerate() {
        match game_to_search(given) {
            Ok(game) => games.push(game),
            Err(message) => problems.push(Problem { path: format!("positions[{index}]"), message }),
        }
    }
    games
}

/// Parses a position whose game is not over.
fn game_to_search(given: Result<String, String>) -> Result<Game, String> {
    let text = given
        .map_err(|kind| format!("expected text, such as \"startpos moves e2e4\" or a FEN, got {kind}"))?;
    let game = Game::from_text(&text).map_err(|error| error.to_string())?;
    match game.outcome(&ANALYSIS_RULES) {
        Some(outcome) => {
            let reason = outcome.reason.name();
            Err(format!("the game is over there ({reason}), so there is nothing to search"))
        }
        None => Ok(game),
    }
}

/// Each game as text: its start and its moves.
fn texts(games: &[Game]) -> Vec<String> {
    let text = |game: &Game| {
        let moves = game.moves().iter().map(|mv| format!(" {mv}"));
        game.start().fen() + moves.collect::<String>().as_str()
    };
    games.iter().map(text).collect()
}

/// Where the searches of a step start.
enum Starts<'a> {
    Games(&'a [Game]),
    /// Earlier searches by their numbers: the best line of each, and the file with its tree.
    Earlier(BTreeMap<u32, (LineRow, &'a FileEntry)>),
}

impl<'a> Starts<'a> {
    fn of(root: &Path, input: &'a SearchInput) -> Result<Self, StepError> {
        let analysis = match input {
            SearchInput::Games(games) => return Ok(Self::Games(games)),
            SearchInput::Continue(analysis) => analysis,
        };
        let mut earlier = BTreeMap::new();
        for shard in SearchFiles::of_analysis(&analysis.0.files) {
            let lines: Vec<LineRow> = read_entry(root, shard.lines)?;
            let best = lines.into_iter().filter(|line| line.line == 1);
            earlier.extend(best.map(|line| (line.search, (line, shard.trees))));
        }
        Ok(Self::Earlier(earlier))
    }

    /// The searches with these numbers, before they run.
    fn searches(
        &self,
        root: &Path,
        numbers: Range<u32>,
        new: &dyn Fn(Game) -> Search,
    ) -> Result<Vec<Search>, StepError> {
        let earlier = match self {
            Self::Games(games) => {
                let games = &games[numbers.start as usize..numbers.end as usize];
                return Ok(games.iter().cloned().map(new).collect());
            }
            Self::Earlier(earlier) => earlier,
        };
        let mut searches = Vec::new();
        let lines: Vec<&(LineRow, &FileEntry)> = earlier.range(numbers).map(|(_, line)| line).collect();
        for of_file in lines.chunk_by(|(_, file), (_, next)| file == next) {
            let trees: Vec<TreeRow> = read_entry(root, of_file[0].1)?;
            for (line, _) in of_file {
                let own = trees.partition_point(|row| row.search < line.search)
                    ..trees.partition_point(|row| row.search <= line.search);
                let game = Game::from_packed(&line.start_fen, &line.moves)?;
                searches.push(new(game).restore(&trees[own])?);
            }
        }
        Ok(searches)
    }
}

fn keep(
    workspace: &StepWorkspace,
    network: &Network,
    params: &AnalysisParams,
    (shard, (searches, evaluations)): (Shard, &(Vec<Search>, u64)),
) -> Result<(), StepError> {
    let (name, number) = (short_digest(&network.0.digest), shard.index.to_string());
    let provenance = files::provenance(workspace, [("network", name), ("shard", &number)]);
    let numbered = || shard.game_numbers().zip(searches);
    let lines: Vec<LineRow> =
        numbered().flat_map(|(number, search)| LineRow::best_lines(search, number, params.lines)).collect();
    let root = workspace.folder.root();
    let mut files = vec![write_table(root, &workspace.part("searches", shard.index), &lines, &provenance)?];
    if params.tree {
        let rows: Vec<TreeRow> =
            numbered().flat_map(|(number, search)| search.rows(number, params.untried)).collect();
        files.push(write_table(root, &workspace.part("trees", shard.index), &rows, &provenance)?);
    }
    Ok(workspace
        .keep_shard(shard.index, &ShardNote { files, part: Part::of(&lines, searches, *evaluations) })?)
}

impl Part {
    fn of(lines: &[LineRow], searches: &[Search], evaluations: u64) -> Self {
        let best: Vec<&LineRow> = lines.iter().filter(|line| line.line == 1).collect();
        let text = |packed: u16| Move::from_packed(packed).map(|mv| mv.to_string()).unwrap_or_default();
        Self {
            positions: searches.len() as u64,
            simulations: searches.iter().map(|search| u64::from(search.visits())).sum(),
            evaluations,
            proven: searches.iter().filter(|search| search.proof().is_some()).count() as u64,
            best: best.iter().map(|line| text(line.played)).collect(),
            values: best.iter().map(|line| f64::from(line.q)).collect(),
        }
    }
}

/// Merges the shards in order.
fn product(workspace: &StepWorkspace, shards: u32) -> Result<Product, StepError> {
    let (mut whole, mut entries) = (Part::default(), Vec::new());
    for note in workspace.all_shards::<Part>(shards)? {
        entries.extend(note.files);
        whole.positions += note.part.positions;
        whole.simulations += note.part.simulations;
        whole.evaluations += note.part.evaluations;
        whole.proven += note.part.proven;
        whole.best.extend(note.part.best);
        whole.values.extend(note.part.values);
    }
    Ok(Product { files: entries, summary: whole.summary() })
}

impl Part {
    fn summary(self) -> Value {
        let text = |text: String| Value::Text(text);
        let members = [
            ("positions", Value::Int(self.positions as i64)),
            ("simulations", Value::Int(self.simulations as i64)),
            ("evaluations", Value::Int(self.evaluations as i64)),
            ("proven", Value::Int(self.proven as i64)),
            ("best", Value::List(self.best.into_iter().map(text).collect())),
            ("values", Value::List(self.values.into_iter().map(Value::Float).collect())),
        ];
        Value::of(members)
    }
}

/// The mock summary for `--check`.
fn assumed(positions: u64, params: &AnalysisParams, assumption: Assumption) -> Value {
    Part {
        positions,
        simulations: positions * u64::from(params.search.simulations),
        evaluations: most_evaluations(positions * u64::from(params.search.simulations), &params.search),
        best: vec!["e2e4".to_owned(); positions as usize],
        values: vec![assumption.pick([0.0, 0.9, -0.9]); positions as usize],
        proven: assumption.pick([0, positions, 0]),
    }
    .summary()
}
