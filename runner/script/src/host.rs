//! What scripts can call: the functions and how they are called.

mod api;
mod dimensions;
mod forks;
mod networks;
mod outside;
mod owners;
mod session;
mod steps;
mod sweeps;
mod tables;
mod usages;
mod words;

pub use api::{fields_of, register};
pub use outside::LoadedNetwork;
pub use session::Session;
pub use sweeps::OWN_NAMES as TRIAL_NAMES;
pub use usages::usages;
