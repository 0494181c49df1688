//! The shards of jobs that another process has described.

use std::path::Path;
use std::sync::Arc;

use dc0_backend::{BackendError, Choice, Evaluators};
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::params::ParamErrors;
use dc0_core::rng::Seed;
use dc0_core::selfplay::Shard;
use dc0_process::resources::available_memory;
use dc0_runs::{Meter, NetFigures};
use thiserror::Error;

use super::job::{Artefact, FORMAT, Job, Reply, Task};
use crate::error::StepError;

/// The largest multiple that batches are padded to; devices have 64.
const MOST_PADDING: u32 = 4096;

/// Why a job or a task is not done.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum JobError {
    #[error(
        "the job has format {found}, and this dc0 knows format {FORMAT}; use the same dc0 on all machines"
    )]
    Format { found: u32 },
    #[error(
        "the job is of kind {kind}, version {version}, which this dc0 does not do for others; use the same dc0 on all machines"
    )]
    Kind { kind: String, version: u32 },
    #[error("the job's {part} is wrong: {cause}")]
    Part { part: &'static str, cause: String },
    #[error(transparent)]
    Params(#[from] ParamErrors),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(
        "the job is for {expected}, and this is {found}; use the same libraries on all machines, or a mixed run"
    )]
    Libraries { expected: String, found: String },
    /// Its nets do not fit into the memory of this machine.
    #[error(
        "the job takes at least {needed} bytes of memory on {lanes} lanes, and {available} are available here; use fewer lanes"
    )]
    Memory { needed: u64, lanes: u32, available: u64 },
    #[error("{name} of the job, {bytes} bytes with blake3 {blake3}, cannot be had: {cause}")]
    Artefact { name: String, bytes: u64, blake3: String, cause: String },
    #[error(transparent)]
    Step(#[from] StepError),
}

impl JobError {
    /// A wrong part.
    pub(crate) fn part(part: &'static str, cause: &(impl ToString + ?Sized)) -> Self {
        Self::Part { part, cause: cause.to_string() }
    }
}

/// The files that jobs and tasks read.
pub trait Artefacts: Sync {
    /// The content of a file, whose size and digest are right.
    fn content(&self, artefact: &Artefact) -> Result<Vec<u8>, JobError>;
}

/// One thread that does shards.
pub struct Lane {
    /// What evaluates its nets.
    pub evaluators: Vec<Box<dyn Evaluator>>,
    /// What measures them.
    pub meter: Arc<Meter>,
}

/// A job's shards, as a kind of step does them.
pub trait RemoteShards: Send + Sync {
    /// The evaluators of one thread, which a meter measures.
    fn evaluators(
        &self,
        evaluators: &Evaluators,
        meter: &Arc<Meter>,
    ) -> Result<Vec<Box<dyn Evaluator>>, JobError>;

    /// Does a shard on a thread; `files` are those that the task names, in its order.
    fn shard(
        &self,
        lane: (&Evaluators, &mut Lane),
        shard: Shard,
        files: Vec<Vec<u8>>,
        observer: &dyn Observer,
    ) -> Result<Reply, JobError>;
}

/// A kind of step whose shards are done for other processes.
pub struct RemoteKind {
    /// The kind.
    pub kind: &'static str,
    /// Its version.
    pub version: u32,
    /// Checks a job and reads its files.
    pub prepare: Prepare,
}

/// Checks a job with this seed, and reads its files.
pub type Prepare = fn(&Job, Seed, &dyn Artefacts) -> Result<Box<dyn RemoteShards>, JobError>;

/// A checked job with its files, and what evaluates its nets.
pub struct PreparedJob {
    shards: Box<dyn RemoteShards>,
    evaluators: Evaluators,
}

/// What does the jobs of others.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// The devices that evaluate nets.
    pub device: &'a str,
    /// ONNX Runtime's library, if the user gives it.
    pub onnxruntime: Option<&'a Path>,
    /// Threads that do shards.
    pub lanes: u32,
}

impl PreparedJob {
    /// Checks a job, and reads what its shards have in common. `kinds` are those that may be done.
    pub fn new(
        job: &Job,
        host: Host<'_>,
        kinds: &[RemoteKind],
        artefacts: &dyn Artefacts,
    ) -> Result<Self, JobError> {
        if job.format != FORMAT {
            return Err(JobError::Format { found: job.format });
        }
        let is_it = |known: &&RemoteKind| known.kind == job.kind && known.version == job.version;
        let unknown = || JobError::Kind { kind: job.kind.clone(), version: job.version };
        let kind = kinds.iter().find(is_it).ok_or_else(unknown)?;
        let seed = job.seed().ok_or_else(|| JobError::part("step", "expected 64 hex digits"))?;
        let choice = choice(job, host.device)?;
        let evaluators = Evaluators::new(&choice, host.onnxruntime)?;
        let expected = &job.evaluation.libraries;
        if !expected.is_empty() {
            let found = evaluators.libraries().map_err(BackendError::from)?;
            if *expected != found {
                return Err(JobError::Libraries { expected: expected.clone(), found });
            }
        }
        check_memory(job, host.lanes)?;
        Ok(Self { shards: (kind.prepare)(job, seed, artefacts)?, evaluators })
    }

    /// One more thread for its shards.
    pub fn lane(&self) -> Result<Lane, JobError> {
        let meter = Arc::new(Meter::unrecorded("shards"));
        Ok(Lane { evaluators: self.shards.evaluators(&self.evaluators, &meter)?, meter })
    }

    /// Does a shard on a thread, and says what its nets did.
    pub fn shard(
        &self,
        lane: &mut Lane,
        task: &Task,
        artefacts: &dyn Artefacts,
        observer: &dyn Observer,
    ) -> Result<(Reply, NetFigures), JobError> {
        let files = task.files.iter().map(|file| artefacts.content(file)).collect::<Result<_, _>>()?;
        let reply = self.shards.shard((&self.evaluators, lane), task.shard(), files, observer)?;
        Ok((reply, lane.meter.take_nets()))
    }
}

/// What evaluates a job's nets here.
fn choice(job: &Job, device: &str) -> Result<Choice, JobError> {
    let evaluation = &job.evaluation;
    let backend = evaluation.backend().ok_or_else(|| JobError::part("backend", &evaluation.backend))?;
    let precision =
        evaluation.precision().ok_or_else(|| JobError::part("precision", &evaluation.precision))?;
    let pad_to = evaluation.pad_to;
    if !(1..=MOST_PADDING).contains(&pad_to) {
        return Err(JobError::part("pad_to", &format!("expected 1 to {MOST_PADDING}, found {pad_to}")));
    }
    Ok(Choice { backend, device: device.to_owned(), precision, pad_to })
}

/// An error if a job's weights, once and once for each lane, do not fit into memory; nothing is known of some systems.
fn check_memory(job: &Job, lanes: u32) -> Result<(), JobError> {
    let nets = job.players.iter().filter_map(|player| player.net.as_ref());
    let weights: u64 = nets.map(|net| net.weights.bytes).fold(0, u64::saturating_add);
    let needed = weights.saturating_mul(1 + u64::from(lanes));
    match available_memory() {
        Some(available) if needed > available => Err(JobError::Memory { needed, lanes, available }),
        _ => Ok(()),
    }
}
