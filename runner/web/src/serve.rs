//! `dc0-run serve`: a live view of runs in the browser, and games against their nets.
//!
//! It only reads runs: it takes no lock and writes no file. `http` runs all connections on one thread, which never waits for a
//! file; `access` checks each request before anything else is done for it, and `routes` answers it on a blocking thread.
//! docs/guides/serve.md says what users see.

mod access;
mod args;
mod assets;
mod cache;
mod download;
mod event_stream;
mod game_steps;
mod glance;
mod health;
mod http;
mod leaderboard;
mod library;
mod plain;
mod play;
mod reply;
mod reports;
mod request;
mod routes;
mod shard;
mod stage;
mod status;
mod stored_games;
mod tail;

use std::io;
use std::net::{self, IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

pub use args::ServeArgs;

use access::Access;
use cache::Memo;
use dc0_engine::uci::{Settings, SettingsError};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::format::counted;
use dc0_process::interrupt::on_stop_signal;
use game_steps::GameSteps;
use glance::Glances;
use library::{Found, Kind, Library};
use play::GameRooms;
use reports::Charts;
use status::Locks;
use stored_games::Games;

/// The first port to try.
const PORT: u16 = 8420;

/// How many more ports to try after it.
const MORE_PORTS: u16 = 20;

/// Requests at once that read files; the others wait. Chosen: each thread has memory of its own.
const MAX_BLOCKING: usize = 16;

/// Event streams and waiting requests at once. Chosen: the other connections are kept for quick requests.
const MAX_WAITING: usize = 48;

/// Expensive requests at once. They are worked on one after another; the others wait, mostly for the same result, and each takes a
/// thread meanwhile, so the other half of the threads is kept for quick requests. Chosen.
const MAX_EXPENSIVE: usize = MAX_BLOCKING / 2;

/// The stack of a thread that answers; requests need little.
const STACK_BYTES: usize = 1 << 20;

/// How often abandoned games are ended.
const CLEAN_UP_INTERVAL: Duration = Duration::from_mins(1);

/// Why the server cannot start.
#[derive(Debug, Error)]
enum ServeError {
    #[error("{}: {cause}; expected the folder that holds runs, such as datasets", dir.display())]
    Folder { dir: PathBuf, cause: io::Error },
    #[error("{} is a run or sweep itself; expected the folder that holds it: dc0-run serve {}", dir.display(), parent.display())]
    NotAbove { dir: PathBuf, parent: PathBuf },
    #[error("cannot listen on {address}: {cause}")]
    Bind { address: SocketAddr, cause: io::Error },
    #[error("cannot draw random numbers for a token: {0}")]
    Token(getrandom::Error),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("cannot listen for Ctrl-C: {0}")]
    Listen(#[from] ctrlc::Error),
    #[error("cannot wait for requests: {0}")]
    Wait(io::Error),
}

impl Fault for ServeError {
    fn exit(&self) -> Exit {
        match self {
            Self::Folder { .. } | Self::NotAbove { .. } | Self::Bind { .. } | Self::Settings(_) => {
                Exit::BadInput
            }
            Self::Token(_) | Self::Listen(_) | Self::Wait(_) => Exit::Failed,
        }
    }
}

/// The state that all requests share.
struct Server {
    library: Library,
    access: Access,
    rooms: GameRooms,
    /// Permits for event streams and waiting requests.
    waiting: Arc<Semaphore>,
    /// Permits for expensive requests.
    expensive: Semaphore,
    memo: Memo,
    charts: Charts,
    games: Games,
    steps: GameSteps,
    glances: Glances,
}

impl Server {
    fn list(&self) -> Value {
        self.memo.get("list", || status::list(&self.library))
    }

    /// The names of runs and sweeps that the list cannot show.
    fn unshown(&self) -> Value {
        self.memo.get("unshown", || self.library.unaddressable().into())
    }

    /// The ratings and losses of the runs, as far as they are known; `None` while they are being read.
    fn glances(&self) -> Option<Value> {
        self.glances.all(&self.library, |run| self.version(run))
    }

    fn status(&self, run: &Found) -> Value {
        self.memo.get(&format!("run {}", run.path), || status::status(&self.library, run, &Locks::read()))
    }

    /// The file of the latest stored games, or null.
    fn shard(&self, run: &Found) -> Value {
        let latest = || shard::latest(&self.library, run).map_or(Value::Null, |shard| shard.games.into());
        self.memo.get(&format!("shard {}", run.path), latest)
    }

    /// A version that changes when the charts of a run or sweep do.
    fn version(&self, found: &Found) -> String {
        let version =
            self.memo.get(&format!("version {}", found.path), || shard::version(&self.library, found).into());
        version.as_str().unwrap_or_default().to_owned()
    }

    /// Whether any run in the served folder is running.
    fn is_any_running(&self) -> bool {
        self.list().as_array().is_some_and(|rows| rows.iter().any(|row| row["state"] == "running"))
    }

    fn sweep(&self, sweep: &Found) -> Value {
        self.memo.get(&format!("sweep {}", sweep.path), || leaderboard::leaderboard(&self.library, sweep))
    }
}

impl Command for ServeArgs {
    const NAME: &'static str = "serve";
    const ABOUT: &'static str = "Watch runs live in the browser, and play against their nets";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let runtime = runtime().map_err(ServeError::Wait)?;
        let interrupt = listen_for_interrupts()?;
        let (server, listener) = start(self, &program.console, &runtime)?;
        runtime.block_on(async {
            tokio::spawn(http::listen(listener, Arc::clone(&server)));
            while timeout(CLEAN_UP_INTERVAL, interrupt.notified()).await.is_err() {
                server.rooms.end_abandoned();
            }
        });
        // Requests in progress are not waited for.
        runtime.shutdown_background();
        server.rooms.close();
        program.console.note("stopped serving");
        Ok(Exit::Done)
    }
}

/// One thread runs all connections; others do their blocking work.
fn runtime() -> io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_io().enable_time().thread_name("request");
    builder.max_blocking_threads(MAX_BLOCKING).thread_stack_size(STACK_BYTES).build()
}

fn start(
    args: &ServeArgs,
    console: &Console,
    runtime: &Runtime,
) -> Result<(Arc<Server>, TcpListener), ServeError> {
    let folder = |cause| ServeError::Folder { dir: args.dir.clone(), cause };
    let library = Library::open(&args.dir).map_err(folder)?;
    if let Some(parent) = library.parent_of_run() {
        return Err(ServeError::NotAbove { dir: args.dir.clone(), parent: shortened(parent) });
    }
    let mut settings = Settings::new(None)?;
    settings.set("Device", &args.device)?;
    let (listener, address) = listen(args.bind, args.port)?;
    let token = random(16).map_err(ServeError::Token)?;
    greet(console, &library, &args.dir.display().to_string(), address, &token);
    let server = Arc::new(Server {
        library,
        access: Access::new(token, args.hosts.clone()),
        rooms: GameRooms::new(settings, args.max_sims),
        waiting: Arc::new(Semaphore::new(MAX_WAITING)),
        expensive: Semaphore::new(MAX_EXPENSIVE),
        memo: Memo::default(),
        charts: Charts::default(),
        games: Games::default(),
        steps: GameSteps::default(),
        glances: Glances::default(),
    });
    let _runtime = runtime.enter();
    let listener = listener.set_nonblocking(true).and_then(|()| TcpListener::from_std(listener));
    Ok((server, listener.map_err(ServeError::Wait)?))
}

/// A path relative to the current folder, if it is below it.
fn shortened(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.map_or_else(
        || path.to_owned(),
        |below| if below == Path::new("") { ".".into() } else { below.into() },
    )
}

/// Listens on the given port, or else on the first free one.
fn listen(ip: IpAddr, port: Option<u16>) -> Result<(net::TcpListener, SocketAddr), ServeError> {
    let ports = port.map_or(PORT..=PORT + MORE_PORTS, |port| port..=port);
    let mut last = None;
    for port in ports {
        let address = SocketAddr::new(ip, port);
        let bound = net::TcpListener::bind(address);
        match bound.and_then(|listener| listener.local_addr().map(|address| (listener, address))) {
            Ok(found) => return Ok(found),
            Err(cause) if cause.kind() == io::ErrorKind::AddrInUse => last = Some((address, cause)),
            Err(cause) => return Err(ServeError::Bind { address, cause }),
        }
    }
    let (address, cause) = last.expect("some port was tried");
    Err(ServeError::Bind { address, cause })
}

/// Random bytes from the system as hex digits.
fn random(count: usize) -> Result<String, getrandom::Error> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Notifies of the first Ctrl-C; a second one ends the program at once.
fn listen_for_interrupts() -> Result<Arc<Notify>, ServeError> {
    let (interrupt, is_second) = (Arc::new(Notify::new()), AtomicBool::new(false));
    let notified = Arc::clone(&interrupt);
    on_stop_signal(move || {
        if is_second.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted as i32);
        }
        interrupt.notify_one();
    })?;
    Ok(notified)
}

fn greet(console: &Console, library: &Library, name: &str, address: SocketAddr, token: &str) {
    if !address.ip().is_loopback() {
        console.note(&format!(
            "warning: {} is not a loopback address. Anyone on the network who sees the address below can look at the runs and play, \
             and nothing is encrypted. Safer: leave out --bind, and on the other machine `ssh -L {}:127.0.0.1:{} THIS_MACHINE`",
            address.ip(),
            address.port(),
            address.port()
        ));
    }
    let shown = if address.ip().is_unspecified() {
        SocketAddr::new(loopback(address.ip()), address.port())
    } else {
        address
    };
    console.result(&format!("{name}: {}\nopen http://{shown}/?token={token}", contents(library)));
    for folder in library.unaddressable() {
        console.note(&format!(
            "warning: {folder} is not shown: its name begins with a dot or has letters that no address can hold; rename the folder"
        ));
    }
    console.note("Ctrl-C ends this; runs go on without it");
}

/// How many runs and sweeps there are.
fn contents(library: &Library) -> String {
    let all = library.all();
    let count = |kind: Kind| all.iter().filter(|found| found.kind == kind).count();
    match (count(Kind::Run), count(Kind::Sweep)) {
        (0, 0) => "no run yet".to_owned(),
        (runs, 0) => counted(runs, "run"),
        (0, sweeps) => counted(sweeps, "sweep"),
        (runs, sweeps) => format!("{} and {}", counted(runs, "run"), counted(sweeps, "sweep")),
    }
}

fn loopback(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
    }
}
