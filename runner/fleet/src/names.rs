//! Names at the broker: streams, subjects and objects.

use std::path::Path;
use std::time::Duration;

use dc0_core::durable;

/// The stream of tasks, each of which one worker takes.
pub(crate) const TASKS: &str = "DC0_TASKS";

/// The stream of results.
pub(crate) const RESULTS: &str = "DC0_RESULTS";

/// The bucket of jobs, nets and large results.
pub(crate) const BUCKET: &str = "dc0";

/// Messages and objects that nobody has asked for are deleted after this time: their coordinator was killed and did not come back.
/// Chosen: longer than a weekend and a holiday.
pub(crate) const KEPT: Duration = Duration::from_hours(7 * 24);

/// How often workers say that they are there.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(1);

/// A worker that was silent for this long is gone.
pub(crate) const GONE: Duration = Duration::from_secs(10);

/// Workers' heartbeats.
pub(crate) const ALL_WORKERS: &str = "dc0.worker.*";

/// The ends of steps.
pub(crate) const ALL_ENDS: &str = "dc0.end.*";

/// What the broker says of tasks that were delivered [`DELIVERIES`](crate::pacing::DELIVERIES) times.
pub(crate) const EXHAUSTED: &str = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.DC0_TASKS.*";

/// The digits of a digest that make a name.
const DIGITS: usize = 32;

/// Which workers may do a task: those with the same digest of what they must have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Route(String);

impl Route {
    /// The route of workers that have these texts in common.
    pub(crate) fn of(common: &[&str]) -> Self {
        Self(durable::digest(common.join("\n").as_bytes())[..DIGITS].to_owned())
    }

    /// The digits.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }

    /// The durable consumer that the workers of a route share.
    pub(crate) fn consumer(&self) -> String {
        format!("route-{}", self.0)
    }

    /// The subjects of its tasks.
    pub(crate) fn tasks(&self) -> String {
        format!("dc0.task.{}.*", self.0)
    }
}

/// One step of one run folder: equal steps of two folders have their own tasks and results.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Channel(String);

impl Channel {
    /// The channel of a job, given its bytes.
    pub(crate) fn new(job: &[u8], folder: &Path, host: &str) -> Self {
        let parts = [durable::digest(job), host.to_owned(), folder.display().to_string()];
        Self(durable::digest(parts.join("\n").as_bytes())[..DIGITS].to_owned())
    }

    /// Reads the channel at the end of a subject.
    pub(crate) fn of_subject(subject: &str) -> Option<Self> {
        let digits = subject.rsplit('.').next()?;
        let is_digits = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digits.then(|| Self(digits.to_owned()))
    }

    /// The digits.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }

    /// The subject of its tasks.
    pub(crate) fn task(&self, route: &Route) -> String {
        format!("dc0.task.{}.{}", route.0, self.0)
    }

    /// The subject of its results.
    pub(crate) fn done(&self) -> String {
        format!("dc0.result.done.{}", self.0)
    }

    /// The dead-letter subject: tasks that no worker can do, with the last error.
    pub(crate) fn dead(&self) -> String {
        format!("dc0.result.dead.{}", self.0)
    }

    /// Results and dead letters.
    pub(crate) fn results(&self) -> String {
        format!("dc0.result.*.{}", self.0)
    }

    /// The durable consumer of its results.
    pub(crate) fn consumer(&self) -> String {
        format!("channel-{}", self.0)
    }

    /// The subject of its end, after which its tasks need not be done.
    pub(crate) fn end(&self) -> String {
        format!("dc0.end.{}", self.0)
    }

    /// The object with the job.
    pub(crate) fn job(&self) -> String {
        format!("{}/job", self.0)
    }

    /// The object with some content.
    pub(crate) fn object(&self, blake3: &str) -> String {
        format!("{}/{blake3}", self.0)
    }
}

/// The subject of a worker's heartbeats.
pub(crate) fn heartbeat(worker: &str) -> String {
    format!("dc0.worker.{worker}")
}

/// The subject on which a worker learns that it is put aside. The name may come from a forged message.
pub(crate) fn aside(worker: &str) -> String {
    format!("dc0.aside.{}", plain(worker))
}

/// Letters of a worker's name: those of its user, its machine and its process.
pub(crate) const NAME: usize = 80;

/// A name as a part of a subject: letters, digits and hyphens, as many as a worker's name has at most.
pub(crate) fn plain(name: &str) -> String {
    shortened(name, NAME)
}

/// As [`plain`], with so many letters at most.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    let plain: String =
        name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).take(most).collect();
    if plain.is_empty() { "worker".to_owned() } else { plain }
}
