//! Ctrl-C: the first one asks the work to stop at its next batch, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Whether the user asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for Ctrl-C and for the signal to terminate. `note` tells the user what happens.
    pub fn listen(&self, note: impl Fn(&str) + Send + 'static) -> Result<(), ctrlc::Error> {
        let asked = Arc::clone(&self.0);
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                std::process::exit(Exit::Interrupted as i32);
            }
            note("stopping after this batch; Ctrl-C again stops at once");
        })
    }

    /// Whether the user asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Asks, as the first Ctrl-C does.
    pub fn ask(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
