//! What tasks, results and heartbeats look like on the wire.

use dc0_core::durable;
use dc0_steps::executor::{FORMAT, Reply, ReplyTable, Task};
use serde::{Deserialize, Serialize};

use crate::names::Channel;

/// Results up to this size travel in the message, larger ones through the object store. Half of the broker's usual limit for a message.
pub(crate) const INLINE: usize = 512 * 1024;

/// The largest file of a job, and the largest result. A net of a billion parameters has 4 GB.
pub(crate) const LARGEST: u64 = 8 << 30;

/// The largest job. One with an archive of ten thousand files has 2 MB.
pub(crate) const LARGEST_JOB: u64 = 64 << 20;

/// A shard to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskMessage {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// The blake3 digest of the job, which is an object of the channel.
    pub(crate) job: String,
    /// How often the coordinator has handed out the shard before.
    pub(crate) issue: u32,
    /// The shard.
    pub(crate) task: Task,
}

impl TaskMessage {
    /// The shard's identity: the same for every issue, and in every process.
    pub(crate) fn id(&self, channel: &Channel) -> String {
        Self::id_of(channel, self.task.index)
    }

    /// The identity of a shard by its number.
    pub(crate) fn id_of(channel: &Channel, index: u32) -> String {
        format!("{}-{index:05}", channel.digits())
    }

    /// The identity of this issue, by which the broker finds a message that was sent twice.
    pub(crate) fn message_id(&self, channel: &Channel, session: &str) -> String {
        format!("{}-{session}-{}", self.id(channel), self.issue)
    }
}

/// The first part of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultHead {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// Who did it.
    pub(crate) worker: String,
    /// The shard's number.
    pub(crate) index: u32,
    /// Seconds that it took.
    pub(crate) secs: f64,
    /// The tables that follow, one after the other.
    pub(crate) tables: Vec<TableHead>,
    /// Figures that are in no table.
    pub(crate) figures: serde_json::Value,
    /// The blake3 digest of all tables together, if they are an object instead of following.
    pub(crate) object: Option<String>,
}

/// A table of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableHead {
    /// Its name.
    pub(crate) name: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// Its blake3 digest.
    pub(crate) blake3: String,
}

/// A task that no worker can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeadLetter {
    /// Who tried it last.
    pub(crate) worker: String,
    /// The shard's number.
    pub(crate) index: u32,
    /// Why it failed.
    pub(crate) cause: String,
}

/// Bytes before the head of a result: its length.
const LENGTH: usize = 4;

/// The head of a result and its tables, which follow it or are an object.
pub(crate) fn pack(worker: &str, index: u32, secs: f64, reply: Reply) -> (ResultHead, Vec<u8>) {
    let head = |table: &ReplyTable| TableHead {
        name: table.name.clone(),
        bytes: table.content.len() as u64,
        blake3: table.digest(),
    };
    let tables = reply.tables.iter().map(head).collect();
    let content = reply.tables.into_iter().flat_map(|table| table.content).collect::<Vec<u8>>();
    let object = (content.len() > INLINE).then(|| durable::digest(&content));
    let (worker, figures) = (worker.to_owned(), reply.figures);
    (ResultHead { format: FORMAT, worker, index, secs, tables, figures, object }, content)
}

impl ResultHead {
    /// The message: the head's length, the head, and the tables unless they are an object.
    pub(crate) fn message(&self, content: &[u8]) -> Vec<u8> {
        let head = serde_json::to_vec(self).expect("text, numbers and figures");
        let mut message = (head.len() as u32).to_le_bytes().to_vec();
        message.extend(head);
        if self.object.is_none() {
            message.extend(content);
        }
        message
    }

    /// The head of a message, and what follows it; the error says what is wrong.
    pub(crate) fn parse(message: &[u8]) -> Result<(Self, &[u8]), String> {
        let cut = || format!("its message of {} bytes is cut", message.len());
        let (length, rest) = message.split_first_chunk::<LENGTH>().ok_or_else(cut)?;
        let (head, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
        let head: Self = serde_json::from_slice(head).map_err(|cause| format!("its head: {cause}"))?;
        if head.format != FORMAT {
            return Err(format!("its format is {}, expected {FORMAT}", head.format));
        }
        if head.size().is_none_or(|size| size > LARGEST) {
            return Err(format!("its tables are larger than {LARGEST} bytes"));
        }
        Ok((head, rest))
    }

    /// Bytes of all tables; `None` if that is no number.
    pub(crate) fn size(&self) -> Option<u64> {
        self.tables.iter().try_fold(0u64, |sum, table| sum.checked_add(table.bytes))
    }

    /// The reply, whose tables have the right sizes and digests; the error says what is wrong.
    pub(crate) fn reply(self, content: &[u8]) -> Result<Reply, String> {
        let (mut tables, mut rest) = (Vec::new(), content);
        for TableHead { name, bytes, blake3 } in self.tables {
            let cut = || format!("its table {name} has {bytes} bytes, but {} are left", rest.len());
            let (own, others) = rest.split_at_checked(bytes as usize).ok_or_else(cut)?;
            rest = others;
            let found = durable::digest(own);
            if found != blake3 {
                return Err(format!("its table {name} has the blake3 digest {found}, expected {blake3}"));
            }
            tables.push(ReplyTable { name, content: own.to_vec() });
        }
        if !rest.is_empty() {
            return Err(format!("{} bytes follow its tables", rest.len()));
        }
        Ok(Reply { tables, figures: self.figures })
    }
}

/// A sign of life of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    /// Its name.
    pub(crate) worker: String,
    /// What it is: program, libraries, processor, device.
    pub(crate) platform: String,
    /// The routes whose tasks it does.
    pub(crate) routes: Vec<String>,
    /// Shards at a time.
    pub(crate) lanes: u32,
    /// The identities of the shards that it does at the moment.
    pub(crate) tasks: Vec<String>,
    /// Shards that it has done.
    pub(crate) done: u64,
    /// Shards in which it failed.
    pub(crate) failed: u64,
    /// Evaluations in the last seconds, per second.
    pub(crate) evaluations_per_sec: f64,
}

#[cfg(test)]
mod tests {
    use dc0_steps::executor::{Reply, ReplyTable};

    use super::{INLINE, ResultHead, pack};

    fn reply(bytes: usize) -> Reply {
        let table = |name: &str, byte| ReplyTable { name: name.to_owned(), content: vec![byte; bytes] };
        Reply {
            tables: vec![table("games", 1), table("positions", 2)],
            figures: serde_json::json!({"games": 2}),
        }
    }

    #[test]
    fn a_result_comes_back_as_it_was_sent() {
        for bytes in [0, 10, INLINE] {
            let (head, content) = pack("w", 3, 1.5, reply(bytes));
            assert_eq!(head.object.is_some(), bytes == INLINE);
            let message = head.message(&content);
            let (found, rest) = ResultHead::parse(&message).expect("sound");
            assert_eq!((found.index, found.worker.as_str()), (3, "w"));
            let rest = if found.object.is_some() { content.clone() } else { rest.to_vec() };
            assert_eq!(found.reply(&rest).expect("sound"), reply(bytes));
        }
    }

    #[test]
    fn a_changed_or_cut_result_is_refused() {
        let (head, content) = pack("w", 3, 1.5, reply(10));
        let message = head.message(&content);
        for length in 0..message.len() {
            let cut = &message[..length];
            let read = ResultHead::parse(cut).and_then(|(head, rest)| head.reply(rest));
            assert!(read.is_err(), "cut after {length} of {} bytes", message.len());
        }
        let mut changed = message.clone();
        *changed.last_mut().expect("bytes") += 1;
        let error =
            ResultHead::parse(&changed).and_then(|(head, rest)| head.reply(rest)).expect_err("changed");
        assert!(error.contains("blake3"), "{error}");
        let mut longer = message;
        longer.push(0);
        assert!(ResultHead::parse(&longer).and_then(|(head, rest)| head.reply(rest)).is_err());
        let mut huge = head;
        huge.tables[0].bytes = u64::MAX;
        assert!(ResultHead::parse(&huge.message(&content)).is_err());
    }
}
