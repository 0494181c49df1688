//! Ctrl-C: the first stops the work after its current batch, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Whether the user has requested a stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Handles Ctrl-C and the termination signal. `note` shows the user a message.
    pub fn listen(&self, note: impl Fn(&str) + Send + 'static) -> Result<(), ctrlc::Error> {
        let requested = Arc::clone(&self.0);
        ctrlc::set_handler(move || {
            if requested.swap(true, Ordering::SeqCst) {
                std::process::exit(Exit::Interrupted as i32);
            }
            note("stopping after this batch; Ctrl-C again stops at once");
        })
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Requests a stop, as the first Ctrl-C does.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
