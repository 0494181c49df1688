//! `dc0-run play` through pipes: the tests send moves and read the output.

use std::fs;
use std::process::Command;

use crate::experiment::{Ended, piped};

/// Plays the lines of `input` on the CPU with few simulations.
fn play(args: &[&str], input: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
    command.args(["play", "--device", "cpu"]).args(args);
    if !args.contains(&"--sims") {
        command.args(["--sims", "20"]);
    }
    command.env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR").env("TERM", "xterm");
    piped(&mut command, input.as_bytes())
}

const KINGS: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

#[test]
fn a_mate_ends_the_game_and_prints_its_pgn() {
    let mate = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1";
    let played = play(&["--ascii", "--fen", mate], "Ra8\ne4\nhint\nquit\n");
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    played.has("1. White> Ra8\n");
    played.has("1-0  White won by checkmate.");
    played.has("  8 [R] .     .     . !k! .");
    played.has("game over> e4\nthe game is over: undo, new, pgn or quit\n");
    played.has("[SetUp \"1\"]\n[FEN \"6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1\"]\n");
    played.has("\n\n1. Ra8# {White won by checkmate} 1-0\n");
    assert!(played.stdout.is_ascii() && !played.stdout.contains('\x1b'));
}

#[test]
fn the_engine_can_mate() {
    // Black to move mates with the queen on h4.
    let start = "startpos moves f2f3 e7e5";
    let played = play(&["--fen", start, "--sims", "200"], "g4\n");
    played.has("dc0 plays 2... Qh4#");
    played.has("0-1  Black won by checkmate.");
    played.has("1. f3 e5 2. g4 Qh4# {Black won by checkmate} 0-1\n");
    assert_eq!(played.code, Some(0));
}

#[test]
fn equal_seeds_give_equal_games() {
    let once = || play(&["--seed", "7", "--temperature", "1"], "e4\nhint\nd4\nNc3\nmoves\n").stdout;
    assert_eq!(once(), once());
    let random = |seed: &str| play(&["--seed", seed, "--side", "random"], "").stdout;
    let sides: Vec<bool> = (0..8).map(|seed| random(&seed.to_string()).contains("You play White")).collect();
    assert!(sides.contains(&true) && sides.contains(&false), "{sides:?}");
}

#[test]
fn undo_restores_the_position() {
    let played = play(&[], "undo\ne4\nfen\nundo\nfen\nquit\n");
    played.has("1. White> undo\nthere is no move of yours to take back\n");
    let introduction = played.stdout.lines().take(2);
    assert!(introduction.clone().all(|line| line.chars().count() <= 80), "{introduction:?}");
    played.has("1. White> fen\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n");
    // No move was made, so there is no game to print.
    played.lacks("[Event");
    let black = play(&["--side", "black"], "undo\ntakeback\n");
    black.has("1. Black> undo\nthere is no move of yours to take back\n");
}

#[test]
fn undo_works_after_mate() {
    let played = play(&["--fen", "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"], "Ra8\nundo\nfen\n");
    played.has("1. White> fen\n6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1\n");
}

#[test]
fn invalid_moves_are_explained_and_change_nothing() {
    let two = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1";
    let played = play(&["--fen", two], "Nd2\nNd4d5\nRa1\nKe3\nhitn\nhint 3\n\nfen\n");
    played.has("White> Nd2\n\"Nd2\" may be Nbd2 or Nfd2; say which\n");
    played.has("White> Ra1\nRa1 is not legal: you have no such rook\n");
    played.has("White> Ke3\nKe3 is not legal: the king on e1 does not move to e3\n");
    played.has("White> hitn\n\"hitn\" is neither a move, such as ");
    played.has(", nor a command; did you mean \"hint\"? \"help\" lists the commands\n");
    played.has("nor a command; \"hint\" stands alone\n");
    played.has(&format!("White> fen\n{two}\n"));
    assert_eq!(played.code, Some(0));
}

#[test]
fn playing_black_flips_the_board_and_the_engine_moves_first() {
    let played = play(&["--side", "black"], "e7e5\nflip\n");
    played.has("dc0 plays 1. ");
    played.has("\n     h  g  f  e  d  c  b  a\n\n");
    played.has("1. Black> e7e5\n");
    played.has("\n     a  b  c  d  e  f  g  h\n");
    played.has("[White \"dc0 0.1.0\"]\n[Black \"Human\"]\n");
}

#[test]
fn the_player_can_switch_sides_and_let_the_engine_move() {
    let played = play(&["--fen", KINGS], "go\nswitch\nfen\n");
    played.has("dc0 plays 1. ");
    played.has("dc0 plays 1... ");
    played.has("dc0 plays 2. ");
    played.has("[White \"dc0 0.1.0\"]\n[Black \"Human\"]\n");
}

#[test]
fn draws_are_accepted_unless_the_engine_is_better_and_resigning_always_works() {
    // The engine accepts a draw when it is a queen down, and declines when it is a queen up.
    let draw = |side| play(&["--fen", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", "--side", side], "draw\n");
    draw("white").has("1/2-1/2  draw by agreement.");
    draw("black").has("dc0 declines: it gives itself ");
    let played = play(&["--fen", KINGS], "resign\nresign\nundo\nfen\n");
    played.has("0-1  White resigned.");
    played.has("game over> resign\nthe game is over: undo, new, pgn or quit\n");
    played.has(&format!("1. White> fen\n{KINGS}\n"));
}

#[test]
fn games_are_appended_to_the_pgn_file() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("games.pgn");
    let path = file.to_str().expect("a name");
    let played = play(&["--pgn", path], "e4\nnew\nd4\n");
    assert_eq!(played.stdout.matches(&format!("The game was added to {path}.")).count(), 2);
    let kept = fs::read_to_string(&file).expect("the file");
    assert_eq!(kept.matches("[Event ").count(), 2);
    assert!(
        kept.contains("\n\n1. e4 ") && kept.contains(" *\n\n[Event ") && kept.ends_with(" *\n"),
        "{kept}"
    );
    play(&["--pgn", path], "Nf3\n");
    assert_eq!(fs::read_to_string(&file).expect("the file").matches("[Event ").count(), 3);
}

#[test]
fn hidden_evaluations_are_shown_on_request() {
    let played = play(&["--hide-eval", "--fen", KINGS], "e4\n");
    played.lacks("% draw");
    played.has("\ndc0 plays 1... ");
    let prompts = play(&["--hide-eval", "--fen", KINGS], "eval\nhint\n");
    assert_eq!(prompts.stdout.matches("% draw").count(), 1);
    prompts.has("Best lines, with visits and White's score (20 simulations):\n");
}

#[test]
fn piped_output_is_coloured_only_on_request() {
    assert!(!play(&[], "e4\n").stdout.contains('\x1b'));
    let coloured = play(&["--color", "always"], "e4\n").stdout;
    assert!(coloured.contains("\x1b[1;38;5;") && !coloured.contains("\x1b[K"));
}

#[test]
fn strange_characters_and_huge_lines_are_survived() {
    let played = play(&["--fen", KINGS], &format!("\u{fffd}♘f3\n{}\nfen\n", "x".repeat(3 << 20)));
    played.has("is neither a move");
    played.has("error: a line of more than");
    played.has(&format!("White> fen\n{KINGS}\n"));
}

#[test]
fn bad_arguments_exit_with_code_2_and_state_what_was_expected() {
    let over = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
    for (args, part) in [
        (&["--side", "green"][..], "[possible values: white, black, random]"),
        (&["--sims", "0"], "0 is not in 1..=10000000"),
        (&["--temperature", "hot"], "expected a number in 0..=100"),
        (&["--fen", "nonsense"], "--fen: \"nonsense\" is not a FEN"),
        (
            &["--fen", over],
            "expected a position in which the game is not over, found \"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\"",
        ),
        (&["--net", "nowhere"], "\"nowhere\" is neither a file ending in .safetensors nor a run"),
        (&["--option", "Threads=none"], "option Threads: expected a whole number in 1..=64, got \"none\""),
        (&["--pgn", "/nowhere/x.pgn"], "--pgn /nowhere/x.pgn: expected a file that can be written to"),
    ] {
        let played = play(args, "e4\n");
        assert_eq!(played.code, Some(2), "{args:?}: {}", played.stderr);
        assert!(played.stderr.contains(part), "{args:?}: {}", played.stderr);
        assert_eq!(played.stdout, "");
    }
}
