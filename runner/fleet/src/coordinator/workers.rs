//! The workers that say that they are there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;
use dc0_process::clock::Stopwatch;
use futures_util::StreamExt as _;

use crate::error::BrokerError;
use crate::link::Link;
use crate::message::Heartbeat;
use crate::names::{ALL_WORKERS, GONE, Route};

/// Workers that are listed; more are ignored, so that a flood of messages takes no memory.
const MOST: usize = 100_000;

/// The latest heartbeat of each worker.
#[derive(Debug, Default)]
pub(crate) struct Workers(Mutex<BTreeMap<String, (Heartbeat, Stopwatch)>>);

impl Workers {
    /// Collects heartbeats from now on.
    pub(crate) fn observe(link: &Link) -> Result<Arc<Self>, BrokerError> {
        let client = link.client().clone();
        let mut heartbeats =
            link.wait("report workers", async move { client.subscribe(ALL_WORKERS).await })?;
        let workers = Arc::new(Self::default());
        let shared = Arc::clone(&workers);
        link.spawn(async move {
            while let Some(message) = heartbeats.next().await {
                match serde_json::from_slice::<Heartbeat>(&message.payload) {
                    Ok(heartbeat) => shared.add(heartbeat),
                    Err(cause) => log::debug!("a malformed heartbeat: {cause}"),
                }
            }
        });
        Ok(workers)
    }

    fn add(&self, heartbeat: Heartbeat) {
        let mut all = self.0.lock().ignore_poison();
        if all.len() < MOST || all.contains_key(&heartbeat.worker) {
            all.insert(heartbeat.worker.clone(), (heartbeat, Stopwatch::start()));
        }
    }

    /// Whether a worker does the tasks of a route.
    pub(super) fn does(&self, worker: &str, route: &Route) -> bool {
        let all = self.0.lock().ignore_poison();
        all.get(worker).is_some_and(|(heartbeat, _)| heartbeat.routes.iter().any(|own| own == route.digits()))
    }

    /// What a worker says of its machine; `None` before its first heartbeat.
    pub(super) fn platform(&self, worker: &str) -> Option<String> {
        let all = self.0.lock().ignore_poison();
        all.get(worker).map(|(heartbeat, _)| heartbeat.platform.clone())
    }

    /// The workers that are there at the moment, with the seconds since their last heartbeat.
    pub(crate) fn present(&self) -> Vec<(Heartbeat, f64)> {
        let mut all = self.0.lock().ignore_poison();
        all.retain(|_, (_, seen)| seen.elapsed() < GONE);
        all.values().map(|(heartbeat, seen)| (heartbeat.clone(), seen.elapsed().as_secs_f64())).collect()
    }
}
