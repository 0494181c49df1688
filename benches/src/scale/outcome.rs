//! What a simulation has found, as a line of the table.

use super::options::Options;
use super::server::Server;
use super::simulation::{Ending, Simulation};

/// What a simulation has found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) workers: usize,
    /// Seconds of the whole run.
    pub(super) secs: f64,
    /// Shards counted.
    pub(super) shards: u64,
    pub(super) positions: f64,
    /// The share of all lanes' time in shards that count.
    pub(super) busy: f64,
    /// The share of what lanes did that does not count.
    pub(super) wasted: f64,
    /// The share of the shards that were done again by a coordinator.
    pub(super) rechecked: f64,
    /// Broker messages and megabytes a second.
    pub(super) messages: f64,
    pub(super) megabytes: f64,
    /// Gigabytes of nets that workers fetched.
    pub(super) net_gb: f64,
    /// How many updates the net of a game is behind the middle of its first training.
    pub(super) behind: f64,
    /// The price of a million positions.
    pub(super) price: f64,
    /// The resources with their loads, the fullest first.
    pub(super) loads: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// The names of the columns.
    pub(super) const HEADER: [&'static str; 13] = [
        "workers",
        "hours",
        "shards/s",
        "lanes busy",
        "wasted",
        "done again",
        "messages/s",
        "MB/s",
        "nets GB",
        "coordinator",
        "updates behind",
        "price/M",
        "fullest",
    ];

    /// What a simulation that has ended has found.
    pub(super) fn of(simulation: Simulation<'_>) -> Self {
        let Simulation {
            options, workers, learners, broker, now: secs, useful_secs, lane_secs, ending, ..
        } = simulation;
        let shards: u64 = learners.iter().map(|learner| learner.all_counted).sum();
        let positions = shards as f64 * options.positions_per_shard();
        let lanes = workers.len() as f64 * f64::from(options.worker.lanes);
        let rechecked: u64 = learners.iter().map(|learner| learner.rechecked).sum();
        let behind = learners.iter().fold((0.0, 0), |sum, one| (sum.0 + one.behind.0, sum.1 + one.behind.1));
        let most = |server: fn(&super::learner::Learner) -> Server| {
            learners.iter().map(|learner| server(learner).load(secs)).fold(0.0, f64::max)
        };
        let mut loads = vec![
            ("workers", useful_secs / (lanes * secs)),
            ("training", most(|learner| learner.training)),
            ("coordinator's rounds", most(|learner| learner.rounds)),
            ("coordinator's cores", most(|learner| learner.cores)),
            ("coordinator's connection", most(|learner| learner.connection)),
            ("coordinator's link", most(|learner| learner.link)),
            ("broker's stream of tasks", broker.tasks.load(secs)),
            ("broker's stream of results", broker.results.load(secs)),
            ("broker's cores", broker.cores.load(secs)),
            ("broker's link", broker.incoming.load(secs).max(broker.outgoing.load(secs))),
            ("broker's objects", broker.objects.load(secs)),
            ("bucket", broker.bucket_in.load(secs).max(broker.bucket_out.load(secs))),
        ];
        loads.sort_by(|one, other| other.1.total_cmp(&one.1));
        Self {
            ending: ending.expect("it has ended"),
            workers: workers.len(),
            secs,
            shards,
            positions,
            busy: useful_secs / (lanes * secs),
            wasted: 1.0 - (useful_secs / lane_secs.max(1e-9)).min(1.0),
            rechecked: rechecked as f64 / shards.max(1) as f64,
            messages: broker.messages / secs,
            megabytes: broker.bytes / 1e6 / secs,
            net_gb: broker.net_bytes / 1e9,
            behind: f64::from(options.coordinator.updates) * behind.0 / behind.1.max(1) as f64,
            price: price(options, lanes, secs, broker.egress) / positions.max(1.0) * 1e6,
            loads,
        }
    }

    /// The load of a resource.
    pub(super) fn load(&self, name: &str) -> f64 {
        self.loads.iter().find(|(own, _)| *own == name).expect("one of the resources").1
    }

    /// The line of the table.
    pub(super) fn row(&self) -> [String; 13] {
        let (name, load) = self.loads[0];
        let coordinator = self.load("coordinator's rounds");
        let fullest = match self.ending {
            Ending::Done => format!("{name} {}", percent(load)),
            Ending::Exhausted => "the run ends: a task was lost four times".to_owned(),
            Ending::TooLong => format!("the run does not end; {name} {}", percent(load)),
        };
        [
            self.workers.to_string(),
            format!("{:.2}", self.secs / 3600.0),
            figure(self.shards as f64 / self.secs),
            percent(self.busy),
            format!("{:.1} %", 100.0 * self.wasted),
            format!("{:.2} %", 100.0 * self.rechecked),
            figure(self.messages),
            figure(self.megabytes),
            figure(self.net_gb),
            percent(coordinator),
            format!("{:.0}", self.behind),
            format!("{:.3}", self.price),
            fullest,
        ]
    }
}

/// The price of a run on so many lanes.
fn price(options: &Options, lanes: f64, secs: f64, egress: f64) -> f64 {
    let (prices, coordinator) = (&options.prices, &options.coordinator);
    let learners = f64::from(coordinator.learners);
    let cores = lanes + learners * coordinator.coordinator_cores + options.broker.broker_cores;
    let hourly = cores * prices.core_hour + learners * prices.gpu_hour;
    hourly * secs / 3600.0 + egress / 1e9 * prices.egress_gb
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A number with about three digits.
fn figure(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}
