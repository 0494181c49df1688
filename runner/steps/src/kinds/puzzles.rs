//! The step that solves puzzles, and stores each attempt as a row. A net searches them with several budgets; other players answer
//! them.

mod answers;
mod remote;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use dc0_backend::Evaluators;
use dc0_core::arena::{PlayerParams, Puzzle, baseline, read_puzzles};
use dc0_core::board::{Move, Tablebase};
use dc0_core::event::{Event, Observer};
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Param as _, Problem, Value, read};
use dc0_core::search::{ANALYSIS_RULES, LineRow, Search, SearchParams, analyse};
use dc0_core::selfplay::{Shard, lanes, shards_of};
use dc0_core::store::{FileEntry, Provenance, PuzzleRow, write_shard_table};
use dc0_core::{durable, params, regular};
use dc0_opponents::Opponent;
use dc0_process::format::counted;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace};
use serde::{Deserialize, Serialize};

use super::arena::{PROGRAM, useless_precision};
use super::programs::unfit_for_alphabeta;
use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    Estimate, ShardPlan, TABLE_BYTES, Work, flops, most_evaluations, sequential_evaluations,
};
use crate::executor::{
    Described, Job, Keep, Reply, ReplyTable, ShardWork, Sources, Task, Unaccepted, shard_provenance,
    step_provenance,
};
use crate::files;
use crate::handles::{Network, Player, ProgramPlayer, SolvedPuzzles, SolvedPuzzlesFields, short_digest};
use crate::memory::{Machine, Memory};
use crate::metered::metered;
use crate::past_networks::PastNetworks;
use crate::progress::{Amount, StepProgress};
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;
pub(super) use remote::REMOTE;

params! {
    /// Puzzles of a suite, solved by a player.
    pub struct PuzzleParams {
        /// The search of every position by a net. Its `simulations` are those below.
        search: SearchParams = SearchParams::default();
        /// The budgets of a net; each position is searched once with each. Ascending.
        simulations: Vec<u32> = vec![1, 16, 64, 256], in 1..=10_000_000;
        /// Puzzles that are searched in lockstep, and stored and resumed together; of programs no more than 8.
        shard_puzzles: u32 = 64, in 1..=65_536;
        /// What the player has of its own. A player made by `player` brings it along. A search of its own is the only budget.
        player: PlayerParams = PlayerParams::default();
    }
    check |params| {
        let mut problems = params.search.without_effect_on_positions();
        if params.player.search.as_ref().is_some_and(|own| own.reuse_tree) {
            problems.push(("player.search.reuse_tree", SearchParams::NO_TREE_TO_REUSE.to_owned()));
        }
        if params.simulations.is_empty() {
            problems.push(("simulations", "is empty; give at least one number, such as [1, 64]".to_owned()));
        }
        if params.simulations.windows(2).any(|pair| pair[0] >= pair[1]) {
            problems.push(("simulations", "must ascend, such as [1, 16, 64]".to_owned()));
        }
        problems
    };
    unused |params| {
        let mut unused = Vec::new();
        if params.player == PlayerParams::default() {
            unused.push(("player", "has nothing of its own; leave it out".to_owned()));
        }
        if params.player.search.is_some() || params.player.alphabeta.is_some() {
            let own = "the player has a search of its own; leave it out";
            unused.extend(["search", "simulations"].map(|name| (name, own.to_owned())));
        }
        unused
    };
}

/// The player's own parameters, and the player among the inputs if it has no net.
const PLAYER: &str = "player";

/// The most puzzles in a shard of a program.
const PROGRAM_PUZZLES: u32 = 8;

/// A puzzle, for messages.
const EXAMPLE: &str = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;";

/// The player, and the suite that it solves.
pub(crate) struct Puzzles {
    player: Player,
    suite: Suite,
}

/// A suite as it is read.
#[derive(Default)]
struct Suite {
    name: String,
    digest: String,
    /// Its text.
    content: Vec<u8>,
    puzzles: Vec<Puzzle>,
}

/// A shard's part of the summary.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    puzzles: u64,
    simulations: u64,
    evaluations: u64,
    /// Puzzles whose likeliest move by the net alone is right.
    policy_solved: u64,
    /// Puzzles solved with each budget.
    solved: Vec<u64>,
}

impl Step for Puzzles {
    const KIND: &'static StepKind = &StepKind::PUZZLES;
    const VERSION: u32 = 8;
    const USAGES: &'static [Usage] = &[Usage {
        name: "puzzles",
        form: "run.puzzles(player, \"suite.epd\" or [\"FEN bm Qd1+;\", …], #{…})",
        returns: "solved puzzles",
        meaning: "A step: solves puzzles, which are lines of EPD with `bm`, `am` or `dm`. A net solves them with several budgets of \
            simulations; any other player of a match, such as \"greedy\" or `uci(…)`, with the limit that it has.",
        example: "let solved = run.puzzles(trained, [\"6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 1;\"], #{ simulations: [1, 8] });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] =
        &[&[ArgumentKind::Player, ArgumentKind::Text], &[ArgumentKind::Player, ArgumentKind::Texts]];
    const NEEDS_MAP: bool = false;

    type Params = PuzzleParams;

    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String> {
        let [player, suite] = <[Argument; 2]>::try_from(arguments).map_err(|_| no_matching_form())?;
        let player = match player {
            Argument::Network(network) => Player::of(network),
            Argument::Player(player) => player,
            Argument::Text(name) => Player::named(&name)?,
            _ => return Err(no_matching_form()),
        };
        let suite = match suite {
            Argument::Text(file) => Suite::of_file(&file, problems),
            Argument::Texts(lines) => Suite::of_lines(lines, problems),
            _ => return Err(no_matching_form()),
        };
        Ok(Self { player, suite })
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        match &self.player {
            Player::Network { own, .. } if **own != PlayerParams::default() => vec![(PLAYER, own.to_value())],
            _ => Vec::new(),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        let params: PuzzleParams =
            read(Self::KIND.name, &manifest.params).map_err(|cause| past.damaged(cause))?;
        let player = match manifest.input(PLAYER) {
            None => {
                let network = past.read(manifest, "network")?.clone();
                Player::Network { network, own: Arc::new(params.player) }
            }
            Some(digest) => baseline(digest).map_or_else(
                || {
                    let name = match manifest.summary.member(PLAYER) {
                        Some(Value::Text(name)) => name.clone(),
                        _ => String::new(),
                    };
                    Player::Program(ProgramPlayer { name, digest: digest.to_owned(), opponent: None })
                },
                Player::Baseline,
            ),
        };
        Ok(Self { player, suite: Suite::default() })
    }

    fn conflict(&self, params: &PuzzleParams, given: &Value) -> Option<String> {
        let name = self.player.name();
        let Some(network) = self.player.network() else {
            let extra =
                ["search", "simulations", PLAYER].into_iter().find(|name| given.member(name).is_some());
            return extra
                .map(|extra| format!("{extra}: it is for nets, and \"{name}\" has none; leave it out"));
        };
        if let Some(problem) = useless_precision(PLAYER, &params.player, network) {
            return Some(problem);
        }
        if params.player.alphabeta.is_some() {
            return unfit_for_alphabeta(PLAYER, &name, network);
        }
        let path = if params.player.search.is_some() { "player.search" } else { "search" };
        unmet(path, params.search(), &network.0.spec)
    }

    fn inputs(&self, params: &PuzzleParams) -> Result<Vec<Input>, StepError> {
        let player = match &self.player {
            Player::Network { network, .. } => ("network", network.0.digest.clone()),
            Player::Baseline(baseline) => (PLAYER, baseline.name().to_owned()),
            Player::Program(program) => (PLAYER, format!("{PROGRAM}{}", program.digest)),
        };
        let inputs = [player, ("suite", self.suite.digest.clone())];
        let mut inputs = inputs.map(|(name, digest)| Input { name: name.to_owned(), digest }).to_vec();
        if let Some(alphabeta) = &params.player.alphabeta {
            inputs.extend(alphabeta.open_tablebases()?.as_ref().map(files::tablebases_input));
        } else if self.player.network().is_some() {
            inputs.extend(files::tablebases(params.search())?);
        }
        Ok(inputs)
    }

    fn run(
        &self,
        params: &PuzzleParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let Some(network) = self.searching(params) else {
            return answers::run(self, params, workspace, context);
        };
        let net = files::load(&workspace.folder, network)?;
        let shards = Shards::<Part>::find(workspace, self.shards(params))?;
        let progress = self.progress(workspace, context, shards.sum(|part| part.puzzles));
        let name = self.player.row_name();
        let provenance =
            step_provenance(workspace, &[&net], context.is_mixed(), [("network", name.as_str())]);
        let work = SuiteWork { step: self, params, workspace, context, network, net: &net, provenance };
        context.do_shards(&work, &shards.rest, &progress)?;
        context.close(&progress);
        self.product(params, workspace, shards.count)
    }

    fn result(&self, _: &PuzzleParams, output: StepOutput) -> Result<StepResult, StepError> {
        let StepOutput { number, summary, .. } = output;
        Ok(StepResult::Puzzles(SolvedPuzzles(Arc::new(SolvedPuzzlesFields { number, summary }))))
    }

    fn players(&self) -> String {
        format!("by {}", self.player.name())
    }

    fn figures(summary: &Value) -> String {
        let list = |name| match summary.member(name) {
            Some(Value::List(list)) => list.iter().filter_map(Value::as_f64).collect(),
            _ => Vec::new(),
        };
        let number = |name| summary.member(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        if summary.member(PLAYER).is_some() {
            return answers::figures(summary);
        }
        let budgets = list("budgets").into_iter().zip(list("solved"));
        let budgets: Vec<String> =
            budgets.map(|(budget, solved)| format!("{:.1}% with {budget}", 100.0 * solved)).collect();
        format!(
            "{} solved: {:.1}% by the policy, {} simulations",
            counted(number("puzzles") as usize, "puzzle"),
            100.0 * number("policy_solved"),
            budgets.join(", ")
        )
    }

    fn planned(&self, _: &PuzzleParams, number: u32) -> Result<String, StepError> {
        let (count, name) = (counted(self.suite.puzzles.len(), "puzzle"), self.player.name());
        Ok(format!("puzzles {number:04}: {count} of {} solved by {name}", self.suite.name))
    }

    fn begun(&self, params: &PuzzleParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        let all = self.shards(params);
        match self.searching(params) {
            Some(_) => Ok(Shards::<Part>::find(workspace, all)?.progress(|part| part.puzzles)),
            None => answers::begun(workspace, all),
        }
    }

    fn memory(&self, params: &PuzzleParams, machine: Machine) -> Memory {
        let nets: Vec<&Network> = self.player.network().into_iter().collect();
        let shards = self.shards(params).len() as u32;
        let opponent = self.player.program().and_then(|program| program.opponent.as_ref());
        let alphabeta = params.player.alphabeta.as_ref().map(|search| search.hash_mb);
        let tables = alphabeta.into_iter().chain(opponent.map(Opponent::hash_mb));
        Memory::of_inference(&nets, shards, machine).and(Memory::of_tables(tables, shards, machine))
    }

    fn estimate(&self, params: &PuzzleParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        let count = files::left(self.count(), done);
        let positions = u64::from(count);
        let Some(network) = self.searching(params) else {
            let work = Work { positions, bytes: TABLE_BYTES, ..Work::default() };
            let plan = ShardPlan { count, shard: self.shard_puzzles(params), game_slots: 1, lanes };
            return Estimate { work, pace: plan.pace(0.0, 0.0, 0.0, 0.0) };
        };
        let simulations = params.simulations_of_all();
        let search = SearchParams {
            simulations: simulations.min(u64::from(u32::MAX)) as u32,
            ..params.search().clone()
        };
        let evaluations = most_evaluations(positions * simulations, &search);
        let flops = evaluations as f64 * flops(network);
        let shard = params.shard_puzzles;
        let plan = ShardPlan { count, shard, game_slots: shard, lanes };
        let pace = plan.pace(sequential_evaluations(1.0, &search), 1.0, evaluations as f64, flops);
        Estimate { work: Work { positions, evaluations, flops, bytes: TABLE_BYTES, ..Work::default() }, pace }
    }

    fn mock_result(&self, params: &PuzzleParams, _: u32, _: u32, assumption: Assumption) -> MockResult {
        let solved = assumption.pick([0, u64::from(self.count()), 0]);
        if self.searching(params).is_none() {
            let share = solved as f64 / f64::from(self.count().max(1));
            let summary = answers::mock_summary(self, share);
            return MockResult { summary, files: vec!["answers".to_owned()] };
        }
        let part = Part {
            puzzles: self.count().into(),
            simulations: u64::from(self.count()) * params.simulations_of_all(),
            evaluations: most_evaluations(
                u64::from(self.count()) * params.simulations_of_all(),
                params.search(),
            ),
            policy_solved: solved,
            solved: vec![solved; params.budgets().len()],
        };
        MockResult { summary: part.summary(params, &self.suite.name), files: vec!["puzzles".to_owned()] }
    }

    fn spent(&self, summary: &Value) -> Spent {
        let evaluations = summary.member("evaluations").and_then(Value::as_f64).unwrap_or(0.0);
        let each = self.player.network().map_or(0.0, flops);
        Spent { evaluations, flops: evaluations * each, ..Spent::default() }
    }
}

impl PuzzleParams {
    /// The search of a net.
    fn search(&self) -> &SearchParams {
        self.player.search.as_ref().unwrap_or(&self.search)
    }

    /// The budgets of a net.
    fn budgets(&self) -> &[u32] {
        self.player.search.as_ref().map_or(&self.simulations, |own| std::slice::from_ref(&own.simulations))
    }

    /// Simulations of a puzzle, with all budgets.
    fn simulations_of_all(&self) -> u64 {
        self.budgets().iter().map(|simulations| u64::from(*simulations)).sum()
    }

    /// An evaluator of a net, in the player's precision.
    fn evaluator(&self, evaluators: &Evaluators, net: &Checkpoint) -> Result<Box<dyn Evaluator>, StepError> {
        Ok(match self.player.precision {
            Some(precision) => evaluators.make_with_precision(net, precision)?,
            None => evaluators.make(net)?,
        })
    }
}

impl Suite {
    /// Reads the suite of a file; what is wrong with it becomes problems with their lines.
    fn of_file(file: &str, problems: &mut Vec<Problem>) -> Self {
        match regular::read(Path::new(file)) {
            Ok(content) => {
                let name = Path::new(file).file_name().unwrap_or_default();
                Self::of(&name.to_string_lossy(), file, &content, problems)
            }
            Err(cause) => {
                problems.push(Problem { path: file.to_owned(), message: format!("cannot be read: {cause}") });
                Self::default()
            }
        }
    }

    /// The suite of a script's lines.
    fn of_lines(lines: Vec<Result<String, String>>, problems: &mut Vec<Problem>) -> Self {
        let mut content = String::new();
        for (index, line) in lines.into_iter().enumerate() {
            match line {
                Ok(line) => {
                    content.push_str(&line.replace(['\n', '\r'], " "));
                    content.push('\n');
                }
                Err(kind) => {
                    let message = format!("expected text, such as \"{EXAMPLE}\", got {kind}");
                    problems.push(Problem { path: format!("puzzles[{index}]"), message });
                }
            }
        }
        if problems.is_empty() {
            Self::of("puzzles", "puzzles", content.as_bytes(), problems)
        } else {
            Self::default()
        }
    }

    fn of(name: &str, file: &str, content: &[u8], problems: &mut Vec<Problem>) -> Self {
        let puzzles = read_puzzles(file, content).unwrap_or_else(|error| {
            problems.extend(error.problems.into_iter().map(|problem| {
                let path = match problem.line {
                    0 => file.to_owned(),
                    line => format!("{file}, line {line}"),
                };
                Problem { path, message: problem.message }
            }));
            Vec::new()
        });
        let (digest, content) = (durable::digest(content), content.to_vec());
        Self { name: name.to_owned(), digest, content, puzzles }
    }
}

/// What the net alone says of a puzzle.
struct Policy {
    is_right: bool,
    /// The priors of the right moves together.
    prior: f32,
}

/// What a search plays.
struct Answer {
    played: Move,
    q: f32,
    proof: String,
}

/// Searches the puzzles of a shard.
struct Solver<'a> {
    evaluator: &'a mut dyn Evaluator,
    observer: &'a dyn Observer,
    work: Spending,
}

/// The work of searches.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spending {
    simulations: u64,
    evaluations: u64,
}

impl Solver<'_> {
    fn search(&mut self, searches: &mut [Search]) -> Result<(), StepError> {
        self.work.evaluations += analyse(searches, self.evaluator, self.observer)?;
        self.work.simulations += searches.iter().map(|search| u64::from(search.visits())).sum::<u64>();
        Ok(())
    }

    fn policies(&mut self, puzzles: &[Puzzle]) -> Result<Vec<Policy>, StepError> {
        let once = SearchParams { simulations: 1, ..SearchParams::default() };
        let new = |puzzle: &Puzzle| {
            Search::with_tablebases(puzzle.game.clone(), ANALYSIS_RULES, once.clone(), None)
        };
        let mut searches: Vec<Search> = puzzles.iter().map(new).collect();
        self.search(&mut searches)?;
        let policy = |(puzzle, search): (&Puzzle, &Search)| {
            let (mut likeliest, mut right) = ((0, f32::NEG_INFINITY), 0.0);
            for row in search.root_rows().iter().skip(1) {
                if row.prior > likeliest.1 {
                    likeliest = (row.played, row.prior);
                }
                if is_right(puzzle, row.played) {
                    right += row.prior;
                }
            }
            Policy { is_right: is_right(puzzle, likeliest.0), prior: right }
        };
        Ok(puzzles.iter().zip(&searches).map(policy).collect())
    }

    fn answers(
        &mut self,
        puzzles: &[Puzzle],
        new: &dyn Fn(&Puzzle) -> Search,
    ) -> Result<Vec<Answer>, StepError> {
        let mut searches: Vec<Search> = puzzles.iter().map(new).collect();
        self.search(&mut searches)?;
        let answer = |search: &Search| {
            let line = LineRow::best_lines(search, 0, 1).swap_remove(0);
            let played = Move::from_packed(line.played).expect("a search plays moves");
            Answer { played, q: line.q, proof: line.proof }
        };
        Ok(searches.iter().map(answer).collect())
    }
}

fn is_right(puzzle: &Puzzle, played: u16) -> bool {
    puzzle.right.iter().any(|right| right.packed() == played)
}

/// The right moves, as rows have them.
fn right(puzzle: &Puzzle) -> Vec<u16> {
    puzzle.right.iter().map(|right| right.packed()).collect()
}

/// The smallest budget from which on all solve a puzzle, given whether each does; 0 if the largest does not.
fn solved_from(budgets: &[u32], is_solved: impl Fn(usize) -> bool) -> u32 {
    let wrong = (0..budgets.len()).rev().find(|budget| !is_solved(*budget));
    budgets.get(wrong.map_or(0, |wrong| wrong + 1)).copied().unwrap_or(0)
}

/// A shard that is solved.
struct Solved {
    rows: Vec<PuzzleRow>,
    work: Spending,
}

/// Solves a shard of a suite with each budget.
fn solve(
    params: &PuzzleParams,
    puzzles: &[Puzzle],
    shard: Shard,
    evaluator: &mut dyn Evaluator,
    tables: Option<&Tablebase>,
    observer: &dyn Observer,
) -> Result<Solved, StepError> {
    evaluator.start_shard();
    let numbers = shard.game_numbers();
    let puzzles = &puzzles[numbers.start as usize..numbers.end as usize];
    let new = |puzzle: &Puzzle, search: SearchParams| {
        Search::with_tablebases(puzzle.game.clone(), ANALYSIS_RULES, search, tables.cloned())
    };
    let mut solver = Solver { evaluator, observer, work: Spending::default() };
    let policies = solver.policies(puzzles)?;
    let mut budgets = Vec::new();
    for simulations in params.budgets() {
        let search = SearchParams { simulations: *simulations, ..params.search().clone() };
        budgets.push(solver.answers(puzzles, &|puzzle| new(puzzle, search.clone()))?);
    }
    let work = solver.work;
    observer.event(Event::Work { unit: "puzzles", amount: puzzles.len() as u64 });
    Ok(Solved { rows: rows(params, numbers.start, puzzles, &policies, &budgets), work })
}

/// The shards of a suite.
struct SuiteWork<'a> {
    step: &'a Puzzles,
    params: &'a PuzzleParams,
    workspace: &'a StepWorkspace,
    context: &'a StepContext,
    network: &'a Network,
    net: &'a Checkpoint,
    /// That of the step's tables.
    provenance: Provenance,
}

impl ShardWork for SuiteWork<'_> {
    type Found = Solved;

    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, Solved>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let (context, meter) = (self.context, &self.workspace.meter);
        let tables = self.params.search().open_tablebases()?;
        lanes::run::<_, _, StepError>(
            shards,
            lanes,
            &|| {
                let evaluator = self.params.evaluator(&context.evaluators, self.net)?;
                Ok(metered(evaluator, meter, 1, &self.net.spec))
            },
            &|evaluator, shard| {
                let puzzles = &self.step.suite.puzzles;
                solve(self.params, puzzles, shard, &mut **evaluator, tables.as_ref(), observer)
            },
            keep,
        )
    }

    fn folder(&self) -> &Path {
        self.workspace.folder.root()
    }

    fn stays_here(&self) -> Option<&'static str> {
        self.params.search().tablebases.as_ref().map(|_| "workers have no tablebases")
    }

    fn job(&self) -> Result<Described<Job>, StepError> {
        let Self { step, params, workspace, context, network, net, .. } = *self;
        let kind = (Puzzles::KIND.name, Puzzles::VERSION);
        let evaluators = (&*context.evaluators, context.is_mixed());
        let mut job = Described::new(kind, params, &[net], workspace, evaluators, self.provenance.clone())?;
        job.add_net(workspace, short_digest(&network.0.digest), network)?;
        // The script may have the lines itself, and a file may change.
        let path = workspace.scratch("suite.epd");
        durable::write(&path, &step.suite.content).map_err(RunError::io("write", &path))?;
        let (bytes, digest) = (step.suite.content.len() as u64, &step.suite.digest);
        let suite = job.name(remote::SUITE.to_owned(), path, bytes, digest);
        job.of.files.push(suite);
        Ok(job)
    }

    fn task(&self, shard: Shard) -> Result<Described<Task>, StepError> {
        Ok(Described { of: Task::of(shard), sources: Sources::new() })
    }

    fn read(&self, shard: Shard, reply: Reply) -> Result<Solved, Unaccepted> {
        remote::read(self.params, &self.step.suite.puzzles, shard, reply).map_err(Unaccepted::Refused)
    }

    fn tables(&self, shard: Shard, found: &Solved) -> Result<Vec<ReplyTable>, StepError> {
        Ok(vec![ReplyTable::of(&found.rows, &shard_provenance(&self.provenance, shard))?])
    }

    fn store(&self, shard: Shard, found: &Solved) -> Result<Vec<FileEntry>, StepError> {
        let provenance = shard_provenance(&self.provenance, shard);
        let path = self.workspace.part("puzzles", shard.index);
        Ok(vec![write_shard_table(self.workspace.folder.root(), &path, &found.rows, &provenance)?])
    }

    fn finish(
        &self,
        shard: Shard,
        Solved { rows, work }: Solved,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError> {
        let first = self.params.budgets()[0];
        let solved =
            |budget: &u32| rows.iter().filter(|row| row.simulations == *budget && row.solved).count();
        let part = Part {
            puzzles: shard.games.into(),
            simulations: work.simulations,
            evaluations: work.evaluations,
            policy_solved: rows.iter().filter(|row| row.simulations == first && row.policy_solved).count()
                as u64,
            solved: self.params.budgets().iter().map(|budget| solved(budget) as u64).collect(),
        };
        self.workspace.keep_shard(shard.index, &ShardNote { files, part })?;
        Ok(ControlFlow::Continue(()))
    }

    fn discard(&self, shard: Shard) -> Result<(), StepError> {
        Ok(self.workspace.discard_shard(shard.index)?)
    }

    fn report(&self, found: &Solved, observer: &dyn Observer) {
        observer.event(Event::Work { unit: "evaluations", amount: found.work.evaluations });
        let puzzles = found.rows.len() / self.params.budgets().len();
        observer.event(Event::Work { unit: "puzzles", amount: puzzles as u64 });
    }
}

/// The rows of a shard: those of each puzzle by budget.
fn rows(
    params: &PuzzleParams,
    first: u32,
    puzzles: &[Puzzle],
    policies: &[Policy],
    budgets: &[Vec<Answer>],
) -> Vec<PuzzleRow> {
    let mut rows = Vec::new();
    for (index, (puzzle, policy)) in puzzles.iter().zip(policies).enumerate() {
        let solved = |budget: &Vec<Answer>| is_right(puzzle, budget[index].played.packed());
        let solved_from = solved_from(params.budgets(), |budget| solved(&budgets[budget]));
        for (simulations, budget) in params.budgets().iter().zip(budgets) {
            let answer = &budget[index];
            rows.push(PuzzleRow {
                puzzle: first + index as u32,
                simulations: *simulations,
                id: puzzle.id.clone(),
                fen: puzzle.game.position().fen(),
                right: right(puzzle),
                played: answer.played.packed(),
                solved: solved(budget),
                solved_from,
                policy_solved: policy.is_right,
                prior: policy.prior,
                q: answer.q,
                proof: answer.proof.clone(),
            });
        }
    }
    rows
}

impl Puzzles {
    fn count(&self) -> u32 {
        u32::try_from(self.suite.puzzles.len()).unwrap_or(u32::MAX)
    }

    /// The net that searches the puzzles; `None` if the player answers them without a tree search.
    fn searching(&self, params: &PuzzleParams) -> Option<&Network> {
        self.player.network().filter(|_| params.player.alphabeta.is_none())
    }

    /// Puzzles in a shard: of a program, which may take minutes for each, few enough that a kill costs little.
    fn shard_puzzles(&self, params: &PuzzleParams) -> u32 {
        let is_program = self.player.program().is_some() || params.player.alphabeta.is_some();
        if is_program { params.shard_puzzles.min(PROGRAM_PUZZLES) } else { params.shard_puzzles }
    }

    fn shards(&self, params: &PuzzleParams) -> Vec<Shard> {
        shards_of(self.count(), self.shard_puzzles(params))
    }

    fn progress(&self, workspace: &StepWorkspace, context: &StepContext, done: u64) -> StepProgress {
        let label = format!("puzzles of {} by {}", self.suite.name, self.player.name());
        let amount = Amount { unit: "puzzles", done, total: self.count().into() };
        workspace.meter.set_lanes(context.lanes);
        context.progress(workspace, &label, amount)
    }

    /// Merges the shards in order.
    fn product(
        &self,
        params: &PuzzleParams,
        workspace: &StepWorkspace,
        shards: u32,
    ) -> Result<Product, StepError> {
        let mut whole = Part { solved: vec![0; params.budgets().len()], ..Part::default() };
        let mut files = Vec::new();
        for note in workspace.all_shards::<Part>(shards)? {
            files.extend(note.files);
            whole.puzzles += note.part.puzzles;
            whole.simulations += note.part.simulations;
            whole.evaluations += note.part.evaluations;
            whole.policy_solved += note.part.policy_solved;
            for (sum, solved) in whole.solved.iter_mut().zip(note.part.solved) {
                *sum += solved;
            }
        }
        Ok(Product { files, summary: whole.summary(params, &self.suite.name) })
    }
}

impl Part {
    fn summary(&self, params: &PuzzleParams, suite: &str) -> Value {
        let share = |solved: u64| Value::Float(solved as f64 / self.puzzles.max(1) as f64);
        let budgets = params.budgets().iter().map(|budget| Value::Int(i64::from(*budget))).collect();
        let members = [
            ("suite", Value::Text(suite.to_owned())),
            ("puzzles", Value::Int(self.puzzles as i64)),
            ("simulations", Value::Int(self.simulations as i64)),
            ("evaluations", Value::Int(self.evaluations as i64)),
            ("policy_solved", share(self.policy_solved)),
            ("budgets", Value::List(budgets)),
            ("solved", Value::List(self.solved.iter().map(|solved| share(*solved)).collect())),
        ];
        Value::Group(members.map(|(name, value)| (name.to_owned(), value)).into())
    }
}
