//! What the engine reports beside moves and scores: the statistics of root moves, the log, and what it refuses.

use std::fs;

use super::check::{best, last_number};
use super::engine::{Engine, RESIDUAL};

/// The number after a label such as `N:`.
fn number(line: &str, label: &str) -> f64 {
    let rest = line.split_once(label).unwrap_or_else(|| panic!("no {label} in {line}")).1;
    let text = rest.trim_start().split([' ', ')', '%']).next().expect("a word");
    text.parse().unwrap_or_else(|_| panic!("{label} {text} in {line}"))
}

#[test]
fn verbose_move_stats_are_those_of_leela() {
    let mut engine = Engine::ready(&["--option", "VerboseMoveStats=true"]);
    let lines = engine.search("startpos", "go nodes 100");
    let stats: Vec<&String> = lines.iter().filter(|line| line.starts_with("info string ")).collect();
    let (root, moves) = stats.split_last().expect("lines");
    assert_eq!(moves.len(), 20);
    assert!(root.starts_with("info string node  (20  ) N:     100 (+ 0) (P: "), "{root}");
    let visits: Vec<f64> = moves.iter().map(|line| number(line, "N:")).collect();
    assert!(visits.is_sorted() && visits.iter().sum::<f64>() == 99.0, "{visits:?}");
    let priors: f64 = moves.iter().map(|line| number(line, "(P:")).sum();
    assert!((priors - 100.0).abs() < 0.2, "{priors}");
    let best = moves.last().expect("moves");
    let played = lines.last().and_then(|line| line.split(' ').nth(1)).expect("a move");
    assert!(best.starts_with(&format!("info string {played}  (")), "{best}");
    for label in ["(WL:", "(D:", "(Q:", "(U:", "(S:", "(V:"] {
        number(best, label);
    }
    assert!((number(best, "(Q:") + number(best, "(U:") - number(best, "(S:")).abs() < 2e-5, "{best}");
    // e2e4 is number 322 of Leela's moves.
    assert!(moves.iter().any(|line| line.starts_with("info string e2e4  (322 ) N: ")), "{moves:?}");
    let mate = engine.search("fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "go nodes 50");
    assert!(
        mate.iter().any(|line| line.starts_with("info string d1d8") && line.ends_with("(T)")),
        "{mate:?}"
    );
}

#[test]
fn a_log_file_has_both_sides_of_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a log.txt");
    let text = file.to_str().expect("UTF-8");
    for _ in 0..2 {
        let mut engine = Engine::ready(&["--option", &format!("LogFile={text}")]);
        engine.search("startpos", "go nodes 3");
        assert_eq!(engine.end().0, Some(0));
    }
    let log = fs::read_to_string(&file).expect("a log");
    for expected in ["== dc0 ", " >> isready\n", " << readyok\n", " >> go nodes 3\n", " << bestmove "] {
        assert_eq!(log.matches(expected).count(), 2, "{expected} in {log}");
    }
    let mut engine = Engine::ready(&[]);
    let refused = engine.ask("setoption name LogFile value /no/such/folder/log\nisready", "readyok");
    assert!(
        refused[0].starts_with("info string error: option LogFile: cannot write to \"/no/such/"),
        "{refused:?}"
    );
    // A folder, as a FIFO would: writing to it must not be waited for.
    let name = folder.path().display();
    let refused = engine.ask(&format!("setoption name LogFile value {name}\nisready"), "readyok");
    assert!(refused[0].contains("it is not a regular file"), "{refused:?}");
    let refused = engine.ask(&format!("setoption name LogFile value {name}/\u{fffd}\nisready"), "readyok");
    assert!(refused[0].contains("the name is not UTF-8"), "{refused:?}");
    // From here on, and no longer.
    engine.send(&format!("setoption name LogFile value {text}\nsetoption name LogFile value <empty>"));
    engine.ask("isready", "readyok");
    assert_eq!(fs::read_to_string(&file).expect("a log").matches("== dc0 ").count(), 3);
}

#[test]
fn castling_is_written_as_the_option_says_and_read_in_both_forms() {
    let mut engine = Engine::ready(&["--option", "VerboseMoveStats=true"]);
    let only = |engine: &mut Engine, position: &str, text: &str| {
        best(&engine.search(position, &format!("go nodes 20 searchmoves {text}"))).to_owned()
    };
    let standard = "fen r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1";
    let chess960 = "fen 1r3kr1/pp4pp/8/8/8/8/PP4PP/1R3KR1 w KQkq - 0 1";
    for text in ["e1g1", "e1h1"] {
        assert_eq!(only(&mut engine, standard, text), "e1g1");
    }
    assert_eq!(only(&mut engine, chess960, "f1b1"), "f1b1");
    assert_eq!(only(&mut engine, chess960, "f1c1"), "f1b1", "where the king ends, which is no step");
    engine.send("setoption name UCI_Chess960 value true");
    for text in ["e1g1", "e1h1"] {
        assert_eq!(only(&mut engine, standard, text), "e1h1");
    }
    assert_eq!(only(&mut engine, chess960, "f1g1"), "f1g1");
    let moved = format!("{standard} moves e1h1");
    let lines = engine.search(&moved, "go nodes 20 searchmoves e8a8");
    assert_eq!(best(&lines), "e8a8");
    assert!(lines.iter().any(|line| line.starts_with("info string e8a8 ")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains(" pv e8a8")), "{lines:?}");
    engine.send(&format!("position {standard}"));
    let counts = engine.ask("go perft 1", "Nodes");
    assert!(counts.iter().any(|line| line == "e1h1: 1"), "{counts:?}");
    engine.send("setoption name SearchMode value alphabeta");
    let lines = engine.search(&moved, "go depth 3 searchmoves e8c8");
    assert_eq!(best(&lines), "e8a8");
    assert!(lines.iter().any(|line| line.contains(" pv e8a8")), "{lines:?}");
}

#[test]
fn a_fen_that_no_game_reaches_is_searched_without_rights_and_a_square_that_cannot_be() {
    let mut engine = Engine::ready(&[]);
    let queen_odds = "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNQ w - - 0 1";
    let two_checks = "3k4/4P3/2n1N3/8/6B1/8/3K4/7r b - - 0 1";
    let odd = [
        (queen_odds, queen_odds, "too much material"),
        (two_checks, two_checks, "impossible check"),
        ("4k3/8/8/8/8/8/8/4K1R1 w H - 0 1", "4k3/8/8/8/8/8/8/4K1R1 w - - 0 1", "castling"),
        ("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "castling"),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e4 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "ep square",
        ),
    ];
    for (fen, without, rule) in odd {
        let lines = engine.ask(&format!("position fen {fen}\nisready"), "readyok");
        let expected = format!("searched as {without}");
        assert!(lines.len() == 2 && lines[0].contains(rule) && lines[0].ends_with(&expected), "{lines:?}");
        for mode in ["dc0", "alphabeta"] {
            engine.send(&format!("setoption name SearchMode value {mode}"));
            assert_ne!(best(&engine.ask("go nodes 200", "bestmove")), "(none)");
        }
    }
    engine.send("setoption name SearchMode value dc0");
    engine.send("position fen rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq D6 0 3");
    assert_eq!(best(&engine.ask("go nodes 20 searchmoves e5d6", "bestmove")), "e5d6");
}

#[test]
fn a_queen_more_reads_like_one() {
    let mut engine = Engine::ready(&["--option", "UCI_ShowWDL=true"]);
    let score = |engine: &mut Engine, fen: &str| {
        engine.send("ucinewgame");
        last_number(&engine.search(&format!("fen {fen}"), "go nodes 400"), "cp")
    };
    let (bare, whole) =
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    assert!(score(&mut engine, bare) > 500);
    for won in ["4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1"] {
        assert!(score(&mut engine, won) > 300, "{won}: {}", score(&mut engine, won));
    }
    // Three numbers that are not squeezed towards a draw.
    let lines = engine.search(&format!("fen {whole}"), "go nodes 400");
    let wdl = lines.iter().rev().find_map(|line| line.split_once(" wdl ")).expect("chances").1;
    let wdl: Vec<u32> = wdl.split(' ').take(3).map(|share| share.parse().expect("a number")).collect();
    assert!(wdl.iter().sum::<u32>() == 1000 && wdl[0] > 800, "{wdl:?}");
    assert!((500..2500).contains(&score(&mut engine, whole)), "{}", score(&mut engine, whole));
    assert!((-2500..-400).contains(&score(&mut engine, &whole.replace(" w ", " b "))));
    // What was fitted to a weaker net.
    engine.send(&format!("setoption name DC0Model value {RESIDUAL}"));
    let fitted = score(&mut engine, bare);
    assert!((500..2000).contains(&fitted), "{fitted}");
    assert!((150..2000).contains(&score(&mut engine, whole)), "{}", score(&mut engine, whole));
    let behind = score(&mut engine, &whole.replace(" w ", " b "));
    assert!((-2000..-150).contains(&behind), "{behind}");
    // The values of the search are those that they were.
    for option in ["score.value_exponent value 1", "score.draw_exponent value 1", "score.scale value 90"] {
        engine.send(&format!("setoption name {option}"));
    }
    let plain = score(&mut engine, bare);
    assert!((5..fitted).contains(&plain), "{plain}");
    let lines = engine.ask("setoption name score.scale value 0\nisready", "readyok");
    assert!(lines[0].contains("1.0..=100000.0") && lines[0].contains("keeps its value"), "{lines:?}");
}
