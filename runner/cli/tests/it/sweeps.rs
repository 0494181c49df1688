//! Sweeps: killed, stopped, enlarged, in parallel and in sequence.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crate::experiment::{Ended, Experiment, FIXED};

/// A sweep over search and training of tiny nets: every trial trains, and trials share games.
const SWEEP: &str = r#"
let p = params(#{ name: "tiny", trials: 24, replicates: 2, parallel: 1, sampler: "tpe", pruner: #{ kind: "none" }, from: [],
    updates: [2, 4], fails: -1, rates: [0.01, 0.02, 0.05] });
let found = sweep(#{
    name: p.name, from: p.from,
    space: #{ c_puct: log_uniform(0.5, 4.0), updates: choice(p.updates), rate: choice(p.rates) },
    sampler: p.sampler, pruner: p.pruner, trials: p.trials, replicates: p.replicates, parallel: p.parallel,
    objective: "score",
}, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    let games = run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
    if trial.number == p.fails { throw "no luck"; }
    let candidate = run.train(net, run.window(), #{ updates: trial.updates, batch: 16, learning_rate: trial.rate });
    trial.report(1, -candidate.loss);
    let verdict = run.arena(candidate, net,
        #{ games: 2, search: #{ simulations: 2, c_puct: trial.c_puct }, max_plies: 30 });
    trial.report(2, verdict);
    #{ value: -candidate.loss, low: -candidate.loss - 0.1, high: -candidate.loss + 0.1 }
});
print(found.best);
"#;

fn folder(experiment: &Experiment, name: &str) -> PathBuf {
    experiment.folder.path().join("datasets").join(name)
}

/// The bytes of the table of trials, and the program's output.
fn outcome(experiment: &Experiment, name: &str, ended: &Ended) -> (Vec<u8>, String) {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    (fs::read(folder(experiment, name).join("trials.parquet")).expect("a table"), ended.stdout.clone())
}

/// Counts the steps that were not reused, by their lines of progress.
fn done(ended: &Ended, what: &str) -> usize {
    let is_new = |line: &&str| !line.contains("(done before)") && !line.contains("(taken over");
    ended.stderr.lines().filter(|line| line.contains(what)).filter(is_new).count()
}

#[test]
fn a_killed_sweep_resumes_to_the_same_table_and_the_next_reuses_its_games() {
    let whole = Experiment::new(SWEEP);
    let ended = whole.run(&[]);
    let expected = outcome(&whole, "tiny", &ended);
    // Games do not depend on what is varied: they are played once for each replicate's seed.
    assert_eq!(done(&ended, "  iteration 0000  "), 2, "{}", ended.stderr);
    let killed = Experiment::new(SWEEP);
    for attempt in 0..5 {
        let mut child = killed.begin(&[]);
        sleep(Duration::from_millis(700 + 260 * attempt));
        let _ = child.kill();
        let ended = Ended::from(child);
        assert!(matches!(ended.code, None | Some(0)), "{}", ended.stderr);
    }
    let ended = killed.run(&[]);
    assert_eq!(outcome(&killed, "tiny", &ended), expected);
    // A finished sweep only prints its result again.
    let again = killed.run(&[]);
    assert_eq!((done(&again, "  network 0001  "), outcome(&killed, "tiny", &again)), (0, expected));
    // A sweep over training alone reuses the games.
    let second = killed.run_ends(
        &["--set", "name=next", "--set", "from=[\"tiny\"]", "--set", "trials=2", "--set", "rates=[0.3, 0.4]"],
        0,
    );
    assert_eq!(
        (done(&second, "  iteration 0000  "), done(&second, "  network 0001  ")),
        (0, 4),
        "{}",
        second.stderr
    );
}

#[test]
fn parallel_trials_give_the_same_table_on_any_number_of_lanes() {
    let experiments = [(); 2].map(|()| Experiment::new(SWEEP));
    let args = ["--set", "trials=8", "--set", "replicates=1", "--set", "parallel=3"];
    let outcomes = [["--lanes", "1"], ["--lanes", "2"]].map(|lanes| [&args[..], &lanes].concat());
    let [first, second] = [0, 1].map(|number| {
        let ended = experiments[number].run(&outcomes[number]);
        assert_eq!(done(&ended, "  iteration 0000  "), 1, "equal steps are done once: {}", ended.stderr);
        outcome(&experiments[number], "tiny", &ended)
    });
    assert_eq!(first, second);
}

#[test]
fn a_sweep_grows_by_trials_values_and_replicates() {
    let experiment = Experiment::new(SWEEP);
    let common = ["--set", "sampler=random", "--set", "replicates=1"];
    let run = |more: &[&str]| experiment.run_ends(&[&common[..], more].concat(), 0);
    assert_eq!(done(&run(&["--set", "trials=3"]), "  match 0000  "), 3);
    assert_eq!(done(&run(&["--set", "trials=5"]), "  match 0000  "), 2);
    assert_eq!(done(&run(&["--set", "trials=5", "--set", "updates=[2, 4, 6]"]), "  match 0000  "), 0);
    assert_eq!(done(&run(&["--set", "trials=5", "--set", "replicates=2"]), "  match 0000  "), 5);
    // Points that are no longer in the space are kept as stale, and their numbers are not reused.
    let ended = run(&["--set", "trials=6", "--set", "updates=[6]", "--set", "replicates=3"]);
    assert!(ended.stdout.contains("stale") && ended.stdout.contains("6 trials"), "{}", ended.stdout);
}

#[test]
fn a_changed_script_reruns_only_changed_steps_of_finished_trials() {
    let experiment = Experiment::new(SWEEP);
    let args = ["--set", "trials=3", "--set", "replicates=1"];
    let before = experiment.run(&args);
    experiment.write(&SWEEP.replace("max_plies: 30", "max_plies: 32"));
    let changed = experiment.run(&args);
    assert_eq!((changed.code, done(&changed, "  match 0000  ")), (Some(0), 3), "{}", changed.stderr);
    assert_eq!(done(&changed, "  network 0001  "), 0, "the training is the same: {}", changed.stderr);
    experiment.write(SWEEP);
    let back = experiment.run(&args);
    assert_eq!((done(&back, "  match 0000  "), outcome(&experiment, "tiny", &back).1), (0, before.stdout));
}

/// The number of runs that a check expects to begin or continue.
fn planned_runs(experiment: &Experiment, args: &[&str]) -> u64 {
    let ended = experiment.run(&[args, &["--check", "--format", "json"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let sweep = &plan["sweeps"][0];
    let fails = !sweep["failed"].as_array().expect("a list").is_empty();
    assert_eq!(ended.code, Some(i32::from(fails)), "{}", ended.stderr);
    sweep["runs"].as_u64().expect("a number")
}

/// The number of replicates that a sweep has started so far, by its journal.
fn started(experiment: &Experiment) -> u64 {
    let journal = fs::read_to_string(folder(experiment, "tiny").join("trials.jsonl")).expect("a journal");
    journal.lines().filter(|line| line.contains("\"event\":\"started\"")).count() as u64
}

#[test]
fn a_check_plans_what_the_sweep_then_runs() {
    let experiment = Experiment::new(SWEEP);
    let args = ["--set", "trials=3", "--set", "replicates=1"];
    let failing = [&args[..], &["--set", "fails=1"]].concat();
    let runs_as_planned = |args: &[&str], expected: u64| {
        let (planned, before) = (planned_runs(&experiment, args), started(&experiment));
        let ended = experiment.run_ends(args, 0);
        assert_eq!((planned, started(&experiment) - before), (expected, expected), "{}", ended.stderr);
    };
    assert_eq!(planned_runs(&experiment, &failing), 3);
    assert_eq!(experiment.run(&failing).code, Some(0));
    // Nothing has changed: a failed trial stays as it is.
    runs_as_planned(&failing, 0);
    // Another value of a declared parameter: the trials that have ended are revisited.
    runs_as_planned(&args, 2);
    experiment.write(&SWEEP.replace("objective:", "retry_failed: true, objective:"));
    // Another script, and the failed trial again.
    runs_as_planned(&args, 3);
    runs_as_planned(&args, 0);
    // A check refuses what the sweep would refuse.
    let refused = experiment.run_ends(&[&args[..], &["--seed", "7", "--check"]].concat(), 2);
    assert!(refused.stderr.contains("was created with seed 1, and 7 was asked for"), "{}", refused.stderr);
}

#[test]
fn a_changed_import_reruns_only_changed_steps_of_finished_trials() {
    let experiment = Experiment::new(
        &SWEEP
            .replace("let p = params", "import \"plies\" as plies;\nlet p = params")
            .replace("max_plies: 30", "max_plies: plies::most()"),
    );
    let import = |text: &str| fs::write(experiment.folder.path().join("plies.rhai"), text).expect("writes");
    let args = ["--set", "trials=3", "--set", "replicates=1"];
    let matches = || {
        let planned = planned_runs(&experiment, &args);
        let ended = experiment.run_ends(&args, 0);
        (planned, done(&ended, "  match 0000  "))
    };
    import("fn most() { 30 }");
    assert_eq!(matches(), (3, 3));
    assert_eq!(matches(), (0, 0));
    import("fn most() { 32 }");
    assert_eq!(matches(), (3, 3));
    // Another text with the same value: trials are revisited, and every step is reused.
    import("fn most() { 16 + 16 }");
    assert_eq!(matches(), (3, 0));
}

#[test]
fn fixed_settings_of_a_sweep_cannot_change() {
    let experiment = Experiment::new(SWEEP);
    let start = |threads, code| {
        experiment.command_ends(&[&FIXED[..6], &[threads, "--set", "trials=1"]].concat(), code)
    };
    start("1", 0);
    let other = start("2", 2);
    assert!(other.stderr.contains("was created with threads 1, and 2 was asked for"), "{}", other.stderr);
    fs::write(folder(&experiment, "tiny").join("sweep.json"), "{").expect("writes");
    experiment.run_ends(&["--check", "--set", "trials=1"], 3);
}

#[test]
fn a_failed_trial_is_reported_and_retried_only_on_request() {
    let experiment = Experiment::new(SWEEP);
    let args = ["--set", "trials=3", "--set", "replicates=1", "--set", "fails=1"];
    let ended = experiment.run_ends(&args, 0);
    let line = ended.stderr.lines().find(|line| line.contains("  failed; best is 0000")).expect("a line");
    assert!(line.contains("x.rhai:13:") && line.contains("no luck"), "{line}");
    assert!(ended.stdout.contains("2 complete, 0 pruned, 1 failed"), "{}", ended.stdout);
    let again = experiment.run(&["--set", "trials=3", "--set", "replicates=1"]);
    assert!(again.stdout.contains("1 failed"), "{}", again.stdout);
    experiment.write(&SWEEP.replace("objective:", "retry_failed: true, objective:"));
    let retried = experiment.run(&["--set", "trials=3", "--set", "replicates=1"]);
    assert!(
        retried.stdout.contains("3 complete, 0 pruned, 0 failed"),
        "{}{}",
        retried.stdout,
        retried.stderr
    );
    // A failure before any trial has a value is the script's error, not the trial's.
    let experiment = Experiment::new(SWEEP);
    let ended = experiment.run_ends(&["--set", "fails=0"], 1);
    assert!(
        ended.stderr.contains("no luck") && ended.stderr.contains("  called from x.rhai:"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_trial_whose_training_diverges_fails_and_the_sweep_goes_on() {
    let experiment = Experiment::new(
        r#"sweep(#{ name: "tiny", space: #{ rate: choice([0.01, 10.0]) }, sampler: "grid", trials: 2, objective: "loss", direction: "minimize" }, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
    run.train(net, run.window(), #{ updates: 300, batch: 16, learning_rate: trial.rate, clip_norm: (),
        optimizer: #{ kind: "sgd", weight_decay: 1.0 } }).loss
});"#,
    );
    let ended = experiment.run_ends(&[], 0);
    let line = ended.stderr.lines().find(|line| line.contains("  failed; best is 0000")).expect("a line");
    assert!(line.contains("not finite") && line.contains("lower learning_rate"), "{line}");
    assert!(ended.stdout.contains("1 complete, 0 pruned, 1 failed"), "{}", ended.stdout);
}

#[test]
fn loops_for_a_budget_in_seconds_have_an_end_in_the_plan() {
    let script = |seconds: u32| {
        format!(
            r#"sweep(#{{ name: "tiny", space: #{{ x: choice([1]) }}, sampler: "grid", trials: 1, budget: #{{ seconds: {seconds} }} }}, |trial| {{
    let run = trial.run;
    let net = run.network(#{{ tower: #{{ blocks: 1, filters: 8 }}, value_head: #{{ filters: 2, hidden: 8 }} }});
    while trial.goes_on {{ net = run.train(net, run.self_play(net, #{{ games: 4, search: #{{ simulations: 2 }}, max_plies: 20 }}), #{{ updates: 10, batch: 8 }}); }}
    0.5
}});"#
        )
    };
    let rounds = |seconds: u32| {
        let experiment = Experiment::new(&script(seconds));
        let ended = experiment.run_ends(&["--check", "--format", "json"], 0);
        let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let steps = plan["steps"].as_array().expect("a list");
        let of_play = steps.iter().find(|step| step["kind"] == "self_play").expect("self-play");
        of_play["count"].as_f64().expect("a number")
    };
    let (one, ten) = (rounds(20), rounds(200));
    assert!(one > 1.0 && (10.0 * (one - 1.0)..=10.0 * one).contains(&ten), "{one} {ten}");
}

#[test]
fn a_check_lists_the_trials_that_fail() {
    let experiment = Experiment::new(
        r#"sweep(#{ name: "tiny", space: #{ n: choice([4, 0, -1]) }, sampler: "grid", trials: 3 }, |trial| {
    let net = trial.run.network();
    trial.run.self_play(net, #{ games: 2, search: #{ simulations: trial.n } });
    0.5
});"#,
    );
    let ended = experiment.run_ends(&["--check"], 1);
    let expected = "2 trials would fail:\n  trial 1: ";
    assert!(ended.stdout.contains(expected) && ended.stdout.contains("got -1"), "{}", ended.stdout);
    assert!(ended.stderr.contains("error: 2 trials would fail; the plan says why"), "{}", ended.stderr);
    let ended = experiment.run_ends(&["--check", "--format", "json"], 1);
    let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let failed = plan["sweeps"][0]["failed"].as_array().expect("a list");
    assert_eq!(failed.iter().map(|failed| failed["trial"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
}

#[test]
fn pruners_end_trials_early_and_halving_continues_the_best() {
    let experiment = Experiment::new(SWEEP);
    let set = |pruner: &str| {
        let changed = SWEEP
            .replace("pruner: #{ kind: \"none\" }", pruner)
            .replace("trial.report(1, -candidate.loss)", "trial.report(1, trial.c_puct)");
        experiment.write(&changed);
    };
    set("pruner: #{ kind: \"asha\", reduction: 2, most: 2 }");
    let ended =
        experiment.run_ends(&["--set", "trials=6", "--set", "name=asha", "--set", "sampler=random"], 0);
    let [matches, trainings] = ["match 0000", "network 0001"].map(|what| done(&ended, what));
    assert!(matches < trainings && matches > 0, "{matches} {trainings} {}", ended.stderr);
    assert!(ended.stdout.contains(" paused "), "{}", ended.stdout);
    set("pruner: #{ kind: \"median\", startup: 2 }");
    let ended = experiment.run(&["--set", "trials=10", "--set", "name=median", "--set", "sampler=random"]);
    assert!(ended.stdout.contains(" pruned  "), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn all_problems_of_a_sweep_are_reported_at_once() {
    let experiment = Experiment::new(SWEEP);
    for (script, expected) in [
        (
            r#"sweep(#{ nme: "x", space: #{ a: uniform(3, 1), run: choice([1]) }, sampler: "gird", trials: 0 }, |trial| 1)"#,
            &["nme: unknown parameter; did you mean `name`?", "space.a", "sampler", "trials: must lie in"][..],
        ),
        (
            r#"sweep(#{ name: "x", space: #{ run: choice([1]) } }, |trial| 1)"#,
            &["space.run: these names of a trial are reserved"],
        ),
        (r#"sweep(#{ name: "x" }, |trial| 1)"#, &["space"]),
        (r#"sweep(#{ name: "x", space: #{ a: uniform(1, 2) }, sampler: "grid" }, |trial| 1)"#, &["grid"]),
        (
            r#"sweep(#{ name: "x", space: #{ a: uniform(1, 2) } }, |trial| trial.b)"#,
            &["there is no `b` here"],
        ),
        (r#"sweep(#{ name: "x", space: #{ a: uniform(1, 2) } }, |trial| "good")"#, &["no number as value"]),
        (
            r#"sweep(#{ name: "x", space: #{ a: uniform(1, 2) } }, |trial| { trial.report(2, 1); trial.report(1, 1); 1 })"#,
            &["reports must come in order, and 1 comes after 2"],
        ),
    ] {
        experiment.write(script);
        let ended = experiment.run(&[]);
        assert_eq!(ended.code, Some(2), "{script}: {}", ended.stderr);
        for part in expected {
            assert!(ended.stderr.contains(part), "{part}\nin\n{}", ended.stderr);
        }
    }
    // A run's folder is not accepted as a sweep's, and vice versa.
    experiment.write(r#"open_run("x").network(#{})"#);
    assert!(experiment.run(&[]).stderr.contains("not empty and has no run.json"));
    experiment.write(r#"open_run("y").network(#{ tower: #{ blocks: 1, filters: 8 } })"#);
    experiment.run(&[]);
    experiment.write(r#"sweep(#{ name: "y", space: #{ a: uniform(1, 2) } }, |trial| 1)"#);
    assert!(experiment.run(&[]).stderr.contains("not empty and has no sweep.json"));
}

#[test]
fn parallel_trials_share_a_sweep_within_them() {
    let experiment = Experiment::new(
        r#"
sweep(#{ name: "outer", space: #{ x: choice([1, 2, 3, 4]) }, sampler: "grid", trials: 4, parallel: 2 }, |trial| {
    let inner = sweep(#{ name: "inner", space: #{ y: choice([1, 2]) }, sampler: "grid", trials: 2 }, |inner| {
        inner.run.network(#{ tower: #{ blocks: 1, filters: 4 } });
        inner.y
    });
    trial.x + inner.best.value
});
"#,
    );
    let ended = experiment.run_ends(&[], 0);
    assert!(ended.stdout.contains("4 trials, 4 complete, 0 pruned, 0 failed"), "{}", ended.stdout);
}

#[test]
fn the_table_the_script_and_the_report_have_the_difference_to_the_best() {
    let script = r#"
let found = sweep(#{ name: "two", space: #{ x: choice([0, 1]) }, sampler: "grid", trials: 2, replicates: 2, objective: "score" },
    |trial| trial.x * 0.1 + trial.replicate * 0.01);
let ends = found.trials.map(|trial| if trial.difference == () { "best" } else { `${trial.difference_low} ${trial.difference_high}` });
print(ends);
"#;
    let experiment = Experiment::new(script);
    let ended = experiment.run_ends(&[], 0);
    // Student's 4.303 for two degrees of freedom, times the deviation 0.01 / √2 of a replicate, is 0.0304.
    assert!(ended.stdout.contains("-0.1000 [-0.1304, -0.0696]"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains(r#"["-0.1304"#) && ended.stdout.contains(r#", "best"]"#),
        "{}",
        ended.stdout
    );
    let output = |args: &[&str]| experiment.command_ends(args, 0).stdout;
    let sql =
        "select trial, round(difference, 6) as d, round(difference_low, 4) as low from trials order by trial";
    let table = output(&["sql", "datasets/two", sql, "--format", "csv"]);
    assert_eq!(table.lines().collect::<Vec<_>>(), ["trial,d,low", "0,-0.1,-0.1304", "1,,"]);
    output(&["report", "datasets/two", "--out", "two.html"]);
    let page = fs::read_to_string(experiment.folder.path().join("two.html")).expect("a page");
    // The difference is clear.
    assert!(page.contains("to the best") && page.contains("−0.1000 [−0.1304, −0.0696]"));
    assert!(!page.contains("may be as good"));
}
