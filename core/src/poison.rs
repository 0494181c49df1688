//! Ignoring poisoned locks.
//!
//! A thread that panics while holding a lock poisons it. The panic is reported where the thread is joined. The guarded data is
//! consistent after every statement, so other threads continue to use it instead of panicking too.
#![expect(clippy::disallowed_types, reason = "all other code takes locks with this module")]

use std::sync::{LockResult, PoisonError};

/// The result of locking a mutex, waiting on a condition variable or consuming a mutex, poisoned or not.
pub trait IgnorePoison {
    /// The guard or value.
    type Guarded;

    /// The guard or value, whether or not a thread panicked while holding the lock; for data that is consistent after every statement.
    fn ignore_poison(self) -> Self::Guarded;
}

impl<T> IgnorePoison for LockResult<T> {
    type Guarded = T;

    fn ignore_poison(self) -> T {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::IgnorePoison;

    #[test]
    fn a_poisoned_lock_can_be_taken() {
        let lock = Arc::new(Mutex::new(1));
        let shared = Arc::clone(&lock);
        let holder = thread::spawn(move || {
            let mut held = shared.lock().ignore_poison();
            *held = 2;
            panic!("with the lock held");
        });
        assert!(holder.join().is_err() && lock.is_poisoned());
        assert_eq!(*lock.lock().ignore_poison(), 2);
    }
}
