//! What tasks, results and heartbeats look like on the wire.

use bytes::Bytes;
use dc0_core::durable;
use dc0_runs::NetFigures;
use dc0_steps::executor::{FORMAT, Reply, ReplyTable, Task};
use serde::{Deserialize, Deserializer, Serialize};

use crate::names::{Channel, plain};
use crate::pacing::{INLINE, MOST_SHARDS};

/// The largest file of a job, and the largest result. A net of a billion parameters has 4 GB.
pub(crate) const LARGEST: u64 = 8 << 30;

/// The largest job. One with an archive of ten thousand files has 2 MB.
pub(crate) const LARGEST_JOB: u64 = 64 << 20;

/// The most seconds that a shard is taken to have cost, whatever its worker says.
const MOST_SECS: f64 = 1e6;

/// Shards to do, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskMessage {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// The blake3 digest of the job, which is an object of the channel.
    pub(crate) job: String,
    /// Where its files and large results are, if not at the broker; without credentials.
    pub(crate) artefacts: Option<String>,
    /// The number of this message among those of its coordinator and step.
    pub(crate) issue: u32,
    /// The shards, at most [`MOST_SHARDS`].
    pub(crate) tasks: Vec<Task>,
}

impl TaskMessage {
    /// Reads a message; `None` if it is malformed, or of another version.
    pub(crate) fn parse(message: &[u8]) -> Option<Self> {
        let found: Self = serde_json::from_slice(message).ok()?;
        (found.format == FORMAT && (1..=MOST_SHARDS).contains(&found.tasks.len())).then_some(found)
    }

    /// The identity of an issue, by which the broker finds a message that was sent twice, and workers say what they do.
    pub(crate) fn message_id(channel: &Channel, session: &str, issue: u32) -> String {
        format!("{}-{session}-{issue}", channel.digits())
    }
}

/// The first part of a message with results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultHead {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// Who did it.
    pub(crate) worker: String,
    /// The shards, at most [`MOST_SHARDS`].
    pub(crate) shards: Vec<ShardHead>,
}

/// What is readable of a head of any version.
#[derive(Debug, Deserialize)]
struct Stamp {
    format: u32,
    worker: Option<String>,
}

/// What a shard took, as its worker says.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spent {
    /// Seconds.
    pub(crate) secs: f64,
    /// What its nets did.
    pub(crate) nets: NetFigures,
}

/// Brings into range what a worker says, which may be anything.
fn possible<'de, D: Deserializer<'de>>(from: D) -> Result<Spent, D::Error> {
    let Spent { secs, nets } = Spent::deserialize(from)?;
    let secs = secs.clamp(0.0, MOST_SECS);
    let (net_secs, flops) = (nets.net_secs.clamp(0.0, secs), nets.flops.max(0.0));
    Ok(Spent { secs, nets: NetFigures { net_secs, flops, ..nets } })
}

/// The result of a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShardHead {
    /// The shard's number.
    pub(crate) index: u32,
    /// What it took.
    #[serde(deserialize_with = "possible")]
    pub(crate) spent: Spent,
    /// Its tables, which follow the head one after the other.
    pub(crate) tables: Vec<TableHead>,
    /// Figures that are in no table.
    pub(crate) figures: serde_json::Value,
    /// The blake3 digest of its tables together, if they are an object instead of following.
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

/// A task that a worker could not do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeadLetter {
    /// Who tried it last.
    pub(crate) worker: String,
    /// The shard's number.
    pub(crate) index: u32,
    /// Why it failed.
    pub(crate) cause: String,
    /// The blake3 digest of the file that could not be had, if that is why. The task is tried again meanwhile.
    pub(crate) file: Option<String>,
}

impl DeadLetter {
    /// Reads a message. What it says may be shown on a terminal, so it has no control characters.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, serde_json::Error> {
        let Self { worker, index, cause, file } = serde_json::from_slice(message)?;
        Ok(Self { worker: plain(&worker), index, cause: cause.replace(char::is_control, " "), file })
    }
}

/// Bytes before the head of a result: its length.
const LENGTH: usize = 4;

/// Results that are sent in one message.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    shards: Vec<ShardHead>,
    /// The tables that follow the head.
    content: Vec<u8>,
    /// The tables that are objects, with their digests.
    pub(crate) objects: Vec<(String, Vec<u8>)>,
}

impl Batch {
    /// Adds the result of a shard.
    pub(crate) fn add(&mut self, index: u32, spent: Spent, reply: Reply) {
        let head = |table: &ReplyTable| TableHead {
            name: table.name.clone(),
            bytes: table.content.len() as u64,
            blake3: table.digest(),
        };
        let tables = reply.tables.iter().map(head).collect();
        let content = reply.tables.into_iter().flat_map(|table| table.content).collect::<Vec<u8>>();
        let object = (content.len() > INLINE).then(|| durable::digest(&content));
        match &object {
            Some(digest) => self.objects.push((digest.clone(), content)),
            None => self.content.extend(content),
        }
        self.shards.push(ShardHead { index, spent, tables, figures: reply.figures, object });
    }

    /// Whether a message is full: one more shard might make it too large for the broker, or its objects are many bytes.
    pub(crate) fn is_full(&self) -> bool {
        self.content.len() > INLINE / 4 || !self.objects.is_empty()
    }

    /// The number of the first shard; `None` if there is none.
    pub(crate) fn first(&self) -> Option<u32> {
        self.shards.first().map(|shard| shard.index)
    }

    /// Shards.
    pub(crate) fn len(&self) -> usize {
        self.shards.len()
    }

    /// The message: the head's length, the head, and the tables that are no objects.
    pub(crate) fn message(&self, worker: &str) -> Vec<u8> {
        let head = ResultHead { format: FORMAT, worker: worker.to_owned(), shards: self.shards.clone() };
        let head = serde_json::to_vec(&head).expect("text, numbers and figures");
        let mut message = (head.len() as u32).to_le_bytes().to_vec();
        message.extend(head);
        message.extend(&self.content);
        message
    }
}

/// A result as it arrives.
#[derive(Debug)]
pub(crate) struct Sent {
    /// What it says of itself.
    pub(crate) head: ShardHead,
    /// Its tables, unless they are an object; the error says what is wrong with them.
    pub(crate) content: Result<Bytes, String>,
}

impl ResultHead {
    /// The worker and the results of a message; the error says what is wrong.
    pub(crate) fn parse(message: &Bytes) -> Result<(String, Vec<Sent>), String> {
        let cut = || format!("its message of {} bytes is cut", message.len());
        let (length, rest) = message.split_first_chunk::<LENGTH>().ok_or_else(cut)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (text, _) = rest.split_at_checked(length).ok_or_else(cut)?;
        let malformed = |cause: serde_json::Error| format!("its head: {cause}");
        let Stamp { format, worker } = serde_json::from_slice(text).map_err(malformed)?;
        let worker = plain(&worker.unwrap_or_default());
        if format != FORMAT {
            return Err(format!(
                "worker {worker} is of another version: its format is {format}, expected {FORMAT}"
            ));
        }
        let head: Self =
            serde_json::from_slice(text).map_err(|cause| format!("worker {worker}: {}", malformed(cause)))?;
        if head.shards.len() > MOST_SHARDS {
            return Err(format!(
                "worker {worker}: it has {} shards, expected at most {MOST_SHARDS}",
                head.shards.len()
            ));
        }
        let mut rest = message.slice(LENGTH + length..);
        let sent = head.shards.into_iter().map(|head| Sent { content: head.take(&mut rest), head }).collect();
        Ok((worker, sent))
    }
}

impl ShardHead {
    /// Bytes of all tables; `None` if that is no number.
    pub(crate) fn size(&self) -> Option<u64> {
        self.tables.iter().try_fold(0u64, |sum, table| sum.checked_add(table.bytes))
    }

    /// Takes its own tables from those that follow a head.
    fn take(&self, rest: &mut Bytes) -> Result<Bytes, String> {
        let size = self.size().filter(|size| *size <= LARGEST);
        let size = size.ok_or_else(|| format!("its tables are larger than {LARGEST} bytes"))?;
        if self.object.is_some() {
            return Ok(Bytes::new());
        }
        if size > rest.len() as u64 {
            return Err(format!("its tables have {size} bytes, but {} are left in the message", rest.len()));
        }
        Ok(rest.split_to(size as usize))
    }

    /// The digests of the tables.
    pub(crate) fn digests(&self) -> Vec<String> {
        self.tables.iter().map(|table| table.blake3.clone()).collect()
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
    /// The identities of the tasks that it does at the moment.
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
    use bytes::Bytes;
    use dc0_steps::executor::{Reply, ReplyTable, Task};

    use dc0_runs::NetFigures;

    use super::{Batch, FORMAT, INLINE, MOST_SECS, MOST_SHARDS, ResultHead, Spent, TaskMessage};

    const SPENT: Spent = Spent {
        secs: 1.5,
        nets: NetFigures { rows: 9, batches: 3, largest_batch: 4, net_secs: 0.5, flops: 1e6 },
    };

    fn reply(bytes: usize) -> Reply {
        let table = |name: &str, byte| ReplyTable { name: name.to_owned(), content: vec![byte; bytes] };
        Reply {
            tables: vec![table("games", 1), table("positions", 2)],
            figures: serde_json::json!({"games": 2}),
        }
    }

    /// The replies of a message, each with what is wrong with it.
    fn read(message: Vec<u8>) -> Result<Vec<Result<Reply, String>>, String> {
        let (_, sent) = ResultHead::parse(&Bytes::from(message))?;
        Ok(sent.into_iter().map(|sent| sent.head.reply(&sent.content?)).collect())
    }

    #[test]
    fn results_come_back_as_they_were_sent() {
        let sizes = [0, 10, INLINE, 7];
        let mut batch = Batch::default();
        for (index, bytes) in (3..).zip(sizes) {
            batch.add(index, SPENT, reply(bytes));
        }
        assert_eq!((batch.first(), batch.len(), batch.objects.len()), (Some(3), 4, 1));
        let (worker, sent) = ResultHead::parse(&Bytes::from(batch.message("w"))).expect("sound");
        assert_eq!(worker, "w");
        for ((sent, bytes), index) in sent.into_iter().zip(sizes).zip(3..) {
            assert_eq!((sent.head.index, sent.head.spent), (index, SPENT));
            let content = match &sent.head.object {
                Some(digest) => {
                    Bytes::from(batch.objects.iter().find(|(of, _)| of == digest).expect("kept").1.clone())
                }
                None => sent.content.expect("follows"),
            };
            assert_eq!(sent.head.reply(&content).expect("sound"), reply(bytes));
        }
    }

    #[test]
    fn what_a_shard_has_cost_stays_in_range_whatever_its_worker_says() {
        let spent = |secs, net_secs, flops| {
            let mut batch = Batch::default();
            batch.add(0, Spent { secs, nets: NetFigures { net_secs, flops, ..SPENT.nets } }, reply(1));
            let (_, sent) = ResultHead::parse(&Bytes::from(batch.message("w"))).expect("sound");
            let Spent { secs, nets } = sent[0].head.spent;
            (secs, nets.net_secs, nets.flops)
        };
        assert_eq!(spent(-1.0, 2.0, -3.0), (0.0, 0.0, 0.0));
        assert_eq!(spent(1e300, 1e300, 5.0), (MOST_SECS, MOST_SECS, 5.0));
    }

    #[test]
    fn a_changed_or_cut_result_is_refused() {
        let mut batch = Batch::default();
        batch.add(3, SPENT, reply(10));
        let message = batch.message("w");
        assert_eq!(read(message.clone()).expect("sound"), [Ok(reply(10))]);
        for length in 0..message.len() {
            let found = read(message[..length].to_vec());
            let is_refused = found.is_err() || found.is_ok_and(|all| all.iter().all(Result::is_err));
            assert!(is_refused, "cut after {length} of {} bytes", message.len());
        }
        let mut changed = message.clone();
        *changed.last_mut().expect("bytes") += 1;
        let error = read(changed).expect("is whole").remove(0).expect_err("changed");
        assert!(error.contains("blake3"), "{error}");
        let mut huge = batch;
        huge.shards[0].tables[0].bytes = u64::MAX;
        assert!(read(huge.message("w")).expect("is whole")[0].is_err());
        huge.shards[0].tables[1].bytes = 0;
        assert!(read(huge.message("w")).expect("is whole")[0].is_err());
    }

    #[test]
    fn a_result_of_another_version_or_with_too_many_shards_names_its_worker() {
        let text = br#"{"format":1,"worker":"old one","index":3}"#;
        let message = [&(text.len() as u32).to_le_bytes()[..], text].concat();
        let error = read(message).expect_err("another version");
        assert!(error.contains("worker old-one is of another version: its format is 1"), "{error}");
        let mut batch = Batch::default();
        (0..=MOST_SHARDS as u32).for_each(|index| batch.add(index, SPENT, reply(0)));
        let error = read(batch.message("w")).expect_err("too many");
        assert!(error.contains("worker w: it has 65 shards"), "{error}");
    }

    #[test]
    fn tasks_of_another_version_or_without_shards_are_not_read() {
        let task = Task { index: 0, first_game: 0, games: 1, files: Vec::new() };
        let read = |format, tasks| {
            let message = TaskMessage { format, job: String::new(), artefacts: None, issue: 1, tasks };
            TaskMessage::parse(&serde_json::to_vec(&message).expect("text and numbers")).is_some()
        };
        assert!(read(FORMAT, vec![task.clone()]));
        assert!(!read(FORMAT - 1, vec![task.clone()]) && !read(FORMAT, Vec::new()));
        assert!(!read(FORMAT, vec![task; MOST_SHARDS + 1]));
        assert!(TaskMessage::parse(b"{}").is_none());
    }
}
