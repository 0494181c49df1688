//! Random faults while workers do a run's shards: processes killed and paused, the broker's storage deleted, a network that is cut, that
//! stalls, and that repeats and exchanges acknowledgements. Whatever happens, the run ends with the bytes of a run without workers.
//!
//! The variables `DC0_CHAOS_FAULTS` and `DC0_CHAOS_SEED` make longer and other runs.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

use dc0_process::clock::Stopwatch;

use crate::fleet::{Broker, Process, digests, expected};
use crate::program::succeed;

/// Enough to have faults of every kind in a few runs.
const FAULTS: u32 = 12;

/// Long enough to be in the middle of self-play at most faults.
const LONGER: [&str; 2] = ["--set", "simulations=48"];

/// Of a hundred acknowledgements, those that are sent twice, and those that are sent after later messages.
const REPEATED: u64 = 15;
const LATE: u64 = 15;

/// The longest that one run may take under faults.
const PATIENCE: Duration = Duration::from_mins(10);

/// Random numbers for a seed (splitmix64).
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }
}

/// What connections through the proxy share.
#[derive(Debug, Default)]
struct Wires {
    open: Mutex<Vec<TcpStream>>,
    /// Since when it stalls, and for how long.
    stalled: Mutex<Option<(Stopwatch, Duration)>>,
    repeated: AtomicU64,
    late: AtomicU64,
    connections: AtomicU64,
}

impl Wires {
    /// Waits while the network stalls.
    fn pass(&self) {
        let stalled = *self.stalled.lock().expect("no panic");
        if let Some((since, time)) = stalled {
            sleep(time.saturating_sub(since.elapsed()));
        }
    }

    fn stall(&self, time: Duration) {
        *self.stalled.lock().expect("no panic") = Some((Stopwatch::start(), time));
    }

    fn cut(&self) {
        for stream in self.open.lock().expect("no panic").drain(..) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Listens on a free port, and passes on everything to another one.
fn proxy(to: u16, seed: u64) -> (u16, Arc<Wires>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let wires = Arc::new(Wires::default());
    let shared = Arc::clone(&wires);
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.expect("a connection");
            // Without a broker the client's connection ends at once.
            let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            let number = shared.connections.fetch_add(1, Ordering::Relaxed);
            let both = [&client, &server].map(|stream| stream.try_clone().expect("a copy"));
            shared.open.lock().expect("no panic").extend(both);
            let (from_client, to_server) =
                (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
            let (up, down) = (Arc::clone(&shared), Arc::clone(&shared));
            thread::spawn(move || {
                // An error is the end of a connection.
                let _ = pass_commands(from_client, &to_server, &up, Random(seed ^ number));
                let _ = to_server.shutdown(Shutdown::Both);
            });
            thread::spawn(move || {
                let _ = pass_bytes(server, &client, &down);
                let _ = client.shutdown(Shutdown::Both);
            });
        }
    });
    (port, wires)
}

fn pass_bytes(mut from: TcpStream, mut to: &TcpStream, wires: &Wires) -> io::Result<()> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let count = from.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        wires.pass();
        to.write_all(&bytes[..count])?;
    }
}

/// Passes on what a client sends, command by command, with some acknowledgements twice or late.
fn pass_commands(from: TcpStream, mut to: &TcpStream, wires: &Wires, mut random: Random) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut late: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut command = Vec::new();
        if from.read_until(b'\n', &mut command)? == 0 {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&command).into_owned();
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap_or_default();
        if ["PUB", "HPUB"].contains(&verb) {
            let length: usize = words.next_back().and_then(|word| word.parse().ok()).expect("a length");
            let begin = command.len();
            // What follows ends with a line's end.
            command.resize(begin + length + 2, 0);
            from.read_exact(&mut command[begin..])?;
        }
        wires.pass();
        let is_ack = line.contains(" $JS.ACK.");
        let chance = random.below(100);
        if is_ack && chance < LATE && late.len() < 3 {
            wires.late.fetch_add(1, Ordering::Relaxed);
            late.push(command);
            continue;
        }
        to.write_all(&command)?;
        if is_ack && chance >= 100 - REPEATED {
            wires.repeated.fetch_add(1, Ordering::Relaxed);
            to.write_all(&command)?;
        }
        if !late.is_empty() && random.below(3) == 0 {
            to.write_all(&late.remove(0))?;
        }
    }
}

/// A fleet under faults.
struct Chaos {
    random: Random,
    broker: Broker,
    /// The library with which a worker's clock is wrong, on Linux.
    clock: Option<PathBuf>,
    wires: Arc<Wires>,
    workers: Vec<Process>,
    coordinator: Process,
    out: tempfile::TempDir,
    /// How often each fault happened.
    faults: BTreeMap<&'static str, u32>,
}

fn variable(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

impl Chaos {
    fn start(seed: u64) -> Self {
        let mut broker = Broker::start();
        let (port, wires) = proxy(broker.port, seed);
        broker.client_port = port;
        let out = tempfile::tempdir().expect("temporary folder");
        let coordinator = broker.coordinator(out.path(), &LONGER);
        let clock = cfg!(target_os = "linux").then(|| wrong_clock(&broker));
        let (random, faults) = (Random(seed), BTreeMap::new());
        let mut chaos = Self { random, broker, clock, wires, workers: Vec::new(), coordinator, out, faults };
        for _ in 0..3 {
            let worker = chaos.worker();
            chaos.workers.push(worker);
        }
        chaos
    }

    /// A worker; one of three cannot store what it fetches, as if its disk were full, and one has a clock that is a day wrong.
    fn worker(&mut self) -> Process {
        match (self.random.below(3), &self.clock) {
            (0, _) => {
                let mut command = Command::new("sh");
                // Files end at 4 kB, and a write beyond is an error instead of a signal.
                command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"]);
                self.broker.worker_with(command)
            }
            (1, Some(clock)) => {
                let mut command = Command::new("env");
                command.arg(format!("LD_PRELOAD={}", clock.display()));
                command.arg(["WRONG_CLOCK=86400", "WRONG_CLOCK=-86400"][self.random.below(2) as usize]);
                self.broker.worker_with(command)
            }
            _ => self.broker.worker(),
        }
    }

    /// Panics if a worker has crashed; those that a fault ends are replaced at once.
    fn check_workers(&mut self) {
        for worker in &mut self.workers {
            let ended = worker.child.try_wait().expect("its state");
            let signal = ended.and_then(|status| status.signal());
            assert_eq!(signal, None, "a worker crashed: {}", worker.printed());
        }
    }

    fn fault(&mut self) -> &'static str {
        let victim = self.random.below(self.workers.len() as u64) as usize;
        match self.random.below(100) {
            0..20 => {
                self.workers[victim].kill();
                self.workers[victim] = self.worker();
                "a worker killed"
            }
            20..35 => {
                let pause = self.random.millis(200, 4000);
                self.workers[victim].pause(pause);
                "a worker paused"
            }
            35..45 => {
                self.workers[victim].signal("TERM");
                self.workers[victim].end();
                self.workers[victim] = self.worker();
                "a worker stopped and another started"
            }
            45..55 => {
                self.coordinator.kill();
                self.coordinator = self.broker.coordinator(self.out.path(), &LONGER);
                "the coordinator killed"
            }
            55..60 => {
                let pause = self.random.millis(200, 2000);
                self.coordinator.pause(pause);
                "the coordinator paused"
            }
            60..68 => {
                self.broker.kill();
                self.broker.run();
                "the broker killed"
            }
            68..74 => {
                self.broker.kill();
                fs::remove_dir_all(self.broker.path("jetstream")).expect("the broker's storage");
                self.broker.run();
                "the broker's storage deleted"
            }
            74..90 => {
                self.wires.cut();
                "all connections cut"
            }
            _ => {
                let time = self.random.millis(200, 3000);
                self.wires.stall(time);
                "the network stalled"
            }
        }
    }

    /// Has a run done under at most so many faults, and returns how many there were.
    fn run(&mut self, most: u32) -> u32 {
        let start = Stopwatch::start();
        let mut count = 0;
        loop {
            let pause = self.random.millis(100, 700);
            sleep(pause);
            self.check_workers();
            if let Some(status) = self.coordinator.child.try_wait().expect("its state") {
                assert_eq!(status.code(), Some(0), "{:?}: {}", self.faults, self.coordinator.printed());
                return count;
            }
            assert!(start.elapsed() < PATIENCE, "{:?}: {}", self.faults, self.coordinator.printed());
            if count < most {
                let fault = self.fault();
                *self.faults.entry(fault).or_default() += 1;
                count += 1;
            }
        }
    }

    fn next_run(&mut self) {
        self.out = tempfile::tempdir().expect("temporary folder");
        self.coordinator = self.broker.coordinator(self.out.path(), &LONGER);
    }
}

/// Compiles the library that makes clocks wrong, and tries it.
fn wrong_clock(broker: &Broker) -> PathBuf {
    let (source, library) = (broker.path("wrong_clock.c"), broker.path("wrong_clock.so"));
    fs::write(&source, include_str!("wrong_clock.c")).expect("writes");
    succeed(Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]));
    let [exact, wrong] = [0, 86_400].map(|wrong| {
        let settings = [format!("LD_PRELOAD={}", library.display()), format!("WRONG_CLOCK={wrong}")];
        let output = succeed(Command::new("env").args(settings).args(["date", "+%s"]));
        String::from_utf8_lossy(&output.stdout).trim().parse::<i64>().expect("seconds")
    });
    assert!((86_400..87_000).contains(&(wrong - exact)), "{wrong} after {exact}");
    library
}

/// Whether a check of all files of a run finds nothing.
fn is_whole(out: &Path) -> bool {
    let output = Command::new(crate::program::PROGRAM)
        .arg("verify")
        .arg(out.join("fleet"))
        .output()
        .expect("it starts");
    output.status.success()
}

#[test]
fn no_game_is_lost_and_none_counts_twice_whatever_fails() {
    let (most, seed) = (variable("DC0_CHAOS_FAULTS", FAULTS.into()) as u32, variable("DC0_CHAOS_SEED", 1));
    let local: BTreeMap<PathBuf, String> = expected(&LONGER);
    let mut chaos = Chaos::start(seed);
    let (mut runs, mut faults) = (0, 0);
    while faults < most {
        if runs > 0 {
            chaos.next_run();
        }
        faults += chaos.run(most - faults);
        runs += 1;
        assert_eq!(digests(chaos.out.path()), local, "{:?}", chaos.faults);
        assert!(is_whole(chaos.out.path()), "{:?}", chaos.faults);
    }
    let Wires { repeated, late, .. } = &*chaos.wires;
    // What a long run found, for the guide.
    let shown = format!(
        "{runs} runs, {faults} faults: {:?}, acks repeated: {repeated:?}, late: {late:?}",
        chaos.faults
    );
    assert!(faults >= most, "{shown}");
    if let Some(path) = env::var_os("DC0_CHAOS_REPORT") {
        fs::write(path, shown).expect("writes");
    }
}
