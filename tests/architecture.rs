//! The rules of `docs/ARCHITECTURE.md`, held by reading the source: who may import whom, and who may name what.

mod cycles;
mod modules;
mod planted;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cycles::{Edge, cycles};
use modules::{Crate, Sources};
use serde_json::Value;

use crate::program::root;

/// A package of the workspace.
struct Package {
    name: String,
    /// Its folder, from the workspace's root.
    folder: PathBuf,
    /// The first file of its library and of each program.
    roots: Vec<PathBuf>,
    /// The packages of the workspace that it depends on, in its tests, too.
    depends_on: Vec<String>,
}

/// The packages as cargo knows them, so that a new one is held to the rules from its first day.
fn packages() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = command.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let inside = |value: &Value| {
        Path::new(&text(value)).strip_prefix(root()).expect("inside the workspace").to_owned()
    };
    let is_source = |target: &Value| list(&target["kind"]).iter().any(|kind| kind == "lib" || kind == "bin");
    let package = |package: &Value| Package {
        name: text(&package["name"]),
        folder: inside(&package["manifest_path"]).parent().expect("a folder").to_owned(),
        roots: list(&package["targets"])
            .iter()
            .filter(|target| is_source(target))
            .map(|target| inside(&target["src_path"]))
            .collect(),
        depends_on: list(&package["dependencies"])
            .iter()
            .filter(|needed| needed["path"].is_string())
            .map(|needed| text(&needed["name"]))
            .collect(),
    };
    list(&metadata["packages"]).iter().map(package).collect()
}

impl Package {
    /// The module trees of the library and the programs.
    fn crates(&self) -> Vec<Crate> {
        let mut sources = Sources::new();
        read_below(&self.folder.join("src"), &mut sources);
        self.roots.iter().map(|root| Crate::read(root, &sources)).collect()
    }
}

/// Reads all Rust files of a folder; their paths stay relative to the workspace.
fn read_below(folder: &Path, sources: &mut Sources) {
    for entry in
        fs::read_dir(root().join(folder)).expect("a source folder").map(|entry| entry.expect("an entry"))
    {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            read_below(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(path, fs::read_to_string(entry.path()).expect("source is text"));
        }
    }
}

/// The cycles of a crate at every level: among the modules of its root, and among the modules within each.
fn cycles_in(source: &Crate) -> Vec<String> {
    let imports = source.imports();
    let levels: BTreeSet<&[String]> = imports.iter().map(|import| import.parent.as_slice()).collect();
    let of_level = |level: &[String]| {
        let here = imports.iter().filter(|import| import.parent == level);
        let edges: Vec<Edge<'_>> =
            here.map(|import| Edge { from: &import.from, to: &import.to, place: &import.place }).collect();
        let within =
            std::iter::once("crate").chain(level.iter().map(String::as_str)).collect::<Vec<_>>().join("::");
        cycles(&edges).into_iter().map(move |cycle| format!("within {within}:\n{cycle}")).collect::<Vec<_>>()
    };
    levels.into_iter().flat_map(of_level).collect()
}

#[test]
fn no_modules_import_each_other_in_a_cycle() {
    let mut found = Vec::new();
    for package in packages() {
        for source in package.crates() {
            found.extend(cycles_in(&source).into_iter().map(|cycle| format!("{}, {cycle}", package.name)));
        }
    }
    assert!(found.is_empty(), "cycles of imports:\n{}", found.join("\n"));
}

/// The modules of a crate that form a pipeline, in which each uses only those before it; and leaves, which all may use and which use
/// none of the pipeline. Together they are all modules of the crate's root.
struct Pipeline {
    package: &'static str,
    stages: &'static [&'static str],
    leaves: &'static [&'static str],
}

const PIPELINES: &[Pipeline] = &[Pipeline {
    package: "dc0-core",
    stages: &["board", "encoding", "network", "search", "selfplay", "store", "trainer", "arena"],
    leaves: &["params", "rng", "event", "durable", "poison", "text_table"],
}];

/// The imports of a crate that run against its pipeline, and the modules that have no place in it.
fn against(pipeline: &Pipeline, source: &Crate) -> Vec<String> {
    let stage = |name: &str| pipeline.stages.iter().position(|stage| *stage == name);
    let is_leaf = |name: &str| pipeline.leaves.contains(&name);
    let may_use = |from: &str, to: &str| match (stage(from), stage(to)) {
        _ if is_leaf(to) => true,
        (Some(from), Some(to)) => to < from,
        _ => false,
    };
    let top = source.imports().into_iter().filter(|import| import.parent.is_empty());
    let upward = top.filter(|import| !may_use(&import.from, &import.to));
    let mut broken: Vec<String> =
        upward.map(|import| format!("{} uses {}: {}", import.from, import.to, import.place)).collect();
    let tops = source.modules.iter().filter(|module| module.name.len() == 1 && !module.is_test);
    let unknown = tops.map(|module| &module.name[0]).filter(|name| stage(name).is_none() && !is_leaf(name));
    broken.extend(unknown.map(|name| format!("{name} is neither a stage nor a leaf")));
    broken
}

#[test]
fn stages_import_only_what_lies_before_them() {
    let packages = packages();
    for pipeline in PIPELINES {
        let package = packages.iter().find(|package| package.name == pipeline.package).expect("a package");
        for source in package.crates() {
            let broken = against(pipeline, &source);
            assert!(
                broken.is_empty(),
                "imports against the pipeline of {}:\n{}",
                package.name,
                broken.join("\n")
            );
        }
    }
}

/// The packages of the workspace that some packages may depend on; others may depend on any, in no cycle.
const BELOW: &[(&str, &[&str])] = &[("dc0-core", &[]), ("dc0-analysis", &["dc0-core"]), ("dc0-xtask", &[])];

#[test]
fn packages_depend_on_each_other_in_one_direction() {
    let packages = packages();
    let edges: Vec<Edge<'_>> = packages
        .iter()
        .flat_map(|package| {
            package.depends_on.iter().map(|other| Edge {
                from: &package.name,
                to: other,
                place: "its Cargo.toml",
            })
        })
        .collect();
    assert_eq!(cycles(&edges), Vec::<String>::new());
    for (name, allowed) in BELOW {
        let package = packages.iter().find(|package| package.name == *name).expect("a package");
        let broken = package.depends_on.iter().find(|other| !allowed.contains(&other.as_str()));
        assert_eq!(broken, None, "{name} may depend on {allowed:?}");
    }
}

/// A package and the only places that may name it.
const NAMES: &[(&str, &[&str])] = &[
    ("shakmaty", &["core/src/board"]),
    ("shakmaty_syzygy", &["core/src/board/tablebase"]),
    ("tch", &["core/src/network/torch", "core/src/trainer/torch"]),
    ("ort", &["core/src/network/onnx"]),
    ("prost", &["core/src/network/onnx", "runner/runs/src/sweep/tensorboard"]),
    ("crc32c", &["runner/runs/src/sweep/tensorboard"]),
    ("arrow_array", &["core/src/store"]),
    ("arrow_buffer", &["core/src/store"]),
    ("arrow_schema", &["core/src/store"]),
    ("parquet", &["core/src/store"]),
    ("polars", &["analysis/src"]),
    ("polars_async", &["analysis/src/engine.rs"]),
    ("polars_core", &["analysis/src/catalog.rs", "analysis/src/engine.rs", "analysis/src/parquet_scan.rs"]),
    ("polars_io", &["analysis/src/export.rs", "analysis/src/parquet_scan.rs"]),
    ("sqlparser", &["analysis/src/statement"]),
    ("csv", &["analysis/src/export.rs"]),
    ("safetensors", &["core/src/network/checkpoint", "core/src/trainer/torch/state.rs"]),
    ("rhai", &["runner/"]),
    ("clap", &["runner/", "benches/", "xtask/"]),
    ("indicatif", &["runner/", "xtask/"]),
    ("fern", &["runner/"]),
    ("ctrlc", &["runner/"]),
    ("kuva", &["analysis/src/charts"]),
    ("lsp_server", &["runner/lsp"]),
    ("lsp_types", &["runner/lsp"]),
    ("similar", &["runner/compare"]),
    ("roxmltree", &["runner/engine/src/explain/tests.rs"]),
    ("sobol_burley", &["runner/runs/src/sweep/sampler"]),
    ("tpe", &["runner/runs/src/sweep/sampler"]),
    ("hyper", &["runner/web/src/serve"]),
    ("hyper_util", &["runner/web/src/serve"]),
    ("http_body_util", &["runner/web/src/serve"]),
    ("tokio", &["runner/web/src/serve"]),
    ("percent_encoding", &["runner/web/src/serve"]),
    ("getrandom", &["runner/web/src/serve"]),
];

/// The names of a path that is not of this crate.
fn outside(path: &[String]) -> Option<&str> {
    path.first().map(String::as_str).filter(|first| !["crate", "self", "super"].contains(first))
}

/// The mentions of packages outside their places.
fn misplaced(source: &Crate) -> Vec<String> {
    let mut broken = Vec::new();
    for module in &source.modules {
        for mention in &module.mentions {
            let named = NAMES.iter().find(|(package, _)| outside(&mention.path) == Some(package));
            let Some((package, places)) = named else { continue };
            let file = module.file.to_string_lossy();
            if !places.iter().any(|place| file.starts_with(place)) {
                broken.push(format!("{file}:{} names {package}, which belongs to {places:?}", mention.line));
            }
        }
    }
    broken
}

#[test]
fn each_package_is_named_only_where_it_belongs() {
    let packages = packages();
    let broken: Vec<String> =
        packages.iter().flat_map(Package::crates).flat_map(|source| misplaced(&source)).collect();
    assert!(broken.is_empty(), "packages named outside their place:\n{}", broken.join("\n"));
}

#[test]
fn places_that_may_name_a_package_exist() {
    for (package, places) in NAMES {
        for place in *places {
            let path = root().join(place);
            assert!(path.exists() || path.with_extension("rs").exists(), "{place} of {package}");
        }
    }
}

/// What prints, or asks for the time or the environment.
fn impurities(source: &Crate) -> Vec<String> {
    let macros = ["println", "eprintln", "print", "eprint", "dbg"];
    let mut broken = Vec::new();
    for module in &source.modules {
        for mention in &module.mentions {
            let path: Vec<&str> = mention.path.iter().map(String::as_str).collect();
            let is_impure = match path.as_slice() {
                [name] => mention.is_macro && macros.contains(name),
                [.., "Instant" | "SystemTime", "now"] => true,
                path => path.starts_with(&["std", "env"]),
            };
            if is_impure {
                broken.push(format!("{}:{}: {}", module.file.display(), mention.line, path.join("::")));
            }
        }
    }
    broken
}

#[test]
fn core_and_analysis_neither_print_nor_read_the_environment() {
    let pure = packages()
        .into_iter()
        .filter(|package| ["dc0-core", "dc0-analysis"].contains(&package.name.as_str()));
    let broken: Vec<String> =
        pure.flat_map(|package| package.crates()).flat_map(|source| impurities(&source)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
