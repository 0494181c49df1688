//! Games that are played while the script goes on: the same bytes as in order, whatever ends first and whatever is killed.

use std::fs;
use std::path::Path;
use std::process::Child;

use crate::experiment::{Ended, Experiment, FIXED, flip, is_reached};

/// Two rounds of games beside a training and a match; `overlap=false` does the same steps in the same order.
const BESIDE: &str = r#"
let p = params(#{ overlap: true, games: 24, updates: 8, checkpoint_every: 4 });
let run = open_run("small");
let best = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let playing = #{ games: p.games, shard_games: 2, game_slots: 2, search: #{ simulations: 4 }, max_plies: 24 };
run.self_play(best, playing);
for iteration in 0..2 {
    let player = best;
    let coming = ();
    if p.overlap { coming = run.start_self_play(player, playing); }
    let window = run.window(#{ iterations: 2 });
    best = run.train(best, window, #{ updates: p.updates, batch: 8, checkpoint_every: p.checkpoint_every, log_every: 4 });
    run.arena(best, player, #{ games: 4, shard_games: 2, search: #{ simulations: 4 }, max_plies: 24 });
    run.promote(best);
    if p.overlap { coming.wait(); } else { run.self_play(player, playing); }
}
print(`${run.iterations} iterations`);
"#;

/// The files of the run that must be reproducible, without its record, which has the parameters of the script.
fn results(experiment: &Experiment) -> Vec<(String, String)> {
    let mut files = experiment.results();
    files.retain(|(name, _)| name != "run.json");
    files
}

/// The results of a whole run, in order and one after another.
fn in_order(options: &[&str]) -> Vec<(String, String)> {
    let experiment = Experiment::new(BESIDE);
    experiment.run_ends(&[&["--set", "overlap=false"], options].concat(), 0);
    results(&experiment)
}

/// As [`is_reached`]; a program that ends before is an error.
#[track_caller]
fn wait_for(what: &str, child: &mut Child, is_so: impl FnMut() -> bool) {
    assert!(is_reached(what, child, is_so), "the program ended before {what}");
}

/// The names of the files below a folder of the run; none if it is not there.
fn names(experiment: &Experiment, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(experiment.run_folder().join(folder)).into_iter().flatten();
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether a step of this kind with this position is finished.
fn is_finished(experiment: &Experiment, step: &str) -> bool {
    names(experiment, "steps").iter().any(|name| name.starts_with(step))
}

/// The stored shards of an iteration.
fn shards(experiment: &Experiment, iteration: &str) -> usize {
    let names = names(experiment, &format!("games/iteration={iteration}"));
    names.iter().filter(|name| Path::new(name).extension() == Some("parquet".as_ref())).count()
}

#[test]
fn games_beside_other_steps_have_the_bytes_of_games_in_order() {
    let expected = in_order(&["--lanes", "1"]);
    let beside = Experiment::new(BESIDE);
    let first = beside.run(&["--lanes", "3"]);
    assert_eq!(
        (first.code, first.stdout.lines().next()),
        (Some(0), Some("3 iterations")),
        "{}",
        first.stderr
    );
    assert_eq!(results(&beside), expected);
    let again = beside.run(&[]);
    assert_eq!((again.code, &again.stdout), (Some(0), &first.stdout), "{}", again.stderr);
    assert_eq!(again.stderr.matches("(done before)").count(), 8, "{}", again.stderr);
    // The same run goes on in order, and takes the steps for its own.
    let in_order = beside.run(&["--set", "overlap=false"]);
    assert_eq!(in_order.stderr.matches("(done before)").count(), 8, "{}", in_order.stderr);
    assert_eq!(results(&beside), expected);
}

/// Kills the program at a moment that `is_so` recognises, and checks that the same command ends with the same bytes.
#[track_caller]
fn check_kill(options: &[&str], what: &str, is_so: impl Fn(&Experiment) -> bool) {
    let expected = in_order(options);
    // On a busy machine, the moment may pass unseen.
    let attempt = || {
        let experiment = Experiment::new(BESIDE);
        let mut child = experiment.begin(options);
        let is_reached = is_reached(what, &mut child, || is_so(&experiment));
        child.kill().expect("kills");
        child.wait().expect("ends");
        is_reached.then_some(experiment)
    };
    let experiment =
        (0..5).find_map(|_| attempt()).unwrap_or_else(|| panic!("the program ended before {what}"));
    experiment.run_ends(options, 0);
    assert_eq!(results(&experiment), expected, "after a kill {what}");
}

#[test]
fn a_kill_while_games_and_a_training_go_on_changes_nothing() {
    let both =
        |experiment: &Experiment| experiment.work("training.state") > 0 && experiment.work("shard-") > 0;
    check_kill(&["--set", "updates=400"], "both are under way", both);
}

#[test]
fn a_kill_between_the_end_of_the_games_and_the_wait_for_them_changes_nothing() {
    // The games are long over when the training ends.
    let options = ["--set", "updates=1200", "--set", "games=8"];
    let played =
        |experiment: &Experiment| !is_finished(experiment, "0002-train") && experiment.work("shard-") == 4;
    check_kill(&options, "the games are played", |experiment| {
        is_finished(experiment, "0001") && played(experiment)
    });
}

#[test]
fn a_kill_while_the_script_waits_for_games_changes_nothing() {
    let options = ["--set", "games=120"];
    let waits = |experiment: &Experiment| {
        is_finished(experiment, "0003-arena") && !is_finished(experiment, "0004-self_play")
    };
    check_kill(&options, "the script waits", waits);
}

#[test]
fn a_run_killed_again_and_again_ends_with_the_same_bytes() {
    let expected = in_order(&[]);
    let killed = Experiment::new(BESIDE);
    killed.run_killed(&FIXED);
    assert_eq!(results(&killed), expected);
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_games_and_the_step_beside_them() {
    // Few checkpoints, since each is written to the disk.
    let options = ["--set", "updates=1500", "--set", "checkpoint_every=50", "--set", "games=60"];
    let experiment = Experiment::new(BESIDE);
    let mut child = experiment.begin(&options);
    let journal = || fs::read_to_string(experiment.run_folder().join("journal.jsonl")).unwrap_or_default();
    wait_for("both are under way", &mut child, || {
        experiment.work("training.state") > 0
            && journal().matches(r#""event":"started","kind":"self_play""#).count() == 2
    });
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
    let stopped = Ended::from(child);
    assert_eq!(stopped.code, Some(130), "{}", stopped.stderr);
    // Both say how they ended, and the lock is free: nothing goes on.
    assert_eq!(journal().matches(r#""event":"ended early""#).count(), 2, "{}", journal());
    experiment.run_ends(&options, 0);
    assert_eq!(results(&experiment), in_order(&options));
}

/// A net that plays, and another one that is trained.
const TWO_NETS: &str = r#"
let run = open_run("small");
let player = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let learner = run.network(#{ tower: #{ blocks: 1, filters: 16 }, value_head: #{ filters: 2, hidden: 8 } });
let playing = #{ games: 4, shard_games: 2, search: #{ simulations: 2 }, max_plies: 12 };
let games = run.self_play(learner, playing);
"#;

const TRAINING: &str = "run.train(learner, games, #{ updates: 4, batch: 8 });\n";

#[test]
fn an_error_of_the_games_is_one_of_the_wait_for_them() {
    let experiment = Experiment::new(TWO_NETS);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let path = experiment.run_folder().join("networks/0000.safetensors");
    let whole = fs::read(&path).expect("reads");
    flip(&path);
    let start = "let coming = run.start_self_play(player, playing);\n";
    experiment.write(&format!("{TWO_NETS}{start}{TRAINING}coming.wait();\n"));
    let failed = experiment.run_ends(&[], 3);
    // The training is done; the error is that of the line that waits.
    assert!(failed.stderr.contains("network 0002"), "{}", failed.stderr);
    assert!(failed.stderr.contains("error: x.rhai:9:8: "), "{}", failed.stderr);
    assert!(failed.stderr.contains("networks/0000.safetensors"), "{}", failed.stderr);
    // A script may go on without the games, and cannot wait for them again.
    let caught =
        "try { coming.wait(); } catch { print(\"no games\"); }\nprint(run.iterations);\ncoming.wait();\n";
    experiment.write(&format!("{TWO_NETS}{start}{TRAINING}{caught}"));
    let failed = experiment.run(&[]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(2), "no games\n1\n"), "{}", failed.stderr);
    assert!(failed.stderr.contains("these games were not played to their end"), "{}", failed.stderr);
    // Repaired, the games are played.
    fs::write(&path, whole).expect("writes");
    experiment.write(&format!("{TWO_NETS}{start}{TRAINING}coming.wait();\n"));
    let healed = experiment.run_ends(&[], 0);
    assert!(healed.stderr.contains("iteration 0001"), "{}", healed.stderr);
}

#[test]
fn an_error_of_the_script_stops_the_games_and_keeps_what_is_played() {
    let start = "let coming = run.start_self_play(player, playing + #{ games: 4000 });\n";
    let experiment = Experiment::new(&format!("{TWO_NETS}{start}{TRAINING}throw \"no more\";\n"));
    experiment.run_ends(&[], 1);
    let journal = fs::read_to_string(experiment.run_folder().join("journal.jsonl")).expect("a journal");
    assert_eq!(journal.matches(r#""event":"ended early","kind":"self_play""#).count(), 1, "{journal}");
}

#[test]
fn games_that_nothing_waits_for_are_waited_for_at_the_end() {
    let coming = Experiment::new(&format!("{TWO_NETS}run.start_self_play(player, playing);\n{TRAINING}"));
    let ended = coming.run_ends(&[], 0);
    assert!(ended.stdout.contains("1       0000"), "{}", ended.stdout);
    let order = Experiment::new(&format!("{TWO_NETS}{TRAINING}run.self_play(player, playing);\n"));
    assert_eq!(order.run(&[]).code, Some(0));
    assert_eq!(results(&coming), results(&order));
}

#[test]
fn a_trial_of_a_sweep_may_play_beside_its_trainings() {
    let sweep = |games: &str| {
        format!(
            r#"sweep(#{{ name: "small", space: #{{ updates: choice([4, 8]) }}, trials: 2, parallel: 2 }}, |trial| {{
                let run = trial.run;
                let net = run.network(#{{ tower: #{{ blocks: 1, filters: 8 }}, value_head: #{{ filters: 2, hidden: 8 }} }});
                let playing = #{{ games: 8, shard_games: 2, search: #{{ simulations: 2 }}, max_plies: 12 }};
                run.self_play(net, playing);
                {games}
                trained.loss
            }});"#
        )
    };
    let train = "let trained = run.train(net, run.window(), #{ updates: trial.updates, batch: 8 });";
    let trials = |script: &str| {
        let experiment = Experiment::new(script);
        experiment.run_ends(&[], 0);
        let mut files = experiment.results();
        // Other files say which trial has taken a step over from the other.
        files.retain(|(name, _)| name.contains("/games/") || name.contains("/networks/"));
        assert!(files.iter().any(|(name, _)| name.contains("iteration=0001")), "{files:?}");
        files
    };
    let beside = trials(&sweep(&format!("run.start_self_play(net, playing); {train}")));
    assert_eq!(beside, trials(&sweep(&format!("{train} run.self_play(net, playing);"))));
}

#[test]
fn a_check_plans_games_beside_other_steps() {
    let experiment = Experiment::new(BESIDE);
    let plan = experiment.run_ends(&["--check"], 0);
    assert!(
        plan.stdout.contains("iteration 0001: self-play of 0000, beside the 2 steps before it"),
        "{}",
        plan.stdout
    );
    assert!(plan.stdout.contains("8 steps"), "{}", plan.stdout);
    assert!(!experiment.run_folder().exists());
    // A run that was killed has a part of the games done.
    let mut child = experiment.begin(&["--lanes", "2", "--set", "games=120"]);
    wait_for("a shard beside the training", &mut child, || {
        // Each lane is at one of them at most; the others are recorded.
        shards(&experiment, "0001") > 8
    });
    child.kill().expect("kills");
    child.wait().expect("ends");
    let plan = experiment.run(&["--check", "--set", "games=120"]).stdout;
    assert!(plan.contains("beside the 2 steps before it ("), "{plan}");
}

#[test]
fn costs_say_how_long_the_script_waited() {
    let experiment = Experiment::new(BESIDE);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let select = "select kind, count(*) as steps, sum(case when waited < seconds then 1 else 0 end) as beside, \
        sum(case when waited > seconds then 1 else 0 end) as wrong from costs group by kind order by kind";
    let rows = experiment.command_ends(&["sql", "small", select, "--format", "csv"], 0);
    let expected = "kind,steps,beside,wrong\narena,2,0,0\nnetwork,1,0,0\nself_play,3,2,0\ntrain,2,0,0\n";
    assert_eq!(rows.stdout.replace('\r', ""), expected);
}
