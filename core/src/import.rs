//! Games from outside: PGN files become games, positions and headers as self-play and the store have them.
//!
//! Files are read as a stream, decompressed if they are, and cut into chunks of whole games. Lanes parse chunks in parallel, and
//! the results are put together in the order of the files, so the rows do not depend on the number of lanes. A shard is a run of
//! chunks; it ends with a [`Resume`], from which an import goes on after a kill.

mod assembler;
mod check;
mod chunks;
mod lanes;
mod params;
mod parse;
mod source;
mod stats;
mod value;

pub use assembler::{ImportShard, Resume, ShardPart};
pub use check::imported_fault;
pub use chunks::Point;
pub use lanes::{ImportError, ImportJob, KeepImport, import};
pub use params::{EvalFormula, ImportParams};
pub use source::{Source, SourceError};
pub use stats::ImportStats;
pub use value::value_of;

#[cfg(test)]
mod tests;
