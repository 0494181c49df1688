//! The coordinator's side: a run whose shards are done by workers.

mod checks;
mod recheck;
mod setup;
mod standing;
mod step;
mod workers;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use clap::ValueEnum;
use dc0_core::poison::IgnorePoison as _;
use dc0_process::console::Console;
use dc0_steps::StepError;
use dc0_steps::executor::{Fleet, Order};
use futures_util::StreamExt as _;

use crate::address::{Address, BrokerArgs};
use crate::error::BrokerError;
use crate::link::Link;
use crate::message::TaskMessage;
use crate::names::{Channel, EXHAUSTED, TASKS};
use crate::objects::Artefacts;
use crate::platform::{Platform, host};
use recheck::Sample;
pub(crate) use workers::Workers;

/// Which workers may do the shards of floating-point nets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WorkerKinds {
    /// Those of the same program, libraries, processor and device: the same bytes as on one machine.
    #[default]
    Same,
    /// All of the same version of dc0: their nets may round differently, and the tables say so.
    Mixed,
}

/// What a coordinator wants of its workers.
#[derive(Debug, Clone, Copy)]
pub struct FleetOptions<'a> {
    /// Which workers may take part.
    pub kinds: WorkerKinds,
    /// The share of the shards that is done again here.
    pub recheck: f64,
    /// Threads that do them.
    pub recheck_lanes: u32,
    /// A place beside the broker for files.
    pub artefacts: Option<&'a str>,
}

/// Tasks with their channels.
type Exhausted = Mutex<Vec<(Channel, TaskMessage)>>;

/// Workers behind a NATS broker.
pub struct NatsFleet {
    link: Link,
    /// Where files are.
    artefacts: Artefacts,
    kinds: WorkerKinds,
    platform: Platform,
    /// The name of this machine.
    host: String,
    /// Distinguishes the messages of this process from those of earlier ones.
    session: String,
    console: Arc<Console>,
    workers: Arc<Workers>,
    /// Tasks that the broker delivers no more.
    exhausted: Arc<Exhausted>,
    /// The shards that are done again here.
    sample: Sample,
    /// Workers that are put aside, and why.
    aside: Mutex<BTreeMap<String, String>>,
}

impl std::fmt::Debug for NatsFleet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "NatsFleet({}, {:?})", self.link.address(), self.kinds)
    }
}

impl NatsFleet {
    /// Connects to a broker.
    pub fn connect(
        url: &str,
        args: &BrokerArgs,
        options: FleetOptions<'_>,
        console: &Arc<Console>,
    ) -> Result<Self, BrokerError> {
        let host = host();
        let FleetOptions { kinds, recheck, recheck_lanes, artefacts } = options;
        let artefacts = Artefacts::open(artefacts)?;
        let link = Link::connect(Address::new(url, args)?, &format!("dc0 coordinator on {host}"))?;
        setup::check_jetstream(&link)?;
        let workers = Workers::observe(&link)?;
        let exhausted = observe_exhausted(&link)?;
        let session = link.client().new_inbox().rsplit('.').next().unwrap_or_default().to_owned();
        Ok(Self {
            link,
            artefacts,
            kinds,
            platform: Platform::here(),
            host,
            session,
            console: Arc::clone(console),
            workers,
            exhausted,
            sample: Sample::new(recheck, recheck_lanes),
            aside: Mutex::default(),
        })
    }

    /// Takes the tasks of a channel that the broker delivers no more.
    fn take_exhausted(&self, channel: &Channel) -> Vec<TaskMessage> {
        let mut all = self.exhausted.lock().ignore_poison();
        let (own, others) = all.drain(..).partition(|(of, _)| of == channel);
        *all = others;
        let own: Vec<(Channel, TaskMessage)> = own;
        own.into_iter().map(|(_, task)| task).collect()
    }
}

impl Fleet for NatsFleet {
    fn run(&self, order: &Order<'_>) -> Result<(), StepError> {
        step::Step::new(self, order).run()
    }

    fn is_mixed(&self) -> bool {
        self.kinds == WorkerKinds::Mixed
    }
}

/// Collects the tasks that were delivered too often. What is missed while the connection is down is handed out again by the rule for
/// lost tasks.
fn observe_exhausted(link: &Link) -> Result<Arc<Exhausted>, BrokerError> {
    let client = link.client().clone();
    let mut advisories =
        link.wait("report exhausted tasks", async move { client.subscribe(EXHAUSTED).await })?;
    let exhausted = Arc::new(Mutex::new(Vec::new()));
    let (shared, jetstream) = (Arc::clone(&exhausted), link.jetstream().clone());
    link.spawn(async move {
        while let Some(advisory) = advisories.next().await {
            let sequence = serde_json::from_slice::<serde_json::Value>(&advisory.payload)
                .ok()
                .and_then(|advisory| advisory["stream_seq"].as_u64());
            let (Some(sequence), Ok(stream)) = (sequence, jetstream.get_stream(TASKS).await) else {
                continue;
            };
            // It is gone if its result has come in the meantime.
            let Ok(message) = stream.get_raw_message(sequence).await else { continue };
            let task = TaskMessage::parse(&message.payload);
            if let Some(found) = Channel::of_subject(&message.subject).zip(task) {
                shared.lock().ignore_poison().push(found);
            }
        }
    });
    Ok(exhausted)
}
