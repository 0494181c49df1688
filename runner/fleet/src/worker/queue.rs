//! Takes tasks from the broker, one at a time and for one lane after the other.

use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind};
use async_nats::jetstream::{ErrorCode, Message};
use dc0_process::clock::Stopwatch;
use futures_util::StreamExt as _;

use crate::error::BrokerError;
use crate::link::{Cause, Link};
use crate::names::{Route, TASKS};

/// How long an idle worker waits for a task of one route before it looks at the others. Each look is a request that the broker answers,
/// so thousands of idle workers must not look often.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a worker looks whether a coordinator has made a route that was missing, if it knows another one.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Tasks of one route in a row after which those of the others come first.
const TURN: u32 = 16;

/// The consumer of a route, as far as a coordinator has made it.
struct Source {
    route: Route,
    consumer: Option<PullConsumer>,
    /// When it was looked for and missing.
    missed: Option<Stopwatch>,
}

/// The consumers of the routes.
pub(super) struct Queue {
    sources: Vec<Source>,
    turn: Turn,
}

/// Whose turn it is.
#[derive(Debug, Default)]
struct Turn {
    /// The source of the last task.
    latest: usize,
    /// Tasks in a row that came from it.
    tasks: u32,
}

impl Turn {
    /// The sources in the order in which to look at them: first the latest, because it probably has more.
    fn order(&self, sources: usize) -> impl Iterator<Item = usize> + use<> {
        let first = if self.tasks < TURN { self.latest } else { self.latest + 1 };
        (0..sources).map(move |offset| (first + offset) % sources)
    }

    /// Counts a task from a source.
    fn took(&mut self, source: usize) {
        let is_next = self.latest == source && self.tasks < TURN;
        self.tasks = if is_next { self.tasks + 1 } else { 1 };
        self.latest = source;
    }
}

impl Queue {
    pub(super) fn new(routes: &[Route]) -> Self {
        let source = |route: &Route| Source { route: route.clone(), consumer: None, missed: None };
        Self { sources: routes.iter().map(source).collect(), turn: Turn::default() }
    }

    /// A task, if one comes within a moment.
    pub(super) fn take(&mut self, link: &Link) -> Result<Option<Message>, BrokerError> {
        let order: Vec<usize> = self.turn.order(self.sources.len()).collect();
        let knows_any = self.sources.iter().any(|source| source.consumer.is_some());
        for index in &order {
            self.sources[*index].look(link, if knows_any { LOOK_EVERY } else { PATIENCE })?;
            if let Some(task) = self.sources[*index].take(link, false)? {
                self.turn.took(*index);
                return Ok(Some(task));
            }
        }
        let Some(index) = order.into_iter().find(|index| self.sources[*index].consumer.is_some()) else {
            // No run has needed this kind of worker yet, or the broker has lost everything.
            std::thread::sleep(PATIENCE);
            return Ok(None);
        };
        let task = self.sources[index].take(link, true)?;
        if task.is_some() {
            self.turn.took(index);
        }
        Ok(task)
    }
}

impl Source {
    /// Looks for the consumer if it is missing, once in so much time.
    fn look(&mut self, link: &Link, every: Duration) -> Result<(), BrokerError> {
        if self.consumer.is_some() || self.missed.is_some_and(|missed| missed.elapsed() < every) {
            return Ok(());
        }
        let (jetstream, name) = (link.jetstream().clone(), self.route.consumer());
        self.consumer = link.wait("report a route", async move {
            match jetstream.get_consumer_from_stream(name, TASKS).await {
                Ok(consumer) => Ok(Some(consumer)),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(Cause::of(error)),
            }
        })?;
        self.missed = self.consumer.is_none().then(Stopwatch::start);
        Ok(())
    }

    /// A task of the route, if its consumer is there and has one.
    fn take(&mut self, link: &Link, waits: bool) -> Result<Option<Message>, BrokerError> {
        // After an error it is looked up again.
        let Some(consumer) = self.consumer.take() else { return Ok(None) };
        let (consumer, task) = link.wait("hand out tasks", async move {
            let messages = if waits {
                consumer.batch().max_messages(1).expires(PATIENCE).messages().await
            } else {
                consumer.fetch().max_messages(1).messages().await
            };
            let task = messages.map_err(Cause::of)?.next().await.transpose();
            let task = task.map_err(|error| Cause::of_text(&error))?;
            Ok::<_, Cause>((consumer, task))
        })?;
        self.consumer = Some(consumer);
        Ok(task)
    }
}

/// Whether no coordinator has made this consumer.
fn is_missing(error: &ConsumerError) -> bool {
    let missing = [ErrorCode::CONSUMER_NOT_FOUND, ErrorCode::STREAM_NOT_FOUND];
    matches!(error.kind(), ConsumerErrorKind::JetStream(cause) if missing.contains(&cause.error_code()))
}

#[cfg(test)]
mod tests {
    use super::{TURN, Turn};

    /// The sources of some tasks in a row, if each source has so many.
    fn sources(turn: &mut Turn, mut waiting: [u32; 3]) -> Vec<usize> {
        let mut found = Vec::new();
        while let Some(source) = turn.order(3).find(|source| waiting[*source] > 0) {
            waiting[source] -= 1;
            turn.took(source);
            found.push(source);
        }
        found
    }

    #[test]
    fn the_latest_source_comes_first_and_no_source_waits_for_long() {
        let mut turn = Turn::default();
        assert_eq!(sources(&mut turn, [0, 0, 3]), [2, 2, 2]);
        assert_eq!(turn.order(3).collect::<Vec<_>>(), [2, 0, 1]);
        let many = 3 * TURN;
        let found = sources(&mut Turn::default(), [many, many, many]);
        for source in 0..3 {
            assert_eq!(found.iter().position(|one| *one == source), Some(source * TURN as usize));
        }
        // One alone is not held up by its turn.
        assert_eq!(sources(&mut Turn::default(), [0, many, 0]).len(), many as usize);
    }
}
