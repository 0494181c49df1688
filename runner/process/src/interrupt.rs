//! Ctrl-C: the first stops the work after its current batch, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Whether the user has requested a stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
    /// Whether only the work that has this value is to stop.
    is_ended: Arc<AtomicBool>,
    /// Whether the program waits for another one, and has nothing to finish.
    is_waiting: Arc<AtomicBool>,
}

impl Interrupt {
    /// Handles Ctrl-C and the other signals of [`on_stop_signal`]. `note` shows the user a message.
    pub fn listen(&self, note: impl Fn(&str) + Send + 'static) -> Result<(), ctrlc::Error> {
        let Self { requested, is_waiting, .. } = self.clone();
        on_stop_signal(move || {
            if requested.swap(true, Ordering::SeqCst) || is_waiting.load(Ordering::SeqCst) {
                std::process::exit(Exit::Interrupted as i32);
            }
            note("stopping after this batch; Ctrl-C again stops at once");
        })
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst) || self.is_ended.load(Ordering::SeqCst)
    }

    /// For work beside other work: it stops when all stops, and can be [ended](Self::end) alone.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { is_ended: Arc::default(), ..self.clone() }
    }

    /// Stops the work that has this value or a clone of it, and no other.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
    }

    /// Requests a stop, as the first Ctrl-C does.
    pub fn request(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Reads something that may wait for another program, such as a pipe; meanwhile the first Ctrl-C ends the program at once.
    pub fn while_waiting<T>(&self, read: impl FnOnce() -> T) -> T {
        self.is_waiting.store(true, Ordering::SeqCst);
        let result = read();
        self.is_waiting.store(false, Ordering::SeqCst);
        result
    }
}

/// Calls `handler` at Ctrl-C, at a request to end (`SIGTERM`), and when the terminal closes (`SIGHUP`).
///
/// Signals that the program was started to ignore stay ignored: `nohup` relies on that, and shells without job control do so for
/// programs in the background.
pub fn on_stop_signal(handler: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    let ignored = inherited::ignored();
    ctrlc::set_handler(handler)?;
    inherited::ignore(&ignored);
    Ok(())
}

/// Signals that were ignored when this program was started.
#[cfg(unix)]
#[allow(unsafe_code, reason = "what a signal does has no safe interface")]
mod inherited {
    use std::mem::MaybeUninit;
    use std::ptr::{null, null_mut};

    /// The signals that are ignored now, of those that end a program in good order.
    pub(super) fn ignored() -> Vec<libc::c_int> {
        let signals = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];
        signals.into_iter().filter(|&signal| is_ignored(signal)).collect()
    }

    fn is_ignored(signal: libc::c_int) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action, `sigaction` only writes the current one, and all zeros are a valid action.
        let (result, action) =
            unsafe { (libc::sigaction(signal, null(), action.as_mut_ptr()), action.assume_init()) };
        result == 0 && action.sa_sigaction == libc::SIG_IGN
    }

    /// Ignores signals.
    pub(super) fn ignore(signals: &[libc::c_int]) {
        for &signal in signals {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all zeros are a valid action, without flags and with an empty mask; ignoring a signal runs no code.
            unsafe {
                (*action.as_mut_ptr()).sa_sigaction = libc::SIG_IGN;
                libc::sigaction(signal, action.as_ptr(), null_mut());
            }
        }
    }
}

/// Other systems do not inherit ignored signals.
#[cfg(not(unix))]
mod inherited {
    pub(super) fn ignored() {}

    pub(super) fn ignore((): &()) {}
}

#[cfg(test)]
mod tests {
    use super::Interrupt;

    #[test]
    fn work_beside_other_work_ends_alone_and_stops_with_it() {
        let main = Interrupt::default();
        let (first, second) = (main.beside(), main.beside());
        first.clone().end();
        assert!(first.is_requested() && !second.is_requested() && !main.is_requested());
        main.request();
        assert!(second.is_requested() && second.beside().is_requested());
    }
}
