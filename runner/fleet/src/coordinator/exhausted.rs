//! Tasks that the broker delivers no more.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;
use futures_util::StreamExt as _;

use crate::error::BrokerError;
use crate::link::Link;
use crate::message::TaskMessage;
use crate::names::{Channel, EXHAUSTED, TASKS};

/// Tasks that were delivered too often, for each step in progress. The broker reports those of all coordinators; only one's own are kept.
#[derive(Debug, Default)]
pub(super) struct Exhausted(Mutex<BTreeMap<Channel, Vec<TaskMessage>>>);

impl Exhausted {
    /// Collects such tasks from now on. What is missed while the connection is down is handed out again by the rule for lost tasks.
    pub(super) fn observe(link: &Link) -> Result<Arc<Self>, BrokerError> {
        let client = link.client().clone();
        let mut advisories =
            link.wait("report exhausted tasks", async move { client.subscribe(EXHAUSTED).await })?;
        let exhausted = Arc::new(Self::default());
        let (shared, jetstream) = (Arc::clone(&exhausted), link.jetstream().clone());
        link.spawn(async move {
            while let Some(advisory) = advisories.next().await {
                let sequence = serde_json::from_slice::<serde_json::Value>(&advisory.payload)
                    .ok()
                    .and_then(|advisory| advisory["stream_seq"].as_u64());
                let (Some(sequence), Ok(stream)) = (sequence, jetstream.get_stream(TASKS).await) else {
                    continue;
                };
                // It is gone if its result has come in the meantime.
                let Ok(message) = stream.get_raw_message(sequence).await else { continue };
                let task = TaskMessage::parse(&message.payload);
                if let Some((channel, task)) = Channel::of_subject(&message.subject).zip(task) {
                    shared.add(&channel, task);
                }
            }
        });
        Ok(exhausted)
    }

    /// Keeps the tasks of a channel from now on.
    pub(super) fn begin(&self, channel: &Channel) {
        self.0.lock().ignore_poison().insert(channel.clone(), Vec::new());
    }

    /// Keeps no more tasks of a channel.
    pub(super) fn end(&self, channel: &Channel) {
        self.0.lock().ignore_poison().remove(channel);
    }

    fn add(&self, channel: &Channel, task: TaskMessage) {
        if let Some(tasks) = self.0.lock().ignore_poison().get_mut(channel) {
            tasks.push(task);
        }
    }

    /// Takes the tasks of a channel.
    pub(super) fn take(&self, channel: &Channel) -> Vec<TaskMessage> {
        self.0.lock().ignore_poison().get_mut(channel).map(mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Exhausted;
    use crate::message::TaskMessage;
    use crate::names::Channel;

    #[test]
    fn exhausted_tasks_are_kept_for_steps_in_progress_alone() {
        let task =
            |issue| TaskMessage { format: 1, job: String::new(), artefacts: None, issue, tasks: Vec::new() };
        let [own, other] = [b"own", b"any"].map(|job| Channel::new(job, Path::new("run"), "host"));
        let exhausted = Exhausted::default();
        exhausted.begin(&own);
        exhausted.add(&own, task(1));
        exhausted.add(&other, task(2));
        exhausted.add(&own, task(3));
        assert_eq!(exhausted.take(&other), []);
        assert_eq!(exhausted.take(&own), [task(1), task(3)]);
        assert_eq!(exhausted.take(&own), [], "each is taken once");
        exhausted.add(&own, task(4));
        exhausted.end(&own);
        exhausted.add(&own, task(5));
        assert!(exhausted.0.lock().expect("no panic").is_empty());
    }
}
