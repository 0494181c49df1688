//! Experiments with mistakes in them, over everything between a script's text and its plan.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_process::exit::Exit;
use dc0_script::rehearsal::Rehearsal;
use dc0_script::report;
use dc0_steps::Asking;

/// Scripts that each run of the tests tries.
const CASES: u64 = 3_000;

/// Scripts that `cargo test --release --workspace --test it -- --ignored script_fuzz::` tries.
const MANY_CASES: u64 = 50_000;

/// Operations of the interpreter for each; a shipped experiment needs a tenth.
const OPERATIONS: u64 = 30_000;

/// The longest that a script may take: a hang, not a speed, is what it finds.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a number or a name becomes.
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

/// Pieces of other scripts.
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

/// A script with one to four mistakes.
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

/// Puts an extreme in the place of a token of some kind.
fn change(stream: &mut Stream, script: &mut [String], is_kind: impl Fn(&str) -> bool) {
    let places: Vec<usize> = (0..script.len()).filter(|at| is_kind(&script[*at])).collect();
    if !places.is_empty() {
        let place = places[below(stream, places.len())];
        EXTREMES[below(stream, EXTREMES.len())].clone_into(&mut script[place]);
    }
}

/// Changes letters of a token, perhaps to what is no letter.
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

/// Every experiment that dc0 comes with.
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

/// Plans one script and holds what comes out against what every user may expect.
fn plan(text: &str) -> bool {
    let asking = Asking { device: Some("cpu".to_owned()), ..Asking::below("nowhere") };
    let path = folder().join("x.rhai");
    let is_stopped = Box::new(|| false);
    let rehearsal = Rehearsal {
        path: &path,
        text,
        overrides: Vec::new(),
        options: asking,
        operations: OPERATIONS,
        is_stopped,
    };
    let rehearsed = rehearsal.run();
    let Err(failure) = &rehearsed.plan else { return true };
    let (shown, json) =
        (report::render(failure, &rehearsed.sources), report::render_json(failure, &rehearsed.sources));
    assert!(matches!(failure.exit, Exit::BadInput | Exit::Failed), "{:?} for\n{text}", failure.exit);
    assert!(shown.starts_with("error: ") && shown.len() > 10, "{shown} for\n{text}");
    assert!(!shown.contains("dc0-run itself is wrong"), "a panic for\n{text}");
    assert_eq!(json.lines().count(), 1 + failure.further.others.len(), "{json}");
    false
}

/// Plans scripts one after the other, and says before each which it is.
fn work(experiments: &[Vec<String>], numbers: std::ops::Range<u64>, say: &Sender<(u64, String)>) -> u64 {
    let mut planned = 0;
    for number in numbers {
        let text = mutated(&mut Seed { run: 7, step: 0 }.stream(number, Purpose::Sampling), experiments);
        if say.send((number, text.clone())).is_err() {
            break;
        }
        planned += u64::from(plan(&text));
    }
    planned
}

fn check(cases: u64) {
    let experiments = experiments(folder());
    let (say, said) = channel();
    let worker = thread::spawn(move || work(&experiments, 0..cases, &say));
    let mut last = None;
    loop {
        match said.recv_timeout(PATIENCE) {
            Ok(case) => last = Some(case),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("a hang: {last:?}"),
        }
    }
    let planned = worker.join().expect("no case panics");
    assert!(planned > cases / 50 && planned < cases, "{planned} of {cases} scripts could be planned");
}

#[test]
fn no_experiment_with_mistakes_makes_the_check_panic_or_hang() {
    check(CASES);
}

#[test]
#[ignore = "takes minutes; see MANY_CASES"]
fn fifty_thousand_experiments_with_mistakes_neither_panic_nor_hang() {
    check(MANY_CASES);
}

/// The fuzzer is only worth something if it starts from scripts that work.
#[test]
fn every_experiment_without_mistakes_can_be_planned() {
    for tokens in experiments(folder()) {
        let text = tokens.concat();
        assert!(plan(&text), "{}", text.lines().next().unwrap_or_default());
    }
}
