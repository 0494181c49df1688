//! Requests about shipped experiments that are cut off anywhere, like half-typed scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

use super::api_index::ApiIndex;
use super::completion::completions;
use super::cursor::Cursor;
use super::definition::definition;
use super::diagnostics::{Diagnosis, Diagnostics};
use super::hover::hover;
use super::signature::signature;
use super::symbols::symbols;
use super::uri;
use super::workspace::Workspace;
use dc0_script::plans::ScriptToPlan;
use dc0_steps::RunOptions;

fn experiments() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let folder = folder.canonicalize().expect("the experiments");
    let files = |folder: &Path| {
        fs::read_dir(folder).expect("lists").map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    let all = [files(&folder), files(&folder.join("lib"))].concat();
    let mut scripts: Vec<_> =
        all.into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "rhai")).collect();
    scripts.sort();
    scripts
}

/// Makes a request at the end of a text.
fn at_end<T>(api: &ApiIndex, path: &Path, text: &str, ask: impl Fn(Cursor<'_>) -> T) -> T {
    at(api, path, (text, text.len()), ask)
}

/// Makes a request at an offset of a text.
fn at<T>(api: &ApiIndex, path: &Path, (text, offset): (&str, usize), ask: impl Fn(Cursor<'_>) -> T) -> T {
    let uri = uri::of_path(path).expect("a URI");
    let mut workspace = Workspace::default();
    workspace.open(&uri, 1, text.to_owned());
    let document = workspace.get(&uri).expect("it is open");
    ask(Cursor { api, workspace: &workspace, document, offset })
}

/// Makes every kind of request, and returns the number of completions.
fn ask_all(cursor: Cursor<'_>) -> usize {
    let end = cursor.script().text.len();
    assert!(hover(cursor).is_none_or(|hover| hover.range.end <= end));
    definition(cursor);
    signature(cursor);
    symbols(cursor.document);
    completions(cursor, true).len()
}

/// What a check of a text finds.
fn found(api: &ApiIndex, path: &Path, text: &str) -> Diagnostics {
    let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("nowhere") };
    let planned = ScriptToPlan { operations: 30_000, ..ScriptToPlan::new(path, text, options) }.plan();
    let diagnosis = Diagnosis {
        api,
        main: &path.display().to_string(),
        texts: &planned.sources.texts(),
        uri: &|_| Uri::from_str("file:///x").ok(),
    };
    planned.plans.as_ref().err().map(|failure| diagnosis.diagnostics(failure)).unwrap_or_default()
}

#[test]
fn requests_about_every_prefix_of_an_experiment_succeed() {
    let api = ApiIndex::new();
    let mut offered = 0;
    for path in experiments() {
        let text = fs::read_to_string(&path).expect("reads");
        for end in (0..=text.len()).step_by(5).filter(|end| text.is_char_boundary(*end)) {
            offered += at_end(&api, &path, &text[..end], ask_all);
        }
        let mut found = found(&api, &path, &text);
        for diagnostics in found.values_mut() {
            // An engine from outside need not be installed.
            diagnostics.retain(|diagnostic| !diagnostic.message.starts_with("there is no program "));
        }
        found.retain(|_, diagnostics| !diagnostics.is_empty());
        assert_eq!(found, Diagnostics::new(), "{}", path.display());
    }
    assert!(offered > 10_000, "{offered}");
}

#[test]
fn after_an_unknown_receiver_members_of_all_handles_are_offered_and_explained() {
    let api = ApiIndex::new();
    let path = Path::new("/nowhere/x.rhai");
    let labels =
        |cursor: Cursor<'_>| completions(cursor, true).into_iter().map(|item| item.label).collect::<Vec<_>>();
    let offered = at_end(&api, path, "unknown.", labels);
    for name in ["score", "policy_loss", "generation", "self_play", "push"] {
        assert!(offered.iter().any(|label| label == name), "{name} in {offered:?}");
    }
    let of_net = at_end(&api, path, "let net = run.network(); net.", labels);
    assert!(of_net.iter().all(|label| label != "score"), "{of_net:?}");
    let explained =
        at_end(&api, path, "unknown.score_low", |cursor| hover(cursor).map(|hover| hover.markdown));
    assert!(explained.is_some_and(|text| text.contains("of a `MatchResult`")));
}

#[test]
fn problems_in_a_prefix_of_an_experiment_lie_within_it() {
    let api = ApiIndex::new();
    let (mut wrong, mut checked) = (0, 0);
    for path in experiments() {
        let text = fs::read_to_string(&path).expect("reads");
        for end in (0..text.len()).step_by(97).filter(|end| text.is_char_boundary(*end)) {
            let found = found(&api, &path, &text[..end]);
            let lines = text[..end].matches('\n').count() as u32;
            for diagnostic in found.values().flatten() {
                assert!(
                    diagnostic.range.start <= diagnostic.range.end && diagnostic.range.end.line <= lines,
                    "{diagnostic:?}"
                );
                assert!(!diagnostic.message.contains("dc0-run itself is wrong"), "{diagnostic:?}");
            }
            wrong += usize::from(!found.is_empty());
            checked += 1;
        }
    }
    assert!(wrong > checked / 4, "{wrong} of {checked}");
}

/// The messages of a check with the words that they mark in the script.
fn marked(text: &str) -> Vec<(String, String)> {
    let path = Path::new("/nowhere/x.rhai");
    let found = found(&ApiIndex::new(), path, text);
    let lines = super::text::Text::new(text.to_owned());
    let word = |range: lsp_types::Range| text[lines.offset(range.start)..lines.offset(range.end)].to_owned();
    found[path].iter().map(|diagnostic| (diagnostic.message.clone(), word(diagnostic.range))).collect()
}

#[test]
fn every_problem_of_a_call_is_marked_at_its_word() {
    let text = "let run = open_run(\"x\");\nlet net = run.network();\nlet search = #{ c_puct: -1 };\n\
        run.self_play(net, #{ game: 4, max_plies: \"ten\",\n    search: search + #{ simulation: 3 } });";
    let problems = marked(text);
    let words: Vec<&str> = problems.iter().map(|(_, word)| word.as_str()).collect();
    assert_eq!(words, ["game", "simulation", "-1", "\"ten\""], "{problems:#?}");
    let text = "let run = open_run(\"x\");\nlet net = run.network();\nrun.search(net, [\"startpos\", \"8/8\", 3], #{ line: 2 });";
    let problems = marked(text);
    let words: Vec<&str> = problems.iter().map(|(_, word)| word.as_str()).collect();
    assert_eq!(words, ["\"8/8\"", "3", "line"], "{problems:#?}");
}

#[test]
fn other_errors_are_marked_at_their_word() {
    let mark = |text: &str| marked(text).remove(0).1;
    assert_eq!(mark("let a = 1; print(b);"), "b");
    assert_eq!(mark("let run = open_run(\"x\"); run.slef_play(1);"), "slef_play");
    assert_eq!(mark("let a = "), "=");
    assert_eq!(mark("assert(1 == 2, \"no\");"), "assert");
    let all = marked("print(aa); print(bb); cc();");
    assert_eq!(all.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>(), ["aa", "bb", "cc"]);
    assert!(marked("loop { }")[0].0.starts_with("the check ends here"));
}

#[test]
fn a_key_of_a_map_is_its_own_definition() {
    let api = ApiIndex::new();
    let path = Path::new("/nowhere/x.rhai");
    let text = "let games = 4;\nrun.self_play(net, #{ games: games });";
    let key = text.find("games:").expect("the key");
    let value = text.rfind("games").expect("the value");
    let definition_at =
        |offset| at(&api, path, (text, offset), |cursor| definition(cursor).map(|found| found.name));
    assert_eq!(definition_at(key), Some(key..key + 5));
    assert_eq!(definition_at(value), Some(4..9));
}

#[test]
fn a_string_of_several_lines_has_no_completions() {
    let api = ApiIndex::new();
    let path = Path::new("/nowhere/x.rhai");
    let count = |text: &str| at_end(&api, path, text, |cursor| completions(cursor, true).len());
    let start = "run.self_play(net, #{ search: #{ root: #{ rule: ";
    assert!(count(&format!("{start}`gu")) > 0);
    assert_eq!(count(&format!("{start}`\ngu")), 0);
}
