//! Matches with programs, played by fakes.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{hashed, params, played, player, try_played};
use crate::arena::baselines::baseline;
use crate::arena::{
    AdjudicationParams, Answer, ArenaParams, Clock, Fault, Forfeit, Mind, NotBegun, Player, Program,
    ResignationParams,
};
use crate::board::{Adjudication, Ending, Game, Move, Rules};
use crate::rng::{Purpose, Seed};

/// Plays a baseline's moves, after some polls without an answer.
struct Fake {
    baseline: &'static str,
    /// A fault in the move of this number of each game, from 0.
    fails: Option<(u32, Fault)>,
    /// The game before which it becomes another program, from 0.
    changes: Option<u32>,
    games: u32,
    moves: u32,
    polls: u32,
    played: Option<Move>,
    score: f64,
}

impl Fake {
    fn new(baseline: &'static str) -> Self {
        Self { baseline, fails: None, changes: None, games: 0, moves: 0, polls: 0, played: None, score: 0.0 }
    }
}

impl Program for Fake {
    fn begin(&mut self) -> Result<(), NotBegun> {
        if self.changes == Some(self.games) {
            return Err(NotBegun::Changed("the fake has changed".to_owned()));
        }
        (self.games, self.moves) = (self.games + 1, 0);
        Ok(())
    }

    fn think(&mut self, game: &Game, _: Option<Clock>) {
        let baseline = baseline(self.baseline).expect("a baseline");
        let mut stream = Seed { run: game.key(), step: 0 }.stream(0, Purpose::RandomPlayer);
        self.played = Some(baseline.choose(&mut game.clone(), &Rules { max_plies: 1000 }, &mut stream));
        self.polls = 0;
    }

    fn answer(&mut self) -> Option<Result<Answer, Forfeit>> {
        self.polls += 1;
        if self.polls < 3 {
            return None;
        }
        self.moves += 1;
        if let Some((number, fault)) = self.fails
            && number + 1 == self.moves
        {
            return Some(Err(Forfeit { fault, detail: format!("the fake made {number} moves") }));
        }
        let (played, score) = (self.played.take()?, Some(self.score));
        Some(Ok(Answer { played, score, depth: Some(7), nodes: None, seconds: 0.25 }))
    }

    fn clock(&self) -> Option<Clock> {
        None
    }
}

fn program<'a>(make: &'a super::super::MakeProgram<'a>, is_timed: bool) -> Player<'a> {
    Player { name: "fake", mind: Mind::Program { make, is_timed } }
}

#[test]
fn a_program_plays_against_a_net_and_lanes_change_nothing() {
    let params = ArenaParams { program_games: 4, ..params(12) };
    let net = super::nets(&params, [&hashed, &hashed])[0];
    let starts = AtomicU32::new(0);
    let make = || -> Result<Box<dyn Program>, Forfeit> {
        starts.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Fake::new("alphabeta-1")))
    };
    let rows = played(&params, [net, program(&make, false)], 1).rows;
    assert_eq!(starts.load(Ordering::Relaxed), 4, "programs are used again");
    assert_eq!(rows.len(), 12);
    for row in &rows {
        let of_program = |ply: usize| (ply % 2 == 1) == row.first_is_white;
        for (ply, depth) in row.depths.iter().enumerate() {
            let expected = if ply < 6 || !of_program(ply) { 0 } else { 7 };
            assert_eq!((*depth, row.scores.0[ply].is_nan()), (expected, ply < 6), "ply {ply}");
        }
        assert!(row.seconds.is_empty(), "time does not belong to these games");
    }
    assert_eq!(rows, played(&params, [net, program(&make, false)], 3).rows);
}

#[test]
fn seconds_are_stored_where_a_player_plays_by_time() {
    let make = || -> Result<Box<dyn Program>, Forfeit> { Ok(Box::new(Fake::new("greedy"))) };
    let rows = played(&params(2), [program(&make, true), player("random")], 1).rows;
    let seconds: f32 = rows.iter().flat_map(|row| &row.seconds).sum();
    let moves = rows.iter().flat_map(|row| &row.depths).filter(|depth| **depth == 7).count();
    assert_eq!(seconds, 0.25 * moves as f32);
}

#[test]
fn a_fault_loses_the_game_and_the_match_goes_on() {
    for fault in [Fault::Crash, Fault::IllegalMove, Fault::Stall, Fault::Time] {
        let make = move || -> Result<Box<dyn Program>, Forfeit> {
            Ok(Box::new(Fake { fails: Some((3, fault)), ..Fake::new("random") }))
        };
        let rows = played(&params(4), [player("random"), program(&make, false)], 2).rows;
        assert_eq!(rows.len(), 4);
        for row in rows {
            assert_eq!((row.reason, row.score), (Ending::Forfeit(fault), 1.0));
            assert_eq!(row.detail, "the fake made 3 moves");
            assert_eq!(crate::store::legality::match_fault(&row, &params(4).rules()), None);
        }
    }
}

#[test]
fn a_program_that_never_makes_a_move_ends_the_match() {
    let make = || -> Result<Box<dyn Program>, Forfeit> {
        Ok(Box::new(Fake { fails: Some((0, Fault::Crash)), ..Fake::new("random") }))
    };
    let error =
        try_played(&params(20), [player("random"), program(&make, false)], 1).expect_err("is hopeless");
    let message = error.to_string();
    assert!(message.starts_with("\"fake\" lost 4 games in a row before"), "{message}");
    assert!(message.ends_with("The last time: the fake made 0 moves"), "{message}");
}

#[test]
fn a_program_that_becomes_another_one_ends_the_match_and_loses_no_game() {
    let make = || -> Result<Box<dyn Program>, Forfeit> {
        Ok(Box::new(Fake { changes: Some(1), ..Fake::new("random") }))
    };
    let error = try_played(&params(4), [player("random"), program(&make, false)], 1).expect_err("it changes");
    assert_eq!(error.to_string(), "the fake has changed");
}

#[test]
fn programs_that_agree_end_games_early() {
    let resignation = ResignationParams { moves: 2, score: 500.0, agreed: false };
    let adjudication = AdjudicationParams { resignation: Some(resignation), ..AdjudicationParams::default() };
    let params = ArenaParams { adjudication, ..params(4) };
    let make = || -> Result<Box<dyn Program>, Forfeit> {
        Ok(Box::new(Fake { score: -600.0, ..Fake::new("random") }))
    };
    for row in played(&params, [player("random"), program(&make, false)], 1).rows {
        assert_eq!((row.reason, row.score), (Ending::Adjudicated(Adjudication::Resignation), 1.0));
        assert!(row.plies <= 6 + 4, "{}", row.plies);
    }
}
