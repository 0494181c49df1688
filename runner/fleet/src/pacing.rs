//! How much is handed out at a time, and when it counts as late or lost. `dc0-benches scale` simulates fleets by the same rules.

use std::time::Duration;

/// Tasks at the broker at a time, so that neither it nor the coordinator needs memory for all of a large step. More only for more lanes.
pub const WINDOW: usize = 512;

/// Tasks of one shard at the broker before the first result says how long one takes, if fewer lanes are there.
pub const FIRST: usize = 16;

/// Tasks that are published at a time. Between them the coordinator takes results, and the broker must store them within a request's limit.
pub const PUBLISHED: usize = 64;

/// Shards of one task. Those that take long are handed out one by one, and tiny ones together, so that the broker has fewer messages
/// to store.
pub const MOST_SHARDS: usize = 64;

/// Seconds that a task of several shards takes. Chosen: a hundred times what the broker needs for a task and its result.
pub const TASK_SECS: f64 = 0.5;

/// Threads that check results. Chosen: enough to keep a disk busy that takes some milliseconds to flush a file.
pub const THREADS: usize = 16;

/// Results that are taken at a time besides the first, so that each has a thread that checks it; each has up to half a megabyte.
pub const BATCH: usize = THREADS - 1;

/// Bytes of a result up to which it travels in the message; larger ones go through the object store. Half of the broker's usual limit for a
/// message.
pub const INLINE: usize = 512 * 1024;

/// Shards that wait to be done again by the coordinator, for each thread that does so.
pub const MOST_WAITING: usize = 2;

/// How often workers, lost tasks and the broker's files are looked at.
pub const CHECK_EVERY: Duration = Duration::from_secs(2);

/// A shard that takes this many times the mean is handed out again while others have nothing to do. Chosen.
pub const STRAGGLES: f64 = 1.5;

/// A worker that is silent for this long has lost its task. Chosen: far above a pause of the network, far below most shards' time.
pub const ACK_WAIT: Duration = Duration::from_secs(30);

/// Between two signals that a task is still worked on: two may be lost.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// How often a task is delivered before it counts as one that no worker can do. Chosen: kills and lost connections are rarer.
pub const DELIVERIES: u8 = 4;

/// The shards of a task, and the most tasks at the broker, for a step with so many shards `waiting`, of which one takes `mean` seconds,
/// on so many `lanes`. Tasks have one shard while no result has said how long that takes.
pub fn tasks(mean: Option<f64>, waiting: usize, lanes: usize) -> (usize, usize) {
    let Some(mean) = mean else { return (1, FIRST.max(2 * lanes)) };
    // Near the end tasks are smaller, so that the lanes end at the same time.
    let share = waiting / (2 * lanes.max(1));
    (((TASK_SECS / mean.max(1e-6)) as usize).min(share).clamp(1, MOST_SHARDS), WINDOW.max(2 * lanes))
}

/// Whether a task of so many shards takes much longer than they do on average, after the seconds since a worker was seen to do it. Workers
/// are looked at from time to time only, so nothing is late before the next look.
pub fn is_behind(secs: f64, mean: Option<f64>, shards: u32) -> bool {
    mean.is_some_and(|mean| secs > (STRAGGLES * mean * f64::from(shards)).max(CHECK_EVERY.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::{MOST_SHARDS, is_behind, tasks};

    #[test]
    fn a_task_is_behind_after_one_and_a_half_times_the_mean_of_its_shards() {
        assert!(!is_behind(1e6, None, 1), "nothing is known before the first result");
        assert!(is_behind(91.0, Some(60.0), 1) && !is_behind(89.0, Some(60.0), 1));
        assert!(is_behind(121.0, Some(10.0), 8) && !is_behind(119.0, Some(10.0), 8));
        assert!(!is_behind(1.9, Some(0.001), 64), "workers are not looked at so often");
    }

    #[test]
    fn tasks_grow_once_their_time_is_known_and_shrink_near_the_end() {
        assert_eq!(tasks(None, 10_000, 4), (1, 16), "nothing is known before the first result");
        assert_eq!(tasks(None, 10_000, 40), (1, 80), "each lane has one task and the next");
        assert_eq!(tasks(Some(0.05), 10_000, 4), (10, 512));
        assert_eq!(tasks(Some(0.001), 10_000, 4), (MOST_SHARDS, 512));
        assert_eq!(tasks(Some(0.001), 80, 4), (10, 512), "every lane gets two tasks of what is left");
        assert_eq!(tasks(Some(0.001), 3, 4), (1, 512));
        assert_eq!(tasks(Some(30.0), 10_000, 400), (1, 800));
    }
}
