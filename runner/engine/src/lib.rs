//! A net that plays: the engine for chess programs, a game in the terminal, and positions explained.

pub mod analysis;
pub mod explain;
mod hash_cache;
mod lines;
mod net_args;
pub mod play;
pub mod score;
pub mod uci;
mod variation;
