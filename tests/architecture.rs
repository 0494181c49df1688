//! The rules of `docs/ARCHITECTURE.md`, checked by reading the source: which modules may import which, and which crates they may use.

mod cycles;
mod modules;
mod system_functions;
mod violations;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cycles::{Edge, cycles};
use modules::{Crate, Sources};
use serde_json::Value;
use system_functions::system_functions;

use crate::program::root;

/// A package of the workspace.
struct Package {
    name: String,
    /// Its folder, from the workspace's root.
    folder: PathBuf,
    /// The root file of its library and of each program.
    roots: Vec<PathBuf>,
    /// The packages of the workspace that it depends on, including dev-dependencies.
    depends_on: Vec<String>,
}

/// The packages as cargo lists them, so that the rules hold for new ones at once.
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

/// The import cycles of a crate at every level: among the modules of its root, and among the child modules of each module.
fn cycles_in(source: &Crate) -> Vec<String> {
    let imports = source.imports();
    let levels: BTreeSet<&[String]> = imports.iter().map(|import| import.parent.as_slice()).collect();
    let cycles_at = |level: &[String]| {
        let here = imports.iter().filter(|import| import.parent == level);
        let edges: Vec<Edge<'_>> = here
            .map(|import| Edge { from: &import.from, to: &import.to, location: &import.location })
            .collect();
        let within =
            std::iter::once("crate").chain(level.iter().map(String::as_str)).collect::<Vec<_>>().join("::");
        cycles(&edges).into_iter().map(move |cycle| format!("within {within}:\n{cycle}")).collect::<Vec<_>>()
    };
    levels.into_iter().flat_map(cycles_at).collect()
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

/// The modules of a crate: stages of a pipeline, each of which may use only earlier ones, and leaves, which all stages may use and
/// which use no stage. Together they are all modules of the crate's root.
struct Pipeline {
    package: &'static str,
    stages: &'static [&'static str],
    leaves: &'static [&'static str],
}

const PIPELINES: &[Pipeline] = &[Pipeline {
    package: "dc0-core",
    stages: &[
        "board",
        "book",
        "encoding",
        "network",
        "search",
        "alphabeta",
        "selfplay",
        "store",
        "import",
        "trainer",
        "arena",
    ],
    leaves: &["params", "math", "rng", "event", "durable", "regular", "poison", "text_table"],
}];

/// The imports of a crate that violate its pipeline, and the modules that are missing from it.
fn violations(pipeline: &Pipeline, source: &Crate) -> Vec<String> {
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
        upward.map(|import| format!("{} uses {}: {}", import.from, import.to, import.location)).collect();
    let tops = source.modules.iter().filter(|module| module.name.len() == 1 && !module.is_test);
    let unknown = tops.map(|module| &module.name[0]).filter(|name| stage(name).is_none() && !is_leaf(name));
    broken.extend(unknown.map(|name| format!("{name} is neither a stage nor a leaf")));
    broken
}

#[test]
fn stages_import_only_earlier_stages() {
    let packages = packages();
    for pipeline in PIPELINES {
        let package = packages.iter().find(|package| package.name == pipeline.package).expect("a package");
        for source in package.crates() {
            let broken = violations(pipeline, &source);
            assert!(
                broken.is_empty(),
                "imports against the pipeline of {}:\n{}",
                package.name,
                broken.join("\n")
            );
        }
    }
}

/// The only workspace packages on which these packages may depend. Others may depend on any, without cycles.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("dc0-core", &["dc0-libtorch"]),
    ("dc0-libtorch", &[]),
    ("dc0-analysis", &["dc0-core"]),
    ("dc0-opponents", &["dc0-core", "dc0-process"]),
    ("dc0-xtask", &[]),
];

#[test]
fn packages_have_no_dependency_cycles() {
    let packages = packages();
    let edges: Vec<Edge<'_>> = packages
        .iter()
        .flat_map(|package| {
            package.depends_on.iter().map(|other| Edge {
                from: &package.name,
                to: other,
                location: "its Cargo.toml",
            })
        })
        .collect();
    assert_eq!(cycles(&edges), Vec::<String>::new());
    for (name, allowed) in ALLOWED_DEPENDENCIES {
        let package = packages.iter().find(|package| package.name == *name).expect("a package");
        let broken = package.depends_on.iter().find(|other| !allowed.contains(&other.as_str()));
        assert_eq!(broken, None, "{name} may depend on {allowed:?}");
    }
}

/// External crates and the only paths that may use them.
const ALLOWED_PATHS: &[(&str, &[&str])] = &[
    ("shakmaty", &["core/src/board"]),
    ("shakmaty_syzygy", &["core/src/board/tablebase"]),
    ("tch", &["core/src/network/torch", "core/src/trainer/torch"]),
    ("dc0_libtorch", &["core/src/network/torch"]),
    ("rustix", &["core/libtorch/src", "runner/cli/src/commands/doctor.rs", "xtask/src"]),
    ("ort", &["core/src/network/onnx"]),
    ("prost", &["core/src/network/onnx", "runner/runs/src/sweep/tensorboard"]),
    ("crc32c", &["runner/runs/src/sweep/tensorboard"]),
    ("arrow_array", &["core/src/store"]),
    ("arrow_buffer", &["core/src/store"]),
    ("arrow_schema", &["core/src/store"]),
    ("parquet", &["core/src/store"]),
    ("libm", &["core/src/math.rs"]),
    ("rand_chacha", &["core/src/rng.rs"]),
    ("statrs", &["core/src/arena/student.rs"]),
    ("zstd", &["core/src/import"]),
    ("flate2", &["core/src/import"]),
    ("tar", &["core/src/import/lc0"]),
    ("polars", &["analysis/src"]),
    ("polars_io", &["analysis/src/export.rs"]),
    ("libloading", &["analysis/src/duckdb", "core/libtorch/src", "core/src/network"]),
    ("csv", &["analysis/src/export.rs"]),
    (
        "safetensors",
        &[
            "core/src/network/checkpoint",
            "core/src/trainer/torch/state.rs",
            "core/src/trainer/tests/tensors.rs",
        ],
    ),
    ("rhai", &["runner/"]),
    ("clap", &["runner/", "benches/", "xtask/"]),
    ("indicatif", &["runner/"]),
    ("fern", &["runner/"]),
    ("ctrlc", &["runner/"]),
    ("kuva", &["analysis/src/charts"]),
    ("lsp_server", &["runner/lsp"]),
    ("lsp_types", &["runner/lsp"]),
    ("similar", &["runner/compare"]),
    ("roxmltree", &["runner/engine/src/explain/tests.rs"]),
    ("sobol_burley", &["runner/runs/src/sweep/sampler"]),
    ("toml", &["runner/runs/src/overrides.rs"]),
    ("tpe", &["runner/runs/src/sweep/sampler"]),
    ("hyper", &["runner/web/src/serve"]),
    ("hyper_util", &["runner/web/src/serve"]),
    ("http_body_util", &["runner/web/src/serve"]),
    ("tokio", &["runner/web/src/serve", "runner/fleet"]),
    ("async_nats", &["runner/fleet"]),
    ("object_store", &["runner/fleet/src/bucket.rs"]),
    ("reqwest", &["runner/fleet/src/bucket.rs"]),
    ("nkeys", &["runner/fleet/src/secret.rs"]),
    ("rustls", &["runner/fleet/src/bucket.rs", "runner/fleet/src/certificates.rs"]),
    ("url", &["runner/fleet/src/bucket.rs"]),
    ("futures_util", &["runner/fleet"]),
    ("bytes", &["core/src/store", "runner/fleet"]),
    ("percent_encoding", &["runner/web/src/serve", "runner/fleet/src/address.rs"]),
    ("getrandom", &["runner/web/src/serve"]),
];

/// The first name of a path that begins in another crate.
fn outside(path: &[String]) -> Option<&str> {
    path.first().map(String::as_str).filter(|first| !["crate", "self", "super"].contains(first))
}

/// Uses of external crates outside of their paths.
fn misplaced(source: &Crate) -> Vec<String> {
    let mut broken = Vec::new();
    for module in &source.modules {
        for mention in &module.mentions {
            let named = ALLOWED_PATHS.iter().find(|(package, _)| outside(&mention.path) == Some(package));
            let Some((package, allowed)) = named else { continue };
            let file = module.file.to_string_lossy();
            if !allowed.iter().any(|path| file.starts_with(path)) {
                broken.push(format!("{file}:{} names {package}, which belongs to {allowed:?}", mention.line));
            }
        }
    }
    broken
}

#[test]
fn external_crates_are_used_only_where_allowed() {
    let packages = packages();
    let broken: Vec<String> =
        packages.iter().flat_map(Package::crates).flat_map(|source| misplaced(&source)).collect();
    assert!(broken.is_empty(), "crates used outside of their paths:\n{}", broken.join("\n"));
}

#[test]
fn paths_allowed_to_use_a_crate_exist() {
    for (package, allowed) in ALLOWED_PATHS {
        for allowed in *allowed {
            let path = root().join(allowed);
            assert!(path.exists() || path.with_extension("rs").exists(), "{allowed} of {package}");
        }
    }
}

/// Code that reads the environment. For printing and the clock there are lints.
fn impurities(source: &Crate) -> Vec<String> {
    let mentions =
        source.modules.iter().flat_map(|module| module.mentions.iter().map(move |mention| (module, mention)));
    mentions
        .filter(|(_, mention)| mention.path.starts_with(&["std", "env"].map(str::to_owned)))
        .map(|(module, mention)| format!("{}:{}: std::env", module.file.display(), mention.line))
        .collect()
}

#[test]
fn core_and_analysis_do_not_read_the_environment() {
    let pure = packages()
        .into_iter()
        .filter(|package| ["dc0-core", "dc0-analysis"].contains(&package.name.as_str()));
    let broken: Vec<String> =
        pure.flat_map(|package| package.crates()).flat_map(|source| impurities(&source)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The modules that games come from: functions of a system's library would make them depend on the machine.
const SAME_EVERYWHERE: [&str; 9] = [
    "core/src/alphabeta",
    "core/src/arena/league",
    "core/src/network/exponential",
    "core/src/network/moves_left",
    "core/src/network/nnue",
    "core/src/network/outputs",
    "core/src/network/value_calibration",
    "core/src/search",
    "core/src/selfplay",
];

#[test]
fn games_do_not_depend_on_the_functions_of_a_system() {
    let mut sources = Sources::new();
    for module in SAME_EVERYWHERE.map(Path::new) {
        let file = module.with_extension("rs");
        let text = fs::read_to_string(root().join(&file)).expect("source is text");
        sources.insert(file, text);
        if root().join(module).is_dir() {
            read_below(module, &mut sources);
        }
    }
    sources.retain(|path, _| !path.iter().any(|part| part == "tests" || part == "tests.rs"));
    let broken: Vec<String> =
        sources.iter().flat_map(|(path, text)| system_functions(&path.display().to_string(), text)).collect();
    assert!(broken.is_empty(), "use crate::math instead of\n{}", broken.join("\n"));
}
