//! A net that plays: the engine for chess programs, a game in the terminal, and positions explained.

pub mod explain;
mod net_args;
pub mod play;
pub mod uci;
