//! Sweeps: many runs of one script at points of a space, chosen, watched and compared.
//!
//! Everything here is plain data and pure functions of it, but for [`folder`], which keeps the journal. What a sweep does next
//! follows from its journal alone ([`schedule`]), so it goes on after a kill as if nothing had been.

pub mod board;
pub mod devices;
pub mod events;
pub mod folder;
pub mod importance;
pub mod opening;
pub mod optuna;
pub mod params;
pub mod pruner;
pub mod sampler;
pub mod schedule;
pub mod space;
pub mod table;
pub mod tensorboard;
pub mod told;
pub mod trials;
