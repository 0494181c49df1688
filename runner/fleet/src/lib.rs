//! Shards on several machines: a run's coordinator hands tasks to a NATS broker, and workers elsewhere do them.
//!
//! The broker carries tasks and results, and its object store nets and large results. It is never trusted with anything that cannot be
//! made again: the coordinator counts results by their shards, keeps them in the run's folder, and hands out again what is missing.
//! docs/guides/several-machines.md says what users see.

mod address;
mod bucket;
mod certificates;
mod coordinator;
mod error;
mod link;
mod message;
mod names;
mod objects;
pub mod pacing;
mod panic;
mod platform;
mod secret;
mod status;
mod worker;

pub use address::{BrokerArgs, redacted};
pub use coordinator::{FleetOptions, NatsFleet, WorkerKinds};
pub use error::BrokerError;
pub use status::FleetArgs;
pub use worker::WorkerArgs;
