//! Where the shards of a step are done: by the lanes of this process, or by other processes that get each shard as a description.
//!
//! [`ShardWork`] and [`RemoteWork`] are a step's side. A [`Job`] has what its shards have in common, a [`Task`] adds the shard, and a
//! [`Reply`] is the shard's tables. [`Fleet`] brings tasks to other processes, which prepare a job with [`PreparedJob`].

pub(crate) mod checks;
mod job;
mod prepared;

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use dc0_core::event::Observer;
use dc0_core::selfplay::Shard;
use dc0_core::store::FileEntry;
use dc0_runs::{NetFigures, StepWorkspace, WorkerShare, WorkerShares};
use serde::{Deserialize, Serialize};

use crate::error::StepError;

pub use job::{
    Artefact, Described, Evaluation, FORMAT, Job, JobPlayer, NetArtefacts, Reply, ReplyTable, Sources, Task,
};
pub(crate) use job::{shard_provenance, step_provenance};
pub use prepared::{Artefacts, Host, JobError, Lane, Prepare, PreparedJob, RemoteKind, RemoteShards};

/// Receives a shard that is done, and says whether the step goes on; called from several threads.
pub(crate) type Keep<'a, F> = dyn Fn(Shard, F) -> Result<ControlFlow<()>, StepError> + Sync + 'a;

/// The shards of a step.
pub(crate) trait ShardWork: Sync {
    /// What doing a shard gives.
    type Found;

    /// Does shards in this process, on a number of lanes.
    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, Self::Found>,
        observer: &dyn Observer,
    ) -> Result<(), StepError>;

    /// The workspace of the step.
    fn workspace(&self) -> &StepWorkspace;

    /// How other processes do them, or why only this one can.
    fn remote(&self) -> Result<&dyn RemoteWork<Found = Self::Found>, &'static str>;

    /// Writes the tables of a shard.
    fn store(&self, shard: Shard, found: &Self::Found) -> Result<Vec<FileEntry>, StepError>;

    /// Records a shard whose tables are written, and says whether the step goes on.
    fn finish(
        &self,
        shard: Shard,
        found: Self::Found,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError>;

    /// Takes a recorded shard back, which is then done again.
    fn discard(&self, shard: Shard) -> Result<(), StepError> {
        Ok(self.workspace().discard_shard(shard.index)?)
    }
}

/// The shards of a step as other processes do them.
pub(crate) trait RemoteWork: Sync {
    /// What doing a shard gives.
    type Found;

    /// What the shards have in common.
    fn job(&self) -> Result<Described<Job>, StepError>;

    /// A shard. It reads no files of its own, unless a kind names some.
    fn task(&self, shard: Shard) -> Result<Described<Task>, StepError> {
        Ok(Described { of: Task::of(shard), sources: Sources::new() })
    }

    /// Reads and checks what another process sent back.
    fn read(&self, shard: Shard, reply: Reply) -> Result<Self::Found, Unaccepted>;

    /// The tables of a shard as another process sends them.
    fn tables(&self, shard: Shard, found: &Self::Found) -> Result<Vec<ReplyTable>, StepError>;

    /// Reports the work behind a shard that another process has done.
    fn report(&self, found: &Self::Found, observer: &dyn Observer);
}

/// Why a reply does not count.
#[derive(Debug)]
pub enum Unaccepted {
    /// It is wrong, and so is the process that sent it.
    Refused(String),
    /// This process failed with it.
    Failed(StepError),
}

/// Checks and stores a reply.
pub type Accept<'a> = dyn Fn(Shard, Reply) -> Result<ControlFlow<()>, Unaccepted> + Sync + 'a;

/// Does a shard, and gives the digests of its tables.
pub type Recompute<'a> = dyn Fn(Shard, &dyn Observer) -> Result<Vec<String>, StepError> + Sync + 'a;

/// A step's shards that other processes are to do.
pub struct Order<'a> {
    /// The folder of the run.
    pub folder: &'a Path,
    /// What they have in common.
    pub job: &'a Described<Job>,
    /// The shards that are left to do, in the order of their numbers.
    pub shards: &'a [Shard],
    /// The task of a shard.
    pub task: &'a (dyn Fn(Shard) -> Result<Described<Task>, StepError> + Sync),
    /// Checks and stores a reply, and says whether the step goes on; called from several threads.
    pub accept: &'a Accept<'a>,
    /// Does a shard in this process, and gives the digests of its tables.
    pub recompute: &'a Recompute<'a>,
    /// Takes back a shard that was accepted.
    pub discard: &'a (dyn Fn(Shard) -> Result<(), StepError> + Sync),
    /// Whether the user wants to stop.
    pub observer: &'a dyn Observer,
    /// Shows how the shards stand, and who does them; called from time to time, and at the end.
    pub status: &'a (dyn Fn(FleetStatus) + Sync),
}

/// How the shards of a step stand, and who does them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FleetStatus {
    /// Shards that are not handed out yet.
    pub waiting: u64,
    /// Shards that are handed out, and not done.
    pub issued: u64,
    /// Shards that are done, by this process's count.
    pub done: u64,
    /// Workers that do the step's shards, or have done some.
    pub workers: Vec<WorkerStatus>,
}

/// A worker, as a step's process knows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its name.
    pub worker: String,
    /// What it is: program, libraries, processor, device.
    pub platform: String,
    /// Shards at a time.
    pub lanes: u32,
    /// Shards that it does at the moment, of any run.
    pub busy: u64,
    /// Shards of any run in which it has failed.
    pub failed: u64,
    /// Evaluations of the last seconds, per second.
    pub evaluations_per_sec: f64,
    /// Seconds since its last sign of life; `None` if it is gone.
    pub last_seen_secs: Option<f64>,
    /// Shards of this step that it has done.
    pub shards: u64,
    /// Seconds that these took it.
    pub secs: f64,
    /// What its nets did for these.
    pub nets: NetFigures,
    /// Why it is put aside, if it is.
    pub aside: Option<String>,
}

impl FleetStatus {
    /// What each worker has done.
    pub(crate) fn shares(&self) -> WorkerShares {
        let share = |worker: &WorkerStatus| {
            let WorkerStatus { platform, shards, secs, nets, .. } = worker.clone();
            (worker.worker.clone(), WorkerShare { platform, shards, secs, nets: Some(nets) })
        };
        self.workers.iter().filter(|worker| worker.shards > 0).map(share).collect()
    }
}

/// Other processes that do shards.
pub trait Fleet: fmt::Debug + Send + Sync {
    /// Has all shards of an order done, unless `accept` ends it before.
    fn run(&self, order: &Order<'_>) -> Result<(), StepError>;

    /// Whether processes take part that may round differently. Tables say so.
    fn is_mixed(&self) -> bool;
}
