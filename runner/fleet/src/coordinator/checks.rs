//! Reads and stores results, several at a time: most of that time is the disk's.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::thread;

use bytes::Bytes;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::selfplay::Shard;
use dc0_steps::executor::{Accept, Unaccepted};

use super::recheck::Counted;
use crate::error::{BrokerError, ObjectError};
use crate::link::Link;
use crate::message::{Sent, ShardHead, Spent};
use crate::names::Channel;
use crate::objects::Artefacts;
use crate::pacing::THREADS;

/// Bytes of the results that are checked at a time, unless a single one has more.
const MOST_BYTES: u64 = 64 << 20;

/// Where large results are.
pub(super) type Storage<'a> = (&'a Link, &'a Artefacts);

/// A result to check.
#[derive(Debug)]
pub(super) struct Unchecked {
    pub(super) shard: Shard,
    pub(super) worker: String,
    pub(super) sent: Sent,
}

/// A result that was checked.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) counted: Counted,
    pub(super) spent: Spent,
    /// The object with its tables.
    pub(super) object: Option<String>,
    pub(super) verdict: Verdict,
}

/// What is to be done with a result.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is stored; the step may be over.
    Accepted(ControlFlow<()>),
    /// It does not count.
    Unaccepted(Unaccepted),
    /// Its file is gone, for which the worker cannot be blamed.
    Lost(String),
    /// The broker failed.
    Broker(BrokerError),
}

/// Checks results, and stores those that are right.
pub(super) fn check_all(
    storage: Storage<'_>,
    channel: &Channel,
    accept: &Accept<'_>,
    results: Vec<Unchecked>,
) -> Vec<Checked> {
    let mut all = Vec::new();
    let mut rest = results.into_iter().peekable();
    while rest.peek().is_some() {
        let mut bytes = 0;
        let mut group = Vec::new();
        while let Some(next) = rest.next_if(|next| {
            bytes += next.sent.head.size().unwrap_or(0);
            group.is_empty() || bytes <= MOST_BYTES
        }) {
            group.push(next);
        }
        all.extend(check_group(storage, channel, accept, group));
    }
    all
}

fn check_group(
    storage: Storage<'_>,
    channel: &Channel,
    accept: &Accept<'_>,
    group: Vec<Unchecked>,
) -> Vec<Checked> {
    let threads = group.len().min(THREADS);
    if threads == 1 {
        return group.into_iter().map(|result| check(storage, channel, accept, result)).collect();
    }
    let (queue, done) = (Mutex::new(group.into_iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().ignore_poison().next();
    let work = || {
        while let Some(result) = next() {
            let checked = check(storage, channel, accept, result);
            done.lock().ignore_poison().push(checked);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    done.into_inner().ignore_poison()
}

fn check(storage: Storage<'_>, channel: &Channel, accept: &Accept<'_>, result: Unchecked) -> Checked {
    let Unchecked { shard, worker, sent: Sent { head, content } } = result;
    let (spent, digests) = (head.spent, head.digests());
    let object = head.object.as_ref().map(|digest| channel.object(digest));
    let verdict = verdict(storage, object.as_ref(), accept, shard, head, content);
    Checked { counted: Counted { shard, worker, digests }, spent, object, verdict }
}

fn verdict(
    (link, artefacts): Storage<'_>,
    object: Option<&String>,
    accept: &Accept<'_>,
    shard: Shard,
    head: ShardHead,
    content: Result<Bytes, String>,
) -> Verdict {
    let refused = |cause| Verdict::Unaccepted(Unaccepted::Refused(cause));
    let content = match (content, object, &head.object) {
        (Err(cause), ..) => return refused(cause),
        (Ok(_), Some(name), Some(digest)) => {
            match artefacts.get(link, name.clone(), digest, head.size().unwrap_or(0)) {
                Ok(content) => content.into(),
                Err(ObjectError::Broker(error)) => return Verdict::Broker(error),
                Err(ObjectError::Missing(cause)) => return Verdict::Lost(cause),
                Err(ObjectError::Wrong(cause)) => return refused(cause),
            }
        }
        (Ok(content), ..) => content,
    };
    match head.reply(&content) {
        Ok(reply) => match accept(shard, reply) {
            Ok(flow) => Verdict::Accepted(flow),
            Err(unaccepted) => Verdict::Unaccepted(unaccepted),
        },
        Err(cause) => refused(cause),
    }
}
