//! The steps of a run: what a call reads, does, and writes. Each step resumes from what a killed process left behind.
//!
//! [`step::Step`] defines a kind of step, and [`kinds`] has them all. [`Runner`] does what scripts ask for; [`check::Planner`] only
//! plans it.

mod assumed_tables;
mod assumption;
mod beside;
pub mod check;
mod context;
mod datasets;
mod error;
mod estimate;
pub mod executor;
mod files;
pub mod handles;
pub mod host;
mod inspection;
pub mod kinds;
mod lines;
mod memory;
mod metered;
mod open;
mod past_events;
mod past_networks;
pub mod progress;
mod runner;
mod runner_host;
mod shards;
pub mod speeds;
pub mod step;
mod summary;
mod sweep;
pub mod table;
pub mod trace;
pub mod usage;
pub mod window;

pub use assumed_tables::AssumedTables;
pub use assumption::Assumption;
pub use context::StepContext;
pub use error::{FleetError, StepError};
pub use estimate::{Estimate, Work};
pub use inspection::inspection_value;
pub use memory::{Machine, Memory, TooLittleMemory};
pub use past_networks::PastNetworks;
pub use runner::{RunOptions, Runner};
pub use summary::Summary;
