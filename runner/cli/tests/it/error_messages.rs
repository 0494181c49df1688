//! The catalogue of wrong scripts: `wrong/*.md` holds each script with the exact message that its user reads.
//!
//! A case is a heading, a `rhai` block, perhaps a `sh` block with options, and a `text` block with the message. After a change of
//! messages, `DC0_UPDATE=1 cargo test --release --workspace --test it error_messages::` rewrites them; read every line of the diff.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use dc0_process::exit::Exit;
use dc0_script::plans::ScriptToPlan;
use dc0_steps::RunOptions;

/// Operations after which a loop counts as endless; far fewer than in the program, to keep the catalogue fast.
const OPERATIONS: u64 = 3_000_000;

/// One wrong script.
#[derive(Debug, Default)]
struct Case {
    title: String,
    script: String,
    options: String,
    message: String,
}

/// The cases of a page.
fn cases(page: &str) -> Vec<Case> {
    let (mut cases, mut block): (Vec<Case>, Option<String>) = (Vec::new(), None);
    for line in page.lines() {
        match (&block, line.strip_prefix("```"), line.strip_prefix("## ")) {
            (None, Some(kind), _) => block = Some(kind.to_owned()),
            (Some(_), Some(""), _) => block = None,
            (None, None, Some(title)) => cases.push(Case { title: title.to_owned(), ..Case::default() }),
            (None, None, None) => {}
            (Some(kind), ..) => {
                let case = cases.last_mut().expect("a block stands below a heading");
                let text = match kind.as_str() {
                    "rhai" => &mut case.script,
                    "sh" => &mut case.options,
                    "text" => &mut case.message,
                    other => panic!("{}: a block of kind {other}", case.title),
                };
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    cases
}

/// The text of a page of cases.
fn render_page(head: &str, cases: &[Case]) -> String {
    let mut page = head.trim_end().to_owned() + "\n";
    for Case { title, script, options, message } in cases {
        let _ = write!(page, "\n## {title}\n\n```rhai\n{script}```\n");
        if !options.is_empty() {
            let _ = write!(page, "\n```sh\n{options}```\n");
        }
        let _ = write!(page, "\n```text\n{message}```\n");
    }
    page
}

/// The message that the user reads, and the exit code.
fn message(case: &Case, folder: &Path) -> (String, Exit) {
    let mut options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("datasets") };
    let mut overrides = Vec::new();
    for line in case.options.lines() {
        match line.split_once(' ').expect("an option with its value") {
            ("--set", given) => overrides.push(given.parse().expect("name=value")),
            ("--device", device) => options.device = Some(device.to_owned()),
            (other, _) => panic!("{}: there is no {other} here", case.title),
        }
    }
    let path = folder.join("x.rhai");
    let script = ScriptToPlan::new(&path, case.script.trim_end(), options);
    let outcome = ScriptToPlan { overrides, operations: OPERATIONS, ..script }.plan();
    let error = outcome.error().unwrap_or_else(|| "no error".to_owned());
    let exit = outcome.plans.err().map_or(Exit::Done, |failure| failure.exit);
    let absolute = folder.canonicalize().expect("is there");
    let shown = error
        .replace(&format!("{}/", folder.display()), "")
        .replace(&absolute.display().to_string(), "FOLDER");
    (shown.replace(&folder.display().to_string(), "FOLDER") + "\n", exit)
}

fn pages() -> Vec<PathBuf> {
    let list = fs::read_dir("tests/wrong").expect("lists").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> =
        list.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect();
    pages.sort();
    pages
}

#[test]
fn every_wrong_script_gets_its_recorded_message() {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in pages() {
        let page = fs::read_to_string(&path).expect("reads");
        let mut cases = cases(&page);
        for case in &mut cases {
            let (found, exit) = message(case, Path::new("tests/wrong"));
            let expected_exit =
                if found.contains("the script threw") { Exit::Failed } else { Exit::BadInput };
            if found != case.message || exit != expected_exit {
                wrong.push(format!("{}: {} ({exit:?})\n{found}", path.display(), case.title));
            }
            case.message = found;
            count += 1;
        }
        if env::var_os("DC0_UPDATE").is_some() {
            let head = page.split("\n## ").next().unwrap_or_default();
            fs::write(&path, render_page(head, &cases)).expect("writes");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 60, "{count} cases");
}

/// Messages depend only on the script's text and names, so they are the same each time.
#[test]
fn messages_start_with_error_and_hide_the_script_engine() {
    for path in pages() {
        for case in cases(&fs::read_to_string(&path).expect("reads")) {
            let first = case.message.lines().next().unwrap_or_default();
            assert!(first.starts_with("error: "), "{}: {first}", case.title);
            for word in
                ["i64", "f64", "ImmutableString", "Dynamic", "Property not found", "Function not found"]
            {
                assert!(!case.message.contains(word), "{}: {word} in\n{}", case.title, case.message);
            }
        }
    }
}
