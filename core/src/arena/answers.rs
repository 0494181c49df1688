//! Puzzles answered by baselines and programs, one after the other.

use std::collections::BTreeMap;

use super::baselines::Baseline;
use super::error::ArenaError;
use super::job::MakeProgram;
use super::program::{Answer, Forfeit, NotBegun, Program};
use super::puzzles::Puzzle;
use crate::board::Rules;
use crate::event::Observer;
use crate::params::Value;
use crate::rng::{Purpose, Seed};
use crate::store::AnswerRow;

/// Puzzles in a row that a program may fail to begin: enough for a machine that is busy for a while, and few enough that a program
/// that does not start does not lose a whole suite.
const MOST_FAILURES: u32 = 4;

/// Puzzles end by the rules of chess alone.
const RULES: Rules = Rules { max_plies: u32::MAX };

/// A player that answers puzzles without batches of evaluations.
pub enum PuzzleSolver<'a> {
    /// A rule without a net.
    Baseline(&'static dyn Baseline),
    /// A program.
    Program(ProgramSolver<'a>),
}

/// A program that answers puzzles, each as the first position of a game.
pub struct ProgramSolver<'a> {
    name: &'a str,
    make: &'a MakeProgram<'a>,
    /// `None` before the first puzzle.
    program: Option<Box<dyn Program>>,
    /// Puzzles in a row that it could not begin.
    failures: u32,
}

impl<'a> ProgramSolver<'a> {
    /// A program that is started for its first puzzle; `name` is for messages.
    pub fn new(name: &'a str, make: &'a MakeProgram<'a>) -> Self {
        Self { name, make, program: None, failures: 0 }
    }

    fn answer(
        &mut self,
        puzzle: &Puzzle,
        observer: &dyn Observer,
    ) -> Result<Result<Answer, Forfeit>, ArenaError> {
        let program = match &mut self.program {
            Some(program) => program,
            none => none.insert((self.make)()?),
        };
        match program.begin() {
            Ok(()) => {}
            Err(changed @ NotBegun::Changed(_)) => return Err(changed.into()),
            Err(NotBegun::Forfeit(forfeit)) => {
                self.failures += 1;
                if self.failures < MOST_FAILURES {
                    return Ok(Err(forfeit));
                }
                let (player, puzzles) = (self.name.to_owned(), MOST_FAILURES);
                return Err(ArenaError::NoPuzzleBegins { player, puzzles, detail: forfeit.detail });
            }
        }
        self.failures = 0;
        program.think(&puzzle.game, None);
        loop {
            observer.check()?;
            if let Some(answer) = program.answer() {
                return Ok(answer);
            }
        }
    }
}

impl PuzzleSolver<'_> {
    /// The answer to the puzzle with a number, or why there is none: a program that fails loses the puzzle, and is started again for
    /// the next one. An error if it cannot begin several puzzles in a row.
    pub fn answer(
        &mut self,
        puzzle: &Puzzle,
        seed: Seed,
        number: u32,
        observer: &dyn Observer,
    ) -> Result<Result<Answer, Forfeit>, ArenaError> {
        match self {
            Self::Baseline(baseline) => {
                observer.check()?;
                let mut stream = seed.stream(u64::from(number), Purpose::RandomPlayer);
                let played = baseline.choose(&mut puzzle.game.clone(), &RULES, &mut stream);
                Ok(Ok(Answer { played, score: None, depth: None, nodes: None, seconds: 0.0 }))
            }
            Self::Program(program) => program.answer(puzzle, observer),
        }
    }
}

/// The figures of a suite's answers: puzzles, the share solved, all nodes, the mean milliseconds of an answer, and puzzles without a
/// move by their reasons. Nodes that the player does not report and times that are not measured are `()`.
pub fn summarise_answers(rows: &[AnswerRow]) -> Value {
    let count = |puzzles: usize| Value::Int(puzzles as i64);
    let solved = rows.iter().filter(|row| row.solved).count();
    let mut faults: BTreeMap<String, i64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.reason.is_empty()) {
        *faults.entry(row.reason.clone()).or_default() += 1;
    }
    let nodes: f64 = rows.iter().map(|row| row.nodes).sum();
    let times = rows.iter().map(|row| f64::from(row.milliseconds)).filter(|time| !time.is_nan());
    let times: Vec<f64> = times.collect();
    let mean = || times.iter().sum::<f64>() / times.len() as f64;
    Value::of([
        ("puzzles", count(rows.len())),
        ("solved", Value::List(vec![Value::Float(solved as f64 / rows.len().max(1) as f64)])),
        ("nodes", if nodes > 0.0 { Value::Int(nodes as i64) } else { Value::None }),
        ("milliseconds", if times.is_empty() { Value::None } else { Value::Float(mean()) }),
        ("faults", Value::Group(faults.into_iter().map(|(name, count)| (name, Value::Int(count))).collect())),
    ])
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{ProgramSolver, PuzzleSolver, summarise_answers};
    use crate::arena::{
        Answer, ArenaError, Clock, Forfeit, NotBegun, Program, Puzzle, baseline, read_puzzles,
    };
    use crate::board::{Fault, Game, Move};
    use crate::event::Silent;
    use crate::params::Value;
    use crate::rng::Seed;
    use crate::store::AnswerRow;

    const SEED: Seed = Seed { run: 1, step: 0 };

    fn puzzles() -> Vec<Puzzle> {
        let line = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n";
        read_puzzles("a.epd", line.repeat(6).as_bytes()).expect("puzzles")
    }

    fn forfeit(fault: Fault) -> Forfeit {
        Forfeit { fault, detail: fault.name().to_owned() }
    }

    /// Answers Ra8 after a poll without an answer, but fails as its script says: at the beginning, or in the search. Where the script
    /// says that it resigns, it has become another program.
    struct Scripted {
        script: &'static [Option<Fault>],
        puzzle: usize,
        polls: u32,
    }

    impl Program for Scripted {
        fn begin(&mut self) -> Result<(), NotBegun> {
            self.puzzle += 1;
            match self.script.get(self.puzzle - 1) {
                Some(Some(Fault::Stall)) => Err(forfeit(Fault::Stall).into()),
                Some(Some(Fault::Resigned)) => Err(NotBegun::Changed("it has changed".to_owned())),
                _ => Ok(()),
            }
        }

        fn think(&mut self, _: &Game, _: Option<Clock>) {
            self.polls = 0;
        }

        fn answer(&mut self) -> Option<Result<Answer, Forfeit>> {
            self.polls += 1;
            if self.polls < 2 {
                return None;
            }
            if let Some(Some(fault)) = self.script.get(self.puzzle - 1) {
                return Some(Err(forfeit(*fault)));
            }
            let played = Move::from_uci("a1a8").expect("a move");
            Some(Ok(Answer { played, score: Some(9.0), depth: Some(1), nodes: Some(20), seconds: 0.5 }))
        }

        fn clock(&self) -> Option<Clock> {
            None
        }
    }

    fn answers(script: &'static [Option<Fault>]) -> (Vec<Result<Answer, Forfeit>>, Option<ArenaError>, u32) {
        let starts = AtomicU32::new(0);
        let make = || {
            starts.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(Scripted { script, puzzle: 0, polls: 0 }) as Box<dyn Program>)
        };
        let mut solver = PuzzleSolver::Program(ProgramSolver::new("engine", &make));
        let mut found = Vec::new();
        for (number, puzzle) in (0..).zip(&puzzles()) {
            match solver.answer(puzzle, SEED, number, &Silent) {
                Ok(answer) => found.push(answer),
                Err(error) => return (found, Some(error), starts.into_inner()),
            }
        }
        (found, None, starts.into_inner())
    }

    #[test]
    fn a_program_that_fails_loses_the_puzzle_and_goes_on_with_the_next() {
        let script = &[None, Some(Fault::Crash), Some(Fault::Stall), Some(Fault::IllegalMove), None];
        let (found, error, starts) = answers(script);
        assert!(error.is_none() && starts == 1, "{error:?} {starts}");
        let faults: Vec<Option<Fault>> =
            found.iter().map(|answer| answer.as_ref().err().map(|forfeit| forfeit.fault)).collect();
        assert_eq!(faults, [&script[..], &[None]].concat());
        assert_eq!(found[0].as_ref().expect("a move").nodes, Some(20));
    }

    #[test]
    fn a_program_that_fails_in_every_search_is_no_error() {
        let (found, error, _) = answers(&[Some(Fault::Crash); 6]);
        assert!(error.is_none() && found.iter().all(Result::is_err));
    }

    #[test]
    fn a_program_that_begins_no_puzzle_ends_the_step() {
        let (found, error, _) = answers(&[None, Some(Fault::Stall), None, Some(Fault::Stall), None]);
        assert!(error.is_none() && found.len() == 6);
        let (found, error, _) =
            answers(&[None, Some(Fault::Stall), Some(Fault::Stall), Some(Fault::Stall), Some(Fault::Stall)]);
        assert_eq!(found.len(), 4);
        let message = error.expect("no puzzle begins").to_string();
        assert!(message.starts_with("\"engine\" could not begin 4 puzzles in a row"), "{message}");
    }

    #[test]
    fn a_program_that_becomes_another_one_ends_the_step_and_loses_no_puzzle() {
        let (found, error, _) = answers(&[None, Some(Fault::Resigned)]);
        assert!(found.len() == 1 && found[0].is_ok());
        assert_eq!(error.expect("it changes").to_string(), "it has changed");
    }

    #[test]
    fn figures_count_what_was_solved_and_what_failed() {
        let row = |puzzle, solved, milliseconds, reason: &str| AnswerRow {
            puzzle,
            player: "engine".to_owned(),
            id: String::new(),
            fen: String::new(),
            right: Vec::new(),
            played: AnswerRow::NO_MOVE,
            solved,
            score: f32::NAN,
            depth: 0,
            nodes: 10.0,
            milliseconds,
            reason: reason.to_owned(),
            detail: String::new(),
        };
        let rows = [
            row(0, true, 2.0, ""),
            row(1, false, 4.0, ""),
            row(2, false, f32::NAN, "crash"),
            row(3, true, f32::NAN, ""),
        ];
        let expected =
            r#"{"faults": {"crash": 1}, "milliseconds": 3.0, "nodes": 40, "puzzles": 4, "solved": [0.5]}"#;
        let expected: Value = serde_json::from_str(expected).expect("JSON");
        assert_eq!(summarise_answers(&rows), expected);
        let rows = rows.map(|row| AnswerRow { nodes: 0.0, milliseconds: f32::NAN, ..row });
        let summary = summarise_answers(&rows);
        assert_eq!(["nodes", "milliseconds"].map(|name| summary.member(name)), [Some(&Value::None); 2]);
    }

    #[test]
    fn a_baseline_draws_its_moves_by_the_number_of_the_puzzle() {
        let mut solver = PuzzleSolver::Baseline(baseline("random").expect("a player"));
        let puzzle = &puzzles()[0];
        let mut played =
            |number| solver.answer(puzzle, SEED, number, &Silent).expect("no error").expect("a move").played;
        let first: Vec<Move> = (0..20).map(&mut played).collect();
        assert_eq!(first, (0..20).map(&mut played).collect::<Vec<_>>());
        assert!(first.iter().any(|mv| *mv != first[0]));
        let mut solver = PuzzleSolver::Baseline(baseline("alphabeta-2").expect("a player"));
        let answer = solver.answer(puzzle, SEED, 0, &Silent).expect("no error").expect("a move");
        assert_eq!(answer.played, puzzle.right[0]);
    }
}
