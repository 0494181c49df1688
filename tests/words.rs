//! Names and sentences use the field's words, those of `docs/glossary.md`.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use crate::program::root;

/// What is read: sources, scripts, pages and what browsers load.
const ROOTS: [&str; 12] = [
    "README.md",
    "CONTRIBUTING.md",
    "analysis",
    "benches",
    "build",
    "core",
    "datasets/README.md",
    "docs",
    "experiments",
    "runner",
    "tests",
    "xtask",
];

const EXTENSIONS: [&str; 6] = ["rs", "md", "rhai", "js", "html", "py"];

/// Words for no name and no sentence, each with what to say instead.
const NOWHERE: [(&str, &str); 25] = [
    ("donor", "reuse source"),
    ("donors", "reuse sources"),
    ("glimpse", "snapshot"),
    ("hear", "observe"),
    ("hears", "observes"),
    ("lots", "rounds, batches"),
    ("man", "piece"),
    ("men", "pieces"),
    ("mend", "fix, correct"),
    ("mended", "fixed, corrected"),
    ("mends", "fixes, corrects"),
    ("rehearsal", "dry run"),
    ("remember", "cache"),
    ("remembered", "cached"),
    ("remembers", "caches"),
    ("seat", "game slot"),
    ("seated", "in a slot"),
    ("seats", "game slots"),
    ("shelf", "store"),
    ("tell", "report, say, distinguish"),
    ("tells", "reports, says"),
    ("told", "reported, recorded"),
    ("workplace", "workspace"),
    ("anew", "again"),
    ("whoever", "who, whatever"),
];

/// Words for sentences only, not for names in Rust.
const NO_NAMES: [(&str, &str); 9] = [
    ("asked", "requested, params"),
    ("asking", "options"),
    ("dealt", "shard plan"),
    ("edition", "snapshot"),
    ("place", "index, slot, square, step"),
    ("places", "indices, slots, squares"),
    ("way", "path"),
    ("ways", "paths"),
    ("wish", "request"),
];

/// Phrases of several words.
const PHRASES: [(&str, &str); 6] = [
    ("by heart", "overfitted"),
    ("first play at", "FPU"),
    ("keep its word", "calibrated"),
    ("keeps its word", "calibrated"),
    ("no relative", "from outside"),
    ("positions a move", "nodes a move"),
];

/// Lines that may have such a word, by a part of theirs: people, functions of others, and names that parameters had.
const ALLOWED: [&str; 4] = ["de Man", "optimizer.tell(", "(\"seats\", \"game_slots\")", "{\"seats\": 1, "];

/// Names that may have such a word.
const ALLOWED_NAMES: [&str; 2] = ["is_in_place", "under_way"];

/// The words of a text, in small letters: `SeatedGame` and `seated_game` are two each.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for letter in text.chars() {
        let begins = !letter.is_alphabetic() || (letter.is_uppercase() && previous.is_lowercase());
        if begins {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("one").extend(letter.to_lowercase());
        }
        previous = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The first word of a list found in a text, and the one to use instead.
fn found(text: &str, list: &[(&str, &str)]) -> Option<String> {
    let words = words(text);
    let hit = list.iter().find(|(word, _)| words.iter().any(|found| found == word));
    hit.map(|(word, instead)| format!("`{word}`; write: {instead}"))
}

/// Every identifier with its line.
fn identifiers(tokens: TokenStream, names: &mut Vec<(String, usize)>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => names.push((name.to_string(), name.span().start().line)),
            TokenTree::Group(group) => identifiers(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The private words of a file, each with its line.
fn problems(path: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let shown = path.display();
    for (number, line) in (1..).zip(text.lines()) {
        let is_allowed = ALLOWED.iter().any(|part| line.contains(part));
        let phrase = PHRASES.iter().find(|(phrase, _)| line.contains(phrase));
        let phrase = phrase.map(|(phrase, instead)| format!("`{phrase}`; write: {instead}"));
        if let Some(problem) = found(line, &NOWHERE).or(phrase).filter(|_| !is_allowed) {
            problems.push(format!("{shown}:{number}: {problem}"));
        }
    }
    if path.extension().is_some_and(|extension| extension == "rs") {
        let mut names = Vec::new();
        identifiers(text.parse().unwrap_or_else(|error| panic!("{shown}: {error}")), &mut names);
        names.retain(|(name, _)| !ALLOWED_NAMES.contains(&name.as_str()));
        for (name, line) in names {
            if let Some(problem) = found(&name, &NO_NAMES) {
                problems.push(format!("{shown}:{line}: in the name `{name}`: {problem}"));
            }
        }
    }
    problems
}

/// All files to read, relative to the workspace.
fn files(below: PathBuf, files: &mut Vec<PathBuf>) {
    let path = root().join(&below);
    if path.is_dir() {
        let mut names: Vec<_> = fs::read_dir(&path)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        for name in names.iter().filter(|name| *name != "target" && *name != "node_modules") {
            self::files(below.join(name), files);
        }
    } else if below.extension().is_some_and(|found| EXTENSIONS.iter().any(|extension| found == *extension)) {
        files.push(below);
    }
}

#[test]
fn names_and_sentences_have_no_private_words() {
    let mut all = Vec::new();
    for path in ROOTS {
        files(PathBuf::from(path), &mut all);
    }
    // This file has to name them.
    all.retain(|path| path != Path::new("tests/words.rs"));
    assert!(all.len() > 500, "only {} files were found", all.len());
    let read = |path: &PathBuf| fs::read_to_string(root().join(path)).expect("text");
    let found: Vec<String> = all.iter().flat_map(|path| problems(path, &read(path))).collect();
    assert!(found.is_empty(), "{} private words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn private_words_are_found_in_names_comments_strings_and_pages() {
    let count = |path: &str, text: &str| problems(Path::new(path), text).len();
    assert_eq!(count("x.rs", "struct SeatedGame;"), 1);
    assert_eq!(count("x.rs", "fn path_place() { let ways = 1; }"), 2);
    assert_eq!(count("x.rs", "// The way to place a piece."), 0);
    assert_eq!(count("x.rs", "// Who is told.\nfn x() { \"seven men\" }"), 2);
    assert_eq!(count("x.md", "Nets are learned\nby heart."), 1);
    assert_eq!(count("x.md", "Many humans replace mentions."), 0);
}
