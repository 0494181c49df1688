//! The program for tests, and games with it.

use std::path::PathBuf;
use std::time::Duration;

use dc0_core::arena::{Answer, Forfeit, Program};
use dc0_core::board::{Game, Outcome, Rules};
use dc0_core::params::Value;
use dc0_opponents::{Opponent, OpponentError, ProgramOptions, UciParams, XboardParams};
use dc0_process::clock::Stopwatch;

/// The program's file. `cargo test` builds it; a single test program needs `cargo build --example test_engine` first.
pub(crate) fn test_engine() -> String {
    let this = std::env::current_exe().expect("has a path");
    let built: PathBuf = this.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps").into();
    let path = built.join("examples/test_engine");
    assert!(
        path.exists(),
        "{} is missing; build it with `cargo build --release --workspace --example test_engine`",
        path.display()
    );
    path.to_str().expect("is text").to_owned()
}

/// Parameters for a mode of the program, by nodes.
pub(crate) fn mode(args: &[&str]) -> UciParams {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    UciParams { args, nodes: Some(100), ..UciParams::default() }
}

/// A UCI engine in a mode.
pub(crate) fn uci(params: &UciParams) -> Result<Opponent, OpponentError> {
    Opponent::uci(&test_engine(), params, true)
}

/// Parameters for a mode of the xboard engine, by depth.
pub(crate) fn xboard_mode(mode: &str) -> XboardParams {
    let args = ["xboard", mode].map(str::to_owned).into();
    XboardParams { args, depth: Some(4), ..XboardParams::default() }
}

/// An xboard engine in a mode.
pub(crate) fn xboard(params: &XboardParams) -> Result<Opponent, OpponentError> {
    Opponent::xboard(&test_engine(), params, true)
}

/// Options by their names.
pub(crate) fn options<const N: usize>(options: [(&str, Value); N]) -> ProgramOptions {
    ProgramOptions(options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Starts an engine, and a game with it.
pub(crate) fn started(opponent: Result<Opponent, OpponentError>) -> Box<dyn Program> {
    let mut program = opponent.expect("behaves at first").start().expect("starts");
    program.begin().expect("begins");
    program
}

/// How an engine loses a game at its first move.
pub(crate) fn lost(opponent: Result<Opponent, OpponentError>) -> Forfeit {
    let mut program = started(opponent);
    let forfeit = answer(&mut *program, &Game::initial()).expect_err("misbehaves");
    // It is started again for the next game.
    program.begin().expect("begins again");
    forfeit
}

/// A program's move, however often that must be polled.
pub(crate) fn answer(program: &mut dyn Program, game: &Game) -> Result<Answer, Forfeit> {
    program.think(game, None);
    loop {
        if let Some(result) = program.answer() {
            return result;
        }
    }
}

/// A game of two programs to its end.
pub(crate) fn game(white: &mut dyn Program, black: &mut dyn Program) -> (Game, Outcome) {
    game_from(Game::initial(), white, black)
}

/// A game from a start.
pub(crate) fn game_from(mut game: Game, white: &mut dyn Program, black: &mut dyn Program) -> (Game, Outcome) {
    let rules = Rules { max_plies: 300 };
    white.begin().expect("begins");
    black.begin().expect("begins");
    loop {
        if let Some(outcome) = game.outcome(&rules) {
            return (game, outcome);
        }
        let is_white = game.ply().is_multiple_of(2);
        let answer = if is_white { answer(white, &game) } else { answer(black, &game) };
        let answer = answer.expect("plays well");
        game.play_unchecked(answer.played);
    }
}

/// Waits until so many running processes have an argument.
pub(crate) fn wait_for_processes(number: usize, argument: &str) {
    let watch = Stopwatch::start();
    while processes_with_argument(argument) != number {
        assert!(
            watch.elapsed() < Duration::from_mins(1),
            "{} processes, not {number}",
            processes_with_argument(argument)
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of running processes with an argument, except this one.
pub(crate) fn processes_with_argument(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("is there").flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split('\0').any(|part| part == argument)).count()
}
