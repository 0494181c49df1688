//! Trials of a sweep that run by themselves, as arrays of jobs; a stand-in takes the part of the batch system.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::experiment::{Ended, Experiment, results_below, wait_for};

/// Trial 1 takes long enough to be interrupted in the middle, and trial 2 can fail.
const SWEEP: &str = r#"
let p = params(#{ name: "array", sampler: "random", pruner: #{ kind: "none" }, trials: 4, fails: -1, before: false });
if p.before { open_run("before"); }
let found = sweep(#{
    name: p.name,
    space: #{ c_puct: log_uniform(0.5, 4.0), rate: choice([0.01, 0.02, 0.05]) },
    sampler: p.sampler, pruner: p.pruner, trials: p.trials, objective: "loss", direction: "minimize",
}, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    let games = if trial.number == 1 { 20 } else { 4 };
    let search = #{ simulations: 40, c_puct: trial.c_puct };
    run.self_play(net, #{ games: games, shard_games: 2, search: search, max_plies: 60 });
    if trial.number == p.fails { throw "no luck"; }
    let trained = run.train(net, run.window(), #{ updates: 3, batch: 16, learning_rate: trial.rate });
    trial.report(1, trained.loss);
    trained.loss
});
print(found.best);
"#;

/// The options that decide bytes.
const FIXED: [&str; 5] = ["x.rhai", "--device", "cpu", "--backend", "torch"];

/// Writes the batch script of an array, and returns it.
fn array(experiment: &Experiment, system: &str, more: &[&str]) -> PathBuf {
    let ended = experiment.command_ends(&[&[system], &FIXED[..], more].concat(), 0);
    let line =
        ended.stdout.lines().find(|line| line.trim_start().starts_with(['s', 'h'])).expect("a command");
    let file = line.split_whitespace().last().expect("a file");
    assert!(ended.stdout.contains("dc0-run x.rhai --"), "{}", ended.stdout);
    experiment.folder.path().join(file)
}

fn folder(experiment: &Experiment) -> PathBuf {
    experiment.folder.path().join("datasets/array")
}

/// A batch system that runs one task of an array at a time, as Slurm does, and notes what it is to queue again.
struct Batch {
    tools: tempfile::TempDir,
}

impl Batch {
    fn new() -> Self {
        let tools = tempfile::tempdir().expect("temporary folder");
        let scontrol = tools.path().join("scontrol");
        fs::write(&scontrol, "#!/bin/sh\necho \"$@\" >> \"$0.calls\"\n").expect("writes");
        fs::set_permissions(&scontrol, fs::Permissions::from_mode(0o755)).expect("sets");
        Self { tools }
    }

    fn start(&self, script: &Path, task: usize) -> Child {
        let path = std::env::var("PATH").expect("a path");
        let mut command = Command::new("bash");
        // Slurm runs a copy of the script, from any folder.
        let copy = self.tools.path().join(format!("copy-{task}.sh"));
        fs::copy(script, &copy).expect("copies");
        command.arg(copy).current_dir(self.tools.path());
        command.env("PATH", format!("{}:{path}", self.tools.path().display()));
        command.env("SLURM_ARRAY_JOB_ID", "77").env("SLURM_ARRAY_TASK_ID", task.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("bash starts")
    }

    fn queued_again(&self) -> String {
        fs::read_to_string(self.tools.path().join("scontrol.calls")).unwrap_or_default()
    }
}

/// The files of all trials whose content must be reproducible, with their digests, and the table of trials.
fn results(experiment: &Experiment) -> Vec<(String, String)> {
    let mut files = results_below(&folder(experiment));
    files.retain(|(name, _)| name.starts_with("trials/") || name == "trials.parquet");
    files
}

#[test]
fn an_array_with_an_interrupted_task_gives_the_same_bytes_as_one_process() {
    let fails = ["--set", "fails=2"];
    let whole = Experiment::new(SWEEP);
    whole.command_ends(&[&FIXED[..], &["--threads", "1", "--lanes", "1"], &fails].concat(), 0);
    let expected = results(&whole);
    assert!(expected.len() > 20, "{expected:?}");

    let (experiment, batch) = (Experiment::new(SWEEP), Batch::new());
    let script =
        array(&experiment, "sweep-slurm", &[&fails[..], &["--time", "1:00:00", "--at-once", "2"]].concat());
    let text = fs::read_to_string(&script).expect("a script");
    for line in ["#SBATCH --array=0-3%2", "#SBATCH --requeue", "#SBATCH --signal=B:USR1@120"] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    assert!(!text.contains("fails"), "parameters are in the plan only: {text}");

    // The warning before the time limit comes in the middle of self-play.
    let interrupted = batch.start(&script, 1);
    let games = folder(&experiment).join("trials/0001-0/games/iteration=0000");
    wait_for("a shard", || fs::read_dir(&games).is_ok_and(|files| files.count() > 0));
    let sent = Command::new("kill").args(["-USR1", &interrupted.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let ended = Ended::from(interrupted);
    assert_eq!((ended.code, batch.queued_again().as_str()), (Some(0), "requeue 77_1\n"), "{}", ended.stderr);
    let shards = fs::read_dir(&games).expect("shards").count();
    assert!((1..10).contains(&shards), "{shards} shards: {}", ended.stderr);

    // Another process cannot have the sweep while its trials run.
    let again = batch.start(&script, 1);
    let lock = folder(&experiment).join("array/0001/run.lock");
    wait_for("the trial", || fs::read_dir(&games).is_ok_and(|files| files.count() > shards));
    assert!(lock.exists());
    let early = experiment.command_ends(&[&FIXED[..], &fails].concat(), 1);
    assert!(early.stderr.contains("processes of their own"), "{}", early.stderr);
    // Two others beside it; one fails.
    let [zero, two] = [0, 2].map(|task| batch.start(&script, task));
    let [again, zero, two] = [again, zero, two].map(Ended::from);
    assert_eq!((again.code, zero.code), (Some(0), Some(0)), "{}{}", again.stderr, zero.stderr);
    assert!(two.code == Some(1) && two.stderr.contains("trial 2 failed"), "{}", two.stderr);
    assert_eq!(batch.queued_again(), "requeue 77_1\n");

    // What no task has done, the sweep does itself; the failed trial stays failed.
    let ended = experiment.command_ends(&[&FIXED[..], &fails].concat(), 0);
    assert!(ended.stderr.contains("0 begun before, 3 trials run by themselves since"), "{}", ended.stderr);
    assert!(ended.stderr.contains("0003-0") && !ended.stderr.contains("0001-0"), "{}", ended.stderr);
    assert_eq!(results(&experiment), expected);
    let nothing = experiment.command(&[&["sweep-slurm"], &FIXED[..], &fails].concat());
    assert!(nothing.stdout.contains("nothing is left"), "{}{}", nothing.stdout, nothing.stderr);
}

#[test]
fn a_hyperqueue_script_runs_groups_of_trials() {
    let experiment = Experiment::new(&SWEEP.replace("20", "4"));
    let script = array(&experiment, "sweep-hq", &["--group", "3", "--cpus", "2"]);
    let text = fs::read_to_string(&script).expect("a script");
    assert!(text.contains("#HQ --array=0-1\n") && text.contains("#HQ --cpus=2\n"), "{text}");
    let run = |task: &str| {
        let mut command = Command::new("bash");
        let ended = command.arg(&script).env("HQ_TASK_ID", task).stdin(Stdio::null()).output();
        Ended::from(ended.expect("bash starts"))
    };
    for (task, trials) in [("0", vec!["0000", "0001", "0002"]), ("1", vec!["0003"])] {
        let ended = run(task);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let shown: BTreeSet<&str> = ended
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix("trial ")?.split_whitespace().next())
            .collect();
        assert_eq!(shown, trials.into_iter().collect(), "{}", ended.stderr);
    }
    // The results so far are collected with the points of what is left.
    let nothing = experiment.command(&[&["sweep-hq"], &FIXED[..]].concat());
    assert!(nothing.stdout.contains("nothing is left"), "{}{}", nothing.stdout, nothing.stderr);
    let values =
        experiment.command(&["sql", "array", "select count(value) as n from trials", "--format", "csv"]);
    assert_eq!(values.stdout, "n\n4\n", "{}", values.stderr);
    let wrong = run("2");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("has the tasks 0 to 1"), "{}", wrong.stderr);
    let ended = experiment.command(&FIXED);
    assert!(
        ended.code == Some(0) && ended.stderr.contains("4 trials of 1 run, 4 begun before"),
        "{}",
        ended.stderr
    );
}

#[test]
fn sweeps_that_cannot_run_in_parts_are_refused() {
    let refused = |experiment: &Experiment, args: &[&str], part: &str| {
        let ended = experiment.command(args);
        assert!(ended.code == Some(2) && ended.stderr.contains(part), "{args:?}: {}", ended.stderr);
    };
    let experiment = Experiment::new(SWEEP);
    let slurm = |more: &[&'static str]| [&["sweep-slurm"], &FIXED[..], more].concat();
    for (more, part) in [
        (vec!["--set", "pruner.kind=asha"], "its pruner \"asha\" compares trials"),
        (
            vec!["--set", "sampler=tpe", "--set", "trials=11"],
            "\"tpe\" chooses trial 10 by the values of others",
        ),
        (vec!["--set", "before=true"], "or open no run before the sweep"),
        (vec!["--partition", "a b"], "expected letters"),
        (vec!["--workers", "nats://secret@host"], "use --credentials FILE"),
        (vec!["--time", "0:01:00"], "leaves no time"),
        (vec!["--check"], "belong to the script's own command"),
    ] {
        refused(&experiment, &slurm(&more), part);
    }
    let trial = |more: &[&'static str]| [&FIXED[..], more].concat();
    let other = Experiment::new(SWEEP);
    refused(&other, &trial(&["--trial", "0"]), "has no trial 0 yet");
    let none = Experiment::new("print(1);");
    refused(&none, &trial(&["--trial", "0"]), "has no sweep");
    let run = Experiment::new("open_run(\"x\");");
    refused(&run, &slurm(&[]), "this one opens a run; give its command without `sweep-slurm`");
    array(&other, "sweep-slurm", &[]);
    refused(&other, &trial(&["--trial", "4"]), "has no trial 4 yet");
    refused(&other, &trial(&["--trial", "0", "--set", "fails=3"]), "have changed since the points");
}

#[test]
fn a_script_that_is_no_file_is_refused() {
    let experiment = Experiment::new("");
    let refused = experiment.command_ends(&["sweep-slurm", "/dev/null"], 2);
    assert!(
        refused.stderr.contains("/dev/null is no file, so the tasks could not read it"),
        "{}",
        refused.stderr
    );
}
