//! Generated pages are up to date, and pages refer only to existing files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{PROGRAM, root, succeed};

/// Compares a stored page with what the program prints.
fn check_up_to_date(page: &str, file: &str) {
    let mut command = Command::new(PROGRAM);
    let printed = succeed(command.args(["docs", page])).stdout;
    let stored = root().join(format!("docs/reference/{file}"));
    let stored = fs::read_to_string(stored).expect("the page is checked in");
    assert!(
        stored == String::from_utf8(printed).expect("UTF-8"),
        "docs/reference/{file} is out of date; rewrite it with `dc0-run docs {page} > docs/reference/{file}`"
    );
}

#[test]
fn the_parameter_reference_is_up_to_date() {
    check_up_to_date("parameters", "parameters.md");
}

#[test]
fn the_encoding_reference_is_up_to_date() {
    check_up_to_date("encodings", "encodings.md");
}

#[test]
fn the_function_reference_is_up_to_date() {
    check_up_to_date("script", "script.md");
}

#[test]
fn the_definitions_for_editors_are_up_to_date() {
    check_up_to_date("definitions", "dc0.d.rhai");
}

/// The page of defaults names parameters as `call.path`, with their values and evidence, and leaves none of some calls out.
#[test]
fn the_page_of_defaults_has_every_value_of_the_program() {
    let page = fs::read_to_string(root().join("docs/methods/defaults.md")).expect("the page");
    let code = |cell: &str| cell.trim().strip_prefix('`')?.strip_suffix('`').map(ToOwned::to_owned);
    let calls = dc0_script::reference::all_calls();
    let mut found = BTreeSet::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [name, value, evidence] = cells[..] else { continue };
        let (Some(name), Some(value)) = (code(name), code(value)) else { continue };
        let (call, path) = name.split_once('.').unwrap_or((&name, ""));
        let rows = &calls.iter().find(|known| known.call == call).unwrap_or_else(|| panic!("no {call}")).rows;
        let row = rows.iter().find(|row| row.path == path).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(row.default, value, "{name}");
        assert!(!evidence.trim().is_empty(), "{name}");
        assert!(found.insert(name.clone()), "{name} is there twice");
    }
    for call in ["self_play", "train", "network", "alphabeta"] {
        let rows = &calls.iter().find(|known| known.call == call).unwrap_or_else(|| panic!("no {call}")).rows;
        // A group that is always there has no value but those of its members.
        let is_group = |path: &str| {
            rows.iter().any(|row| row.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
        };
        let named = rows.iter().filter(|row| row.default == "()" || !is_group(&row.path));
        let names = named.map(|row| format!("{call}.{}", row.path));
        let missing: Vec<String> = names.filter(|name| !found.contains(name)).collect();
        assert!(missing.is_empty(), "docs/methods/defaults.md has no evidence for {missing:?}");
    }
}

#[test]
fn docs_prints_the_parameters_by_default() {
    let printed = |page: &[&str]| succeed(Command::new(PROGRAM).arg("docs").args(page)).stdout;
    assert_eq!(printed(&[]), printed(&["parameters"]));
}

#[test]
fn the_guide_to_sql_shows_every_question_and_names_every_function() {
    let page = root().join("docs/guides/sql.md");
    let page = fs::read_to_string(page).expect("the guide");
    for question in dc0_analysis::questions() {
        let block = format!("### {}\n\n```sql\n{}\n```\n", question.title, question.statement);
        assert!(page.contains(&block), "docs/guides/sql.md lacks this block:\n{block}");
    }
    for function in dc0_analysis::functions().iter().filter(|function| !function.form.contains("list")) {
        let name = function.form.split('(').next().expect("a name");
        assert!(page.contains(&format!("`{name}(")), "docs/guides/sql.md does not name {name}");
    }
}

/// The folders that a path of the repository begins with. Runs write to `datasets` and builds to `target`, so pages may name what
/// does not exist yet.
const FOLDERS: [&str; 9] =
    ["analysis", "benches", "build", "core", "docs", "experiments", "runner", "tests", "xtask"];

/// A page without its blocks of code.
fn prose(page: &str) -> String {
    page.split("\n```").step_by(2).collect()
}

/// Whether a word in backticks is the path of one file or folder of the repository.
fn is_path(word: &str) -> bool {
    let first = word.split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| FOLDERS.contains(&first)) && !word.contains(['*', '<', '{', '…', ' ', ':'])
}

/// The paths in backticks that do not exist.
fn missing_paths(page: &str) -> Vec<String> {
    let prose = prose(page);
    let words = prose.split('`').skip(1).step_by(2).filter(|word| is_path(word));
    words.filter(|path| !root().join(path).exists()).map(ToOwned::to_owned).collect()
}

/// The links to files that do not exist, for a page in `folder`.
fn broken_links(page: &str, folder: &Path) -> Vec<String> {
    let prose = prose(page);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let files = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    files.filter(|file| !folder.join(file).exists()).map(ToOwned::to_owned).collect()
}

/// The anchors that GitHub gives the headings of a page: small letters, digits, hyphens and underscores, with hyphens for spaces, and
/// a number after those that a heading above has, too.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let prose = prose(page);
    for line in prose.lines() {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        let Some(title) = title.strip_prefix(' ').filter(|_| (1..=6).contains(&level)) else { continue };
        // Of a link only the text counts.
        let title = title.split("](").enumerate().map(|(part, text)| match text.split_once(')') {
            Some((_, after)) if part > 0 => after,
            _ => text,
        });
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let title: String = title.collect::<String>().trim().to_lowercase().chars().filter(kept).collect();
        let anchor = title.replace(' ', "-");
        let taken =
            (0..).map(|number| if number == 0 { anchor.clone() } else { format!("{anchor}-{number}") });
        let new = taken.into_iter().find(|anchor| !found.contains(anchor)).expect("numbers have no end");
        found.insert(new);
    }
    found
}

/// The links to headings that do not exist, for a page in `folder`. Files that do not exist are another matter.
fn broken_anchors(page: &str, folder: &Path) -> Vec<String> {
    let prose = prose(page);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut broken = Vec::new();
    for target in targets.filter(|target| !target.contains("://")) {
        let Some((file, anchor)) = target.split_once('#') else { continue };
        let other = (!file.is_empty()).then(|| fs::read_to_string(folder.join(file)).unwrap_or_default());
        if !anchors(other.as_deref().unwrap_or(page)).contains(anchor) {
            broken.push(target.to_owned());
        }
    }
    broken
}

/// All pages below a folder.
fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder of pages").map(|entry| entry.expect("an entry").path());
    let pages = |path: PathBuf| if path.is_dir() { pages_below(&path) } else { vec![path] };
    entries.flat_map(pages).filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect()
}

#[test]
fn pages_reference_only_existing_files_and_headings() {
    let folders = ["docs", "analysis/data", "experiments", "tests/data"]
        .map(|folder| pages_below(&root().join(folder)));
    let mut pages = folders.concat();
    let lone = ["README.md", "CONTRIBUTING.md", "core/README.md", "datasets/README.md"];
    pages.extend(lone.map(|page| root().join(page)));
    let mut broken = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page is text");
        let folder = page.parent().expect("a page lies in a folder");
        let files = missing_paths(&text).into_iter().chain(broken_links(&text, folder));
        let found = files.chain(broken_anchors(&text, folder));
        broken.extend(found.map(|path| format!("{} names {path}", page.display())));
    }
    assert!(broken.is_empty(), "files and headings that do not exist:\n{}", broken.join("\n"));
}

#[test]
fn the_page_of_experiments_and_that_of_ablations_name_every_script() {
    for (page, scripts) in
        [("experiments/README.md", "experiments"), ("docs/methods/ablations.md", "experiments/ablations")]
    {
        let text = fs::read_to_string(root().join(page)).expect("a page is text");
        for entry in fs::read_dir(root().join(scripts)).expect("a folder of scripts") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
            let is_script = path.extension().is_some_and(|kind| kind == "rhai");
            assert!(!is_script || text.contains(&format!("`{name}`")), "{page} does not name {name}");
        }
    }
}

#[test]
fn references_to_missing_files_are_found() {
    let page = "Read `core/src/lib.rs`, `core/src/gone.rs` and `core/src/*.rs`.\n\n```sh\necho `core/src/code.rs`\n```\n\n\
                Then `core/src/after.rs`, [a link](gone.md), [a section](Cargo.toml#lints) and [a site](https://rhai.rs).\n";
    assert_eq!(missing_paths(page), ["core/src/gone.rs", "core/src/after.rs"]);
    assert_eq!(broken_links(page, &root()), ["gone.md"]);
}

#[test]
fn anchors_are_those_of_github_and_links_to_missing_headings_are_found() {
    let page = "# One net: `a_b`, 4×64?\n\n## Again\n\n### Again\n\n## [A link](x.md#y) & more\n\n```sh\n# a comment\n```\n\n#no heading\n";
    let found: Vec<String> = anchors(page).into_iter().collect();
    assert_eq!(found, ["a-link--more", "again", "again-1", "one-net-a_b-464"]);
    let links = "[a](#again-1), [b](#again-2), [c](CONTRIBUTING.md#contributing), [d](CONTRIBUTING.md#gone), [e](https://x.org/#y)";
    assert_eq!(
        broken_anchors(&format!("{page}\n{links}\n"), &root()),
        ["x.md#y", "#again-2", "CONTRIBUTING.md#gone"]
    );
}
