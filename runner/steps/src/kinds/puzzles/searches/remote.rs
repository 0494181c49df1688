//! Shards of puzzles for other processes, and checks of what they send back.

use std::sync::Arc;

use dc0_backend::Evaluators;
use dc0_core::arena::{Puzzle, read_puzzles};
use dc0_core::board::Move;
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::rng::Seed;
use dc0_core::selfplay::Shard;
use dc0_core::store::{Provenance, PuzzleRow};
use dc0_runs::Meter;

use super::{PuzzleParams, Puzzles, Solved, Spending, is_right, right, solve, solved_from};
use crate::error::StepError;
use crate::estimate::most_evaluations;
use crate::executor::{
    Artefacts, Job, JobError, Lane, RemoteKind, RemoteShards, Reply, ReplyTable, checks, shard_provenance,
};
use crate::metered::metered;
use crate::step::Step as _;

/// The shards of suites.
pub(crate) const REMOTE: RemoteKind =
    RemoteKind { kind: Puzzles::KIND.name, version: Puzzles::VERSION, prepare };

/// The suite among a job's files.
pub(super) const SUITE: &str = "suite";

struct Remote {
    params: PuzzleParams,
    net: Checkpoint,
    puzzles: Vec<Puzzle>,
    provenance: Provenance,
}

fn prepare(job: &Job, _: Seed, artefacts: &dyn Artefacts) -> Result<Box<dyn RemoteShards>, JobError> {
    let params: PuzzleParams = checks::params(job)?;
    checks::no_tablebases(params.search().tablebases.as_deref().into_iter())?;
    let (_, net) = checks::only_net(job, artefacts)?;
    checks::exact(job, &[&net])?;
    let file = job.files.iter().find(|file| file.name == SUITE);
    let file = file.ok_or_else(|| JobError::part(SUITE, "it is missing"))?;
    let read = read_puzzles(SUITE, &artefacts.content(file)?);
    let puzzles = read.map_err(|cause| JobError::part(SUITE, &cause))?;
    Ok(Box::new(Remote { params, net, puzzles, provenance: job.provenance.clone() }))
}

impl RemoteShards for Remote {
    fn evaluators(
        &self,
        evaluators: &Evaluators,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Evaluator>>, JobError> {
        let evaluator = evaluators.make_in(&self.net, self.params.player.precision);
        let evaluator = evaluator.map_err(StepError::from)?;
        Ok(vec![metered(evaluator, meter, 1, &self.net.spec)])
    }

    fn shard(
        &self,
        (_, lane): (&Evaluators, &mut Lane),
        shard: Shard,
        _: Vec<Vec<u8>>,
        observer: &dyn Observer,
    ) -> Result<Reply, JobError> {
        checks::shard(shard, self.puzzles.len() as u32, self.params.shard_puzzles)?;
        let Solved { rows, work } =
            solve(&self.params, &self.puzzles, shard, &mut *lane.evaluators[0], None, observer)?;
        let tables = vec![ReplyTable::of(&rows, &shard_provenance(&self.provenance, shard))?];
        Ok(Reply { tables, figures: serde_json::to_value(work).expect("counts") })
    }
}

/// Reads a shard that another process sent back; the error says what is wrong with it.
pub(super) fn read(
    params: &PuzzleParams,
    puzzles: &[Puzzle],
    shard: Shard,
    reply: Reply,
) -> Result<Solved, String> {
    let numbers = shard.game_numbers();
    let own = &puzzles[numbers.start as usize..numbers.end as usize];
    let budgets = params.budgets().len();
    let count = own.len() * budgets;
    let (rows, figures) = checks::one_table::<PuzzleRow>(reply, count as u64)?;
    let work: Spending = serde_json::from_value(figures).map_err(|cause| format!("its figures: {cause}"))?;
    if rows.len() != count {
        return Err(format!("it has {} rows, expected {count}", rows.len()));
    }
    for ((puzzle, number), rows) in own.iter().zip(numbers).zip(rows.chunks(budgets)) {
        if let Some(fault) = fault(params, puzzle, number, rows) {
            return Err(format!("puzzle {number}: {fault}"));
        }
    }
    // One more simulation for the policy alone.
    let most = own.len() as u64 * (params.simulations_of_all() + 1);
    let most_evaluations = most_evaluations(most, params.search());
    if work.simulations > most || work.evaluations > most_evaluations {
        return Err(format!(
            "{} simulations and {} evaluations, but its searches have {most} and {most_evaluations} at most",
            work.simulations, work.evaluations
        ));
    }
    Ok(Solved { rows, work })
}

/// What is wrong with the rows of a puzzle, if anything; ranges and proofs were checked as they were read.
fn fault(params: &PuzzleParams, puzzle: &Puzzle, number: u32, rows: &[PuzzleRow]) -> Option<String> {
    let (position, right) = (puzzle.game.position(), right(puzzle));
    let is_legal =
        |packed| Move::from_packed(packed).is_some_and(|played| position.legal_moves().contains(&played));
    let from = solved_from(params.budgets(), |index| is_right(puzzle, rows[index].played));
    let (fen, first) = (position.fen(), rows.first()?);
    for (row, simulations) in rows.iter().zip(params.budgets()) {
        let is_it = row.puzzle == number && row.id == puzzle.id && row.fen == fen && row.right == right;
        if !is_it || row.simulations != *simulations {
            return Some(format!("it is not that of the suite, searched with {simulations} simulations"));
        }
        if !is_legal(row.played) {
            return Some(format!("the move played with {simulations} simulations is not legal"));
        }
        if row.solved != is_right(puzzle, row.played) || row.solved_from != from {
            return Some(format!("with {simulations} simulations it is not solved as its moves say"));
        }
        if (row.policy_solved, row.prior.to_bits()) != (first.policy_solved, first.prior.to_bits()) {
            return Some("the net alone says different things of it".to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use dc0_core::arena::{Puzzle, read_puzzles};
    use dc0_core::board::Move;
    use dc0_core::selfplay::Shard;
    use dc0_core::store::{Provenance, PuzzleRow};

    use super::super::{PuzzleParams, Spending, right, solved_from};
    use super::read;
    use crate::executor::{Reply, ReplyTable};

    const SUITE: &[u8] =
        b"6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"one\";\n6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - bm Rb8#; id \"two\";\n";

    fn packed(text: &str) -> u16 {
        Move::from_uci(text).expect("a move").packed()
    }

    /// The rows of a puzzle with two budgets, of which only the larger solves it.
    fn rows(number: u32, puzzle: &Puzzle) -> Vec<PuzzleRow> {
        let solution = puzzle.right[0].packed();
        let row = |simulations, played| PuzzleRow {
            puzzle: number,
            simulations,
            id: puzzle.id.clone(),
            fen: puzzle.game.position().fen(),
            right: right(puzzle),
            played,
            solved: played == solution,
            solved_from: 16,
            policy_solved: false,
            prior: 0.25,
            q: 0.5,
            proof: "none".to_owned(),
        };
        vec![row(1, packed("g1h1")), row(16, solution)]
    }

    fn checked(change: impl FnOnce(&mut Vec<PuzzleRow>, &mut Spending)) -> Result<(), String> {
        let puzzles = read_puzzles("suite", SUITE).expect("puzzles");
        let params = PuzzleParams { simulations: vec![1, 16], ..PuzzleParams::default() };
        let mut all: Vec<PuzzleRow> =
            (0..).zip(&puzzles).flat_map(|(number, puzzle)| rows(number, puzzle)).collect();
        let mut work = Spending { simulations: 36, evaluations: 30 };
        change(&mut all, &mut work);
        let table = ReplyTable::of(&all, &Provenance::new()).expect("a table");
        let reply = Reply { tables: vec![table], figures: serde_json::to_value(work).expect("counts") };
        let shard = Shard { index: 0, first_game: 0, games: 2 };
        read(&params, &puzzles, shard, reply).map(drop)
    }

    #[test]
    fn what_the_suite_contradicts_is_refused() {
        assert_eq!(checked(|_, _| {}), Ok(()));
        let refused = |change: fn(&mut Vec<PuzzleRow>, &mut Spending)| checked(change).expect_err("wrong");
        assert!(
            refused(|rows, _| rows[0].played = packed("g1a7")).contains("puzzle 0: the move played with 1")
        );
        let is_wrong = |rows: &mut Vec<PuzzleRow>, _: &mut Spending| {
            (rows[2].solved_from, rows[3].solved_from) = (1, 1);
        };
        assert!(refused(is_wrong).contains("puzzle 1: with 1 simulations"));
        assert!(
            refused(|rows, _| rows[1].solved_from = 1).contains("with 16 simulations it is not solved as")
        );
        let other = |rows: &mut Vec<PuzzleRow>, _: &mut Spending| {
            (rows[1].right, rows[1].solved) = (vec![packed("g1h1")], false);
        };
        assert!(refused(other).contains("not that of the suite"));
        assert!(refused(|rows, _| drop(rows.pop())).contains("3 rows, expected 4"));
        assert!(refused(|rows, _| rows[3].prior = 0.5).contains("different things"));
        assert!(refused(|_, work| work.simulations = 37).contains("37 simulations"));
    }

    #[test]
    fn a_puzzle_counts_from_the_budget_after_the_last_wrong_one() {
        let from = |solved: [bool; 3]| solved_from(&[1, 4, 16], |index| solved[index]);
        assert_eq!([from([true; 3]), from([true, false, true]), from([true, true, false])], [1, 16, 0]);
    }
}
