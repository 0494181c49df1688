//! The coordinator's side: a run whose shards are done by workers.

mod checks;
mod contributions;
mod exhausted;
mod recheck;
mod setup;
mod shards;
mod step;
mod workers;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use clap::ValueEnum;
use dc0_process::console::Console;
use dc0_steps::StepError;
use dc0_steps::executor::{Fleet, Order};

use crate::address::{Address, BrokerArgs};
use crate::error::BrokerError;
use crate::link::Link;
use crate::objects::Artefacts;
use crate::platform::{Platform, host};
use exhausted::Exhausted;
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
        let workers = Workers::observe(&link)?;
        let exhausted = Exhausted::observe(&link)?;
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
}

impl Fleet for NatsFleet {
    fn run(&self, order: &Order<'_>) -> Result<(), StepError> {
        step::Step::new(self, order).run()
    }

    fn is_mixed(&self) -> bool {
        self.kinds == WorkerKinds::Mixed
    }
}
