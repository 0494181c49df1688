//! Games from outside: files become games, positions and headers as self-play and the store have them.
//!
//! Files are read as a stream, decompressed if they are, and cut into chunks of whole games. Lanes parse chunks in parallel, and
//! the results are put together in the order of the files, so the rows do not depend on the number of lanes. A shard is a run of
//! chunks; it ends with a [`Resume`], from which an import goes on after a kill. All of that is the same for every [`GameFormat`];
//! a format has a folder of its own.

mod assembler;
mod chunks;
mod content;
mod format;
mod lanes;
mod lc0;
mod pgn;
mod source;
mod stats;

pub use assembler::{ImportShard, Resume, ShardPart};
pub use content::{Content, SourceError};
pub use format::{Chunk, Cut, GameFormat, Imported, Parsed, Point};
pub use lanes::{ImportError, ImportJob, KeepImport, import};
pub use lc0::{Lc0Params, Lc0Value};
pub use pgn::{EvalFormula, PgnParams, value_of};
pub use source::Source;
pub use stats::ImportStats;

#[cfg(test)]
mod tests;
