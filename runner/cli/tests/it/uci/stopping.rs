//! What ends a search: `stop`, `ponderhit`, time controls, another search, and the end of input.

use super::check::{check, last_number};
use super::engine::Engine;

#[test]
fn an_infinite_search_ends_on_stop_and_answers_isready_meanwhile() {
    for threads in ["1", "3"] {
        let mut engine = Engine::ready(&["--option", &format!("Threads={threads}")]);
        // The second has nothing left to search, and still waits.
        for position in ["startpos", "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"] {
            engine.send(&format!("position {position}"));
            engine.send("go infinite");
            let mut lines: Vec<String> = (0..3).flat_map(|_| engine.ask("isready", "readyok")).collect();
            assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{lines:?}");
            lines.extend(engine.ask("stop", "bestmove"));
            lines.retain(|line| line != "readyok");
            check(position, &lines);
        }
        // A late `stop`, and one that is sent together with `go`.
        engine.send("stop");
        engine.send("position startpos");
        engine.send("go infinite\nstop\ngo nodes 5\nstop\ngo infinite\nstop");
        for _ in 0..3 {
            let lines = engine.until("bestmove");
            check("startpos", &lines);
        }
        assert_eq!(engine.ask("isready", "readyok"), ["readyok"]);
    }
}

#[test]
fn a_search_that_fills_its_tree_ends_and_says_so() {
    let mut engine = Engine::ready(&["--option", "search.max_nodes=500"]);
    engine.send("position startpos");
    engine.send("go infinite");
    let mut lines = Vec::new();
    while !lines.last().is_some_and(|line: &String| line.contains("the tree is full")) {
        lines.extend(engine.until("info"));
    }
    assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{lines:?}");
    lines.extend(engine.ask("stop", "bestmove"));
    check("startpos", &lines);
    engine.send("ucinewgame");
    engine.send("go nodes 100");
    let lines = engine.until("bestmove");
    assert!(!lines.iter().any(|line| line.contains("is full")), "{lines:?}");
}

#[test]
fn a_second_go_ends_the_first_and_both_print_a_bestmove() {
    let mut engine = Engine::ready(&[]);
    engine.send("position startpos");
    engine.send("go infinite");
    engine.send("position startpos moves e2e4");
    engine.send("go nodes 30");
    check("startpos", &engine.until("bestmove"));
    check("startpos moves e2e4", &engine.until("bestmove"));
}

#[test]
fn pondering_waits_for_ponderhit_or_stop() {
    let mut engine = Engine::ready(&[]);
    for go in ["go ponder wtime 2000 btime 2000", "go ponder movetime 100", "go ponder nodes 50", "go ponder"]
    {
        for end in ["ponderhit", "stop"] {
            let position = "startpos moves e2e4 e7e5";
            engine.send(&format!("position {position}"));
            engine.send(go);
            let mut lines = engine.ask("isready", "readyok");
            lines.extend(engine.ask("isready", "readyok"));
            assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{go}: {lines:?}");
            lines.extend(engine.ask(end, "bestmove"));
            check(position, &lines);
        }
    }
    // After a ponder miss the game continues with another move.
    engine.search("startpos moves e2e4 c7c5", "go nodes 30");
}

#[test]
fn every_time_control_ends_a_search() {
    let mut engine = Engine::ready(&[]);
    for go in [
        "go wtime 100",
        "go btime 100",
        "go wtime 100 winc 100",
        "go winc 100 wtime 100",
        "go btime 100 binc 100",
        "go binc 100 btime 100",
        "go wtime 100 winc 100 btime 100 binc 100 movestogo 1",
        "go wtime -50 btime -50",
        "go wtime 0 btime 0",
        "go movetime 60",
        "go movetime 1",
        "go movetime -1",
        "go depth 3 wtime 10000",
        "go nodes 9999999 movetime 60",
    ] {
        for position in ["startpos", "startpos moves e2e4"] {
            engine.search(position, go);
        }
    }
}

#[test]
fn short_times_are_used_and_kept() {
    // All of this time would be overhead, of which only a fifth is taken off.
    let mut engine = Engine::ready(&["--option", "Move Overhead=2000"]);
    let lines = engine.search("startpos", "go movetime 2000");
    assert!(last_number(&lines, "nodes") > 1, "most of a short time is searched: {lines:?}");
    engine.send("ucinewgame");
    let lines = engine.search("startpos", "go nodes 100");
    // The tree of that search has the answer that it expects, so a clock without time for a batch is no matter.
    let line = lines.iter().rev().find_map(|line| line.split_once(" pv ")).expect("a line").1;
    let pv: Vec<&str> = line.split(' ').take(2).collect();
    let known = format!("startpos moves {}", pv.join(" "));
    let lines = engine.search(&known, "go wtime 1 btime 1");
    assert!(last_number(&lines, "nodes") <= 1, "its tree has the move: {lines:?}");
    // Without a tree the flag goes first.
    engine.send("ucinewgame");
    let lines = engine.ask("position startpos moves f2f3 e7e5 g2g4\ngo wtime 9 btime 9", "bestmove");
    assert_eq!(lines, ["info string the clock has no time for an evaluation", "bestmove d8h4"]);
}

#[test]
fn a_movetime_as_short_as_the_overhead_is_searched() {
    let mut engine = Engine::ready(&["--option", "Move Overhead=50"]);
    let lines = engine.search("startpos", "go movetime 50");
    assert!(last_number(&lines, "nodes") > 10, "{lines:?}");
}

#[test]
fn many_commands_in_one_write_have_an_answer_each() {
    let mut engine = Engine::ready(&[]);
    engine.send("position startpos");
    for (go, count) in [("go nodes 1", 300), ("go infinite", 30)] {
        engine.send(&[go].repeat(count).join("\n"));
        for _ in 1..count {
            check("startpos", &engine.until("bestmove"));
        }
        check("startpos", &engine.ask("stop", "bestmove"));
    }
    assert_eq!(engine.ask("isready", "readyok"), ["readyok"]);
}

/// Whether this program ignores a signal, as its children then do: `nohup` starts programs so, and shells those in the background.
#[cfg(unix)]
fn is_ignored(signal: u32) -> bool {
    // Where there is no such file, no signal counts as ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}

#[cfg(unix)]
#[test]
fn signals_end_the_engine_during_a_search() {
    let signals =
        [("INT", 2), ("TERM", 15), ("HUP", 1)].into_iter().filter(|(_, number)| !is_ignored(*number));
    for (signal, _) in signals {
        let mut engine = Engine::ready(&[]);
        engine.send("position startpos\ngo infinite");
        engine.until("info");
        let sent = std::process::Command::new("kill").args(["-s", signal, &engine.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let (code, _) = engine.gone();
        assert_ne!(code, Some(0), "{signal}");
    }
}

#[test]
fn quit_and_end_of_input_end_the_engine_during_a_search() {
    for go in ["go infinite", "go ponder", "go nodes 9000000"] {
        let mut engine = Engine::ready(&[]);
        engine.send("position startpos");
        engine.send(go);
        engine.send("quit");
        let (code, lines) = engine.end();
        assert_eq!(code, Some(0));
        check("startpos", &lines);

        let mut engine = Engine::ready(&[]);
        engine.send(go);
        let (code, lines) = engine.end();
        assert_eq!(code, Some(0));
        check("startpos", &lines);
    }
}

#[test]
fn a_search_finished_while_pondering_repeats_its_score_after_ponderhit() {
    let mut engine = Engine::ready(&[]);
    // A mate in one is proven at once, so the search is over before the hit.
    let position = "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    engine.send(&format!("position {position}\ngo ponder wtime 1000 btime 1000"));
    engine.until("info");
    let lines = engine.ask("isready", "readyok");
    assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "no move before the hit: {lines:?}");
    let lines = engine.ask("ponderhit", "bestmove");
    check(position, &lines);
    assert!(lines[lines.len() - 2].contains(" score mate 1 "), "{lines:?}");
}

/// A late `bestmove` of the previous position was taken for the answer to the next one (lichess-bot #211, `BotLi` #113).
#[test]
fn every_go_has_one_bestmove_even_with_racing_stops() {
    let mut engine = Engine::ready(&[]);
    // White is to move in the first and Black in the second, so no move is legal in both.
    let (pondered, played) = ("startpos moves e2e4 e7e5", "startpos moves d2d4");
    for end in
        ["stop", "ponderhit\nstop", "stop\nstop", "ponderhit", "stop\nponderhit", "isready\nstop\nisready"]
    {
        for go in ["go ponder wtime 300 btime 300", "go ponder nodes 5", "go ponder movetime 5"] {
            engine.send(&format!("position {pondered}\n{go}\n{end}\nposition {played}\ngo nodes 20\nstop"));
            for position in [pondered, played] {
                let mut lines = engine.until("bestmove");
                lines.retain(|line| line != "readyok");
                check(position, &lines);
            }
        }
    }
    engine.send("stop");
    assert_eq!(engine.ask("isready", "readyok"), ["readyok"], "nothing is printed twice");
}
