//! Puzzles searched by a net with several budgets of simulations.

mod remote;

use std::ops::ControlFlow;

use dc0_core::arena::Puzzle;
use dc0_core::board::{Move, Tablebase};
use dc0_core::durable;
use dc0_core::event::{Event, Observer};
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::Value;
use dc0_core::search::{ANALYSIS_RULES, LineRow, Search, SearchParams, analyse};
use dc0_core::selfplay::{Shard, lanes};
use dc0_core::store::{FileEntry, Provenance, PuzzleRow, write_shard_table};
use dc0_process::format::counted;
use dc0_runs::{PartialProgress, Product, RunError, ShardNote, StepWorkspace};
use serde::{Deserialize, Serialize};

use super::suite::{is_right, right};
use super::{PuzzleParams, Puzzles};
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::most_evaluations;
use crate::executor::{
    Described, Job, Keep, RemoteWork, Reply, ReplyTable, ShardWork, Unaccepted, shard_provenance,
    step_provenance,
};
use crate::files;
use crate::handles::{Network, short_digest};
use crate::metered::metered;
use crate::shards::Shards;

pub(in crate::kinds) use remote::REMOTE;

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

/// How far a killed process had come.
pub(super) fn begun(workspace: &StepWorkspace, all: Vec<Shard>) -> Result<PartialProgress, RunError> {
    Ok(Shards::<Part>::find(workspace, all)?.progress(|part| part.puzzles))
}

/// Searches the puzzles, or the rest of them after a kill.
pub(super) fn run(
    step: &Puzzles,
    params: &PuzzleParams,
    workspace: &StepWorkspace,
    context: &StepContext,
    network: &Network,
) -> Result<Product, StepError> {
    let net = files::load(&workspace.folder, network)?;
    let shards = Shards::<Part>::find(workspace, step.shards(params))?;
    let progress = step.progress(workspace, context, shards.sum(|part| part.puzzles));
    let name = step.player.row_name();
    let provenance = step_provenance(workspace, &[&net], context.is_mixed(), [("network", name.as_str())]);
    let work = SuiteWork { step, params, workspace, context, network, net: &net, provenance };
    context.do_shards(&work, &shards.rest, &progress)?;
    context.close(&progress);
    product(step, params, workspace, shards.count)
}

/// The figures of a result for the closing line.
pub(super) fn figures(summary: &Value) -> String {
    let list = |name| match summary.member(name) {
        Some(Value::List(list)) => list.iter().filter_map(Value::as_f64).collect(),
        _ => Vec::new(),
    };
    let number = |name| summary.figure(name).unwrap_or(f64::NAN);
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

/// A summary in which this many puzzles are solved.
pub(super) fn mock_summary(step: &Puzzles, params: &PuzzleParams, solved: u64) -> Value {
    let part = Part {
        puzzles: step.count().into(),
        simulations: u64::from(step.count()) * params.simulations_of_all(),
        evaluations: most_evaluations(u64::from(step.count()) * params.simulations_of_all(), params.search()),
        policy_solved: solved,
        solved: vec![solved; params.budgets().len()],
    };
    part.summary(params, &step.suite.name)
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
                let evaluator = context.evaluators.make_in(self.net, self.params.player.precision)?;
                Ok(metered(evaluator, meter, 1, &self.net.spec))
            },
            &|evaluator, shard| {
                let puzzles = &self.step.suite.puzzles;
                solve(self.params, puzzles, shard, &mut **evaluator, tables.as_ref(), observer)
            },
            keep,
        )
    }

    fn workspace(&self) -> &StepWorkspace {
        self.workspace
    }

    fn remote(&self) -> Result<&dyn RemoteWork<Found = Solved>, &'static str> {
        match self.params.search().tablebases {
            None => Ok(self),
            Some(_) => Err("workers have no tablebases"),
        }
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
}

impl RemoteWork for SuiteWork<'_> {
    type Found = Solved;

    fn job(&self) -> Result<Described<Job>, StepError> {
        let Self { step, params, workspace, context, network, net, .. } = *self;
        let mut job = context.job(&REMOTE, params, &[net], workspace, &self.provenance)?;
        job.add_net(workspace, short_digest(&network.0.digest), network)?;
        // The script may have the lines itself, and a file may change.
        let path = workspace.scratch("suite.epd");
        durable::write(&path, &step.suite.content).map_err(RunError::io("write", &path))?;
        let (bytes, digest) = (step.suite.content.len() as u64, &step.suite.digest);
        let suite = job.name(remote::SUITE.to_owned(), path, bytes, digest);
        job.of.files.push(suite);
        Ok(job)
    }

    fn read(&self, shard: Shard, reply: Reply) -> Result<Solved, Unaccepted> {
        remote::read(self.params, &self.step.suite.puzzles, shard, reply).map_err(Unaccepted::Refused)
    }

    fn tables(&self, shard: Shard, found: &Solved) -> Result<Vec<ReplyTable>, StepError> {
        Ok(vec![ReplyTable::of(&found.rows, &shard_provenance(&self.provenance, shard))?])
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

/// Merges the shards in order.
fn product(
    step: &Puzzles,
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
    Ok(Product { files, summary: whole.summary(params, &step.suite.name) })
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
        Value::of(members)
    }
}
