//! Takes tasks from the broker, one at a time and for one lane after the other.

use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt as _;

use crate::error::BrokerError;
use crate::link::{Cause, Link};
use crate::names::{Route, TASKS};

/// How long an idle worker waits for a task of one route before it looks at the others.
const PATIENCE: Duration = Duration::from_millis(250);

/// The consumers of the routes, as far as coordinators have made them.
pub(super) struct Queue {
    routes: Vec<(Route, Option<PullConsumer>)>,
    /// The route that is waited for next if no task is there.
    next: usize,
}

impl Queue {
    pub(super) fn new(routes: &[Route]) -> Self {
        Self { routes: routes.iter().map(|route| (route.clone(), None)).collect(), next: 0 }
    }

    /// A task, if one comes within a moment.
    pub(super) fn take(&mut self, link: &Link) -> Result<Option<Message>, BrokerError> {
        for index in 0..self.routes.len() {
            if let Some(task) = self.take_from(link, index, false)? {
                self.next = index;
                return Ok(Some(task));
            }
        }
        let task = self.take_from(link, self.next, true)?;
        if task.is_none() {
            self.next = (self.next + 1) % self.routes.len();
        }
        Ok(task)
    }

    fn take_from(&mut self, link: &Link, index: usize, waits: bool) -> Result<Option<Message>, BrokerError> {
        let (route, consumer) = &mut self.routes[index];
        let (jetstream, name, known) = (link.jetstream().clone(), route.consumer(), consumer.take());
        let (found, task) = link.wait("hand out tasks", async move {
            let mut found: Option<PullConsumer> = known;
            if found.is_none()
                && let Ok(stream) = jetstream.get_stream(TASKS).await
            {
                found = stream.get_consumer(&name).await.ok();
            }
            let Some(consumer) = found else {
                // No run has needed this kind of worker yet, or the broker has lost everything.
                if waits {
                    tokio::time::sleep(PATIENCE).await;
                }
                return Ok((None, None));
            };
            let messages = if waits {
                consumer.batch().max_messages(1).expires(PATIENCE).messages().await
            } else {
                consumer.fetch().max_messages(1).messages().await
            };
            let task = messages.map_err(Cause::of)?.next().await.transpose();
            let task = task.map_err(|error| Cause::of_text(&error))?;
            Ok::<_, Cause>((Some(consumer), task))
        })?;
        // After an error it is looked up again.
        self.routes[index].1 = found;
        Ok(task)
    }
}
