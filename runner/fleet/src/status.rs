//! `dc0-run fleet`: who works behind a broker, and what waits there.

use std::thread;

use clap::Args;
use dc0_core::text_table::{Align, aligned};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::format::{amount, counted};
use futures_util::StreamExt as _;
use log::LevelFilter;

use crate::address::{Address, BrokerArgs};
use crate::coordinator::Workers;
use crate::error::BrokerError;
use crate::link::{Cause, Link, stream_if_any};
use crate::names::{HEARTBEAT, RESULTS, TASKS};

/// The broker to look at.
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// The broker: `nats://HOST:4222`, or `tls://HOST:4222`.
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    broker: BrokerArgs,
}

impl Command for FleetArgs {
    const NAME: &'static str = "fleet";
    const ABOUT: &'static str = "Show the workers behind a NATS broker, and the queued tasks and results";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.start(LevelFilter::Warn)?;
        let link = Link::connect(Address::new(&self.url, &self.broker)?, "dc0 fleet")?;
        let workers = Workers::observe(&link)?;
        // Each worker is heard of at least once.
        thread::sleep(2 * HEARTBEAT);
        let present = workers.present();
        let mut rows = vec![
            ["worker", "lanes", "busy", "done", "failed", "evaluations/s", "last seen", "platform"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (worker, age) in &present {
            rows.push(vec![
                worker.worker.clone(),
                worker.lanes.to_string(),
                worker.tasks.len().to_string(),
                worker.done.to_string(),
                worker.failed.to_string(),
                amount(worker.evaluations_per_sec),
                format!("{age:.0} s ago"),
                worker.platform.clone(),
            ]);
        }
        let (queue, results) = (queue(&link)?, waiting(&link, RESULTS)?);
        program.console.result(&format!(
            "{} at {}; {} wait, {} are worked on, {} of them not for the first time; {} wait for their runs",
            counted(present.len(), "worker"),
            link.address(),
            counted(queue.waiting as usize, "task"),
            queue.under_way,
            queue.repeated,
            counted(results as usize, "result")
        ));
        if !present.is_empty() {
            let align = |column| if (1..=5).contains(&column) { Align::Right } else { Align::Left };
            program.console.result(&aligned(&rows, align).join("\n"));
        }
        Ok(Exit::Done)
    }
}

/// Tasks at the broker, of all routes.
#[derive(Debug, Clone, Copy, Default)]
struct Depth {
    waiting: u64,
    under_way: u64,
    /// Those of them that have been handed out before.
    repeated: u64,
}

/// How many tasks wait for workers, and are worked on; none if no run has made the stream yet.
fn queue(link: &Link) -> Result<Depth, BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait("report its tasks", async move {
        let mut depth = Depth::default();
        let Some(stream) = stream_if_any(&jetstream, TASKS).await? else { return Ok(depth) };
        let mut consumers = stream.consumers();
        while let Some(consumer) = consumers.next().await {
            let consumer = consumer.map_err(Cause::of)?;
            depth.waiting += consumer.num_pending;
            depth.under_way += consumer.num_ack_pending as u64;
            depth.repeated += consumer.num_redelivered as u64;
        }
        Ok::<_, Cause>(depth)
    })
}

/// Messages of a stream; none if no run has made it yet.
fn waiting(link: &Link, stream: &'static str) -> Result<u64, BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait("report its streams", async move {
        let Some(stream) = stream_if_any(&jetstream, stream).await? else { return Ok(0) };
        stream.get_info().await.map(|info| info.state.messages).map_err(Cause::of)
    })
}
