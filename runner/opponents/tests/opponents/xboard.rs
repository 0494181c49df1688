//! xboard engines.

use dc0_core::arena::Forfeit;
use dc0_core::board::{Fault, Game, Position};
use dc0_core::params::Value;
use dc0_opponents::{ClockParams, XboardParams};

use crate::engine::{
    answer, game, game_from, lost, mode, options, started, test_engine, uci, xboard, xboard_mode,
};

#[test]
fn both_protocols_play_the_same_game() {
    let (xboard, uci) = (xboard(&xboard_mode("")).unwrap(), uci(&mode(&["uci"])).unwrap());
    assert_eq!(xboard.name(), "Test Mover 2.0, xboard , depth 4");
    let (mut xboard, mut uci) = (xboard.start().unwrap(), uci.start().unwrap());
    let (first, _) = game(&mut *xboard, &mut *uci);
    let (second, _) = game(&mut *uci, &mut *xboard);
    assert!(first.ply() > 10);
    assert_eq!(first.moves(), second.moves());
}

#[test]
fn programs_of_version_one_play_as_well() {
    let opponent = xboard(&xboard_mode("old")).unwrap();
    assert_eq!(opponent.name(), "test_engine, xboard old, depth 4");
    let (mut old, mut new) = (opponent.start().unwrap(), uci(&mode(&["uci"])).unwrap().start().unwrap());
    assert!(game(&mut *old, &mut *new).0.ply() > 10);
}

#[test]
fn a_program_that_misses_the_first_request_gets_it_again() {
    let opponent = xboard(&xboard_mode("deaf")).unwrap();
    assert_eq!(opponent.name(), "Test Mover 2.0, xboard deaf, depth 4");
    let (mut deaf, mut other) = (opponent.start().unwrap(), uci(&mode(&["uci"])).unwrap().start().unwrap());
    assert!(game(&mut *deaf, &mut *other).0.ply() > 10);
}

#[test]
fn both_protocols_castle_in_chess960_and_play_standard_chess_afterwards() {
    let (xboard, uci) = (xboard(&xboard_mode("")).unwrap(), uci(&mode(&["uci"])).unwrap());
    let (mut xboard, mut uci) = (xboard.start().unwrap(), uci.start().unwrap());
    // Without pieces between kings and rooks, the engines castle when they can.
    for (fen, castling) in [
        ("1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1", "e1g1 e8g8"),
        ("rk5r/pppppppp/8/8/8/8/PPPPPPPP/5KRR w Gha - 0 1", "f1g1 b8h8"),
    ] {
        let start = Game::from_text(fen).unwrap();
        let (first, _) = game_from(start.clone(), &mut *xboard, &mut *uci);
        let (second, _) = game_from(start, &mut *uci, &mut *xboard);
        assert_eq!(first.moves(), second.moves());
        let castlings: Vec<String> = first
            .positions()
            .zip(first.moves())
            .filter(|(before, mv)| before.castling(**mv).is_some())
            .map(|(_, mv)| mv.to_string())
            .collect();
        assert_eq!(castlings.join(" "), castling);
        assert!(game(&mut *xboard, &mut *uci).0.start().is_initial());
    }
}

#[test]
fn engines_that_do_not_know_chess960_lose_its_games_and_say_why() {
    let start = Game::from_text("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1").unwrap();
    let mut xboard = started(xboard(&xboard_mode("standard")));
    let forfeit = answer(&mut *xboard, &start).expect_err("cannot play");
    assert_eq!(forfeit.fault, Fault::Crash);
    assert!(
        forfeit.detail.contains("has no features variants=fischerandom and setboard"),
        "{}",
        forfeit.detail
    );
    let mut uci = uci(&mode(&["standard"])).unwrap().start().unwrap();
    uci.begin().unwrap();
    let forfeit = answer(&mut *uci, &start).expect_err("cannot play");
    assert!(forfeit.detail.contains("has no option UCI_Chess960"), "{}", forfeit.detail);
    uci.begin().unwrap();
    assert!(answer(&mut *uci, &Game::initial()).is_ok());
}

#[test]
fn answers_have_what_the_engine_reports() {
    let answer = answer(&mut *started(xboard(&xboard_mode(""))), &Game::initial()).unwrap();
    assert_eq!((answer.score, answer.depth, answer.nodes), (Some(-42.0), Some(3), Some(1234)));
}

#[test]
fn games_begin_from_positions_and_go_on_elsewhere() {
    let mut program = started(xboard(&xboard_mode("")));
    let start = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1").unwrap();
    let mut game = Game::from_position(start);
    for _ in 0..4 {
        game.play_unchecked(answer(&mut *program, &game).unwrap().played);
    }
    let mut other = Game::from_text("startpos moves d2d4 d7d5").unwrap();
    other.play_unchecked(answer(&mut *program, &other).unwrap().played);
    assert_eq!(other.ply(), 3);
}

#[test]
fn a_program_for_one_game_is_started_for_each() {
    let mut program = started(xboard(&xboard_mode("once")));
    for _ in 0..5 {
        program.begin().unwrap();
        assert!(answer(&mut *program, &Game::initial()).is_ok());
    }
}

#[test]
fn the_older_command_limits_the_depth_where_it_must() {
    assert!(answer(&mut *started(xboard(&xboard_mode("depth"))), &Game::initial()).is_ok());
}

#[test]
fn nodes_and_clocks_limit_moves() {
    let nodes = XboardParams { depth: None, nodes: Some(500), ..xboard_mode("") };
    assert!(answer(&mut *started(xboard(&nodes)), &Game::initial()).is_ok());
    let text = xboard(&XboardParams { args: vec!["xboard".to_owned(), "old".to_owned()], ..nodes })
        .unwrap_err()
        .to_string();
    assert!(text.contains("nodes: the program has no such limit (feature nps)"), "{text}");
    let clock = ClockParams { seconds: 60.0, increment: 1.0, moves: None };
    let mut program = started(xboard(&XboardParams { depth: None, clock: Some(clock), ..xboard_mode("") }));
    assert!(answer(&mut *program, &Game::initial()).is_ok());
    assert!(program.clock().unwrap().left > 60.0);
}

#[test]
fn wrong_options_are_refused_all_at_once() {
    let right =
        options([("Level", Value::Int(2)), ("Resign", Value::Bool(true)), ("memory", Value::Int(16))]);
    let opponent = xboard(&XboardParams { options: right, ..xboard_mode("") }).unwrap();
    assert_eq!(opponent.name(), "Test Mover 2.0, xboard , Level 2, Resign true, memory 16, depth 4");
    let wrong = options([("Level", Value::Int(10)), ("cores", Value::Int(2))]);
    let text = xboard(&XboardParams { options: wrong, ..xboard_mode("") }).unwrap_err().to_string();
    let expected = "2 problems in its parameters
  options.Level: expected a whole number in 0..=9, got 10 (whole number)
  options.cores: the program has no such option; it has memory, Resign, Level";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn games_are_lost_by_resignation_illegal_moves_and_deaths() {
    let outcome = |mode: &str| {
        let Forfeit { fault, detail } = lost(xboard(&xboard_mode(mode)));
        (fault, detail)
    };
    let program = |what: &str| format!("Test Mover 2.0 {what}");
    assert_eq!(outcome("resigns"), (Fault::Resigned, program("resigned")));
    assert_eq!(outcome("loses"), (Fault::Resigned, program("resigned: \"0-1 {White resigns}\"")));
    let start = Position::initial().fen();
    assert_eq!(
        outcome("illegal"),
        (Fault::IllegalMove, program(&format!("played \"e2e5\", which is no legal move in {start}")))
    );
    let death = "ended (exit status: 9); its last errors: segmentation violation";
    assert_eq!(outcome("dies"), (Fault::Crash, program(death)));
    let mut program = started(xboard(&xboard_mode("rejects")));
    let forfeit = answer(&mut *program, &Game::from_text("startpos moves e2e4").unwrap()).unwrap_err();
    assert_eq!(forfeit.fault, Fault::IllegalMove);
    assert!(
        forfeit.detail.contains("rejected the legal move e2e4: \"Illegal move (I do not like it)"),
        "{forfeit}"
    );
}

#[test]
fn a_resignation_after_a_move_loses_that_game_alone() {
    let mut program = started(xboard(&xboard_mode("resigns-later")));
    for _ in 0..2 {
        let mut game = Game::initial();
        game.play_unchecked(answer(&mut *program, &game).unwrap().played);
        game.play_unchecked(game.position().legal_moves()[0]);
        let Forfeit { fault, detail } = answer(&mut *program, &game).unwrap_err();
        assert_eq!((fault, detail.as_str()), (Fault::Resigned, "Test Mover 2.0 resigned"));
        program.begin().unwrap();
    }
}

#[test]
fn claims_of_draws_are_ignored() {
    assert!(answer(&mut *started(xboard(&xboard_mode("claims"))), &Game::initial()).is_ok());
}

#[test]
fn programs_that_do_not_speak_the_protocol_are_refused() {
    let refused = |args: &[&str]| {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let params = XboardParams { args, move_time: Some(1), start_timeout: 0.5, ..XboardParams::default() };
        xboard(&params).unwrap_err().to_string().replace(&test_engine(), "engine")
    };
    let text = refused(&["garbage"]);
    assert!(
        text.starts_with(
            "engine wrote \"Welcome to Chess 1.0! Your move?\" within 0.5 s; expected \"move …\""
        ),
        "{text}"
    );
    assert!(refused(&["uci"]).contains("A UCI engine is played by `uci(…)`"));
    assert!(refused(&["silent"]).starts_with("engine wrote nothing within 0.5 s"));
    let text = refused(&["crash"]);
    assert!(text.contains("cannot open the network file") || text.contains("wrote nothing"), "{text}");
}
