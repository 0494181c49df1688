//! `dc0-run worker`: does shards for runs elsewhere.
//!
//! Each lane is a thread that takes one task after the other. A task's result is stored by the broker before the task is acknowledged,
//! so a kill at any moment costs time only.

mod cache;
mod jobs;
mod lane;
mod queue;
mod rest;

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use clap::Args;
use dc0_backend::{devices, lanes_on};
use dc0_core::poison::IgnorePoison as _;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::fault::chain;
use dc0_process::folders::cache_folder;
use dc0_process::format::counted;
use dc0_process::interrupt::Interrupt;
use dc0_runs::device_kind;
use futures_util::StreamExt as _;
use log::LevelFilter;

use crate::address::{Address, BrokerArgs};
use crate::error::BrokerError;
use crate::link::Link;
use crate::message::Heartbeat;
use crate::names::{ALL_ENDS, Channel, HEARTBEAT, Route, aside, heartbeat, plain, shortened};
use crate::objects::Artefacts;
use crate::platform::{Platform, host};
use cache::Cache;
use jobs::Jobs;
use lane::WorkerLane;
use queue::Queue;
use rest::Rest;

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// What does shards for others.
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The broker: `nats://HOST:4222`, or `tls://HOST:4222`.
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    broker: BrokerArgs,
    /// Where nets run: auto, cpu, cuda:0, several with commas, cuda:all.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Shards at a time [default: the number of cores, at most 8 for each GPU].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    lanes: Option<u32>,
    /// ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    onnxruntime: Option<PathBuf>,
    /// The worker's name, before which come the machine's name and after which its process [default: none].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The folder that keeps nets between steps [default: dc0/fleet in the user's cache folder].
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// The most that is kept there, in GiB; the oldest files go first.
    #[arg(long, value_name = "GIB", default_value_t = 10.0, value_parser = gibibytes)]
    cache_size: f64,
    /// A folder, `s3://BUCKET/PATH`, `gs://BUCKET/PATH` or `az://CONTAINER/PATH` with nets and large results, as runs with the same option use
    /// it [default: the broker].
    #[arg(long, value_name = "URL")]
    artefacts: Option<String>,
    /// The longest that a shard may take, in minutes.
    #[arg(long, value_name = "M", default_value_t = 1440, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_minutes: u32,
}

fn gibibytes(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number));
    number.ok_or_else(|| "expected a number of GiB from 0 to 1000000, such as 0.5".to_owned())
}

/// A task that a lane does.
#[derive(Debug, Clone)]
struct Running {
    channel: Channel,
    /// Set when its step ends.
    is_over: Arc<AtomicBool>,
}

/// What the lanes of a worker share.
struct Worker {
    link: Link,
    /// A place beside the broker for files.
    artefacts: Artefacts,
    name: String,
    device: String,
    lanes: u32,
    onnxruntime: Option<PathBuf>,
    max_minutes: u32,
    platform: String,
    routes: Vec<Route>,
    console: Arc<Console>,
    interrupt: Interrupt,
    jobs: Jobs,
    cache: Cache,
    state: Arc<State>,
}

/// What the connection's thread reads and writes, too.
#[derive(Debug, Default)]
struct State {
    /// By the identities of the tasks.
    running: Mutex<BTreeMap<String, Running>>,
    /// Why this worker has to stop: its options are not enough, or a coordinator has put it aside.
    failure: Mutex<Option<Failure>>,
    /// When its lanes take no tasks.
    rest: Mutex<Rest>,
    done: AtomicU64,
    failed: AtomicU64,
    evaluations: AtomicU64,
}

impl State {
    /// Has the worker stop, unless it does already.
    fn stop(&self, failure: Failure) {
        self.failure.lock().ignore_poison().get_or_insert(failure);
    }
}

impl Command for WorkerArgs {
    const NAME: &'static str = "worker";
    const ABOUT: &'static str = "Do shards for runs on other machines, through a NATS broker";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let process = program.start(LevelFilter::Warn)?;
        let address = Address::new(&self.url, &self.broker)?;
        let own_name =
            self.name.as_deref().map(|name| format!("{}-", shortened(name, 32))).unwrap_or_default();
        let name = plain(&format!("{own_name}{}-{}", host(), std::process::id()));
        let names = devices(&self.device).map_err(|error| Failure::new(Exit::BadInput, chain(&error)))?;
        let lanes = self.lanes.unwrap_or_else(|| lanes_on(&names));
        let (platform, kind) = (Platform::here(), device_kind(&names[0]).to_owned());
        let cache = Cache::open(self.cache_folder(), (self.cache_size * GIB) as u64)?;
        let artefacts = Artefacts::open(self.artefacts.as_deref())?;
        let link = Link::connect(address, &format!("dc0 worker {name}"))?;
        let worker = Worker {
            name,
            device: names.join(","),
            lanes,
            onnxruntime: self.onnxruntime.clone(),
            max_minutes: self.max_minutes,
            platform: platform.describe(&kind),
            routes: platform.routes(&kind).into(),
            console: Arc::clone(&process.console),
            interrupt: process.interrupt.clone(),
            jobs: Jobs::default(),
            cache,
            state: Arc::default(),
            artefacts,
            link,
        };
        worker.run()
    }
}

impl WorkerArgs {
    fn cache_folder(&self) -> PathBuf {
        let standard = || cache_folder().unwrap_or_else(|| env::temp_dir().join("dc0")).join("fleet");
        self.cache.clone().unwrap_or_else(standard)
    }
}

impl Worker {
    fn run(self) -> Result<Exit, Failure> {
        self.observe_coordinators()?;
        self.send_heartbeats();
        let Self { name, lanes, platform, .. } = &self;
        let lanes_text = counted(*lanes as usize, "lane");
        let address = self.link.address();
        self.console.note(&format!("worker {name} at {address}: {lanes_text}; {platform}"));
        let queue = Mutex::new(Queue::new(&self.routes));
        thread::scope(|scope| {
            for _ in 0..self.lanes {
                scope.spawn(|| WorkerLane::new(&self, &queue).run());
            }
        });
        let failure = self.state.failure.lock().ignore_poison().clone();
        let done = counted(self.state.done.load(Ordering::Relaxed) as usize, "shard");
        if let Some(Failure { exit, message }) = failure {
            return Err(Failure::new(exit, format!("this worker stops after {done}: {message}")));
        }
        self.console.note(&format!("worker {} stops after {done}; what it had begun, others do", self.name));
        Ok(Exit::Interrupted)
    }

    /// Whether the lanes are to stop.
    fn is_stopping(&self) -> bool {
        self.interrupt.is_requested() || self.state.failure.lock().ignore_poison().is_some()
    }

    /// Notices the ends of steps, and whether a coordinator has put this worker aside.
    fn observe_coordinators(&self) -> Result<(), BrokerError> {
        let (client, own) = (self.link.client().clone(), aside(&self.name));
        let subscribed = async move {
            Ok::<_, async_nats::SubscribeError>((
                client.subscribe(ALL_ENDS).await?,
                client.subscribe(own).await?,
            ))
        };
        let (mut ends, mut asides) = self.link.wait("report the ends of steps", subscribed)?;
        let state = Arc::clone(&self.state);
        self.link.spawn(async move {
            while let Some(message) = ends.next().await {
                let Some(channel) = Channel::of_subject(&message.subject) else { continue };
                let running = state.running.lock().ignore_poison();
                for own in running.values().filter(|own| own.channel == channel) {
                    own.is_over.store(true, Ordering::Relaxed);
                }
            }
        });
        let state = Arc::clone(&self.state);
        self.link.spawn(async move {
            if let Some(message) = asides.next().await {
                let problem = format!(
                    "a coordinator has put it aside: {}; if its results were wrong with the same version of dc0, test this machine's memory",
                    String::from_utf8_lossy(&message.payload)
                );
                state.stop(Failure::new(Exit::Failed, problem));
            }
        });
        Ok(())
    }

    /// Says from now on that this worker is there.
    fn send_heartbeats(&self) {
        let (client, state, subject) =
            (self.link.client().clone(), Arc::clone(&self.state), heartbeat(&self.name));
        let (worker, platform, lanes) = (self.name.clone(), self.platform.clone(), self.lanes);
        let routes: Vec<String> = self.routes.iter().map(|route| route.digits().to_owned()).collect();
        self.link.spawn(async move {
            loop {
                let before = state.evaluations.load(Ordering::Relaxed);
                tokio::time::sleep(HEARTBEAT).await;
                let evaluations = state.evaluations.load(Ordering::Relaxed) - before;
                let message = Heartbeat {
                    worker: worker.clone(),
                    platform: platform.clone(),
                    routes: routes.clone(),
                    lanes,
                    tasks: state.running.lock().ignore_poison().keys().cloned().collect(),
                    done: state.done.load(Ordering::Relaxed),
                    failed: state.failed.load(Ordering::Relaxed),
                    evaluations_per_sec: evaluations as f64 / HEARTBEAT.as_secs_f64(),
                };
                let message = serde_json::to_vec(&message).expect("text and numbers");
                if let Err(cause) = client.publish(subject.clone(), message.into()).await {
                    log::debug!("no heartbeat: {cause}");
                }
            }
        });
    }
}
