//! The rules of `docs/ARCHITECTURE.md`, held by reading the source: who may import whom, and who may name what.

use std::fs;
use std::path::{Path, PathBuf};

const PIPELINE: [&str; 8] =
    ["board", "encoding", "network", "search", "selfplay", "store", "trainer", "arena"];
const LEAVES: [&str; 5] = ["params", "rng", "event", "durable", "poison"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// The lines of a file without comments, each with its number.
fn code_lines(file: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(file).expect("source is text");
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(code).enumerate().map(|(at, line)| (at + 1, line)).collect()
}

/// The stage of a file of the core: `core/src/search/walk.rs` belongs to `search`.
fn stage_of(file: &Path, source: &Path) -> String {
    let inside = file.strip_prefix(source).expect("inside the source");
    let first = inside.components().next().expect("a file").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The modules that a line names after `crate::`, alone or in a group.
fn crate_modules(line: &str) -> Vec<String> {
    let name = |rest: &str| rest.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let names = |rest: &str| -> Vec<String> {
        match rest.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or_default().split(',').map(name).collect(),
            None => vec![name(rest)],
        }
    };
    line.split("crate::").skip(1).flat_map(names).collect()
}

fn may_use(stage: &str, used: &str) -> bool {
    let place = |name: &str| PIPELINE.iter().position(|stage| *stage == name);
    match (place(stage), place(used)) {
        _ if stage == used || LEAVES.contains(&used) || stage == "lib" => true,
        (Some(own), Some(other)) => other < own,
        (None, Some(_)) => false,
        // A macro, which the macro itself sees through `$crate`.
        (_, None) => ["params", "param_enum"].contains(&used),
    }
}

#[test]
fn stages_import_only_what_lies_before_them() {
    let source = root().join("core/src");
    let mut broken = Vec::new();
    for file in rust_files(&source) {
        let stage = stage_of(&file, &source);
        for (number, line) in code_lines(&file) {
            for used in crate_modules(&line).iter().filter(|used| !may_use(&stage, used)) {
                broken.push(format!("{}:{number}: {stage} uses {used}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "imports against the direction of the pipeline:\n{}", broken.join("\n"));
}

#[test]
fn the_rule_of_imports_can_fail() {
    assert!(may_use("search", "board") && may_use("arena", "selfplay") && may_use("board", "rng"));
    assert!(!may_use("board", "encoding") && !may_use("selfplay", "store") && !may_use("rng", "board"));
    assert_eq!(crate_modules("use crate::{param_enum, params};"), ["param_enum", "params"]);
    assert_eq!(crate_modules("x: crate::store::Row, y: crate::rng::Seed"), ["store", "rng"]);
}

/// A package and the only places that may name it.
const NAMES: &[(&str, &[&str])] = &[
    ("shakmaty", &["core/src/board"]),
    ("shakmaty_syzygy", &["core/src/board/tablebase"]),
    ("tch", &["core/src/network/torch", "core/src/trainer/torch"]),
    ("ort", &["core/src/network/onnx"]),
    ("prost", &["core/src/network/onnx", "runner/src/sweep/tensorboard"]),
    ("crc32c", &["runner/src/sweep/tensorboard"]),
    ("arrow_array", &["core/src/store"]),
    ("arrow_buffer", &["core/src/store"]),
    ("arrow_schema", &["core/src/store"]),
    ("parquet", &["core/src/store"]),
    ("polars", &["analysis/src"]),
    ("polars_plan", &["analysis/src/scan.rs"]),
    ("sqlparser", &["analysis/src/statement"]),
    ("csv", &["analysis/src/export.rs"]),
    ("safetensors", &["core/src/network/checkpoint", "core/src/trainer/torch/state.rs"]),
    ("rhai", &["runner/"]),
    ("clap", &["runner/", "benches/", "xtask/"]),
    ("indicatif", &["runner/", "xtask/"]),
    ("fern", &["runner/"]),
    ("ctrlc", &["runner/"]),
    ("kuva", &["analysis/src/charts"]),
    ("plotters", &["runner/"]),
    ("lsp_server", &["runner/src/lsp"]),
    ("lsp_types", &["runner/src/lsp"]),
    ("similar", &["runner/src/compare"]),
    ("roxmltree", &["runner/src/explain/tests.rs"]),
    ("sobol_burley", &["runner/src/sweep/sampler"]),
    ("tpe", &["runner/src/sweep/sampler"]),
    ("httparse", &["runner/src/serve/request.rs"]),
    ("percent_encoding", &["runner/src/serve"]),
    ("getrandom", &["runner/src/serve"]),
];

fn names(line: &str, package: &str) -> bool {
    let path = format!("{package}::");
    line.match_indices(&path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    })
}

#[test]
fn each_package_is_named_only_where_it_belongs() {
    let root = root();
    let mut broken = Vec::new();
    for member in ["core/src", "analysis/src", "runner/src", "benches/src", "xtask/src"] {
        for file in rust_files(&root.join(member)) {
            let place = file.strip_prefix(&root).expect("in the workspace").to_string_lossy().into_owned();
            for (number, line) in code_lines(&file) {
                for (package, places) in NAMES {
                    let allowed = places.iter().any(|allowed| place.starts_with(allowed));
                    if names(&line, package) && !allowed {
                        broken.push(format!("{place}:{number} names {package}, which belongs to {places:?}"));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "packages named outside their place:\n{}", broken.join("\n"));
}

#[test]
fn the_rule_of_names_can_fail() {
    assert!(names("use tch::Tensor;", "tch") && names("    let x: arrow::Array = y;", "arrow"));
    assert!(!names("use crate::store::tch_like;", "tch") && !names("batch::x", "tch"));
}

#[test]
fn the_analysis_knows_nothing_of_the_runner() {
    let manifest = fs::read_to_string(root().join("analysis/Cargo.toml")).expect("the package");
    assert!(manifest.contains("dc0-core") && !manifest.contains("dc0-run"), "{manifest}");
}

#[test]
fn core_and_analysis_neither_print_nor_read_the_environment() {
    let forbidden = ["println!", "eprintln!", "dbg!", "std::env::", "Instant::now", "SystemTime::now"];
    let mut broken = Vec::new();
    let members = ["core/src", "analysis/src"].map(|member| rust_files(&root().join(member)));
    for file in members.into_iter().flatten() {
        for (number, line) in code_lines(&file) {
            for word in forbidden.iter().filter(|word| line.contains(**word)) {
                broken.push(format!("{}:{number}: {word}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_map_names_only_files_that_exist() {
    let root = root();
    for page in ["docs/ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(page)).expect("the page");
        let is_path = |word: &&str| {
            let known = [
                "core/",
                "analysis/",
                "runner/",
                "tests/",
                "benches/",
                "docs/",
                "experiments/",
                "xtask/",
                "build/",
            ];
            known.iter().any(|folder| word.starts_with(folder)) && !word.contains(['*', '<', '…', ' ', '{'])
        };
        for path in text.split('`').skip(1).step_by(2).filter(is_path) {
            assert!(root.join(path).exists(), "{page} names {path}, which does not exist");
        }
    }
}
