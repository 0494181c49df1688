//! Scripts that open several runs: each has a folder of its own, games are read across runs, and nets are copied.

use std::fs;
use std::path::PathBuf;

use crate::experiment::{Experiment, FIXED, files_below, flip, results_below};

/// Two nets learn side by side, the second also from the games of the first.
const TWO: &str = r#"
let a = open_run("first", #{ seed: 3 });
let b = open_run("second", #{ seed: 4 });
let spec = #{ tower: #{ blocks: 1, filters: 8 } };
let playing = #{ games: 6, shard_games: 2, search: #{ simulations: 4 }, max_plies: 20 };
let training = #{ updates: 4, batch: 16, log_every: 2 };
let net = a.network(spec);
let other = b.network(spec);
for round in 0..2 {
    a.self_play(net, playing);
    b.self_play(other, playing);
    net = a.promote(a.train(net, a.window(), training));
    other = b.promote(b.train(other, b.window(#{ iterations: 1 }) * 2.0 + a.window(#{ iterations: 1 }), training));
}
let copy = b.load_network(net);
b.arena(other, copy, #{ games: 4, shard_games: 2, search: #{ simulations: 4 }, max_plies: 20 });
"#;

fn folder(experiment: &Experiment, run: &str) -> PathBuf {
    experiment.folder.path().join("datasets").join(run)
}

/// What must be the same of both runs.
fn results(experiment: &Experiment) -> Vec<(String, String)> {
    let of = |run| {
        let files =
            results_below(&folder(experiment, run)).into_iter().filter(|(name, _)| name != "run.json");
        files.map(move |(name, digest)| (format!("{run}/{name}"), digest))
    };
    of("first").chain(of("second")).collect()
}

fn finished() -> Experiment {
    let experiment = Experiment::new(TWO);
    experiment.run_ends(&[], 0);
    experiment
}

#[test]
fn two_runs_of_a_script_resume_to_the_same_bytes_after_kills() {
    let whole = finished();
    let killed = Experiment::new(TWO);
    killed.run_killed(&[&FIXED[..], &["--lanes", "2"]].concat());
    assert_eq!(results(&killed), results(&whole));
    let again = killed.run(&[]);
    assert_eq!(again.stderr.matches("(done before)").count(), 12, "{}", again.stderr);
    assert_eq!(results(&killed), results(&whole));
    for run in ["first", "second"] {
        killed.command_ends(&["verify", &format!("datasets/{run}")], 0);
    }
}

#[test]
fn each_of_two_runs_has_its_name_before_its_lines_its_table_and_its_log() {
    let experiment = Experiment::new(TWO);
    let ended = experiment.run_ends(&[], 0);
    for line in
        ["first  iteration 0001", "second  iteration 0001", "second  network 0003", "second  match 0000"]
    {
        assert!(ended.stderr.contains(line), "{line}: {}", ended.stderr);
    }
    let tables: Vec<usize> =
        ["first\n", "second\n"].iter().map(|title| ended.stdout.find(title).expect("a title")).collect();
    assert!(tables[0] < tables[1], "{}", ended.stdout);
    for run in ["first", "second"] {
        let log = fs::read_to_string(folder(&experiment, run).join("run.log")).expect("reads");
        assert!(log.contains(&format!("{run}  iteration 0001")), "{log}");
    }
    // The net copied from the first run has the same bytes there.
    let nets = |run: &str| {
        files_below(&folder(&experiment, run)).into_iter().filter(|(name, _)| name.ends_with(".safetensors"))
    };
    let of_first: Vec<String> = nets("first").map(|(_, digest)| digest).collect();
    assert_eq!(nets("second").filter(|(_, digest)| of_first.contains(digest)).count(), 1);
}

#[test]
fn a_plan_of_two_runs_names_both_and_counts_what_each_has_done() {
    let experiment = Experiment::new(TWO);
    let planned = experiment.run_ends(&["--check"], 0);
    for line in [
        "run first: datasets/first (seed 3",
        "run second: datasets/second (seed 4",
        "first: iteration 0000",
        "second: match: 0002 vs 0003",
    ] {
        assert!(planned.stdout.contains(line), "{line}: {}", planned.stdout);
    }
    assert!(planned.stdout.contains("  12 steps "), "{}", planned.stdout);
    experiment.run_ends(&[], 0);
    let planned = experiment.run(&["--check", "--format", "json"]);
    let plan: serde_json::Value = serde_json::from_str(&planned.stdout).expect("JSON");
    assert_eq!((&plan["distinct"], &plan["done"]), (&12.into(), &12.into()), "{plan}");
    assert_eq!(plan["runs"][1]["name"], "second");
    assert_eq!(plan["steps"][1]["run"], "second");
}

#[test]
fn equal_runs_of_a_script_share_steps_only_if_one_names_the_other() {
    let script = |from: &str| {
        format!(
            r#"let a = open_run("first");
               let b = open_run("second", #{{ from: {from} }});
               for run in [a, b] {{ run.network(#{{ tower: #{{ blocks: 1, filters: 8 }} }}); }}"#
        )
    };
    for (from, steps) in [("[]", "2 steps"), (r#"["first"]"#, "1 step")] {
        let experiment = Experiment::new(&script(from));
        let planned = experiment.run(&["--check"]);
        assert!(planned.stdout.contains(&format!("  {steps} ")), "{}{}", planned.stdout, planned.stderr);
        let ended = experiment.run(&[]);
        assert_eq!(ended.stderr.contains("taken over from"), steps == "1 step", "{}", ended.stderr);
    }
}

#[test]
fn a_net_of_one_run_is_refused_by_the_other_until_it_is_copied() {
    let experiment = Experiment::new(
        r#"let a = open_run("first");
           let b = open_run("second");
           let net = a.network(#{ tower: #{ blocks: 1, filters: 8 } });
           b.arena(net, "random", #{ games: 2 });"#,
    );
    let ended = experiment.run_ends(&[], 2);
    assert!(ended.stderr.contains("x.rhai:4:14: arena: the net 0000 belongs to the run"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("take a copy of the net into this run with `run.load_network(net)`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_last_net_of_an_own_run_cannot_be_loaded_by_name() {
    for name in ["datasets/first", "first", "first:0"] {
        let experiment = Experiment::new(&format!(
            r#"let a = open_run("first");
               let net = a.network(#{{ tower: #{{ blocks: 1, filters: 8 }} }});
               open_run("second").load_network("{name}");"#
        ));
        let ended = experiment.run_ends(&[], 2);
        let expected = format!("load_network: \"{name}\" is a run of this script; give the net itself");
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    }
}

#[test]
fn a_damaged_net_of_the_other_run_is_not_copied() {
    let experiment = finished();
    let files = files_below(&folder(&experiment, "first"));
    let last = files
        .iter()
        .map(|(name, _)| name)
        .rfind(|name| name.starts_with("networks/") && name.ends_with(".safetensors"));
    let path = folder(&experiment, "first").join(last.expect("nets"));
    fs::remove_dir_all(folder(&experiment, "second")).expect("removes");
    flip(&path);
    let ended = experiment.run_ends(&[], 3);
    assert!(ended.stderr.contains("load_network"), "{}", ended.stderr);
}

#[test]
fn neither_of_two_runs_is_repeated_alone() {
    let experiment = finished();
    for run in ["first", "second"] {
        let ended = experiment.command_ends(&["reproduce", &format!("datasets/{run}")], 2);
        assert!(ended.stderr.contains("the script opens several runs"), "{}", ended.stderr);
    }
}
