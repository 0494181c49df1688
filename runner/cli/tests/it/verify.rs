//! `dc0-run verify`: flipped bits in every kind of file, figures that contradict the tables, and the exit codes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dc0_compare::verify::verify;
use dc0_core::arena::elo_of;
use dc0_core::params::Value;
use dc0_core::rng::{Purpose, Seed};
use dc0_runs::{Folder, FolderKind, Manifest};
use rand::RngExt as _;

use crate::experiment::{Experiment, SMALL, files_below, is_unfinished, rewrite_journal};

/// Files whose content no result, figure or page but the log depends on.
const WITHOUT_CONTENT: [&str; 3] = ["run.lock", "run.log", "progress.json"];

fn problems(root: &Path, kind: FolderKind) -> Vec<String> {
    verify(&Folder::at(root), kind).expect("is not locked").problems
}

/// The files below a folder, by their kind: the folder in the run, the beginning of the name, and the extension.
pub(crate) fn by_kind(root: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut kinds: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (name, _) in files_below(root) {
        let path = Path::new(&name);
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        if WITHOUT_CONTENT.contains(&&*file) || is_unfinished(path) {
            continue;
        }
        let is_numbered = file.starts_with(|c: char| c.is_ascii_digit());
        let begin = if is_numbered { "" } else { file.split(['-', '.']).next().unwrap_or_default() };
        let folders = name.split('/').filter(|part| part.chars().all(|c| c.is_ascii_lowercase()));
        let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let kind = folders.chain([begin, &end]).collect::<Vec<_>>().join("/");
        kinds.entry(kind).or_default().push(root.join(name));
    }
    kinds
}

/// Flips `count` bits of every kind of file, one at a time, and checks that each is reported with the file's name.
pub(crate) fn check_flips(root: &Path, kind: FolderKind, count: usize, expected: &[&str]) {
    assert_eq!(problems(root, kind), [""; 0]);
    let mut random = Seed { run: 7, step: 0 }.stream(0, Purpose::Opening);
    let kinds = by_kind(root);
    for known in expected {
        assert!(kinds.keys().any(|kind| kind.starts_with(known)), "{known}: {:?}", kinds.keys());
    }
    for (name, files) in kinds {
        for _ in 0..count {
            let path = &files[random.random_range(0..files.len())];
            let whole = fs::read(path).expect("reads");
            let bit = random.random_range(0..whole.len() * 8);
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(path, flipped).expect("writes");
            let found = problems(root, kind);
            fs::write(path, whole).expect("writes");
            let step = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let is_named = found.iter().any(|problem| problem.contains(&step));
            assert!(is_named, "{name}: bit {bit} of {}: {found:?}", path.display());
            // A damaged record makes nothing else look damaged.
            assert!(name != "run/json" || found.len() == 1, "bit {bit} of {}: {found:?}", path.display());
        }
    }
    assert_eq!(problems(root, kind), [""; 0]);
}

#[test]
fn a_training_that_measures_nothing_of_the_policy_is_whole() {
    let experiment = Experiment::new(
        "let run = open_run(\"r\"); let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });
        let play = #{ games: 4, search: #{ simulations: 2 }, max_plies: 8, policy_targets: false };
        let trained = run.train(net, run.self_play(net, play), #{ updates: 2, batch: 4, positions: \"all\" });
        print(trained.policy_loss == ());",
    );
    let ended = experiment.run_ends(&[], 0);
    assert!(ended.stdout.starts_with("true\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("(policy -, value "), "{}", ended.stderr);
    experiment.command_ends(&["verify", "datasets/r"], 0);
}

#[test]
fn every_flipped_bit_of_a_finished_run_is_reported() {
    let script = format!(
        "{SMALL}\nrun.search(best, [\"startpos\", \"startpos moves e2e4\"], #{{ search: #{{ simulations: 8 }}, tree: true }});"
    );
    let experiment = Experiment::new(&script);
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    // Another script, with superseded steps.
    experiment.write(&format!("{script}\nprint(\"changed\");"));
    experiment.run_ends(&["--set", "iterations=1", "--set", "updates=6"], 0);
    let expected = [
        "run/json",
        "journal/jsonl",
        "generations/json",
        "costs/parquet",
        "scripts/",
        "steps/",
        "games/",
        "positions/",
        "networks//json",
        "networks//safetensors",
        "training/",
        "validation/",
        "matches/",
        "searches/",
        "trees/",
        "superseded/",
    ];
    check_flips(&experiment.run_folder(), FolderKind::Run, 3, &expected);
    let whole = experiment.command_ends(&["verify", "small"], 0);
    assert!(whole.stdout.starts_with("datasets/small: whole; "), "{}", whole.stdout);
    assert!(whole.stdout.contains("games and") && whole.stdout.lines().count() == 1, "{}", whole.stdout);
}

const NET: &str = "let run = open_run(\"small\");
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });";

#[test]
fn every_flipped_bit_of_half_finished_runs_is_reported() {
    let playing = format!(
        "{NET} run.self_play(net, #{{ games: 4000, shard_games: 2, search: #{{ simulations: 4 }}, max_plies: 20 }});"
    );
    let experiment = Experiment::new(&playing);
    experiment.kill_at("shard-", 1);
    // Shards that were stored before their notes are played again, so nothing depends on them.
    let work =
        fs::read_dir(experiment.run_folder().join("steps/work")).expect("lists").next().expect("a step");
    let work = work.expect("a step").path();
    for (name, _) in files_below(&experiment.run_folder()) {
        let shard = name.rsplit_once('-').map(|(_, shard)| shard.replace(".parquet", ".json"));
        let is_part = name.starts_with("games/") || name.starts_with("positions/");
        if is_part && shard.is_some_and(|shard| !work.join(format!("shard-{shard}")).exists()) {
            fs::remove_file(experiment.run_folder().join(name)).expect("removes");
        }
    }
    let expected =
        ["steps/work/claim/json", "steps/work/shard/json", "games/", "positions/", "journal/jsonl"];
    check_flips(&experiment.run_folder(), FolderKind::Run, 3, &expected);
    let training = format!(
        "{NET} run.self_play(net, #{{ games: 4, search: #{{ simulations: 2 }}, max_plies: 20 }});
        run.train(net, run.window(), #{{ updates: 100000, batch: 4, checkpoint_every: 5 }});"
    );
    let experiment = Experiment::new(&training);
    experiment.kill_at("training.state", 1);
    check_flips(&experiment.run_folder(), FolderKind::Run, 2, &["steps/work/training/state"]);
}

#[test]
fn every_flipped_bit_of_a_sweep_is_reported() {
    let experiment = Experiment::new(
        r#"
sweep(#{ name: "tiny", space: #{ filters: choice([4, 8]) }, sampler: "grid", pruner: #{ kind: "none" }, trials: 2,
    objective: "score" }, |trial| {
    let net = trial.run.network(#{ tower: #{ blocks: 1, filters: trial.filters }, value_head: #{ filters: 2, hidden: 8 } });
    trial.filters * 1.0
});
"#,
    );
    experiment.run_ends(&[], 0);
    let root = experiment.folder.path().join("datasets/tiny");
    check_flips(
        &root,
        FolderKind::Sweep,
        2,
        &["sweep/json", "trials/jsonl", "trials/parquet", "trials/run/json"],
    );
    fs::remove_dir_all(root.join("trials/0001-0")).expect("removes");
    let found = problems(&root, FolderKind::Sweep);
    assert!(
        found.len() == 1 && found[0].contains("trials.jsonl says that the trial is complete"),
        "{found:?}"
    );
}

/// Writes the manifest of a step as another program would have written it.
fn rewrite_manifest(experiment: &Experiment, begin: &str, change: impl FnOnce(&mut Manifest)) {
    let path = experiment.first_in(begin);
    let manifest = Manifest::read(&path).expect("a manifest");
    let mut other = manifest.clone();
    change(&mut other);
    other.write(&path).expect("writes");
    let of_other = |line: &str| line.replace(&manifest.digest(), &other.digest());
    rewrite_journal(&experiment.run_folder().join("journal.jsonl"), of_other);
}

fn figures_of(manifest: &mut Manifest) -> &mut BTreeMap<String, Value> {
    let Value::Group(figures) = &mut manifest.summary else { panic!("a group of figures") };
    figures
}

#[test]
fn figures_that_contradict_the_tables_are_reported_with_exit_code_3() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    let verified = |name: &str, code| experiment.command_ends(&["verify", name], code);
    verified("small", 0);
    verified("datasets", 0);
    let unknown = verified("nothing", 2);
    assert!(unknown.stderr.contains("\"nothing\" is neither a run or sweep"), "{}", unknown.stderr);
    // Whole files with other figures, as a program at fault writes them.
    for (begin, figure) in [
        ("steps/0001-self_play", "white_wins"),
        ("steps/0003-arena", "losses"),
        ("steps/0003-arena", "los"),
        ("steps/0003-arena", "normalized_elo_low"),
        ("steps/0003-arena", "endings"),
    ] {
        rewrite_manifest(&experiment, begin, |manifest| {
            figures_of(manifest).insert(figure.to_owned(), Value::Int(99));
        });
    }
    fs::remove_file(experiment.first_in("networks/0001.safetensors")).expect("removes");
    let ended = verified("small", 3);
    for part in [
        "datasets/small: 6 problems; ",
        "its `white_wins` is 99, and that of its tables ",
        "its `losses` is 99, and that of its tables ",
        "its `los` is 99, and that of its tables ",
        "its `normalized_elo_low` is 99, and that of its tables ",
        "its `endings` is 99, and that of its tables ",
        "networks/0001.safetensors is missing",
        "which does its step again",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
}

#[test]
fn older_matches_may_lack_only_newer_figures() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\"); run.arena(\"random\", \"greedy\", #{ games: 4, max_plies: 20 });",
    );
    experiment.run_ends(&[], 0);
    let without = |figures: &[&str]| {
        rewrite_manifest(&experiment, "steps/0000-arena", |manifest| {
            manifest.kind_version = 10;
            for figure in figures {
                figures_of(manifest).remove(*figure);
            }
        });
        problems(&experiment.run_folder(), FolderKind::Run)
    };
    assert_eq!(without(&["mean_plies", "endings", "los", "normalized_elo", "normalized_elo_low"]), [""; 0]);
    let found = without(&["score"]);
    assert!(found.len() == 1 && found[0].contains("its `score` is missing"), "{found:?}");
}

#[test]
fn intervals_of_older_matches_may_differ_by_their_rounded_quantiles() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\"); run.arena(\"random\", \"greedy\", #{ games: 40, max_plies: 20 });",
    );
    experiment.run_ends(&[], 0);
    // The figures of a version, with another end of the interval.
    let moved = |version: u32, by: f64| {
        rewrite_manifest(&experiment, "steps/0000-arena", |manifest| {
            manifest.kind_version = version;
            let figures = figures_of(manifest);
            let score_low = figures["score_low"].as_f64().expect("a number") + by;
            let elo_low = elo_of(score_low).expect("a score between 0 and 1");
            for (name, figure) in
                [("score_low", score_low), ("elo_low", elo_low), ("normalized_elo_low", elo_low - 0.1)]
            {
                figures.insert(name.to_owned(), Value::Float(figure));
            }
            figures.remove("mean_plies");
        });
        problems(&experiment.run_folder(), FolderKind::Run)
    };
    assert_eq!(moved(7, -3e-6), [""; 0]);
    for (version, by, expected) in [
        (7, -0.01, &["its `score_low` is ", "its `elo_low` is "][..]),
        (
            11,
            0.01,
            &[
                "its `score_low` is ",
                "its `elo_low` is ",
                "its `mean_plies` is missing",
                "its `normalized_elo_low` is ",
            ],
        ),
    ] {
        let found = moved(version, by);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (problem, part) in found.iter().zip(expected) {
            assert!(problem.contains(part), "{part}: {found:?}");
        }
    }
}
