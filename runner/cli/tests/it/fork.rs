//! Forks: runs that begin with another run's steps up to one of its iterations.

use std::fs;
use std::path::{Path, PathBuf};

use crate::experiment::{Ended, Experiment, FIXED, SMALL, files_below, flip, results_below, wait_for};

/// Continues `small` as `small` itself does.
const FORK: &str = r#"// A fork.
let p = params(#{ iterations: 4, at: 1, updates: 8, name: "forked", from: "small" });
let run = fork(p.from, p.at, #{ name: p.name });
let best = run.best();
let search = #{ simulations: 4 };
print(`begins with ${run.iterations} iterations, ${run.networks} nets, generation ${run.generation}, net ${best.name}`);
assert(run.network_at(-1).name == run.network_at(run.networks - 1).name, "the last net");
assert(run.games_at(-1).iteration == run.iterations - 1 && run.games_at(0).iteration == 0, "the last games and the first");
for iteration in run.iterations..p.iterations {
    run.self_play(best, #{ games: 6, shard_games: 2, search: search, max_plies: 30,
        temperature: |ply| if ply < 10 { 1 } else { 0.5 } });
    let window = run.window(#{ iterations: 2 });
    let candidate = run.train(best, window, #{ updates: p.updates, batch: 16, checkpoint_every: 2, log_every: 2 });
    let verdict = run.arena(candidate, best, #{ games: 4, shard_games: 2, search: search, max_plies: 30 });
    if verdict.score >= 0.0 { best = run.promote(candidate); }
}
run.arena(best, "random", #{ games: 2, search: search, max_plies: 30 });
"#;

/// A finished run `small` of four iterations, and a script that forks it.
fn source_run() -> Experiment {
    let experiment = Experiment::new(SMALL);
    experiment.run_ends(&["--set", "iterations=4"], 0);
    fs::write(experiment.folder.path().join("y.rhai"), FORK).expect("writes");
    experiment
}

fn fork(experiment: &Experiment, args: &[&str]) -> Ended {
    experiment.command(&[&["y.rhai"], args].concat())
}

fn folder(experiment: &Experiment, run: &str) -> PathBuf {
    experiment.folder.path().join("datasets").join(run)
}

/// Every file of a run with its digest, except those that record when and by what it was made.
fn results(run: &Path) -> Vec<(String, String)> {
    let mut files = results_below(run);
    files.retain(|(name, _)| name != "run.json" && !name.starts_with("scripts/"));
    files
}

#[test]
fn a_fork_with_the_same_parameters_ends_with_the_same_bytes() {
    let experiment = source_run();
    let before = experiment.results();
    // Parameters that are not given are those of the source run.
    let ended = fork(&experiment, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.starts_with("begins with 2 iterations, 3 nets, generation 2, net 0002\n"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.stderr.matches("(taken over from").count(), 7, "{}", ended.stderr);
    assert_eq!(ended.stdout.matches("vs 0002").count(), 1, "the table has all iterations: {}", ended.stdout);
    assert_eq!(results(&folder(&experiment, "forked")), results(&experiment.run_folder()));
    assert_eq!(experiment.results(), before);
    let journal = fs::read_to_string(folder(&experiment, "forked").join("journal.jsonl")).expect("reads");
    let forked =
        journal.lines().find(|line| line.contains("\"event\":\"forked\"")).expect("the journal says so");
    assert!(forked.contains("\"from\":\"small\"") && forked.contains("\"iteration\":1"), "{forked}");
    let again = fork(&experiment, &[]);
    assert_eq!(again.stderr.matches("(done before)").count(), 14, "{}", again.stderr);
    assert_eq!(again.stdout, ended.stdout);
}

#[cfg(unix)]
#[test]
fn a_fork_hard_links_files_and_survives_the_removal_of_its_source() {
    use std::os::unix::fs::MetadataExt;
    let experiment = source_run();
    let ended = fork(&experiment, &["--set", "iterations=3"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let inode = |run: &str| {
        let file = folder(&experiment, run).join("networks/0001.safetensors");
        fs::metadata(file).expect("is there").ino()
    };
    assert_eq!(inode("forked"), inode("small"));
    let whole = source_run();
    assert_eq!(fork(&whole, &[]).code, Some(0));
    fs::remove_dir_all(experiment.run_folder()).expect("removes");
    let ended = fork(&experiment, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let without_old = |run: &Path| {
        let mut files = results(run);
        files.retain(|(name, _)| !name.starts_with("superseded/"));
        files
    };
    assert_eq!(without_old(&folder(&experiment, "forked")), without_old(&folder(&whole, "forked")));
}

#[test]
fn a_fork_killed_at_any_time_resumes_to_the_same_bytes() {
    let experiment = source_run();
    assert_eq!(fork(&experiment, &["--set", "name=whole"]).code, Some(0));
    experiment.run_killed(&[&["y.rhai"], &FIXED[1..]].concat());
    assert_eq!(results(&folder(&experiment, "forked")), results(&folder(&experiment, "whole")));
}

#[test]
fn a_new_seed_or_parameter_changes_only_steps_after_the_fork_point() {
    let experiment = source_run();
    assert_eq!(fork(&experiment, &["--seed", "5", "--set", "updates=6"]).code, Some(0));
    let (own, other) = (results(&folder(&experiment, "forked")), results(&experiment.run_folder()));
    let below = |files: &[(String, String)], start: &str| -> Vec<(String, String)> {
        files.iter().filter(|(name, _)| name.starts_with(start)).cloned().collect()
    };
    for same in ["games/iteration=0000", "games/iteration=0001", "networks/0002"] {
        assert_eq!(below(&own, same), below(&other, same), "{same}");
    }
    for changed in ["games/iteration=0002", "games/iteration=0003", "networks/0003", "networks/0004"] {
        let digests = |files| below(files, changed).into_iter().map(|(_, digest)| digest).collect::<Vec<_>>();
        assert!(digests(&own).iter().all(|digest| !digests(&other).contains(digest)), "{changed}");
    }
    for game in ["0:1", "3:1"] {
        experiment.command_ends(&["replay", "forked", game, "--recompute"], 0);
    }
    let record = fs::read_to_string(folder(&experiment, "forked").join("run.json")).expect("reads");
    assert!(record.contains("\"seed\": 5") && record.contains("\"from\": \"small\""), "{record}");
}

#[test]
fn a_check_shows_the_inherited_steps_of_a_fork_and_writes_nothing() {
    let experiment = source_run();
    let squeezed = |ended: &Ended| -> Vec<String> {
        ended.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let ended = fork(&experiment, &["--check"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for expected in [
        "y.rhai would do this in datasets/forked (seed 1, device cpu):",
        "fork of small up to iteration 0001: 7 steps 12 ",
        "iteration 0002: self-play of 0002 6 ",
        "network 0003: trained from 0002 on 12 games",
        "8 steps, 1 of them done; left to do 22 ",
    ] {
        let lines = squeezed(&ended);
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected}\n{}", ended.stdout);
    }
    assert!(
        ended.stderr.contains("begins with 2 iterations, 3 nets, generation 2, net 0002"),
        "{}",
        ended.stderr
    );
    assert!(!folder(&experiment, "forked").exists());
    assert_eq!(fork(&experiment, &[]).code, Some(0));
    let ended = fork(&experiment, &["--check"]);
    assert!(
        squeezed(&ended).iter().any(|line| line.starts_with("8 steps, 8 of them done")),
        "{}",
        ended.stdout
    );
}

#[track_caller]
fn refused(experiment: &Experiment, args: &[&str], code: i32, expected: &str) {
    for args in [[args, &["--check"]].concat(), args.to_vec()] {
        let ended = fork(experiment, &args);
        assert!(ended.stderr.contains(expected), "{expected}\n{}", ended.stderr);
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    }
}

#[test]
fn invalid_forks_are_rejected() {
    let experiment = source_run();
    let at = |at: &'static str| ["--set", at];
    refused(&experiment, &["--set", "from=smal"], 2, "datasets/smal holds no run");
    refused(
        &experiment,
        &at("at=9"),
        2,
        "the run datasets/small cannot be forked at iteration 9: it has finished 0 to 3",
    );
    refused(&experiment, &at("at=-1"), 2, "fork: iterations are numbered from 0, got -1");
    refused(&experiment, &at("name=small"), 2, "small cannot begin with itself");
    refused(&experiment, &at("name="), 2, "name: is missing; give the fork a name");
    assert!(!folder(&experiment, "forked").exists());
    assert_eq!(fork(&experiment, &[]).code, Some(0));
    refused(
        &experiment,
        &at("at=0"),
        2,
        "the run datasets/forked is a fork of small at iteration 1, and one of small at iteration 0 was asked for",
    );
    fs::write(experiment.folder.path().join("y.rhai"), "open_run(\"forked\").network();").expect("writes");
    refused(
        &experiment,
        &[],
        2,
        "the run datasets/forked is a fork of small at iteration 1; open it with fork(…)",
    );
    fs::write(experiment.folder.path().join("x.rhai"), FORK).expect("writes");
    let ended = experiment.run(&["--set", "name=small", "--set", "from=forked"]);
    assert!(ended.stderr.contains("the run datasets/small exists and is not a fork"), "{}", ended.stderr);
}

#[test]
fn forking_a_damaged_run_reports_the_damage() {
    let experiment = source_run();
    let file = experiment.first_in("games/iteration=0001");
    let sound = fs::read(&file).expect("reads");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    fs::write(&file, &sound[..sound.len() / 2]).expect("writes");
    refused(&experiment, &[], 3, "bytes instead of");
    fs::remove_file(&file).expect("removes");
    refused(&experiment, &[], 3, &format!("{name} is gone, and a fork would begin with it"));
    fs::write(&file, &sound).expect("writes");
    flip(&file);
    let ended = fork(&experiment, &[]);
    assert!(ended.stderr.contains(&name) && ended.stderr.contains("changed"), "{}", ended.stderr);
    assert_eq!(ended.code, Some(3));
    // A fork before the damage works, and the same command works once the file is restored.
    assert_eq!(fork(&experiment, &["--set", "at=0", "--set", "name=early"]).code, Some(0));
    fs::write(&file, sound).expect("writes");
    assert_eq!(fork(&experiment, &[]).code, Some(0));
    assert_eq!(results(&folder(&experiment, "forked")), results(&experiment.run_folder()));
}

#[test]
fn a_running_run_cannot_be_forked() {
    let experiment = source_run();
    let mut first = experiment.begin(&["--set", "iterations=50"]);
    wait_for("games", || experiment.run_folder().join("games/iteration=0004").is_dir());
    let expected = format!("is being written by the process {}; wait for it, or stop it first", first.id());
    let ended = fork(&experiment, &[]);
    first.kill().expect("can be killed");
    first.wait().expect("ends");
    assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    assert_eq!(ended.code, Some(1));
    assert_eq!(fork(&experiment, &[]).code, Some(0));
}

#[test]
fn a_fork_is_reproduced_without_its_source() {
    let experiment = source_run();
    assert_eq!(fork(&experiment, &["--set", "iterations=3"]).code, Some(0));
    let before = files_below(&folder(&experiment, "forked"));
    fs::remove_dir_all(experiment.run_folder()).expect("removes");
    let reproduce = |arg, code| experiment.command_ends(&["reproduce", "forked", arg], code);
    let ended = reproduce("--keep", 0);
    assert!(
        ended.stderr.contains("a fork of small at iteration 1 and begins with 7 steps of it"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("Reproduced: all 11 steps produced the same"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("7 of them, with which the fork begins, were taken over"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.stderr.matches("(taken over from").count(), 7, "{}", ended.stderr);
    assert_eq!(files_below(&folder(&experiment, "forked")), before, "the original is as it was");
    let again = folder(&experiment, "forked.reproduced/forked");
    assert_eq!(results(&again), results(&folder(&experiment, "forked")));
    // What was kept is not taken for another reproduction.
    reproduce("--format=json", 2);
    assert_eq!(results(&again), results(&folder(&experiment, "forked")), "it is as it was");
    fs::remove_dir_all(folder(&experiment, "forked.reproduced")).expect("removes");
    let json = reproduce("--format=json", 0);
    assert!(json.stdout.contains("\"taken_over\":7"), "{}", json.stdout);
}
