//! Moves, scores and principal variations of searches that end by themselves.

use std::collections::BTreeSet;

use super::check::{after, best, game, last_number};
use super::engine::Engine;

const STALEMATE: &str = "fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const MATE: &str = "fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1";

#[test]
fn moves_are_legal_in_positions_with_special_moves() {
    let mut engine = Engine::ready(&[]);
    for position in [
        STALEMATE,
        MATE,
        "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "startpos",
        "startpos moves e2e4 a7a6 e4e5 d7d5",
        "fen r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 6 8",
        "fen r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1 moves e8c8 e1g1",
        "fen r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "fen 8/P6k/8/8/8/8/p6K/8 w - - 0 1",
        "fen 4k3/8/8/8/8/8/8/4K2R w K - 99 80",
        "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1",
        // The most legal moves that a position is known to have: 218.
        "fen R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    ] {
        for lines in ["1", "5"] {
            engine.send(&format!("setoption name MultiPV value {lines}"));
            engine.search(position, "go nodes 60");
        }
    }
    // Drawn by repetition, but a GUI may continue the game.
    let shuffled = format!("startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(3));
    engine.search(&shuffled, "go nodes 60");
}

#[test]
fn castling_en_passant_and_promotions_use_uci_notation() {
    let mut engine = Engine::ready(&[]);
    let castling = "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    assert_eq!(best(&engine.search(castling, "go nodes 20 searchmoves e1g1")), "e1g1");
    let passing = "startpos moves e2e4 a7a6 e4e5 d7d5";
    assert_eq!(best(&engine.search(passing, "go searchmoves e5d6 nodes 20")), "e5d6");
    let promotion = "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1";
    assert_eq!(best(&engine.search(promotion, "go searchmoves a7a8n nodes 20")), "a7a8n");
    // Illegal moves are reported and left out.
    let none = engine.search("startpos", "go nodes 20 searchmoves e2e5 a1a8");
    assert!(none[0].contains("error: go searchmoves: expected legal moves, got e2e5, a1a8; all"), "{none:?}");
    assert_ne!(best(&none), "e2e5");
    let one = engine.search("startpos", "go searchmoves e2e5 a2a3 nodes 20");
    assert!(one[0].contains("got e2e5; only the others are searched"), "{one:?}");
    assert_eq!(best(&one), "a2a3");
}

#[test]
fn a_limit_that_is_none_is_named() {
    let mut engine = Engine::ready(&[]);
    for (go, problem) in [
        ("go nodes abc depth 2", "error: go nodes: expected a whole number after it"),
        ("go mate 0 nodes 20", "error: go mate 0: expected at least 1 move"),
        ("go mate -3 nodes 20", "error: go mate -3: expected at least 1 move"),
        ("go nodes 0", "error: go nodes 0: expected at least 1, which is taken"),
        ("go depth -5", "error: go depth -5: expected at least 1, which is taken"),
        ("go movetime 0", "error: go movetime 0: expected at least 1, which is taken"),
    ] {
        let lines = engine.search("startpos", go);
        assert!(lines[0].contains(problem), "{lines:?}");
    }
}

#[test]
fn threads_change_no_search_of_a_size() {
    let searched = |threads: &str| {
        let mut engine = Engine::ready(&["--option", &format!("Threads={threads}")]);
        let lines = engine.search("startpos moves e2e4 e7e5", "go nodes 500");
        let last = lines.iter().rfind(|line| line.starts_with("info depth")).expect("a line");
        let words: Vec<&str> = last.split(' ').collect();
        let known = ["depth", "cp", "nodes"].map(|name| after(&words, name).map(ToOwned::to_owned));
        let line = last.split_once(" pv ").map(|(_, line)| line.to_owned());
        (best(&lines).to_owned(), known, line)
    };
    assert_eq!(searched("1"), searched("2"));
}

#[test]
fn a_won_ending_of_a_queen_and_a_rook_is_mated() {
    let mut engine = Engine::ready(&[]);
    let start = "fen 4k3/8/8/8/8/8/8/R2QK3 w - - 0 1";
    let mut moves = String::new();
    for _ in 0..40 {
        let position = format!("{start} moves{moves}");
        if game(&position).outcome_by_rules(game(&position).position().has_legal_move()).is_some() {
            break;
        }
        let lines = engine.search(&position, "go nodes 400");
        moves.extend([" ", best(&lines)]);
    }
    let end = game(&format!("{start} moves{moves}"));
    assert!(end.position().is_check() && !end.position().has_legal_move(), "{moves}");
}

#[test]
fn a_finished_game_has_no_bestmove() {
    let mut engine = Engine::ready(&[]);
    assert_eq!(engine.search(MATE, "go nodes 5"), ["info depth 0 score mate 0", "bestmove (none)"]);
    assert_eq!(engine.search(STALEMATE, "go wtime 100"), ["info depth 0 score cp 0", "bestmove (none)"]);
    engine.send("go infinite");
    assert_eq!(engine.ask("isready", "readyok").last().expect("a line"), "readyok");
    assert_eq!(best(&engine.ask("stop", "bestmove")), "(none)");
}

#[test]
fn a_single_legal_move_is_played_at_once() {
    let mut engine = Engine::ready(&[]);
    let forced = "fen 7k/8/8/8/8/8/5q2/7K w - - 0 1 moves";
    assert_eq!(game(forced).position().legal_moves().len(), 0);
    let forced = "fen k7/8/8/8/8/8/6q1/7K w - - 0 1";
    assert_eq!(game(forced).position().legal_moves().len(), 1);
    let lines = engine.search(forced, "go wtime 3600000 btime 3600000");
    assert_eq!((best(&lines), last_number(&lines, "nodes")), ("h1g2", 1));
}

#[test]
fn mate_scores_give_the_distance() {
    let mut engine = Engine::ready(&[]);
    let in_one = "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    let lines = engine.search(in_one, "go nodes 100");
    assert_eq!((best(&lines), last_number(&lines, "mate")), ("d1d8", 1));
    // Two rooks against a bare king at the edge: a mate in two, found by `go mate` without any other limit.
    let in_two = "fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1";
    let lines = engine.search(in_two, "go mate 2");
    assert!(last_number(&lines, "mate") >= 2, "{lines:?}");
    // The other side sees that it is lost.
    let lost = "fen 6k1/R7/8/8/8/8/8/1R5K b - - 0 1";
    let lines = engine.search(lost, "go nodes 3000");
    assert_eq!(last_number(&lines, "mate"), -1);
}

#[test]
fn go_mate_ends_with_or_without_a_mate() {
    let mut engine = Engine::ready(&["--option", "DC0Simulations=50"]);
    let none = "info string no mate in 2 was found".to_owned();
    let lines = engine.search("startpos", "go mate 2");
    assert!(lines.contains(&none) && last_number(&lines, "nodes") == 100, "{lines:?}");
    let lines = engine.search("fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "go mate 2");
    assert!(!lines.contains(&none) && last_number(&lines, "mate") == 1, "{lines:?}");
}

#[test]
fn perft_counts_positions_and_can_be_stopped() {
    let mut engine = Engine::ready(&[]);
    engine.send("position startpos moves e2e4\ngo perft 3");
    let lines = engine.until("Nodes");
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 13160"));
    assert_eq!(lines.len(), 20 + 2);
    assert!(lines.contains(&"e7e5: 835".to_owned()), "{lines:?}");
    assert_eq!(engine.ask("go perft 20\nstop", "info"), ["info string perft was stopped"]);
    let lines = engine.ask("go perft 0", "info");
    assert!(lines[0].ends_with("expected a depth of at least 1, got 0"), "{lines:?}");
    engine.search("startpos", "go nodes 5");
}

#[test]
fn nodes_are_simulations_with_and_without_tree_reuse() {
    let mut engine = Engine::ready(&[]);
    for nodes in [1, 2, 17, 300] {
        engine.send("ucinewgame");
        let lines = engine.search("startpos", &format!("go nodes {nodes}"));
        assert_eq!(last_number(&lines, "nodes"), nodes);
        // The same position once more, then the position after two moves.
        let lines = engine.search("startpos", &format!("go nodes {nodes}"));
        assert_eq!(last_number(&lines, "nodes"), nodes);
        let line = &lines[lines.len() - 2];
        let pv: Vec<&str> = line.split(" pv ").nth(1).expect("a line").split(' ').take(2).collect();
        let lines = engine.search(&format!("startpos moves {}", pv.join(" ")), &format!("go nodes {nodes}"));
        assert_eq!(last_number(&lines, "nodes"), nodes);
    }
    engine.send("ucinewgame");
    assert_eq!(last_number(&engine.search("startpos", "go depth 6"), "nodes"), 32);
    engine.send("setoption name DC0Simulations value 40");
    engine.send("ucinewgame");
    assert_eq!(last_number(&engine.search("startpos", "go"), "nodes"), 40);
}

#[test]
fn the_tree_is_reused_during_a_game_and_games_are_deterministic() {
    let play = || {
        let mut engine = Engine::ready(&[]);
        let mut position = "startpos moves".to_owned();
        let mut kept = 0;
        for _ in 0..6 {
            let lines = engine.search(&position, "go nodes 250");
            kept += i64::from(last_number(&lines, "depth") > 8);
            position = format!("{position} {}", best(&lines));
        }
        (position, kept)
    };
    let (first, kept) = play();
    assert!(kept > 0, "some tree was larger than the 250 simulations of one search, which are depth 8");
    assert_eq!(play().0, first, "one thread is deterministic");
}

/// Programs offer only engines with this option for analysis (lucaschess #81), and some fail at `wdl` that they did not ask for (lc0,
/// changes of 0.32).
#[test]
fn lines_of_multi_pv_start_with_different_moves() {
    let mut engine = Engine::ready(&[]);
    engine.send("setoption name MultiPV value 4");
    engine.send("setoption name UCI_ShowWDL value true");
    let lines = engine.search("startpos", "go nodes 300");
    let last: Vec<&String> =
        lines.iter().filter(|line| line.starts_with("info depth")).rev().take(4).collect();
    let firsts: BTreeSet<&str> =
        last.iter().filter_map(|line| line.split(" pv ").nth(1)?.split(' ').next()).collect();
    assert_eq!(firsts.len(), 4, "{last:#?}");
    for (line, number) in last.iter().zip([4, 3, 2, 1]) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(after(&words, "multipv"), Some(number.to_string().as_str()));
        let at = words.iter().position(|word| *word == "wdl").expect("WDL was requested");
        let sum: u32 = words[at + 1..at + 4].iter().map(|word| word.parse::<u32>().expect("a number")).sum();
        assert_eq!(sum, 1000);
    }
    assert!(last[3].contains(&format!(" pv {}", best(&lines))), "the best line is the move's");
    engine.send("setoption name UCI_ShowWDL value false");
    assert!(!engine.search("startpos", "go nodes 20").iter().any(|line| line.contains("wdl")));
    // Fewer moves than lines.
    engine.search("fen k7/8/8/8/8/8/6q1/7K w - - 0 1", "go nodes 20");
}
