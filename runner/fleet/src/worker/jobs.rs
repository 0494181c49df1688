//! The jobs whose shards this worker does at the moment, each read and checked once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;
use dc0_steps::executor::{Artefact, Host, Job, JobError, PreparedJob};
use dc0_steps::kinds::REMOTE_KINDS;

use super::Worker;
use super::cache::is_digest;
use crate::message::{LARGEST, LARGEST_JOB};
use crate::names::Channel;
use crate::objects::{self, Artefacts};

/// Jobs that are kept: those of a few runs at the same time.
const KEPT: usize = 4;

/// The latest jobs, by their digests.
#[derive(Default)]
pub(super) struct Jobs(Mutex<VecDeque<(String, Arc<PreparedJob>)>>);

/// The files of a channel.
pub(super) struct Files<'a> {
    pub(super) worker: &'a Worker,
    pub(super) channel: &'a Channel,
    /// Where they are.
    pub(super) artefacts: Artefacts,
}

impl<'a> Files<'a> {
    /// The files of a task, which says where they are if not at the broker; an error if the user has not named that place.
    pub(super) fn of(
        worker: &'a Worker,
        channel: &'a Channel,
        location: Option<&str>,
    ) -> Result<Self, String> {
        let artefacts = match (location, worker.artefacts.shown()) {
            (None, _) => Artefacts::default(),
            (Some(_), Some(_)) => worker.artefacts.clone(),
            (Some(location), None) => {
                return Err(format!(
                    "the run's files are in {location}; start this worker with --artefacts {location}"
                ));
            }
        };
        Ok(Self { worker, channel, artefacts })
    }
}

impl dc0_steps::executor::Artefacts for Files<'_> {
    fn content(&self, artefact: &Artefact) -> Result<Vec<u8>, JobError> {
        let Artefact { name, bytes, blake3 } = artefact;
        let failed = |cause: String| JobError::Artefact {
            name: name.clone(),
            bytes: *bytes,
            blake3: blake3.clone(),
            cause,
        };
        if !is_digest(blake3) || *bytes > LARGEST {
            return Err(failed(format!("expected 64 hex digits and at most {LARGEST} bytes")));
        }
        let content = if let Some(content) = self.worker.cache.get(blake3) {
            content
        } else {
            let object = self.channel.object(blake3);
            let content = self.artefacts.get(&self.worker.link, object, blake3, *bytes);
            let content = content.map_err(|error| failed(error.to_string()))?;
            self.worker.cache.put(blake3, &content);
            content
        };
        if content.len() as u64 == *bytes {
            return Ok(content);
        }
        Err(failed(format!("it has {} bytes", content.len())))
    }
}

impl Jobs {
    /// A job of a channel. Lanes that need the same one wait for each other.
    pub(super) fn get(&self, files: &Files<'_>, digest: &str) -> Result<Arc<PreparedJob>, JobError> {
        let mut kept = self.0.lock().ignore_poison();
        if let Some((_, job)) = kept.iter().find(|(of, _)| of == digest) {
            return Ok(Arc::clone(job));
        }
        let Files { worker, channel, .. } = *files;
        let bytes = objects::get(&worker.link, channel.job(), digest, LARGEST_JOB);
        let missing = |cause: String| JobError::Artefact {
            name: "the description".to_owned(),
            bytes: 0,
            blake3: digest.to_owned(),
            cause,
        };
        let bytes = bytes.map_err(|error| missing(error.to_string()))?;
        let job: Job = serde_json::from_slice(&bytes)
            .map_err(|cause| JobError::Part { part: "description", cause: cause.to_string() })?;
        let host =
            Host { device: &worker.device, onnxruntime: worker.onnxruntime.as_deref(), lanes: worker.lanes };
        let prepared = PreparedJob::new(&job, host, REMOTE_KINDS, files)?;
        let prepared = Arc::new(prepared);
        kept.truncate(KEPT - 1);
        kept.push_front((digest.to_owned(), Arc::clone(&prepared)));
        Ok(prepared)
    }
}
