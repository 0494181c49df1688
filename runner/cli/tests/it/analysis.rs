//! `dc0-run analysis` as other programs use it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::experiment::{Ended, piped};

fn analysis(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
    command.args(["analysis", "--device", "cpu"]).args(args);
    command
}

fn run(args: &[&str], input: &[u8]) -> Ended {
    piped(&mut analysis(args), input)
}

fn lines(queries: &[Value]) -> Vec<u8> {
    queries.iter().map(|query| format!("{query}\n")).collect::<String>().into_bytes()
}

#[test]
fn an_answer_does_not_depend_on_what_else_is_searched() {
    let wanted: Vec<Value> = [("[]", 1), (r#"["d2d4"]"#, 4), (r#"["e2e4","c7c5","g1f3"]"#, 1)]
        .iter()
        .enumerate()
        .map(|(number, (moves, leaves))| {
            let moves: Value = serde_json::from_str(moves).expect("JSON");
            json!({"id": format!("wanted {number}"), "moves": moves, "include_policy": true,
                "search": {"simulations": 60, "leaf_batch": leaves}})
        })
        .collect();
    let others = (0..40).map(|number| {
        json!({"id": "other", "moves": ["g1f3"], "priority": number % 3,
            "search": {"simulations": 20 + 3 * number, "c_puct": 1.0 + 0.1 * f64::from(number)}})
    });
    let of_wanted = |ended: &Ended| {
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let mut found: Vec<String> =
            ended.stdout.lines().filter(|line| line.contains("wanted")).map(ToOwned::to_owned).collect();
        found.sort();
        found
    };
    let mut alone: Vec<String> = wanted
        .iter()
        .flat_map(|query| of_wanted(&run(&["--lanes", "1"], &lines(std::slice::from_ref(query)))))
        .collect();
    alone.sort();
    assert_eq!(alone.len(), 3);
    let mut all: Vec<Value> = others.collect();
    for (number, query) in wanted.iter().enumerate() {
        all.insert(13 * number, query.clone());
    }
    for args in [&["--lanes", "2"][..], &["--lanes", "1", "--hash", "0"]] {
        assert_eq!(of_wanted(&run(args, &lines(&all))), alone, "{args:?}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    for (args, code, part) in [
        (&["--search", "c_put=1"][..], 2, "search.c_put: unknown parameter; did you mean `c_puct`?"),
        (&["--search", "reuse_tree=true"], 2, "search.reuse_tree: keeps a tree"),
        (&["--search", "c_puct"], 2, "expected NAME=VALUE"),
        (
            &["--search", "moves_left.slope=1"],
            2,
            "--search moves_left: expected a net with a moves_left_head",
        ),
        (&["--score", "scale=0"], 2, "scale: must lie in 1.0..=100000.0, got 0"),
        (&["--batch-size", "0"], 2, "0 is not in 1..=4096"),
        (&["--lanes", "0"], 2, "0 is not in 1..=256"),
        (&["--net", "nowhere"], 2, "\"nowhere\" is neither a file"),
        (&["--net", "nowhere.safetensors"], 3, "nowhere"),
    ] {
        let refused = run(args, b"");
        assert_eq!(refused.code, Some(code), "{args:?} {}", refused.stderr);
        assert!(refused.stderr.contains(part), "no \"{part}\" in {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn wrong_lines_are_answered_and_the_input_ends_well() {
    let input = b"nonsense\n{\"id\":\"a\",\"moves\":[\"e2e5\"]}\n\xff\n\n{\"id\":\"b\",\"search\":{\"simulations\":5}}";
    let ended = run(&["--search", "c_puct=2"], input);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("analysis by az_nnue, in the program, on the CPU, in integers, in "),
        "{}",
        ended.stderr
    );
    let answers: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let errors: Vec<&str> = answers.iter().filter_map(|answer| answer["error"].as_str()).collect();
    let parts = ["expected a JSON object", "moves[0]: expected a legal move", "expected UTF-8"];
    assert_eq!(errors.len(), parts.len(), "{}", ended.stdout);
    for (error, part) in errors.iter().zip(parts) {
        assert!(error.contains(part), "no \"{part}\" in {error}");
    }
    assert!(answers.iter().any(|answer| answer["id"] == "b" && answer["root"]["visits"] == 5));
}

#[cfg(unix)]
#[test]
fn a_signal_and_a_closed_stdout_end_it_at_once() {
    let endless =
        br#"{"id": "e", "search": {"simulations": 10000000}, "report_every": 0.05}"#.iter().chain(b"\n");
    let endless: Vec<u8> = endless.copied().collect();
    let start = || {
        let mut command = analysis(&["--lanes", "1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    // Not SIGINT, which stays ignored where the tests run in the background.
    let mut server = start();
    let mut input = server.stdin.take().expect("a pipe");
    input.write_all(&endless).expect("the server listens");
    let mut output = BufReader::new(server.stdout.take().expect("a pipe"));
    let mut report = String::new();
    output.read_line(&mut report).expect("a report");
    assert!(report.contains("\"is_during_search\":true"), "{report}");
    let pid = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
    assert_eq!(server.wait().expect("ends").code(), Some(130));
    let mut server = start();
    let mut input = server.stdin.take().expect("a pipe");
    drop(server.stdout.take());
    input.write_all(&endless).expect("the server listens");
    let ended = Ended::from(server);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}
