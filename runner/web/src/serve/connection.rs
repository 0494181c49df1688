//! Connections: one request each, in a thread of its own; both their number and their time are limited.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Server;
use super::reply::{Reply, events_head};
use super::request::{Method, Request};
use super::routes::{Answer, answer};
use dc0_process::clock::Stopwatch;

/// Connections at once; others wait until one ends. Chosen.
const MOST: usize = 128;

/// Endless answers, and answers that wait, at once. Chosen: the others are kept for quick ones.
const MOST_WAITING: usize = 48;

/// Answers that are much work, at once. One is made after the other; the others wait for it, mostly for the same. Chosen.
const MOST_MAKING: usize = 16;

/// A request has to arrive within this time.
const TO_ARRIVE: Duration = Duration::from_secs(5);

/// Where fewer connections than this are free, requests have to arrive sooner: whoever opens connections and says nothing
/// needs no token for that, and is not to keep out those who have one. Chosen.
const FEW: usize = 32;
const TO_ARRIVE_SOON: Duration = Duration::from_secs(1);

/// An answer has to be taken within this time, a report of some MiB over a slow line included.
const TO_LEAVE: Duration = Duration::from_secs(30);

/// A thread's stack; requests need little.
const STACK_BYTES: usize = 1 << 20;

/// What may be used by so many at once.
#[derive(Debug)]
pub(super) struct Slots {
    free: Mutex<usize>,
    returned: Condvar,
}

/// The use of one of them.
#[derive(Debug)]
pub(super) struct Slot(Arc<Slots>);

impl Slots {
    pub(super) fn new(count: usize) -> Arc<Self> {
        Arc::new(Self { free: Mutex::new(count), returned: Condvar::new() })
    }

    /// For answers that wait.
    pub(super) fn for_waiting() -> Arc<Self> {
        Self::new(MOST_WAITING)
    }

    /// For answers that are much work.
    pub(super) fn for_making() -> Arc<Self> {
        Self::new(MOST_MAKING)
    }

    /// Waits for one.
    pub(super) fn take(self: &Arc<Self>) -> Slot {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.returned.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Slot(Arc::clone(self))
    }

    /// How many are free.
    fn free(&self) -> usize {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One, if one is free.
    pub(super) fn try_take(self: &Arc<Self>) -> Option<Slot> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Slot(Arc::clone(self)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.returned.notify_one();
    }
}

/// A connection of which everything must be done in some time.
pub(super) struct Timed<'a> {
    stream: &'a TcpStream,
    watch: Stopwatch,
    limit: Duration,
}

impl<'a> Timed<'a> {
    pub(super) fn new(stream: &'a TcpStream, limit: Duration) -> Self {
        Self { stream, watch: Stopwatch::start(), limit }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.limit.saturating_sub(self.watch.elapsed());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Takes connections until the process ends.
pub(super) fn listen(listener: &TcpListener, server: &Arc<Server>) {
    let slots = Slots::new(MOST);
    loop {
        let slot = slots.take();
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(cause) => {
                log::debug!("a connection was not taken: {cause}");
                // There may be too many open files; some will be closed soon.
                thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        let to_arrive = if slots.free() < FEW { TO_ARRIVE_SOON } else { TO_ARRIVE };
        let server = Arc::clone(server);
        let thread = thread::Builder::new().name("request".to_owned()).stack_size(STACK_BYTES);
        let started = thread.spawn(move || {
            if let Err(cause) = attend(&stream, to_arrive, &server) {
                log::debug!("an answer was not taken: {cause}");
            }
            drop(slot);
        });
        if let Err(cause) = started {
            log::warn!("no thread for a connection, which is closed: {cause}");
        }
    }
}

fn attend(stream: &TcpStream, to_arrive: Duration, server: &Arc<Server>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (answer, is_head) = match Request::read(&mut Timed::new(stream, to_arrive)) {
        Ok(None) => return Ok(()),
        Ok(Some(request)) => (answer(server, &request), request.method == Method::Head),
        Err(refusal) => (Answer::Reply(Reply::from(&refusal)), false),
    };
    match answer {
        Answer::Reply(reply) => {
            let mut to = Timed::new(stream, TO_LEAVE);
            to.write_all(reply.head().as_bytes())?;
            let body: &[u8] = if is_head { &[] } else { &reply.body };
            to.write_all(body)?;
        }
        Answer::Events(mut follow) => {
            Timed::new(stream, TO_LEAVE).write_all(events_head().as_bytes())?;
            if is_head {
                return end(stream);
            }
            follow.tell(server, &mut |text| Timed::new(stream, TO_ARRIVE).write_all(text.as_bytes()))?;
        }
    }
    end(stream)
}

/// Closes a connection so that the answer arrives also where the request was not read to its end.
fn end(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut rest = Timed::new(stream, Duration::from_millis(500)).take(1 << 20);
    io::copy(&mut rest, &mut io::sink()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn slots_come_back() {
        let slots = Slots::new(2);
        let (first, second) = (slots.take(), slots.try_take());
        assert!(second.is_some() && slots.try_take().is_none());
        drop(first);
        assert!(slots.try_take().is_some());
        drop(second);
        let _both = (slots.take(), slots.take());
    }
}
