//! Runs that are stopped, changed and damaged: the same command resumes, and ends with the same bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::experiment::{Ended, Experiment, SMALL, flip, is_reached, wait_for};

fn whole() -> Experiment {
    let experiment = Experiment::new(SMALL);
    experiment.run_ends(&["--lanes", "2"], 0);
    experiment
}

#[test]
fn results_go_to_stdout_and_progress_to_stderr_without_escape_codes() {
    let experiment = Experiment::new(SMALL);
    let ended = experiment.run(&[]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], "generation 2");
    assert!(lines[1].starts_with("iteration  played by  games"), "{}", ended.stdout);
    assert_eq!(lines.len(), 4);
    let steps = |what: &str| ended.stderr.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!([steps("network"), steps("iteration"), steps("match"), steps("generation")], [3, 2, 3, 2]);
    assert!(!ended.stderr.contains('\x1b') && !ended.stdout.contains('\x1b'));
    let again = experiment.run(&[]);
    assert_eq!((again.code, &again.stdout), (Some(0), &ended.stdout));
    assert_eq!(again.stderr.matches("(done before)").count(), 8, "{}", again.stderr);
}

/// Sends a signal. `TERM` acts as Ctrl-C does, and unlike `INT` it works where shells have started the tests in the background.
#[cfg(unix)]
fn signal(pid: &str, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), pid]).status().expect("kill runs").success());
}

#[cfg(unix)]
#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let experiment = Experiment::new(SMALL);
    let start = format!(
        "trap '' HUP INT; exec {} x.rhai --device cpu --backend torch --threads 1",
        env!("CARGO_BIN_EXE_dc0-run")
    );
    let mut command = Command::new("sh");
    command.current_dir(experiment.folder.path()).args(["-c", &start]).stderr(Stdio::piped());
    let child = command.stdout(Stdio::piped()).spawn().expect("starts");
    wait_for("steps", || experiment.run_folder().join("steps").is_dir());
    let pid = child.id().to_string();
    for name in ["HUP", "INT", "HUP", "INT"] {
        signal(&pid, name);
    }
    sleep(Duration::from_millis(200));
    signal(&pid, "TERM");
    let ended = Ended::from(child);
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("stopping after this batch").count(), 1, "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_cleanly_and_the_same_command_resumes() {
    let whole = whole();
    let stopped = Experiment::new(SMALL);
    let child = stopped.begin(&[]);
    // The first step starts after the signal handler is installed.
    wait_for("steps", || stopped.run_folder().join("steps").is_dir());
    sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    signal(&pid, "TERM");
    let ended = Ended::from(child);
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("x.rhai --device cpu --backend torch --threads 1"), "{}", ended.stderr);
    assert_eq!(stopped.run(&[]).code, Some(0));
    assert_eq!(stopped.results(), whole.results());
}

#[test]
fn a_changed_parameter_reruns_only_dependent_steps_and_reverting_it_none() {
    let experiment = whole();
    let before = experiment.results();
    let changed = experiment.run_ends(&["--set", "updates=6"], 0);
    assert!(changed.stderr.contains("\nchanged since the last time: updates 8 -> 6\n"), "{}", changed.stderr);
    assert_eq!(changed.stderr.matches("(done before)").count(), 2, "{}", changed.stderr);
    assert!(experiment.run_folder().join("superseded").is_dir());
    let back = experiment.run(&[]);
    assert_eq!(back.stderr.matches("(done before)").count(), 8, "{}", back.stderr);
    let mut after = experiment.results();
    after.retain(|(name, _)| !name.starts_with("superseded/"));
    assert_eq!(after, before);
}

#[test]
fn a_second_process_is_refused_with_the_pid_of_the_first() {
    let experiment = Experiment::new(SMALL);
    let mut first = experiment.begin(&["--set", "iterations=50"]);
    wait_for("steps", || experiment.run_folder().join("steps").is_dir());
    let second = experiment.run(&[]);
    let expected = format!("is being written by the process {}; wait for it, or stop it first", first.id());
    first.kill().expect("can be killed");
    first.wait().expect("ends");
    assert!(second.stderr.contains(&expected), "{}", second.stderr);
    assert_eq!(second.code, Some(1));
}

/// Damages a file of a finished run, changes a parameter so that the file is needed, and runs again.
#[track_caller]
fn check_damage(folder: &str, damage: impl FnOnce(&Path), expected: &str) {
    let experiment = whole();
    damage(&experiment.first_in(folder));
    // A step that the changed script has not come to has left the run, with all its files.
    let games = || -> BTreeSet<(String, String)> {
        let files = experiment.results().into_iter().map(|(name, digest)| {
            let name = name
                .strip_prefix("superseded/")
                .and_then(|moved| moved.split_once('/'))
                .map_or(name.as_str(), |(_, name)| name);
            (name.to_owned(), digest)
        });
        files.filter(|(name, _)| name.starts_with("games/") || name.starts_with("positions/")).collect()
    };
    let before = games();
    let ended = experiment.run(&["--set", "updates=6", "--seed", "1"]);
    assert!(ended.stderr.contains("error: x.rhai:"), "{}", ended.stderr);
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert_eq!(ended.code, Some(3));
    assert_eq!(before, games());
}

#[test]
fn a_truncated_table_is_reported() {
    let cut = |path: &Path| {
        let content = fs::read(path).expect("reads");
        fs::write(path, &content[..content.len() / 2]).expect("writes");
    };
    check_damage("games/", cut, "bytes instead of");
}

#[test]
fn a_flipped_bit_in_a_table_is_reported() {
    check_damage("games/", flip, "has changed");
}

#[test]
fn a_flipped_bit_in_a_net_is_reported() {
    check_damage("networks/0000.safetensors", flip, "networks/0000.safetensors");
}

#[test]
fn a_flipped_bit_in_a_training_state_is_reported_and_deleting_it_heals_the_run() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\");
        let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
        run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
        run.train(net, run.window(), #{ updates: 1000, batch: 4, checkpoint_every: 5 });",
    );
    experiment.kill_at("training.state", 1);
    let path = experiment.first_in("steps/work/").with_file_name("training.state");
    flip(&path);
    let ended = experiment.run_ends(&[], 3);
    for part in ["training.state", "is damaged", "have this training start over"] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    fs::remove_file(&path).expect("removes");
    experiment.run_ends(&[], 0);
}

/// Files that the program writes afterwards would look like a run, and its closing lines like a success.
#[cfg(unix)]
#[test]
fn a_run_that_is_removed_while_it_is_written_fails() {
    for wait in [0, 200, 400] {
        let experiment = Experiment::new(SMALL);
        let mut child = experiment.begin(&["--set", "iterations=200"]);
        assert!(is_reached("steps", &mut child, || experiment.run_folder().join("steps").is_dir()));
        sleep(Duration::from_millis(wait));
        // Fails if the program writes a file meanwhile; what matters is that most of the run is gone.
        let _ = fs::remove_dir_all(experiment.run_folder());
        let _ = fs::remove_file(experiment.run_folder().join("run.lock"));
        let ended = Ended::from(child);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    }
}

#[test]
fn time_and_disk_limits_stop_a_run_and_the_same_command_resumes() {
    let experiment = Experiment::new(&SMALL.replace("iterations: 2", "iterations: 200"));
    let ended = experiment.run_ends(&["--max-hours", "0.0005"], 130);
    assert!(ended.stderr.contains("the time of --max-hours is over"), "{}", ended.stderr);
    let ended = experiment.run_ends(&["--max-disk", "0.0001"], 130);
    assert!(ended.stderr.contains("datasets has grown by 0.00"), "{}", ended.stderr);
    assert!(ended.stderr.contains("(done before)"), "{}", ended.stderr);
    assert_eq!(experiment.run(&["--max-hours", "0"]).code, Some(2));
}

/// The first step of a kind in the plan.
fn planned(experiment: &Experiment, kind: &str) -> serde_json::Value {
    let ended = experiment.run_ends(&["--check", "--format", "json"], 0);
    let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let steps = plan["steps"].as_array().expect("steps").clone();
    steps.into_iter().find(|step| step["kind"] == kind).expect("a step of the kind")
}

#[test]
fn a_check_counts_only_the_remaining_games_of_a_killed_step() {
    let games = "let run = open_run(\"small\");
        let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
        run.self_play(net, #{ games: 400, shard_games: 2, search: #{ simulations: SIMULATIONS }, max_plies: 20 });";
    let experiment = Experiment::new(&games.replace("SIMULATIONS", "6"));
    experiment.kill_at("shard-", 3);
    let done = experiment.work("shard-") as u64;
    let whole = (done, 200, 400 - 2 * done);
    let found = || {
        let step = planned(&experiment, "self_play");
        let (parts, games) = (&step["parts"], &step["games"]);
        (parts["done"].as_u64().unwrap_or(0), parts["of"].as_u64().unwrap_or(0), games.as_u64().unwrap_or(0))
    };
    assert_eq!(found(), whole);
    let text = experiment.run(&["--check"]).stdout;
    assert!(text.contains(&format!("({done} of 200 shards done)")), "{text}");
    // Another step takes its slot; when the script is changed back, the first step resumes.
    experiment.write(&games.replace("SIMULATIONS", "2"));
    assert_eq!(found(), (0, 0, 400));
    experiment.kill_at("shard-", 1);
    experiment.write(&games.replace("SIMULATIONS", "6"));
    assert_eq!(found(), whole);
}

#[test]
fn a_check_counts_only_the_remaining_updates_of_a_killed_training() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\");
        let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
        run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
        run.train(net, run.window(), #{ updates: 100000, batch: 4, checkpoint_every: 5 });",
    );
    experiment.kill_at("training.state", 1);
    let step = planned(&experiment, "train");
    let done = step["parts"]["done"].as_u64().expect("updates");
    assert!(done > 0 && done.is_multiple_of(5), "{step}");
    assert_eq!(
        (step["updates"].as_u64(), step["samples"].as_u64()),
        (Some(100_000 - done), Some(400_000 - 4 * done))
    );
}

#[test]
fn steps_that_the_script_no_longer_calls_count_in_no_answer() {
    let experiment = Experiment::new(
        "let p = params(#{ n: 3, updates: 1, arena: true, ends: false });
        let run = open_run(\"small\");
        let net = run.network(#{ tower: #{ kind: \"nnue\", filters: 64 }, value_head: #{ hidden: 8 } });
        for number in 0..p.n {
            run.self_play(net, #{ games: 2, max_plies: 4, search: #{ simulations: 2 } });
            let how = #{ updates: p.updates, batch: 8, validation_fraction: 0.0 };
            net = run.promote(run.train(net, run.window(), how));
            if p.ends { throw \"it ends here\"; }
        }
        if p.arena { run.arena(net, \"random\", #{ games: 2, max_plies: 20, search: #{ simulations: 2 } }); }",
    );
    let script = |args: &[&str]| experiment.run_ends(args, 0).stderr;
    let command = |args: &[&str]| experiment.command_ends(args, 0).stdout;
    // The newest net is that of the last step that counts.
    let counted = || {
        command(&["verify", "small"]);
        command(&["inspect", "small"]);
        let query = "select count(*) as games, (select count(*) from matches) as matches from games";
        let found = command(&["sql", "small", query, "--format", "csv"]);
        found.lines().last().unwrap_or_default().to_owned()
    };
    script(&[]);
    let in_run = || -> Vec<(String, String)> {
        experiment.results().into_iter().filter(|(name, _)| !name.starts_with("superseded/")).collect()
    };
    let whole = in_run();
    assert_eq!(counted(), "6,2");
    let shorter = script(&["--set", "n=1", "--set", "arena=false"]);
    assert!(
        shorter.contains("5 finished steps that the script did not call moved to superseded/"),
        "{shorter}"
    );
    assert_eq!(counted(), "2,0");
    script(&[]);
    // A changed script that goes on with another net than before, and ends there.
    assert_eq!(experiment.run(&["--set", "updates=2", "--set", "ends=true"]).code, Some(1));
    assert_eq!(counted(), "2,0");
    let back = script(&[]);
    assert!(!back.contains("superseded"), "{back}");
    assert_eq!(back.matches("(done before)").count(), 8, "{back}");
    assert_eq!((counted(), in_run()), ("6,2".to_owned(), whole));
}

#[test]
fn a_check_finds_superseded_steps() {
    let experiment = whole();
    experiment.run(&["--set", "updates=6"]);
    let left = |args: &[&str]| {
        let ended = experiment.run(&[args, &["--check", "--format", "json"]].concat());
        let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        plan["distinct"].as_u64().expect("steps") - plan["done"].as_u64().expect("steps")
    };
    assert_eq!((left(&[]), left(&["--set", "updates=6"])), (0, 0));
    assert!(left(&["--set", "updates=4"]) > 0);
}

#[test]
fn a_check_refuses_what_the_run_itself_refuses() {
    let script = "let run = open_run(\"tiny\");\nrun.network(#{ tower: #{ blocks: 1, filters: 8 } });";
    let experiment = Experiment::new(script);
    let run = |args: &[&str]| experiment.command(&[&["x.rhai", "--device", "cpu"], args].concat());
    let ended = run(&["--threads", "1"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for args in [["--seed", "5"], ["--threads", "2"]] {
        let [planned, refused] = [&["--check"][..], &[]].map(|check| run(&[&args[..], check].concat()));
        assert_eq!((planned.code, refused.code), (Some(2), Some(2)), "{}{}", planned.stderr, refused.stderr);
        assert!(refused.stderr.contains("was asked for"), "{}", refused.stderr);
        assert!(planned.stderr.contains(refused.stderr.trim_end()), "{}\n{}", planned.stderr, refused.stderr);
    }
    experiment.write(&script.replace("\"tiny\"", "\"tiny\", #{ seed: 9 }"));
    let planned = run(&["--check"]);
    assert!(planned.stderr.contains("was created with seed 1, and 9 was asked for"), "{}", planned.stderr);
}
