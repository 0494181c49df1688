//! What is fixed in `runner/fleet`, under the names that it has there.

/// Tasks of a step at the broker at a time, unless two for each lane are more (`coordinator/step.rs`).
pub(super) const WINDOW: usize = 512;

/// Tasks of one shard before the first result says how long one takes, unless two for each lane are more.
pub(super) const FIRST: usize = 16;

/// Tasks that are published at a time.
pub(super) const PUBLISHED: usize = 64;

/// Shards of one task at most (`message.rs`).
pub(super) const MOST_SHARDS: usize = 64;

/// Seconds that a task of several shards takes.
pub(super) const TASK_SECS: f64 = 0.5;

/// Messages with results that the coordinator takes at a time: one that it waits for, and those that are there then.
pub(super) const BATCH: usize = 16;

/// Threads of the coordinator that check and store results (`coordinator/checks.rs`).
pub(super) const THREADS: usize = 16;

/// Seconds between two looks at late shards.
pub(super) const CHECK_EVERY: f64 = 2.0;

/// A shard that takes this many times the mean is handed out again while others have nothing to do.
pub(super) const STRAGGLES: f64 = 1.5;

/// Seconds after which a silent worker has lost its task (`names.rs`).
pub(super) const ACK_WAIT: f64 = 30.0;

/// Seconds between two signals that a task is still worked on.
pub(super) const PROGRESS_EVERY: f64 = 10.0;

/// Deliveries of a task, after which the step ends.
pub(super) const DELIVERIES: u8 = 4;

/// Bytes of a result that travel in its message (`message.rs`).
pub(super) const INLINE: f64 = 512.0 * 1024.0;

/// Bytes of a part of an object at the broker, which is a message of its own (NATS's default).
pub(super) const OBJECT_PART: f64 = 128.0 * 1024.0;

/// Trips to the broker and back between two rounds of the coordinator: the first result, and those that are there then.
pub(super) const ROUND_TRIPS: f64 = 2.0;

/// The same for each result that is an object, one after the other: it is deleted when its shard is stored.
pub(super) const OBJECT_TRIPS: f64 = 4.0;

/// Latencies from a result's storage to the worker's next request: the broker's word, the task's end and its answer, the request.
pub(super) const LANE_TRIPS: f64 = 4.0;

/// Shards that wait to be done again by the coordinator, besides the one that is (`coordinator/recheck.rs`).
pub(super) const MOST_WAITING: usize = 2;
