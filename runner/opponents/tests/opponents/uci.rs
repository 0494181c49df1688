//! UCI engines.

use std::time::Duration;

use dc0_core::arena::NotBegun;
use dc0_core::board::{Fault, Game, Position};
use dc0_core::params::Value;
use dc0_opponents::{ClockParams, Opponent, UciParams};

use crate::engine::{answer, game, lost, mode, options, started, test_engine, uci, wait_for_processes};

/// The error of a program that cannot be an opponent.
fn refused(args: &[&str]) -> String {
    refused_within(30.0, args)
}

fn refused_within(start_timeout: f64, args: &[&str]) -> String {
    let params = UciParams { start_timeout, ..mode(args) };
    uci(&params).expect_err("misbehaves").to_string().replace(&test_engine(), "engine")
}

#[test]
fn a_random_mover_plays_whole_games_the_same_each_time() {
    let opponent = uci(&mode(&["uci"])).unwrap();
    let (mut white, mut black) = (opponent.start().unwrap(), opponent.start().unwrap());
    let (first, _) = game(&mut *white, &mut *black);
    let (second, _) = game(&mut *black, &mut *white);
    assert!(first.ply() > 10);
    assert_eq!(first.moves(), second.moves());
}

#[test]
fn answers_have_what_the_engine_reports() {
    let mut program = started(uci(&mode(&["uci"])));
    let answer = answer(&mut *program, &Game::initial()).unwrap();
    assert_eq!((answer.score, answer.depth, answer.nodes), (Some(17.0), Some(4), Some(50)));
    assert!(answer.seconds > 0.0);
    assert!(program.clock().is_none());
}

#[test]
fn names_and_digests_follow_what_determines_the_games() {
    let base = mode(&["uci"]);
    let opponent = uci(&base).unwrap();
    assert_eq!(opponent.name(), "Test Engine 1.0, uci, 100 nodes");
    assert_eq!(opponent.identity().member("author"), Some(&Value::Text("nobody".to_owned())));
    let weak = options([("Skill Level", Value::Int(0)), ("Style", Value::Text("Solid".to_owned()))]);
    let weak = uci(&UciParams { options: weak, ..base.clone() }).unwrap();
    assert_eq!(weak.name(), "Test Engine 1.0, uci, Skill Level 0, 100 nodes");
    let named = uci(&UciParams { name: "rival".to_owned(), ..base.clone() }).unwrap();
    assert_eq!(named.name(), "rival");
    assert_eq!(named.digest(), opponent.digest());
    assert_ne!(weak.digest(), opponent.digest());
    let planned = Opponent::uci(&test_engine(), &base, false).unwrap();
    assert_eq!(
        (planned.digest(), planned.name()),
        (opponent.digest(), "test_engine, uci, 100 nodes".to_owned())
    );
    let patient = UciParams { start_timeout: 60.0, ..base.clone() };
    assert_ne!(uci(&patient).unwrap().digest(), opponent.digest(), "timeouts decide games");
    let timed = UciParams { nodes: None, move_time: Some(0.5), ..base };
    assert!(!opponent.is_timed() && Opponent::uci(&test_engine(), &timed, false).unwrap().is_timed());
}

#[test]
fn a_changed_program_or_file_is_another_opponent() {
    let folder = tempfile::tempdir().unwrap();
    let engine = folder.path().join("engine");
    std::fs::copy(test_engine(), &engine).unwrap();
    let net = folder.path().join("net");
    std::fs::write(&net, "one").unwrap();
    let style = options([("Seed", Value::Text(net.to_str().unwrap().to_owned()))]);
    let params = UciParams { options: style, ..mode(&["uci"]) };
    let make = || Opponent::uci(engine.to_str().unwrap(), &params, true).unwrap();
    let before = make();
    assert_eq!(before.name(), "Test Engine 1.0, uci, Seed net, 100 nodes");
    std::fs::write(&net, "other").unwrap();
    let error = before.start().err().expect("has changed").to_string();
    assert!(error.contains("net has changed since this match began"), "{error}");
    assert_ne!(make().digest(), before.digest());
}

#[test]
fn a_program_that_ends_at_once_is_refused_with_its_last_words() {
    assert_eq!(
        refused(&["crash"]),
        "engine ended (exit status: 3); its last errors: loading | cannot open the network file; expected \"uciok\" in answer to \
         \"uci\"; is it a UCI engine? An xboard engine is played by `xboard(…)`, and some programs need `args` such as [\"uci\"]"
    );
    assert!(refused(&["abort"]).starts_with("engine ended (signal: 6 (SIGABRT)"), "{}", refused(&["abort"]));
}

#[test]
fn a_program_that_wants_a_terminal_is_refused() {
    let text = refused(&["tty"]);
    assert!(text.contains("cannot open /dev/tty") && text.contains("it seems to want a terminal"), "{text}");
}

#[test]
fn programs_that_do_not_speak_uci_are_refused() {
    let text = refused_within(0.5, &["garbage"]);
    assert!(
        text.starts_with(
            "engine wrote \"Welcome to Chess 1.0! Your move?\" within 0.5 s; expected \"uciok\""
        ),
        "{text}"
    );
    assert!(
        refused_within(0.5, &["silent"]).starts_with("engine wrote nothing within 0.5 s; expected \"uciok\"")
    );
    assert!(refused_within(0.5, &["endless-line"]).starts_with("engine wrote nothing within 0.5 s"));
    let text = refused_within(2.0, &["hang"]);
    assert!(text.contains("expected \"readyok\" in answer to \"isready\"; some engines load"), "{text}");
}

#[test]
fn wrong_options_are_refused_all_at_once() {
    let text = uci(&UciParams::default()).unwrap_err().to_string();
    assert!(
        text.ends_with("nodes: expected exactly one of nodes, depth, move_time, clock, got none"),
        "{text}"
    );
    let wrong = options([
        ("Skil Level", Value::Int(1)),
        ("Skill Level", Value::Int(21)),
        ("Style", Value::Text("Wild".to_owned())),
        ("Ponder", Value::Bool(true)),
    ]);
    let error = uci(&UciParams { options: wrong, ..mode(&["uci"]) }).unwrap_err();
    let text = error.to_string().replace(&test_engine(), "engine");
    assert!(
        text.starts_with("uci(\"engine\"): 4 problems in its parameters\n  options.Ponder: cannot be set"),
        "{text}"
    );
    let unlucky = options([("Seed", Value::Text("13".to_owned()))]);
    let text = uci(&UciParams { options: unlucky, ..mode(&["uci"]) }).unwrap_err().to_string();
    assert!(text.contains("ended (exit status: 4); its last errors: 13 brings bad luck"), "{text}");
}

#[test]
fn moves_that_are_none_lose_the_game() {
    let detail = |args: &[&str]| {
        let forfeit = lost(uci(&mode(args)));
        assert_eq!(forfeit.fault, Fault::IllegalMove);
        forfeit.detail
    };
    let start = Position::initial().fen();
    assert_eq!(
        detail(&["illegal"]),
        format!("Test Engine 1.0 played \"e2e5\", which is no legal move in {start}")
    );
    assert!(detail(&["null"]).contains("played \"0000\""));
    assert!(detail(&["none"]).contains("played \"(none)\""));
    assert!(detail(&["nothing"]).contains("played \"\""));
}

#[test]
fn a_late_move_loses_on_time() {
    let params = UciParams { nodes: None, move_time: Some(0.1), ..mode(&["late", "200"]) };
    let forfeit = lost(uci(&params));
    assert_eq!(forfeit.fault, Fault::Time);
    assert!(
        forfeit.detail.starts_with("Test Engine 1.0 played ")
            && forfeit.detail.ends_with("with 0.100 s left"),
        "{forfeit}"
    );
    // Tolerated.
    let mut program = started(uci(&UciParams { time_margin: 5.0, ..params }));
    assert!(answer(&mut *program, &Game::initial()).is_ok());
    let clock = ClockParams { seconds: 0.1, increment: 0.0, moves: None };
    let forfeit = lost(uci(&UciParams { nodes: None, clock: Some(clock), ..mode(&["late", "200"]) }));
    assert_eq!(forfeit.fault, Fault::Time);
}

#[test]
fn a_program_that_does_not_answer_is_ended() {
    let silent = UciParams { nodes: None, move_time: Some(0.1), ..mode(&["mute"]) };
    let forfeit = lost(uci(&silent));
    assert_eq!(forfeit.fault, Fault::Time);
    assert!(forfeit.detail.contains("did not stop"), "{forfeit}");
    let patient = UciParams { move_timeout: 0.2, ..mode(&["mute"]) };
    let forfeit = lost(uci(&patient));
    assert_eq!(forfeit.fault, Fault::Stall);
    assert!(forfeit.detail.contains("its `move_timeout`"), "{forfeit}");
    let forfeit = lost(uci(&UciParams { move_timeout: 0.2, ..mode(&["wait-for-stop"]) }));
    assert_eq!(forfeit.fault, Fault::Stall);
    assert!(forfeit.detail.contains("played"), "{forfeit}");
}

#[test]
fn a_clock_runs_and_is_sent() {
    let clock = ClockParams { seconds: 5.0, increment: 0.5, moves: Some(40) };
    let mut program = started(uci(&UciParams { nodes: None, clock: Some(clock), ..mode(&["late", "20"]) }));
    let mut game = Game::initial();
    let before = program.clock().unwrap();
    assert_eq!((before.left, before.increment), (5.0, 0.5));
    let answer = answer(&mut *program, &game).unwrap();
    game.play_unchecked(answer.played);
    let after = program.clock().unwrap().left;
    assert!((after - (5.0 - answer.seconds + 0.5)).abs() < 1e-9 && answer.seconds > 0.02, "{after}");
    program.begin().unwrap();
    assert_eq!(program.clock().unwrap().left, 5.0);
}

#[test]
fn a_program_that_dies_is_started_again_for_the_next_game() {
    let mut program = started(uci(&mode(&["die", "2"])));
    let mut game = Game::initial();
    for _ in 0..3 {
        game.take_back_to(0);
        let first = answer(&mut *program, &game).unwrap();
        game.play_unchecked(first.played);
        let forfeit = answer(&mut *program, &game).unwrap_err();
        assert_eq!(forfeit.fault, Fault::Crash);
        assert_eq!(forfeit.detail, "Test Engine 1.0 ended (exit status: 7); its last errors: out of memory");
        assert_eq!(answer(&mut *program, &game).unwrap_err().detail, "Test Engine 1.0 does not run");
        program.begin().unwrap();
    }
}

#[test]
fn a_program_that_changed_is_not_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net");
    std::fs::write(&net, "one").unwrap();
    let style = options([("Seed", Value::Text(net.to_str().unwrap().to_owned()))]);
    let mut program = started(uci(&UciParams { options: style, ..mode(&["die", "1"]) }));
    let forfeit = answer(&mut *program, &Game::initial()).unwrap_err();
    assert_eq!(forfeit.fault, Fault::Crash);
    std::fs::write(&net, "other").unwrap();
    let error = program.begin().unwrap_err();
    assert!(matches!(&error, NotBegun::Changed(what) if what.contains("net has changed")), "{error}");
}

#[test]
fn a_flood_of_output_stalls_nobody() {
    let opponent = uci(&mode(&["flood"])).unwrap();
    let mut program = opponent.start().unwrap();
    program.begin().unwrap();
    // Nobody reads for a while.
    std::thread::sleep(Duration::from_millis(300));
    let mut game = Game::initial();
    for _ in 0..20 {
        let answer = answer(&mut *program, &game).unwrap();
        game.play_unchecked(answer.played);
    }
}

#[test]
fn a_second_best_move_is_not_taken_for_the_next_position() {
    let mut program = started(uci(&mode(&["twice"])));
    let mut game = Game::initial();
    for _ in 0..40 {
        let answer = answer(&mut *program, &game).unwrap();
        game.play_unchecked(answer.played);
    }
}

#[test]
fn a_stubborn_program_ends_with_all_its_processes() {
    // Its child is known by this number.
    let seconds = (1_000_000 + std::process::id()).to_string();
    let program = started(uci(&mode(&["stubborn", &seconds])));
    // The child has its arguments a moment after it is started.
    wait_for_processes(2, &seconds);
    drop(program);
    // The kill reaches all of them at once, but each one is gone only when the system has run it once more.
    wait_for_processes(0, &seconds);
}
