//! Fuzzes the check of scripts with mutated experiments.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_process::exit::Exit;
use dc0_script::plans::ScriptToPlan;
use dc0_script::report;
use dc0_steps::RunOptions;

/// Scripts in each run of the tests.
const CASES: u64 = 3_000;

/// Scripts in `cargo test --release --workspace --test it -- --ignored script_fuzz::`.
const MANY_CASES: u64 = 50_000;

/// Interpreter operations for each script; a shipped experiment needs a tenth.
const OPERATIONS: u64 = 30_000;

/// How long a script may take. It is to find hangs, not slowness.
const PATIENCE: Duration = Duration::from_mins(1);

/// Replacements for numbers and names.
const EXTREMES: [&str; 34] = [
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-308",
    "9223372036854775807",
    "10_000_000",
    "4294967296",
    "9_007_199_254_740_993",
    "()",
    "true",
    "\"\"",
    "\"x\"",
    "'x'",
    "[]",
    "#{}",
    "|x| x",
    "|| 1",
    "run",
    "p",
    "net",
    "best",
    "search",
    "games",
    "this",
    "0.0/0.0",
    "[[[]]]",
    "0..9223372036854775807",
    "\u{1f600}",
    "loop {}",
];

/// Fragments to insert.
const PIECES: [&str; 16] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "#{",
    "|",
    ";",
    ",",
    "..",
    "`${",
    "\"",
    "/*",
    "fn f(x) { f(x) } ",
    "import \"lib/x\" as x;",
];

fn below(stream: &mut Stream, limit: usize) -> usize {
    use rand::RngExt;
    stream.random_range(0..limit)
}

/// Words, runs of spaces, and single symbols.
fn tokens(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if class(c) < 2 && last.chars().next_back().is_some_and(|l| class(l) == class(c)) => {
                last.push(c);
            }
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

/// A script with one to four mutations.
fn mutated(stream: &mut Stream, experiments: &[Vec<String>]) -> String {
    let mut script = experiments[below(stream, experiments.len())].clone();
    for _ in 0..=below(stream, 4) {
        if script.is_empty() {
            break;
        }
        let (at, other) = (below(stream, script.len()), below(stream, script.len()));
        match below(stream, 10) {
            0 => _ = script.remove(at),
            1 => script.insert(at, script[other].clone()),
            2 => script.swap(at, other),
            3 | 4 => change(stream, &mut script, |token| token.starts_with(|c: char| c.is_ascii_digit())),
            5 | 6 => misspell(stream, &mut script[at]),
            7 => change(stream, &mut script, |token| token.starts_with(char::is_alphabetic)),
            8 => script.insert(at, PIECES[below(stream, PIECES.len())].to_owned()),
            _ => script.truncate(at.max(1)),
        }
    }
    script.concat()
}

/// Replaces a token of some kind by an extreme value.
fn change(stream: &mut Stream, script: &mut [String], is_kind: impl Fn(&str) -> bool) {
    let indices: Vec<usize> = (0..script.len()).filter(|at| is_kind(&script[*at])).collect();
    if !indices.is_empty() {
        let index = indices[below(stream, indices.len())];
        EXTREMES[below(stream, EXTREMES.len())].clone_into(&mut script[index]);
    }
}

/// Changes characters of a token, not always to letters.
fn misspell(stream: &mut Stream, token: &mut String) {
    let mut letters: Vec<char> = token.chars().collect();
    for _ in 0..=below(stream, 2) {
        let at = below(stream, letters.len().max(1));
        let noise = char::from_u32(below(stream, 0x300) as u32).unwrap_or('?');
        match below(stream, 3) {
            0 if at < letters.len() => letters[at] = noise,
            1 if at < letters.len() => _ = letters.remove(at),
            _ => letters.insert(at.min(letters.len()), noise),
        }
    }
    *token = letters.into_iter().collect();
}

/// Every shipped experiment.
fn experiments(folder: &Path) -> Vec<Vec<String>> {
    let entries = fs::read_dir(folder).expect("lists").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> =
        entries.filter(|file| file.extension().is_some_and(|kind| kind == "rhai")).collect();
    files.sort();
    files.iter().map(|file| tokens(&fs::read_to_string(file).expect("reads"))).collect()
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments"))
}

/// Plans one script, and checks what holds for every result; whether it could be planned.
fn plan(text: &str) -> bool {
    let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("nowhere") };
    let path = folder().join("x.rhai");
    let script = ScriptToPlan { operations: OPERATIONS, ..ScriptToPlan::new(&path, text, options) };
    let outcome = script.plan();
    let Err(failure) = &outcome.plans else { return true };
    let (shown, json) =
        (report::render(failure, &outcome.sources), report::render_json(failure, &outcome.sources));
    assert!(matches!(failure.exit, Exit::BadInput | Exit::Failed), "{:?} for\n{text}", failure.exit);
    assert!(shown.starts_with("error: ") && shown.len() > 10, "{shown} for\n{text}");
    assert!(!shown.contains("dc0-run itself is wrong"), "a panic for\n{text}");
    assert_eq!(json.lines().count(), 1 + failure.details.others.len(), "{json}");
    false
}

/// Plans scripts one after the other, and announces each before it starts; the number that could be planned.
fn work(experiments: &[Vec<String>], numbers: std::ops::Range<u64>, starts: &Sender<(u64, String)>) -> u64 {
    let mut planned = 0;
    for number in numbers {
        let text = mutated(&mut Seed { run: 7, step: 0 }.stream(number, Purpose::Sampling), experiments);
        if starts.send((number, text.clone())).is_err() {
            break;
        }
        planned += u64::from(plan(&text));
    }
    planned
}

fn check(cases: u64) {
    let experiments = experiments(folder());
    let (sender, starts) = channel();
    let worker = thread::spawn(move || work(&experiments, 0..cases, &sender));
    let mut last = None;
    loop {
        match starts.recv_timeout(PATIENCE) {
            Ok(case) => last = Some(case),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("a hang: {last:?}"),
        }
    }
    let planned = worker.join().expect("no case panics");
    assert!(planned > cases / 50 && planned < cases, "{planned} of {cases} scripts could be planned");
}

#[test]
fn mutated_experiments_never_make_the_check_panic_or_hang() {
    check(CASES);
}

#[test]
#[ignore = "takes minutes; see MANY_CASES"]
fn fifty_thousand_mutated_experiments_never_panic_or_hang() {
    check(MANY_CASES);
}
