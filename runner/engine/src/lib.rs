//! A net that plays: the engine for chess programs, a game in the terminal, and positions explained.

pub mod explain;
pub mod play;
pub mod uci;
