//! The player's input: lines, the end of the input, Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{io, thread};

use crate::lines::{Input, next, too_long};
use dc0_process::exit::Exit;
use dc0_process::interrupt::on_stop_signal;

/// An event of the input.
#[derive(Debug)]
pub(super) enum Event {
    Line(String),
    /// A line that is too long, with the message for it.
    TooLong(String),
    End,
    Failed(io::Error),
    Interrupted,
}

/// The player's events, in order.
pub(super) struct Player {
    events: Receiver<Event>,
    /// Set by Ctrl-C; ends a search at once.
    pub(super) stop: Arc<AtomicBool>,
}

impl Player {
    /// Listens to stdin and Ctrl-C. A second Ctrl-C ends the program at once.
    pub(super) fn listen() -> Result<Self, ctrlc::Error> {
        let (sender, events) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let (interrupted, waker) = (Arc::clone(&stop), sender.clone());
        on_stop_signal(move || {
            if interrupted.swap(true, Ordering::SeqCst) {
                std::process::exit(Exit::Interrupted as i32);
            }
            // Only wakes a waiting `next`; if an event is queued already, the flag is seen with it.
            let _full = waker.try_send(Event::Interrupted);
        })?;
        // Ends with the process: a read from a terminal cannot be interrupted.
        thread::spawn(move || read(&sender));
        Ok(Self { events, stop })
    }

    /// The next event; waits for it.
    pub(super) fn next(&self) -> Event {
        let event = self.events.recv().unwrap_or(Event::End);
        if self.is_interrupted() { Event::Interrupted } else { event }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

fn read(to: &SyncSender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let event = match next(&mut input) {
            Ok(Input::Line(line) | Input::NotUtf8(line)) => Event::Line(line),
            Ok(Input::TooLong) => Event::TooLong(format!("error: {}", too_long())),
            Ok(Input::End) => Event::End,
            Err(cause) => Event::Failed(cause),
        };
        let is_last = matches!(event, Event::End | Event::Failed(_));
        if to.send(event).is_err() || is_last {
            return;
        }
    }
}
