//! Runs whose shards workers do, through a real NATS server: the same bytes as without, whatever is killed on the way.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use dc0_core::poison::IgnorePoison as _;

use crate::program::{PROGRAM, dc0_run, succeed};
use crate::{interop_python, stdout_of};

const SCRIPT: &str = "tests/data/fleet.rhai";
const TOKEN: &str = "s3cret";

/// The options that decide bytes.
pub(crate) const FIXED: [&str; 6] = ["--device", "cpu", "--threads", "1", "--seed", "5"];

/// Waits for something that takes a moment.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("waited five minutes for {what}");
}

/// A process that ends with its test.
pub(crate) struct Process {
    pub(crate) child: Child,
    log: PathBuf,
}

impl Process {
    pub(crate) fn start(command: &mut Command, log: PathBuf) -> Self {
        let file = || File::create(&log).expect("a log file");
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file())
            .spawn()
            .expect("the process starts");
        Self { child, log }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("it ends");
    }

    pub(crate) fn signal(&self, signal: &str) {
        succeed(Command::new("kill").args([format!("-{signal}"), self.child.id().to_string()]));
    }

    /// Stops it for a time.
    pub(crate) fn pause(&self, time: Duration) {
        self.signal("STOP");
        sleep(time);
        self.signal("CONT");
    }

    /// Waits for its end, and returns its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        wait_for("a process to end", || self.child.try_wait().expect("its state").is_some());
        self.child.wait().expect("its state").code()
    }

    pub(crate) fn printed(&self) -> String {
        fs::read_to_string(&self.log).expect("its log")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A broker on a free port of this machine, and what it needs.
pub(crate) struct Broker {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    /// Where workers and coordinators connect to.
    pub(crate) client_port: u16,
    server: Option<Process>,
    workers: u32,
    /// The program of workers.
    worker_program: PathBuf,
    /// More options of workers.
    pub(crate) worker_options: Vec<String>,
    /// Variables of workers and coordinators.
    pub(crate) variables: Vec<(String, String)>,
}

impl Broker {
    pub(crate) fn start() -> Self {
        Self::configured(&format!("authorization {{ token: \"{TOKEN}\" }}"))
    }

    /// A broker whose configuration says, besides its address and its store, who may take part.
    pub(crate) fn configured(who: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut broker = Self {
            folder,
            port,
            client_port: port,
            server: None,
            workers: 0,
            worker_program: PROGRAM.into(),
            worker_options: Vec::new(),
            variables: Vec::new(),
        };
        broker.configure(who);
        broker.run();
        broker
    }

    /// Writes its configuration, which it reads when it runs the next time.
    pub(crate) fn configure(&self, who: &str) {
        let (port, store) = (self.port, self.path("jetstream"));
        let mut config = File::create(self.path("nats.conf")).expect("a file");
        writeln!(config, "host: 127.0.0.1\nport: {port}\n{who}").expect("writes");
        writeln!(config, "jetstream {{ store_dir: \"{}\", sync_interval: always }}", store.display())
            .expect("writes");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{TOKEN}@127.0.0.1:{}", self.client_port)
    }

    pub(crate) fn run(&mut self) {
        let program = interop_python().with_file_name("nats-server");
        let mut command = Command::new(program);
        command.arg("-c").arg(self.path("nats.conf"));
        self.server = Some(Process::start(&mut command, self.path("nats.log")));
        wait_for("the broker", || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    pub(crate) fn kill(&mut self) {
        self.server.take().expect("it runs").kill();
    }

    pub(crate) fn worker(&mut self) -> Process {
        self.worker_with(Command::new("env"))
    }

    /// A worker that another program starts with its last arguments.
    pub(crate) fn worker_with(&mut self, mut command: Command) -> Process {
        self.workers += 1;
        let name = format!("w{}", self.workers);
        command.arg(&self.worker_program);
        command.args(["worker", &self.url(), "--lanes", "1", "--device", "cpu", "--name", &name]);
        command.arg("--cache").arg(self.path(&format!("cache-{name}"))).args(&self.worker_options);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Process::start(&mut command, self.path(&format!("{name}.log")))
    }

    pub(crate) fn coordinator(&self, out: &Path, more: &[&str]) -> Process {
        let mut command = dc0_run(SCRIPT, out);
        command.args(FIXED).args(["--workers", &self.url()]).args(more);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Process::start(&mut command, self.path("coordinator.log"))
    }
}

/// The digests of the tables and nets of the run of [`SCRIPT`].
pub(crate) fn digests(out: &Path) -> BTreeMap<PathBuf, String> {
    run_digests(out, "fleet")
}

/// The digests of the tables and nets of a run.
fn run_digests(out: &Path, run: &str) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for folder in ["games", "positions", "networks", "training", "matches", "searches", "puzzles"] {
        add(&out.join(run).join(folder), out, &mut found);
    }
    found
}

/// Adds the digests of the files below a folder.
pub(crate) fn add(folder: &Path, out: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add(&path, out, found);
        } else {
            let digest = blake3::hash(&fs::read(&path).expect("a file")).to_hex().to_string();
            found.insert(path.strip_prefix(out).expect("below").to_owned(), digest);
        }
    }
}

/// The run without workers.
pub(crate) fn local(out: &Path, more: &[&str]) {
    succeed(dc0_run(SCRIPT, out).args(FIXED).args(["--lanes", "2"]).args(more));
}

/// The digests of the run without workers, which is done once for each set of options.
pub(crate) fn expected(more: &[&str]) -> BTreeMap<PathBuf, String> {
    static KNOWN: Mutex<BTreeMap<String, BTreeMap<PathBuf, String>>> = Mutex::new(BTreeMap::new());
    // Other tests wait for the run, even if it fails in one of them.
    let mut known = KNOWN.lock().ignore_poison();
    let done = || {
        let out = tempfile::tempdir().expect("temporary folder");
        local(out.path(), more);
        let digests = digests(out.path());
        assert!(digests.len() > 100, "{digests:?}");
        digests
    };
    known.entry(more.join(" ")).or_insert_with(done).clone()
}

/// The number of shards of self-play that are stored.
fn stored(out: &Path) -> usize {
    fs::read_dir(out.join("fleet/games/iteration=0000")).map_or(0, Iterator::count)
}

#[test]
fn three_workers_give_the_same_bytes_as_none_and_stop_in_good_order() {
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut workers = [broker.worker(), broker.worker(), broker.worker()];
    let mut coordinator = broker.coordinator(out.path(), &[]);
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(digests(out.path()), expected(&[]));
    // The costs say who did what.
    let sql = "select kind, worker_shards, worker_seconds > 0 as took from costs where kind in ('puzzles', 'train')";
    let shown = query(out.path(), &format!("{sql} order by kind"));
    assert_eq!(shown.lines().collect::<Vec<_>>(), ["kind,worker_shards,took", "puzzles,2,true", "train,,"]);
    // And what nets did there. Two matches are played without any.
    let sql = "select kind, bool_and(flops > 0 and largest_batch > 0 and net_idle between 0 and 1) as known from costs where worker_shards > 0";
    let known = query(out.path(), &format!("{sql} group by kind order by kind"));
    let kinds = ["kind,known", "arena,true", "puzzles,true", "reanalyze,true", "self_play,true"];
    assert_eq!(known.lines().collect::<Vec<_>>(), kinds);
    let by = query(out.path(), "select done_by from costs where kind = 'puzzles'");
    assert!(by.contains("\"worker\"") && by.contains("dc0 "), "{by}");
    let mut fleet = Command::new(PROGRAM);
    let shown = stdout_of(fleet.args(["fleet", &broker.url()]));
    assert!(shown.contains("3 workers") && shown.contains("0 tasks") && !shown.contains(TOKEN), "{shown}");
    for worker in &mut workers {
        worker.signal("TERM");
        assert_eq!(worker.end(), Some(130), "{}", worker.printed());
        assert!(!worker.printed().contains(TOKEN), "{}", worker.printed());
    }
    let log = fs::read_to_string(out.path().join("fleet/run.log")).expect("the run's log");
    assert!(!format!("{log}{}", coordinator.printed()).contains(TOKEN));
}

#[test]
fn a_broker_that_starts_a_moment_later_is_waited_for() {
    let mut broker = Broker::start();
    broker.kill();
    let mut command = Command::new(PROGRAM);
    let mut fleet = Process::start(command.args(["fleet", &broker.url()]), broker.path("fleet.log"));
    sleep(Duration::from_millis(700));
    broker.run();
    assert_eq!(fleet.end(), Some(0), "{}", fleet.printed());
}

/// The shipped scripts, with few generations and few games.
const SHIPPED: [(&str, &[&str]); 2] = [
    ("smoke", &[]),
    (
        "az_small",
        &[
            "generations=2",
            "quick_games=8",
            "games=8",
            "simulations=4",
            "considered=2",
            "cache=1000",
            "updates=4",
            "match_games=2",
            "match_simulations=2",
        ],
    ),
];

#[test]
fn shipped_scripts_have_the_same_bytes_with_three_workers() {
    let mut broker = Broker::start();
    let _workers = [broker.worker(), broker.worker(), broker.worker()];
    for (name, settings) in SHIPPED {
        let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
        let script = format!("experiments/{name}.rhai");
        let [local, spread] = [(); 2].map(|()| tempfile::tempdir().expect("temporary folder"));
        succeed(dc0_run(&script, local.path()).args(FIXED).args(settings.clone()));
        succeed(
            dc0_run(&script, spread.path()).args(FIXED).args(settings).args(["--workers", &broker.url()]),
        );
        let expected = run_digests(local.path(), name);
        assert!(expected.len() > 15, "{expected:?}");
        assert_eq!(run_digests(spread.path(), name), expected, "{name}");
    }
}

#[test]
fn a_worker_of_another_program_only_takes_part_in_mixed_runs_whose_tables_say_so() {
    let mut broker = Broker::start();
    // The same program but for its digest.
    let other = broker.path("dc0-run");
    fs::copy(PROGRAM, &other).expect("copies");
    File::options().append(true).open(&other).and_then(|mut file| file.write_all(b"0")).expect("writes");
    broker.worker_program = other;
    let mut stranger = broker.worker();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &[]);
    for what in ["does nothing for this step: it is dc0", "no worker is there for this step"] {
        wait_for("the reason", || coordinator.printed().contains(what));
    }
    broker.worker_program = PROGRAM.into();
    let known = broker.worker();
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    drop(known);
    let same = digests(out.path());
    assert_eq!(same, expected(&[]));
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &["--worker-kinds", "mixed"]);
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    stranger.signal("TERM");
    assert_eq!(stranger.end(), Some(130), "{}", stranger.printed());
    assert!(!stranger.printed().contains("after 0 shards"), "{}", stranger.printed());
    let mixed = digests(out.path());
    assert_eq!(same.len(), mixed.len());
    let is_marked = |path: &PathBuf| {
        let table = fs::read(out.path().join(path)).expect("a table");
        let says = |text: &[u8]| table.windows(text.len()).any(|bytes| bytes == text);
        says(b"dc0.workers") && says(b"mixed")
    };
    // Nets of integers play the second iteration; they give the same bytes everywhere.
    for (iteration, differs) in [("iteration=0000", true), ("iteration=0002", false)] {
        let tables: Vec<_> = mixed
            .keys()
            .filter(|path| path.starts_with("fleet/games") && path.iter().any(|part| part == iteration))
            .collect();
        assert!(!tables.is_empty(), "{mixed:?}");
        for table in tables {
            assert_eq!(is_marked(table), differs, "{}", table.display());
        }
    }
}

/// The table of a query of the run.
fn query(out: &Path, sql: &str) -> String {
    let mut command = Command::new(PROGRAM);
    command.arg("sql").arg(out.join("fleet")).args([sql, "--format", "csv"]);
    stdout_of(&mut command)
}

#[test]
fn trials_of_a_sweep_have_their_shards_done_by_workers() {
    let script = "tests/data/fleet_sweep.rhai";
    let trials = |out: &Path| {
        let mut found = BTreeMap::new();
        for trial in 0..4 {
            for table in ["games", "positions", "networks", "matches"] {
                add(&out.join(format!("sweep/trials/{trial:04}-0/{table}")), out, &mut found);
            }
        }
        found.insert(
            "table".into(),
            blake3::hash(&fs::read(out.join("sweep/trials.parquet")).expect("a table")).to_string(),
        );
        found
    };
    let local = tempfile::tempdir().expect("temporary folder");
    succeed(dc0_run(script, local.path()).args(FIXED));
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let _workers = [broker.worker(), broker.worker()];
    let mut command = dc0_run(script, out.path());
    command.args(FIXED).args(["--workers", &broker.url()]);
    let mut coordinator = Process::start(&mut command, broker.path("coordinator.log"));
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    let expected = trials(local.path());
    assert!(expected.len() > 30, "{expected:?}");
    assert_eq!(trials(out.path()), expected);
}

#[test]
fn killed_workers_coordinators_and_brokers_lose_nothing() {
    // Long enough to be in the middle of self-play at each kill.
    let more = ["--set", "simulations=48"];
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut workers = [broker.worker(), broker.worker(), broker.worker()];
    let mut coordinator = broker.coordinator(out.path(), &more);
    wait_for("the first shards", || stored(out.path()) >= 2);
    workers[0].kill();
    wait_for("more shards", || stored(out.path()) >= 5);
    coordinator.kill();
    coordinator = broker.coordinator(out.path(), &more);
    let before = stored(out.path());
    wait_for("more shards", || stored(out.path()) > before + 2);
    broker.kill();
    broker.run();
    let before = stored(out.path());
    wait_for("more shards", || stored(out.path()) > before + 2);
    broker.kill();
    fs::remove_dir_all(broker.path("jetstream")).expect("the broker's storage");
    broker.run();
    wait_for("all shards", || stored(out.path()) == 24);
    // A stop on request.
    coordinator.signal("TERM");
    assert_eq!(coordinator.end(), Some(130), "{}", coordinator.printed());
    assert!(!coordinator.printed().contains(TOKEN), "{}", coordinator.printed());
    coordinator = broker.coordinator(out.path(), &more);
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(digests(out.path()), expected(&more));
}

/// Games by workers while the coordinator trains.
const OVERLAP: &str = "tests/data/overlap.rhai";

#[test]
fn games_by_workers_beside_a_training_have_the_bytes_of_one_machine_in_order() {
    // Long enough to be in the middle of both at the kill.
    let more = ["--set", "updates=150", "--set", "games=40"];
    let local = tempfile::tempdir().expect("temporary folder");
    succeed(dc0_run(OVERLAP, local.path()).args(FIXED).args(more).args([
        "--lanes",
        "2",
        "--set",
        "overlap=false",
    ]));
    let expected = run_digests(local.path(), "overlap");
    assert!(expected.len() > 50, "{expected:?}");
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut workers = [broker.worker(), broker.worker(), broker.worker()];
    let coordinate = |broker: &Broker| {
        let mut command = dc0_run(OVERLAP, out.path());
        command.args(FIXED).args(more).args(["--workers", &broker.url()]);
        Process::start(&mut command, broker.path("coordinator.log"))
    };
    let mut coordinator = coordinate(&broker);
    let shards = |iteration: &str| {
        let folder = out.path().join("overlap/games").join(format!("iteration={iteration}"));
        fs::read_dir(folder).map_or(0, Iterator::count)
    };
    wait_for("shards beside the first training", || shards("0001") >= 2);
    coordinator.kill();
    workers[0].kill();
    coordinator = coordinate(&broker);
    wait_for("shards beside the second training", || shards("0002") >= 2);
    broker.kill();
    broker.run();
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(run_digests(out.path(), "overlap"), expected);
}
