//! The engine over pipes, as a chess program sees it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use dc0_core::board::{Game, Move};

/// The longest that an answer may take before a test gives up: a hang, not a speed, is what it finds.
const PATIENCE: Duration = Duration::from_mins(2);

struct Engine {
    program: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.arg("uci").args(["--device", "cpu"]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut program = command.spawn().expect("the program starts");
        let (input, output) = (program.stdin.take(), program.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.expect("lines are text")).is_err() {
                    return;
                }
            }
        });
        Self { program, input, lines }
    }

    fn ready(args: &[&str]) -> Self {
        let mut engine = Self::start(args);
        engine.ask("uci", "uciok");
        engine.ask("isready", "readyok");
        engine
    }

    fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes());
    }

    fn say_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("not closed yet");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the engine listens");
    }

    /// The lines up to one that starts with the given word.
    #[track_caller]
    fn until(&mut self, word: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no {word} after {lines:#?}"));
            let is_last = line.split(' ').next() == Some(word);
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    #[track_caller]
    fn ask(&mut self, line: &str, word: &str) -> Vec<String> {
        self.say(line);
        self.until(word)
    }

    /// Sets up a position, searches it, checks everything that was told, and gives the lines.
    #[track_caller]
    fn search(&mut self, position: &str, go: &str) -> Vec<String> {
        self.say(&format!("position {position}"));
        let lines = self.ask(go, "bestmove");
        check(position, &lines);
        lines
    }

    /// Closes the input and gives the exit code and the lines that were left.
    fn end(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.input.take());
        let status = self.program.wait().expect("ends");
        (status.code(), self.lines.iter().collect())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.input.take());
        let _gone = self.program.kill();
        let _gone = self.program.wait();
    }
}

fn game(position: &str) -> Game {
    Game::from_text(position).expect("a position of a test")
}

/// Plays moves that must be legal, one after the other.
#[track_caller]
fn play(game: &mut Game, moves: &[&str]) {
    for text in moves {
        let played = Move::from_uci(text).unwrap_or_else(|| panic!("{text} is no move"));
        assert!(game.position().is_legal(played), "{text} is not legal in {}", game.position().fen());
        game.play_unchecked(played);
    }
}

fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied()
}

/// What must hold for every search: whole numbers behind their names, scores with a kind, and legal moves.
#[track_caller]
fn check(position: &str, lines: &[String]) {
    let infos: Vec<&String> = lines.iter().filter(|line| line.starts_with("info depth")).collect();
    let last = infos.last().expect("there is an info line");
    assert!(last.contains(" score "), "the last info line has a score: {last}");
    for line in &infos {
        let words: Vec<&str> = line.split(' ').collect();
        for name in
            ["depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "time", "cp", "mate"]
        {
            let number = after(&words, name);
            assert!(number.is_none_or(|number| number.parse::<i64>().is_ok()), "{name} in {line}");
        }
        assert!(["cp", "mate"].contains(&after(&words, "score").expect("a score")), "{line}");
        if let Some(at) = words.iter().position(|word| *word == "pv") {
            let mut game = game(position);
            play(&mut game, &words[at + 1..]);
            let mated = !game.position().has_legal_move() && game.position().is_check();
            if let Some(moves) = after(&words, "mate").and_then(|moves| moves.parse::<i64>().ok()) {
                let plies = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
                assert_eq!((mated, words.len() as i64 - at as i64 - 1), (true, plies), "{line}");
            }
        }
    }
    let best: Vec<&str> = lines.last().expect("a best move").split(' ').collect();
    match best[..] {
        ["bestmove", "(none)"] => assert!(!game(position).position().has_legal_move()),
        ["bestmove", best] => play(&mut game(position), &[best]),
        ["bestmove", best, "ponder", answer] => play(&mut game(position), &[best, answer]),
        _ => panic!("{best:?}"),
    }
}

fn best(lines: &[String]) -> &str {
    lines.last().and_then(|line| line.split(' ').nth(1)).expect("bestmove")
}

/// The number behind a name in the last info line.
fn last_number(lines: &[String], name: &str) -> i64 {
    let last = lines.iter().rfind(|line| line.starts_with("info depth")).expect("an info line");
    let words: Vec<&str> = last.split(' ').collect();
    after(&words, name).and_then(|number| number.parse().ok()).expect("a number")
}

const STALEMATE: &str = "fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const MATE: &str = "fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1";

#[test]
fn the_handshake_is_name_author_options_and_uciok() {
    let mut engine = Engine::start(&[]);
    let lines = engine.ask("uci", "uciok");
    assert!(lines[0].starts_with("id name dc0 ") && lines[1] == "id author the dc0 authors");
    let options = &lines[2..lines.len() - 1];
    assert!(options.iter().all(|line| line.starts_with("option name ")), "{lines:#?}");
    for name in
        ["MultiPV", "Ponder", "Threads", "Move Overhead", "UCI_ShowWDL", "SyzygyPath", "UCI_AnalyseMode"]
    {
        let start = format!("option name {name} type ");
        assert_eq!(options.iter().filter(|line| line.starts_with(&start)).count(), 1, "{name}");
    }
    assert!(options.iter().any(|line| line == "option name UCI_ShowWDL type check default false"));
    assert_eq!(engine.ask("isready", "readyok"), ["readyok"]);
    engine.say("quit");
    assert_eq!(engine.end(), (Some(0), Vec::new()));
}

#[test]
fn bad_input_is_answered_or_left_out_and_the_engine_stays() {
    let mut engine = Engine::ready(&[]);
    for (line, said) in [
        ("setoption name Threads value 100000", "expected a whole number in 1..=64, got \"100000\""),
        ("setoption name NoSuchThing value 1", "there is no option \"NoSuchThing\""),
        ("setoption name search.root.considered value 0", "1..=218"),
        ("setoption name DC0Model value /no/such/net.safetensors", "found none"),
        ("setoption name Device value cuda:77", "cuda"),
        ("position fen nonsense", "is not a FEN"),
        ("position startpos moves e2e5", "move 1, \"e2e5\", is not legal"),
    ] {
        engine.say(line);
        let lines = engine.ask("isready", "readyok");
        assert!(lines[0].starts_with("info string error: ") && lines[0].contains(said), "{line}: {lines:?}");
        assert_eq!(lines.len(), 2);
    }
    // There is no position now, so there is no move to be made in it.
    assert_eq!(best(&engine.ask("go nodes 1", "bestmove")), "(none)");
    engine.say_bytes(b"\xff\xfe\x00 stop go? \r\nsetoption\ngoo\n\n   \nponderhit\nstop\n");
    engine.say(&"x".repeat(3_000_000));
    let lines = engine.ask("isready", "readyok");
    assert!(lines[0].contains("a line of more than 1048576 bytes is ignored"), "{lines:?}");
    engine.search("startpos", "go nodes 10");
}

#[test]
fn moves_are_legal_in_positions_with_special_moves() {
    let mut engine = Engine::ready(&[]);
    for position in [
        "startpos",
        "startpos moves e2e4 a7a6 e4e5 d7d5",
        "fen r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 6 8",
        "fen r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1 moves e8c8 e1g1",
        "fen r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "fen 8/P6k/8/8/8/8/p6K/8 w - - 0 1",
        "fen 4k3/8/8/8/8/8/8/4K2R w K - 99 80",
        "fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1",
    ] {
        engine.search(position, "go nodes 60");
    }
    // Drawn by repetition, but a chess program may go on.
    let shuffled = format!("startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(3));
    engine.search(&shuffled, "go nodes 60");
}

#[test]
fn castling_and_en_passant_are_named_as_kings_and_pawns_move() {
    let mut engine = Engine::ready(&[]);
    let castling = "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    assert_eq!(best(&engine.search(castling, "go nodes 20 searchmoves e1g1")), "e1g1");
    let passing = "startpos moves e2e4 a7a6 e4e5 d7d5";
    assert_eq!(best(&engine.search(passing, "go searchmoves e5d6 nodes 20")), "e5d6");
    let promotion = "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1";
    assert_eq!(best(&engine.search(promotion, "go searchmoves a7a8n nodes 20")), "a7a8n");
    // Moves that are not legal are left out.
    assert_ne!(best(&engine.search("startpos", "go nodes 20 searchmoves e2e5 a1a8")), "e2e5");
    assert_eq!(best(&engine.search("startpos", "go nodes 20 searchmoves e2e5 a2a3")), "a2a3");
}

#[test]
fn a_finished_game_has_no_move() {
    let mut engine = Engine::ready(&[]);
    assert_eq!(engine.search(MATE, "go nodes 5"), ["info depth 0 score mate 0", "bestmove (none)"]);
    assert_eq!(engine.search(STALEMATE, "go wtime 100"), ["info depth 0 score cp 0", "bestmove (none)"]);
    engine.say("go infinite");
    assert_eq!(engine.ask("isready", "readyok").last().expect("a line"), "readyok");
    assert_eq!(best(&engine.ask("stop", "bestmove")), "(none)");
}

#[test]
fn one_legal_move_is_played_without_thinking() {
    let mut engine = Engine::ready(&[]);
    let forced = "fen 7k/8/8/8/8/8/5q2/7K w - - 0 1 moves";
    assert_eq!(game(forced).position().legal_moves().len(), 0);
    let forced = "fen k7/8/8/8/8/8/6q1/7K w - - 0 1";
    assert_eq!(game(forced).position().legal_moves().len(), 1);
    let lines = engine.search(forced, "go wtime 3600000 btime 3600000");
    assert_eq!((best(&lines), last_number(&lines, "nodes")), ("h1g2", 1));
}

#[test]
fn mates_are_told_with_their_distance() {
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
fn nodes_are_simulations_with_and_without_a_kept_tree() {
    let mut engine = Engine::ready(&[]);
    for nodes in [1, 2, 17, 300] {
        engine.say("ucinewgame");
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
    engine.say("ucinewgame");
    assert_eq!(last_number(&engine.search("startpos", "go depth 6"), "nodes"), 32);
    engine.say("setoption name DC0Simulations value 40");
    engine.say("ucinewgame");
    assert_eq!(last_number(&engine.search("startpos", "go"), "nodes"), 40);
}

#[test]
fn a_game_that_goes_on_keeps_its_tree_and_equal_games_are_equal() {
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
    assert_eq!(play().0, first, "one thread plays the same again");
}

#[test]
fn lines_of_multi_pv_start_with_different_moves() {
    let mut engine = Engine::ready(&[]);
    engine.say("setoption name MultiPV value 4");
    engine.say("setoption name UCI_ShowWDL value true");
    let lines = engine.search("startpos", "go nodes 300");
    let last: Vec<&String> =
        lines.iter().filter(|line| line.starts_with("info depth")).rev().take(4).collect();
    let firsts: BTreeSet<&str> =
        last.iter().filter_map(|line| line.split(" pv ").nth(1)?.split(' ').next()).collect();
    assert_eq!(firsts.len(), 4, "{last:#?}");
    for (line, number) in last.iter().zip([4, 3, 2, 1]) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(after(&words, "multipv"), Some(number.to_string().as_str()));
        let at = words.iter().position(|word| *word == "wdl").expect("chances were asked for");
        let sum: u32 = words[at + 1..at + 4].iter().map(|word| word.parse::<u32>().expect("a number")).sum();
        assert_eq!(sum, 1000);
    }
    assert!(last[3].contains(&format!(" pv {}", best(&lines))), "the best line is the move's");
    engine.say("setoption name UCI_ShowWDL value false");
    assert!(!engine.search("startpos", "go nodes 20").iter().any(|line| line.contains("wdl")));
    // Fewer moves than lines.
    engine.search("fen k7/8/8/8/8/8/6q1/7K w - - 0 1", "go nodes 20");
}

#[test]
fn an_infinite_search_ends_when_told_and_answers_meanwhile() {
    for threads in ["1", "3"] {
        let mut engine = Engine::ready(&["--option", &format!("Threads={threads}")]);
        // The second has nothing left to search, and still waits.
        for position in ["startpos", "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"] {
            engine.say(&format!("position {position}"));
            engine.say("go infinite");
            let mut lines: Vec<String> = (0..3).flat_map(|_| engine.ask("isready", "readyok")).collect();
            assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{lines:?}");
            lines.extend(engine.ask("stop", "bestmove"));
            lines.retain(|line| line != "readyok");
            check(position, &lines);
        }
        // A stop that comes late, and one that comes with the search.
        engine.say("stop");
        engine.say("position startpos");
        engine.say("go infinite\nstop\ngo nodes 5\nstop\ngo infinite\nstop");
        for _ in 0..3 {
            let lines = engine.until("bestmove");
            check("startpos", &lines);
        }
        assert_eq!(engine.ask("isready", "readyok"), ["readyok"]);
    }
}

#[test]
fn a_second_go_ends_the_first_and_both_tell_their_move() {
    let mut engine = Engine::ready(&[]);
    engine.say("position startpos");
    engine.say("go infinite");
    engine.say("position startpos moves e2e4");
    engine.say("go nodes 30");
    check("startpos", &engine.until("bestmove"));
    check("startpos moves e2e4", &engine.until("bestmove"));
}

#[test]
fn pondering_waits_for_a_hit_or_a_stop() {
    let mut engine = Engine::ready(&[]);
    for go in ["go ponder wtime 2000 btime 2000", "go ponder movetime 100", "go ponder nodes 50", "go ponder"]
    {
        for end in ["ponderhit", "stop"] {
            let position = "startpos moves e2e4 e7e5";
            engine.say(&format!("position {position}"));
            engine.say(go);
            let mut lines = engine.ask("isready", "readyok");
            lines.extend(engine.ask("isready", "readyok"));
            assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{go}: {lines:?}");
            lines.extend(engine.ask(end, "bestmove"));
            check(position, &lines);
        }
    }
    // After a miss the game goes on elsewhere.
    engine.search("startpos moves e2e4 c7c5", "go nodes 30");
}

#[test]
fn every_kind_of_clock_ends_a_search() {
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
fn quit_and_the_end_of_input_end_the_engine_while_it_searches() {
    for go in ["go infinite", "go ponder", "go nodes 9000000"] {
        let mut engine = Engine::ready(&[]);
        engine.say("position startpos");
        engine.say(go);
        engine.say("quit");
        let (code, lines) = engine.end();
        assert_eq!(code, Some(0));
        check("startpos", &lines);

        let mut engine = Engine::ready(&[]);
        engine.say(go);
        let (code, lines) = engine.end();
        assert_eq!(code, Some(0));
        check("startpos", &lines);
    }
}

#[test]
fn options_of_the_command_line_are_checked_before_the_conversation() {
    for (args, said) in [
        (["--net", "no-such-run"], "is neither a file"),
        (["--option", "Threads=none"], "a whole number in 1..=64"),
        (["--device", "cuda:77"], "cuda"),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_dc0-run")).arg("uci").args(args).stdin(Stdio::null()).output();
        let output = output.expect("the program runs");
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8(output.stderr).expect("text");
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn people_can_look_at_the_board_the_net_the_tree_and_the_speed() {
    let mut engine = Engine::ready(&[]);
    engine.say("tree");
    assert_eq!(engine.ask("isready", "readyok")[0], "nothing was searched");
    engine.search("startpos moves e2e4", "go nodes 50");
    for line in ["d", "eval", "tree", "bench"] {
        engine.say(line);
    }
    let lines = engine.ask("isready", "readyok");
    let told = lines.join("\n");
    for part in ["a b c d e f g h", "4 . . . . P . . .", " for the side to move", "visits", " nps"] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}
