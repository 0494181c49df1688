//! A temporary folder with a script, and how to run the program on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Every kind of step with the least possible work; takes some seconds in all.
pub(crate) const SMALL: &str = r#"
let p = params(#{ iterations: 2, updates: 8, games: 6 });
let run = open_run("small");
let best = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let search = #{ simulations: 4 };
for iteration in 0..p.iterations {
    run.self_play(best, #{ games: p.games, shard_games: 2, search: search, max_plies: 30,
        temperature: |ply| if ply < 10 { 1 } else { 0.5 } });
    let window = run.window(#{ iterations: 2 });
    let candidate = run.train(best, window, #{ updates: p.updates, batch: 16, checkpoint_every: 2, log_every: 2 });
    let verdict = run.arena(candidate, best, #{ games: 4, shard_games: 2, search: search, max_plies: 30 });
    if verdict.score >= 0.0 { best = run.promote(candidate); }
}
print(`generation ${run.generation}`);
run.arena(best, "random", #{ games: 2, search: search, max_plies: 30 });
"#;

/// A script in a folder of its own.
pub(crate) struct Experiment {
    pub(crate) folder: tempfile::TempDir,
}

/// The outcome of a finished program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Experiment {
    /// Writes the script as `x.rhai`.
    pub(crate) fn new(script: &str) -> Self {
        let experiment = Self { folder: tempfile::tempdir().expect("temporary folder") };
        experiment.write(script);
        experiment
    }

    /// Edits the script.
    pub(crate) fn write(&self, script: &str) {
        fs::write(self.folder.path().join("x.rhai"), script).expect("writes");
    }

    /// Starts the program in the folder, with one training thread so that results can be compared.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.current_dir(self.folder.path()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    /// Runs the program to its end.
    pub(crate) fn command(&self, args: &[&str]) -> Ended {
        self.start(args).wait_with_output().expect("ends").into()
    }

    /// Runs the script to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        // The backend is fixed, so that no measurement decides which bytes are written.
        let fixed = ["x.rhai", "--device", "cpu", "--backend", "torch", "--threads", "1"];
        let all: Vec<&str> = fixed.iter().chain(args).copied().collect();
        self.command(&all)
    }

    /// Starts the program again and again, and kills it a little later each time, until it comes to its end.
    pub(crate) fn run_killed(&self, args: &[&str]) {
        for attempt in 1.. {
            let mut child = self.start(args);
            sleep(Duration::from_millis(130 + 65 * attempt));
            // Does nothing if it has ended already.
            let _ = child.kill();
            let ended: Ended = child.wait_with_output().expect("ends").into();
            match ended.code {
                Some(0) => break,
                None => {}
                Some(code) => panic!("exit code {code}: {}", ended.stderr),
            }
            assert!(attempt < 200, "never comes to an end");
        }
    }

    /// The run's folder.
    pub(crate) fn run_folder(&self) -> PathBuf {
        self.folder.path().join("datasets/small")
    }

    /// Every file of the run whose content must be reproducible, with its digest.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let mut files = results_of(&self.run_folder());
        let timed = ["journal.jsonl", "run.log", "run.lock", "costs.parquet"];
        files.retain(|(name, _)| !timed.contains(&name.as_str()));
        files
    }

    /// The first file of the run below a folder.
    pub(crate) fn first_in(&self, folder: &str) -> PathBuf {
        let (name, _) =
            self.results().into_iter().find(|(name, _)| name.starts_with(folder)).expect("a file");
        self.run_folder().join(name)
    }
}

/// Rewrites a journal line by line, each with the digest that it then has.
pub(crate) fn rewrite_journal(path: &Path, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(path).expect("reads");
    let (mut journal, mut before) = (String::new(), String::new());
    for line in text.lines() {
        let (members, _) = line.rsplit_once(",\"chain\":\"").expect("a digest");
        let members = change(members);
        let digest = dc0_core::durable::digest(format!("{before}{members}").as_bytes())[..16].to_owned();
        let line = format!("{members},\"chain\":\"{digest}\"}}\n");
        journal += &line;
        before = digest;
    }
    fs::write(path, journal).expect("writes");
}

/// Every file of a run with its digest.
pub(crate) fn results_of(run: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    list(run, run, &mut files);
    files.sort();
    files
}

fn list(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("lists").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            list(root, &entry, files);
        } else {
            let name = entry.strip_prefix(root).expect("below the root").display().to_string();
            files.push((name, dc0_core::durable::digest(&fs::read(&entry).expect("reads"))));
        }
    }
}
