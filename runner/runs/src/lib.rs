//! Durable runs: a folder, and steps that are done once.
//!
//! A step's [`Identity`] is the digest of everything that decides its result. A finished step has a manifest, written last
//! and atomically. Reopening a run skips its finished steps, resumes the unfinished one, and never deletes anything.

mod costs;
pub mod declared;
mod document;
mod donors;
mod edition;
mod error;
mod files;
mod folder;
mod fork;
mod generations;
mod history;
mod identity;
mod journal;
mod ledger;
mod lock;
mod locks;
mod manifest;
mod meter;
pub mod net;
pub mod overrides;
mod prefix;
mod record;
mod run;
mod shelf;
mod slot;
pub mod sources;
pub mod sweep;
pub mod view;
mod work;

pub use donors::Donors;
pub use edition::Edition;
pub use error::RunError;
pub use folder::{Folder, FolderKind};
pub use fork::{ForkRecord, ForkStep};
pub use generations::{Generation, Generations};
pub use history::{BegunStep, History, JournalEntry, JournalEvent, Progress};
pub use identity::{Identity, Input, Occurrences, StepCall};
pub use journal::Journal;
pub use ledger::{Cost, Figures, Ledger};
pub use lock::Lock;
pub use locks::{Locks, Worker};
pub use manifest::{Manifest, Product};
pub use meter::Meter;
pub use prefix::Prefix;
pub use record::{Backend, Environment, FORMAT_VERSION, Record, RecordHead, ScriptRecord, device_kind};
pub use run::{Finished, Opening, Run};
pub use shelf::{Settled, Shelf};
pub use slot::{Numbers, Series, Slot};
pub use view::RunView;
pub use work::{Begun, ShardNote, Workplace, shard_notes};

#[cfg(test)]
mod tests;
