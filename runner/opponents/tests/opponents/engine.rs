//! The program for tests, and games with it.

use std::path::PathBuf;

use dc0_core::arena::{Answer, Forfeit, Program};
use dc0_core::board::{Game, Outcome, Rules};
use dc0_opponents::{Opponent, OpponentError, UciParams, XboardParams};

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

/// Starts an engine, and a game with it.
pub(crate) fn started(params: &UciParams) -> Box<dyn Program> {
    let mut program = uci(params).expect("behaves at first").start().expect("starts");
    program.begin().expect("begins");
    program
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
