//! The compiled core of dc0: AlphaZero-style chess research, from the rules to the strength of a net.
//!
//! The stages form a pipeline, and a module may use only those to its left:
//!
//! ```text
//! board → encoding → network → search → selfplay → store → trainer → arena
//! ```
//!
//! [`params`], [`rng`], [`event`] and [`durable`] are leaves that every stage may use. Randomness and time are arguments; the core
//! never prints, and reports progress to an [`event::Observer`]. `docs/ARCHITECTURE.md` has the map and the invariants.

pub mod arena;
pub mod board;
pub mod durable;
pub mod encoding;
pub mod event;
pub mod network;
pub mod params;
pub mod rng;
pub mod search;
pub mod selfplay;
pub mod store;
pub mod trainer;
