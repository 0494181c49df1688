//! A temporary folder with a script, and how to run the program on it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, sleep};
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

/// The script with one training thread, so that results can be compared, and one backend, so that no measurement decides which bytes are
/// written.
pub(crate) const FIXED: [&str; 7] = ["x.rhai", "--device", "cpu", "--backend", "torch", "--threads", "1"];

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

impl From<Child> for Ended {
    fn from(child: Child) -> Self {
        child.wait_with_output().expect("ends").into()
    }
}

impl Ended {
    #[track_caller]
    fn with_code(self, code: i32, args: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{args:?}: {}{}", self.stdout, self.stderr);
        self
    }

    /// Checks that a text is in the standard output.
    #[track_caller]
    pub(crate) fn has(&self, part: &str) {
        assert!(self.stdout.contains(part), "no \"{part}\" in\n{}\n{}", self.stdout, self.stderr);
    }

    /// Checks that a text is not in the standard output.
    #[track_caller]
    pub(crate) fn lacks(&self, part: &str) {
        assert!(!self.stdout.contains(part), "\"{part}\" in\n{}", self.stdout);
    }
}

/// Runs a program to its end, with an input through a pipe.
pub(crate) fn piped(command: &mut Command, input: &[u8]) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    thread::scope(|scope| {
        // A program that refuses its arguments reads nothing.
        scope.spawn(move || drop(pipe.write_all(input)));
        child.into()
    })
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

    /// Starts the program in the folder.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.current_dir(self.folder.path()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    /// Starts the script with [`FIXED`] and other options.
    pub(crate) fn begin(&self, args: &[&str]) -> Child {
        self.start(&[&FIXED, args].concat())
    }

    /// Runs the program to its end.
    pub(crate) fn command(&self, args: &[&str]) -> Ended {
        self.start(args).into()
    }

    /// Runs the script to its end, with [`FIXED`] and other options.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.begin(args).into()
    }

    /// As [`Self::command`]; another exit code is an error.
    #[track_caller]
    pub(crate) fn command_ends(&self, args: &[&str], code: i32) -> Ended {
        self.command(args).with_code(code, args)
    }

    /// As [`Self::run`]; another exit code is an error.
    #[track_caller]
    pub(crate) fn run_ends(&self, args: &[&str], code: i32) -> Ended {
        self.run(args).with_code(code, args)
    }

    /// Starts the program again and again, and kills it a little later each time, until it comes to its end.
    pub(crate) fn run_killed(&self, args: &[&str]) {
        for attempt in 1.. {
            let mut child = self.start(args);
            sleep(Duration::from_millis(130 + 65 * attempt));
            // Does nothing if it has ended already.
            let _ = child.kill();
            let ended = Ended::from(child);
            match ended.code {
                Some(0) => break,
                None => {}
                Some(code) => panic!("exit code {code}: {}", ended.stderr),
            }
            assert!(attempt < 200, "never comes to an end");
        }
    }

    /// Runs the script until there are that many work files whose names begin like this, then kills it.
    #[track_caller]
    pub(crate) fn kill_at(&self, begin: &str, count: usize) {
        let mut child = self.begin(&[]);
        let is_reached = is_reached(begin, &mut child, || self.work(begin) >= count);
        assert!(is_reached, "ended before it could be killed");
        child.kill().expect("kills");
        child.wait().expect("ends");
    }

    /// The number of work files of unfinished steps whose names begin like this.
    pub(crate) fn work(&self, begin: &str) -> usize {
        let steps = fs::read_dir(self.run_folder().join("steps/work")).into_iter().flatten().flatten();
        let files = steps.flat_map(|step| fs::read_dir(step.path()).into_iter().flatten().flatten());
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(begin) && !is_unfinished(Path::new(name))).count()
    }

    /// The run's folder.
    pub(crate) fn run_folder(&self) -> PathBuf {
        self.folder.path().join("datasets/small")
    }

    /// Every file of the run whose content must be reproducible, with its digest.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        results_below(&self.run_folder())
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

/// Waits for something that takes a moment.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..24_000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("waited two minutes for {what}");
}

/// As [`wait_for`]; false if the program ends before.
#[track_caller]
pub(crate) fn is_reached(what: &str, child: &mut Child, mut is_so: impl FnMut() -> bool) -> bool {
    let mut is_reached = false;
    wait_for(what, || {
        is_reached = is_so();
        is_reached || child.try_wait().expect("looks").is_some()
    });
    is_reached
}

/// Whether a file was still being written when the program was killed.
pub(crate) fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "tmp")
}

/// Flips a bit of a file.
pub(crate) fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("reads");
    let at = bytes.len() / 3;
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("writes");
}

/// Copies all files below a folder.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    for (name, _) in files_below(from) {
        let target = to.join(&name);
        fs::create_dir_all(target.parent().expect("a folder")).expect("creates");
        fs::copy(from.join(&name), target).expect("copies");
    }
}

/// As [`files_below`], without the files that depend on time.
pub(crate) fn results_below(root: &Path) -> Vec<(String, String)> {
    let timed = ["journal.jsonl", "run.log", "run.lock", "costs.parquet"];
    let mut files = files_below(root);
    files.retain(|(name, _)| !timed.iter().any(|timed| name.ends_with(timed)));
    files
}

/// Every file below a folder with its digest.
pub(crate) fn files_below(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    list(root, root, &mut files);
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
