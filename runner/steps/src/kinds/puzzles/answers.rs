//! Puzzles answered by players without a tree search over a net: baselines, programs, and alpha-beta with the values of a net.

use std::ops::ControlFlow;

use dc0_core::arena::{Forfeit, MakeProgram, ProgramSolver, PuzzleSolver, summarise_answers};
use dc0_core::event::{Event, Observer};
use dc0_core::params::Value;
use dc0_core::selfplay::{Shard, lanes};
use dc0_core::store::{AnswerRow, FileEntry, Provenance, write_shard_table, write_table};
use dc0_opponents::Opponent;
use dc0_process::format::counted;
use dc0_runs::{PartialProgress, Product, RunError, ShardNote, StepWorkspace};
use serde::{Deserialize, Serialize};

use super::suite::{is_right, right};
use super::{PLAYER, PuzzleParams, Puzzles};
use crate::context::StepContext;
use crate::error::StepError;
use crate::executor::{Keep, RemoteWork, ShardWork};
use crate::files;
use crate::handles::Player;
use crate::kinds::players::Startable;
use crate::shards::Shards;

/// A shard's part of the progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    puzzles: u64,
}

/// How far a killed process had come.
pub(super) fn begun(workspace: &StepWorkspace, all: Vec<Shard>) -> Result<PartialProgress, RunError> {
    Ok(Shards::<Part>::find(workspace, all)?.progress(|part| part.puzzles))
}

/// Answers the puzzles, or the rest of them after a kill.
pub(super) fn run(
    step: &Puzzles,
    params: &PuzzleParams,
    workspace: &StepWorkspace,
    context: &StepContext,
) -> Result<Product, StepError> {
    let shards = Shards::<Part>::find(workspace, step.shards(params))?;
    let progress = step.progress(workspace, context, shards.sum(|part| part.puzzles));
    let name = step.player.row_name();
    let work = AnswerWork {
        step,
        params,
        workspace,
        provenance: files::provenance(workspace, [(PLAYER, name.as_str())]),
        name: &name,
    };
    context.do_shards(&work, &shards.rest, &progress)?;
    context.close(&progress);
    work.product(shards.count)
}

/// The figures of a result for the closing line.
pub(super) fn figures(summary: &Value) -> String {
    let number = |name| summary.figure(name);
    let puzzles = number("puzzles").unwrap_or(f64::NAN);
    let solved = match summary.member("solved") {
        Some(Value::List(list)) => list.first().and_then(Value::as_f64).unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    let mut parts = vec![format!("{:.1}% of {} solved", 100.0 * solved, counted(puzzles as usize, "puzzle"))];
    let faults = match summary.member("faults") {
        Some(Value::Group(faults)) => faults.iter().collect(),
        _ => Vec::new(),
    };
    if let Some(nodes) = number("nodes") {
        let without: f64 = faults.iter().filter_map(|(_, count)| count.as_f64()).sum();
        parts.push(format!("{:.0} nodes each", nodes / (puzzles - without).max(1.0)));
    }
    parts.extend(number("milliseconds").map(|milliseconds| format!("{milliseconds:.1} ms each")));
    parts.extend(faults.into_iter().map(|(reason, count)| format!("{count} without a move by {reason}")));
    parts.join(", ")
}

/// A summary in which this share is solved.
pub(super) fn mock_summary(step: &Puzzles, share: f64) -> Value {
    let mut summary = summarise_answers(&[]);
    summary.put("puzzles", Value::Int(step.count().into()));
    summary.put("solved", Value::List(vec![Value::Float(share)]));
    named(step, summary)
}

/// A summary with the names of the suite and the player, and what is known of a program.
fn named(step: &Puzzles, mut summary: Value) -> Value {
    summary.put("suite", Value::Text(step.suite.name.clone()));
    summary.put(PLAYER, Value::Text(step.player.row_name()));
    let opponent = step.player.program().and_then(|program| program.opponent.as_ref());
    if let Some(identity) = opponent.map(Opponent::identity) {
        summary.put("program", identity);
    }
    summary
}

/// The shards of a suite.
struct AnswerWork<'a> {
    step: &'a Puzzles,
    params: &'a PuzzleParams,
    workspace: &'a StepWorkspace,
    /// That of the step's tables.
    provenance: Provenance,
    /// The player's, as in rows.
    name: &'a str,
}

impl AnswerWork<'_> {
    /// Answers shards with a player that is a program.
    fn by_program(
        &self,
        program: &Startable<'_>,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, Vec<AnswerRow>>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let start = || program.start();
        let start: &MakeProgram<'_> = &start;
        let make = || Ok(PuzzleSolver::Program(ProgramSolver::new(self.name, start)));
        let is_timed = program.is_timed();
        let play = |solver: &mut PuzzleSolver<'_>, shard| self.answers(solver, is_timed, shard, observer);
        lanes::run(shards, lanes, &make, &play, keep)
    }

    fn answers(
        &self,
        solver: &mut PuzzleSolver<'_>,
        is_timed: bool,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<Vec<AnswerRow>, StepError> {
        let mut rows = Vec::new();
        for number in shard.game_numbers() {
            let puzzle = &self.step.suite.puzzles[number as usize];
            let found = solver.answer(puzzle, self.workspace.seed, number, observer)?;
            let mut row = AnswerRow {
                puzzle: number,
                player: self.name.to_owned(),
                id: puzzle.id.clone(),
                fen: puzzle.game.position().fen(),
                right: right(puzzle),
                played: AnswerRow::NO_MOVE,
                solved: false,
                score: f32::NAN,
                depth: 0,
                nodes: 0.0,
                milliseconds: f32::NAN,
                reason: String::new(),
                detail: String::new(),
            };
            match found {
                Ok(answer) => {
                    row.played = answer.played.packed();
                    row.solved = is_right(puzzle, row.played);
                    row.score = answer.score.map_or(f32::NAN, |score| score as f32);
                    row.depth = answer.depth.map_or(0, |depth| depth.min(u16::MAX.into()) as u16);
                    row.nodes = answer.nodes.map_or(0.0, |nodes| nodes as f64);
                    if is_timed {
                        row.milliseconds = (1000.0 * answer.seconds) as f32;
                    }
                }
                Err(Forfeit { fault, detail }) => {
                    (row.reason, row.detail) = (fault.name().to_owned(), detail);
                }
            }
            rows.push(row);
            observer.event(Event::Work { unit: "puzzles", amount: 1 });
        }
        Ok(rows)
    }

    /// One table of all shards.
    fn product(&self, shards: u32) -> Result<Product, StepError> {
        let (root, mut rows) = (self.workspace.folder.root(), Vec::new());
        for note in self.workspace.all_shards::<Part>(shards)? {
            rows.extend(note.rows::<AnswerRow>(root)?);
        }
        let file = write_table(root, &self.workspace.part("answers", 0), &rows, &self.provenance)?;
        Ok(Product { files: vec![file], summary: named(self.step, summarise_answers(&rows)) })
    }
}

impl ShardWork for AnswerWork<'_> {
    type Found = Vec<AnswerRow>;

    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, Vec<AnswerRow>>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        match (&self.step.player, &self.params.player.alphabeta) {
            (Player::Baseline(baseline), _) => {
                let play =
                    |solver: &mut PuzzleSolver<'_>, shard| self.answers(solver, false, shard, observer);
                lanes::run(shards, lanes, &|| Ok(PuzzleSolver::Baseline(*baseline)), &play, keep)
            }
            (Player::Program(program), _) => {
                self.by_program(&Startable::Program(program), shards, lanes, keep, observer)
            }
            (Player::Network { network, .. }, alphabeta) => {
                let params = alphabeta.as_ref().expect("nets with a tree search do not answer here");
                let net = files::load(&self.workspace.folder, network)?;
                let program = Startable::alphabeta(self.name, &net, params)?;
                self.by_program(&program, shards, lanes, keep, observer)
            }
        }
    }

    fn workspace(&self) -> &StepWorkspace {
        self.workspace
    }

    fn remote(&self) -> Result<&dyn RemoteWork<Found = Vec<AnswerRow>>, &'static str> {
        Err("workers solve puzzles only by tree searches")
    }

    fn store(&self, shard: Shard, found: &Vec<AnswerRow>) -> Result<Vec<FileEntry>, StepError> {
        let path = self.workspace.scratch_part(shard.index);
        Ok(vec![write_shard_table(self.workspace.folder.root(), &path, found, &self.provenance)?])
    }

    fn finish(
        &self,
        shard: Shard,
        found: Vec<AnswerRow>,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError> {
        let part = Part { puzzles: found.len() as u64 };
        self.workspace.keep_shard(shard.index, &ShardNote { files, part })?;
        Ok(ControlFlow::Continue(()))
    }
}
