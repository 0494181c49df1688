//! What follows from the order of messages in `runner/fleet`. The rules of handing out are its own, `dc0_fleet::pacing`.

/// Bytes of a part of an object at the broker, which is a message of its own (NATS's default).
pub(super) const OBJECT_PART: f64 = 128.0 * 1024.0;

/// Trips to the broker and back between two rounds of the coordinator: the first result, and those that are there then.
pub(super) const ROUND_TRIPS: f64 = 2.0;

/// The same for each result that is an object, one after the other: it is deleted when its shard is stored.
pub(super) const OBJECT_TRIPS: f64 = 4.0;

/// Latencies from a result's storage to the worker's next request: the broker's word, the task's end and its answer, the request.
pub(super) const LANE_TRIPS: f64 = 4.0;
