//! Durable runs: a folder, and steps that are done once.
//!
//! A step's [`Identity`] is the digest of everything that decides its result. A finished step has a manifest, written last
//! and atomically. Reopening a run skips its finished steps, resumes the unfinished one, and never deletes anything.

mod chain;
mod costs;
pub mod declared;
pub mod differences;
mod document;
mod error;
pub mod evalfile;
mod figures;
mod files;
mod folder;
mod fork;
mod generations;
mod history;
mod identity;
pub mod integrity;
mod journal;
mod kind;
mod ledger;
mod lock;
mod locks;
mod manifest;
mod meter;
pub mod net;
pub mod overrides;
mod prefix;
mod record;
mod reuse_sources;
mod run;
mod salvage;
mod script_snapshot;
mod slot;
pub mod sources;
mod step_store;
pub mod sweep;
pub mod view;
mod workers;
mod workspace;

pub use error::{Remedy, RunError};
pub use figures::{Figures, NetFigures};
pub use folder::{Folder, FolderKind};
pub use fork::{ForkRecord, ForkStep};
pub use generations::{Generation, Generations};
pub use history::{History, JournalEntry, JournalEvent, Progress, RecordedManifests, StartedStep};
pub use identity::{Identity, Input, Occurrences, StepCall};
pub use journal::Journal;
pub use kind::{SourceFormat, StepContent, StepKind};
pub use ledger::{Cost, Ledger};
pub use lock::Lock;
pub use locks::{Locks, Worker};
pub use manifest::{Manifest, Product};
pub use meter::Meter;
pub use prefix::Prefix;
pub use record::{Backend, Environment, FORMAT_VERSION, Record, RecordHead, ScriptRecord, device_kind};
pub use reuse_sources::ReuseSources;
pub use run::{Begun, Finished, ForkSource, Opening, Requested, Run};
pub use salvage::{Damage, Salvage};
pub use script_snapshot::ScriptSnapshot;
pub use slot::{Numbers, Series, Slot};
pub use step_store::{PreparedSlot, StepStore};
pub use view::RunView;
pub use workers::{WorkerShare, WorkerShares};
pub use workspace::{PartialProgress, ShardNote, StepWorkspace, shard_notes};

#[cfg(test)]
mod tests;
