use std::io::{self, BufReader, Cursor, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use dc0_core::board::{Game, Move};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::fake::Hashed;
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError, FixedSize, NetworkSpec};
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use dc0_process::exit::Exit;
use serde_json::{Value as Json, json};

use super::error::AnalysisError;
use super::queue::{End, MOST_WAITING, Queue};
use super::reader::Context;
use super::server::{Make, Server, serve};
use crate::score::ScoreFit;

/// An output that a test can read, and hold up.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().ignore_poison().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn lines(&self) -> Vec<Json> {
        let text = String::from_utf8(self.0.lock().ignore_poison().clone()).expect("UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

fn hashed() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    Ok(Box::new(FixedSize::new(Box::new(Hashed::new(encoding, 1)), 4)))
}

fn server_with(lanes: u32, rows: u32, make: Arc<Make>) -> Server {
    let context = Context {
        network: "a fake".to_owned(),
        backend: "nothing".to_owned(),
        lanes,
        rows,
        search: Value::of([("simulations", Value::Int(20))]),
        net: NetworkSpec::default(),
    };
    Server { context, lanes, rows, fit: ScoreFit::NONE, make }
}

/// All lines that answer an input, which ends.
fn answers_with(input: &[u8], lanes: u32, rows: u32) -> Vec<Json> {
    let output = Shared::default();
    let queue = Arc::new(Queue::new(lanes));
    let server = server_with(lanes, rows, Arc::new(hashed));
    let ended = serve(Cursor::new(input.to_vec()), Box::new(output.clone()), server, &queue);
    assert_eq!(ended.expect("fakes do not fail"), Exit::Done);
    output.lines()
}

fn answers(queries: &[Json]) -> Vec<Json> {
    answers_with(text(queries).as_bytes(), 1, 4)
}

fn text(queries: &[Json]) -> String {
    queries.iter().map(|query| format!("{query}\n")).collect()
}

/// The text of an error that names this field.
fn refused(line: &Json, field: impl Into<Json>) -> String {
    assert_eq!(line["problems"][0]["field"], field.into(), "{line}");
    line["error"].as_str().expect("text").to_owned()
}

#[test]
fn every_turn_has_an_answer_with_legal_moves() {
    let moves = ["e2e4", "e7e5", "g1f3"];
    let query = json!({"id": "g", "moves": moves, "turns": [0, 3, 1], "include_policy": true});
    let answers = answers(&[query]);
    let mut turns: Vec<u64> = answers.iter().map(|answer| answer["turn"].as_u64().expect("a turn")).collect();
    turns.sort_unstable();
    assert_eq!(turns, [0, 1, 3]);
    for answer in &answers {
        let turn = answer["turn"].as_u64().expect("a turn") as usize;
        let game = Game::from_text(&format!("startpos moves {}", moves[..turn].join(" "))).expect("legal");
        assert_eq!((&answer["id"], &answer["fen"]), (&json!("g"), &json!(game.position().fen())));
        assert_eq!(answer["side"], ["white", "black"][turn % 2]);
        assert_eq!(answer["root"]["visits"], 20);
        let visits: u64 = answer["moves"].as_array().expect("moves").iter().map(check_move(&game)).sum();
        assert_eq!(visits, 19, "the root's own evaluation is the other simulation");
        let policy = answer["policy"].as_object().expect("priors");
        assert_eq!(policy.len(), game.position().legal_moves().len());
        let sum: f64 = policy.values().filter_map(Json::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}

/// Checks a move of an answer, and returns its visits.
fn check_move(game: &Game) -> impl Fn(&Json) -> u64 {
    let game = game.clone();
    move |mv: &Json| {
        let mut line = game.clone();
        let pv = mv["pv"].as_array().expect("a variation");
        assert_eq!(pv[0], mv["move"]);
        for played in pv {
            let played = Move::from_uci(played.as_str().expect("text")).expect("a move");
            assert!(line.position().is_legal(played), "{played} of {mv}");
            line.play_unchecked(played);
        }
        let chances = ["win", "draw", "loss"].map(|name| mv["score"][name].as_f64().expect("a chance"));
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{mv}");
        mv["visits"].as_u64().expect("visits")
    }
}

#[test]
fn an_answer_depends_on_its_query_alone() {
    let query = |number: u32| {
        let moves = ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4"];
        let search = json!({"simulations": 30 + 7 * number, "leaf_batch": 1 + number % 3});
        json!({"id": number.to_string(), "moves": moves[..number as usize % 6], "search": search,
               "priority": i64::from(number % 3)})
    };
    let alone: Vec<Json> = (0..30).flat_map(|number| answers(&[query(number)])).collect();
    let input = text(&(0..30).map(query).collect::<Vec<_>>());
    for (lanes, rows) in [(1, 1), (1, 4), (3, 5), (2, 64)] {
        let mut together = answers_with(input.as_bytes(), lanes, rows);
        let number = |answer: &Json| answer["id"].as_str().and_then(|id| id.parse::<u32>().ok());
        together.sort_by_key(number);
        assert_eq!(together, alone, "{lanes} lanes of {rows} rows");
    }
}

#[test]
fn a_more_urgent_query_goes_first_even_if_others_have_begun() {
    let long = |id: &str| json!({"id": id, "search": {"simulations": 30_000}});
    let urgent = json!({"id": "urgent", "priority": 1, "search": {"simulations": 10}});
    let input = text(&[long("a"), long("b"), urgent]);
    let answers = answers_with(input.as_bytes(), 1, 1);
    let ids: Vec<&str> = answers.iter().filter_map(|answer| answer["id"].as_str()).collect();
    assert_eq!(ids, ["urgent", "a", "b"]);
    // What waits meanwhile goes on where it was.
    assert!(answers.iter().skip(1).all(|answer| answer["root"]["visits"] == 30_000));
}

#[test]
fn what_is_terminated_is_still_answered() {
    let endless =
        json!({"id": "e", "moves": ["e2e4"], "turns": [0, 1], "search": {"simulations": 10_000_000}});
    let terminate = json!({"id": "t", "action": "terminate", "terminate_id": "e", "turns": [1]});
    let others = json!({"id": "u", "action": "terminate", "terminate_id": "x"});
    let all = json!({"id": "v", "action": "terminate_all"});
    let answers = answers(&[endless, terminate, others, all]);
    let of = |id: &str| answers.iter().filter(|answer| answer["id"] == id).collect::<Vec<_>>();
    assert_eq!((&of("t")[0]["terminated"], &of("u")[0]["terminated"]), (&json!(1), &json!(0)));
    assert_eq!(of("v")[0], &json!({"id": "v", "action": "terminate_all", "terminated": 1}));
    assert_eq!(of("e").len(), 2);
    assert!(of("e").iter().all(|answer| answer["is_terminated"] == true), "{answers:?}");
    assert_eq!(answers.len(), 5);
}

#[test]
fn decided_games_are_answered_without_a_search() {
    let mated = json!({"id": "m", "moves": ["f2f3", "e7e5", "g2g4", "d8h4"], "turns": [4, 3],
        "search": {"mate_in_one": true}});
    let drawn = json!({"id": "d", "fen": "k7/8/8/8/8/8/8/K7 w - - 0 1"});
    let answers = answers(&[mated, drawn]);
    let find = |id: &str, turn: u64| {
        answers.iter().find(|answer| answer["id"] == id && answer["turn"] == turn).expect("an answer")
    };
    let mate = find("m", 4);
    assert_eq!((&mate["outcome"], &mate["root"]["score"]["mate"]), (&json!("checkmate"), &json!(0)));
    assert_eq!((&mate["root"]["score"]["loss"], &mate["moves"]), (&json!(1.0), &json!([])));
    let before = find("m", 3);
    assert_eq!((&before["root"]["score"]["mate"], &before["outcome"]), (&json!(1), &Json::Null));
    assert_eq!(before["moves"][0]["san"], "Qh4#");
    let draw = find("d", 0);
    assert_eq!(draw["outcome"], "insufficient_material");
    assert_eq!((&draw["root"]["score"]["draw"], &draw["root"]["score"]["cp"]), (&json!(1.0), &json!(0)));
}

#[test]
fn the_root_may_be_restricted_and_answers_shortened() {
    let query = json!({"id": "r", "search_moves": ["a2a3", "h2h4"], "lines": 1, "pv_length": 1,
        "search": {"simulations": 200}});
    let answer = &answers(&[query])[0];
    let moves = answer["moves"].as_array().expect("moves");
    assert_eq!((moves.len(), moves[0]["pv"].as_array().map(Vec::len)), (1, Some(1)));
    assert!(["a2a3", "h2h4"].contains(&moves[0]["move"].as_str().expect("text")), "{answer}");
}

#[test]
fn reports_come_during_a_search() {
    let query =
        json!({"id": "r", "report_every": 0.01, "search": {"simulations": 10_000_000}, "seconds": 0.5});
    let answers = answers(&[query]);
    let (last, reports) = answers.split_last().expect("answers");
    assert!(reports.len() > 3 && reports.iter().all(|report| report["is_during_search"] == true));
    assert_eq!((&last["is_during_search"], &last["is_terminated"]), (&json!(false), &json!(false)));
    assert!(last["root"]["visits"].as_u64() < Some(10_000_000), "the time limit ended it");
}

#[test]
fn a_wrong_line_names_what_is_wrong_and_the_next_one_is_served() {
    let cases: [(&str, &str, &str); 24] = [
        (r#"{"fen": null}"#, "id", "expected text of 1 to 1000 bytes, got nothing"),
        (r#"{"id": 7}"#, "id", "got 7 (whole number)"),
        (r#"{"id": ""}"#, "id", "got text of 0 bytes"),
        (r#"{"id": "a", "fen": 1}"#, "fen", "expected text"),
        (r#"{"id": "a", "fen": "x"}"#, "fen", "\"x\" is not a FEN"),
        (r#"{"id": "a", "moves": "e2e4"}"#, "moves", "expected a list"),
        (r#"{"id": "a", "moves": ["e2e4", "e2e4"]}"#, "moves[1]", "expected a legal move such as"),
        (r#"{"id": "a", "moves": ["e2e4", 5]}"#, "moves[1]", "expected text, got 5"),
        (r#"{"id": "a", "move": ["e2e4"]}"#, "move", "did you mean `moves`?"),
        (r#"{"id": "a", "turns": [1]}"#, "turns[0]", "expected a turn from 0 to 0"),
        (r#"{"id": "a", "turns": [0, 0]}"#, "turns[1]", "expected each turn once"),
        (r#"{"id": "a", "turns": []}"#, "turns", "expected at least one turn"),
        (r#"{"id": "a", "turns": [-1]}"#, "turns[0]", "got -1"),
        (r#"{"id": "a", "search": {"c_put": 1}}"#, "search.c_put", "did you mean `c_puct`?"),
        (r#"{"id": "a", "search": {"simulations": 0}}"#, "search.simulations", "must lie in 1..=10000000"),
        (r#"{"id": "a", "search": {"reuse_tree": true}}"#, "search.reuse_tree", "searched on its own"),
        (r#"{"id": "a", "search": {"engine": "reference"}}"#, "search.engine", "must be \"fast\""),
        (r#"{"id": "a", "search": {"moves_left": {}}}"#, "search.moves_left", "expected a net with"),
        (r#"{"id": "a", "search": {"tablebases": "/nowhere"}}"#, "search.tablebases", "/nowhere"),
        (r#"{"id": "a", "search_moves": ["e2e5"]}"#, "search_moves[0]", "got \"e2e5\""),
        (r#"{"id": "a", "priorities": [1, 2]}"#, "priorities", "expected one for each of 1 turns"),
        (r#"{"id": "a", "seconds": 0}"#, "seconds", "must lie in"),
        (r#"{"id": "a", "action": "terminat"}"#, "action", "did you mean \"terminate\"?"),
        (r#"{"id": "a", "action": "terminate"}"#, "terminate_id", "expected the id of a query"),
    ];
    for (line, field, part) in cases {
        let answers = answers_with(format!("{line}\n{{\"id\": \"next\"}}\n").as_bytes(), 1, 4);
        let [refusal, next] = answers.as_slice() else { panic!("{line}: {answers:?}") };
        let error = refused(refusal, field);
        assert!(error.contains(part), "{line}: no \"{part}\" in {error}");
        assert_eq!(refusal["id"], if field == "id" { Json::Null } else { json!("a") });
        assert_eq!(next["id"], "next");
    }
    let both = answers(&[json!({"id": "a", "search": {"c_put": 1}, "lines": 0})]);
    assert_eq!(both[0]["problems"].as_array().map(Vec::len), Some(2), "{both:?}");
}

#[test]
fn lines_that_are_no_json_objects_are_refused() {
    let deep = "[".repeat(100_000);
    let long = format!("{{\"id\": \"{}\"}}", "x".repeat(2 << 20));
    for (line, part) in [
        (&b"{"[..], "expected a JSON object in one line: EOF"),
        (b"[]", "expected a JSON object in one line, got [] (list)"),
        (b"null", "got () (nothing)"),
        (b"{\"id\": \"\xff\"}", "expected UTF-8"),
        (b"\xff\xfe", "expected UTF-8"),
        (deep.as_bytes(), "recursion limit"),
        (long.as_bytes(), "a line of more than 1048576 bytes is ignored"),
    ] {
        let answers = answers_with(&[line, b"\n\n{\"id\": \"next\"}"].concat(), 1, 4);
        let [refusal, next] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((&refusal["id"], &next["id"]), (&Json::Null, &json!("next")));
        let error = refused(refusal, Json::Null);
        assert!(error.contains(part), "no \"{part}\" in {error}");
    }
}

#[test]
fn the_version_is_answered_and_the_cache_cleared() {
    let version = json!({"id": "v", "action": "query_version"});
    let clear = json!({"id": "c", "action": "clear_cache"});
    let wrong = json!({"id": "w", "action": "clear_cache", "turns": 1});
    let answers = answers(&[version, clear, wrong]);
    let expected = json!({"id": "v", "action": "query_version", "version": env!("CARGO_PKG_VERSION"),
        "network": "a fake", "backend": "nothing", "lanes": 1, "batch_size": 4});
    assert_eq!((&answers[0], &answers[1]), (&expected, &json!({"id": "c", "action": "clear_cache"})));
    assert!(refused(&answers[2], "turns").contains("unknown parameter"), "{}", answers[2]);
}

/// An input without end, which counts what is read of it.
struct Endless {
    line: Vec<u8>,
    at: usize,
    lines: Arc<AtomicUsize>,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = (&self.line[self.at..]).read(into)?;
        self.at += count;
        if self.at == self.line.len() {
            self.at = 0;
            self.lines.fetch_add(1, Ordering::SeqCst);
        }
        Ok(count)
    }
}

#[test]
fn a_flood_of_queries_waits_outside_and_an_interrupt_ends_it() {
    let (output, lines) = (Shared::default(), Arc::new(AtomicUsize::new(0)));
    let queue = Arc::new(Queue::new(2));
    let line = b"{\"id\": \"flood\", \"search\": {\"simulations\": 10000000}}\n".to_vec();
    let input = Endless { line, at: 0, lines: Arc::clone(&lines) };
    let interrupting = Arc::clone(&queue);
    let watcher = thread::spawn(move || {
        let mut before = usize::MAX;
        while before != lines.load(Ordering::SeqCst) || before == 0 {
            before = lines.load(Ordering::SeqCst);
            thread::sleep(Duration::from_millis(300));
        }
        assert!(interrupting.end(End::Interrupted), "nothing else ended it");
        before
    });
    let server = server_with(2, 4, Arc::new(hashed));
    let ended = serve(BufReader::new(input), Box::new(output), server, &queue);
    assert_eq!(ended.expect("interrupted"), Exit::Interrupted);
    let read = watcher.join().expect("no panic");
    // Those that wait, those that are searched, one in the reader's hands and a buffer of it.
    assert!((MOST_WAITING..MOST_WAITING + 300).contains(&read), "{read} lines were read");
}

/// An output that nobody reads.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_ends_quietly_though_the_input_goes_on() {
    let (from, mut to) = io::pipe().expect("a pipe");
    to.write_all(b"{\"id\": \"a\"}\n").expect("a pipe");
    let queue = Arc::new(Queue::new(1));
    let server = server_with(1, 4, Arc::new(hashed));
    let ended = serve(BufReader::new(from), Box::new(Closed), server, &queue);
    assert_eq!(ended.expect("quietly"), Exit::Done);
    drop(to);
}

/// Fails at once.
struct Failing(Encoding);

impl Evaluator for Failing {
    fn encoding(&self) -> &Encoding {
        &self.0
    }

    fn evaluate(&mut self, batch: &Batch, _: &mut Evaluations) -> Result<(), EvaluatorError> {
        Err(EvaluatorError::Device { rows: batch.len(), cause: "no device".to_owned() })
    }
}

#[test]
fn a_net_that_fails_ends_the_server_with_its_error() {
    let make = || {
        let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
        Ok(Box::new(Failing(encoding)) as Box<dyn Evaluator>)
    };
    let (from, mut to) = io::pipe().expect("a pipe");
    to.write_all(b"{\"id\": \"a\"}\n").expect("a pipe");
    let queue = Arc::new(Queue::new(2));
    let ended =
        serve(BufReader::new(from), Box::new(Shared::default()), server_with(2, 4, Arc::new(make)), &queue);
    let error = ended.expect_err("the net fails");
    assert!(matches!(error, AnalysisError::Evaluator(EvaluatorError::Device { rows: 1, .. })), "{error}");
    drop(to);
}
