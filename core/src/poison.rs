//! Locks after a panic.
//!
//! A thread that panics with a lock held poisons it. The panic is reported where its thread is joined; what the lock guards is
//! whole between any two statements, so the others go on with it instead of panicking too.

use std::sync::{LockResult, PoisonError};

/// What a lock, a condition variable or the end of a mutex gives, poisoned or not.
pub trait IgnorePoison {
    /// The guard, or the value.
    type Guarded;

    /// The guard or value, whether or not a thread panicked with the lock held; for data that is whole at every statement.
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
    fn a_lock_is_taken_after_a_panic_of_its_holder() {
        let lock = Arc::new(Mutex::new(1));
        let theirs = Arc::clone(&lock);
        let holder = thread::spawn(move || {
            let mut held = theirs.lock().ignore_poison();
            *held = 2;
            panic!("with the lock held");
        });
        assert!(holder.join().is_err() && lock.is_poisoned());
        assert_eq!(*lock.lock().ignore_poison(), 2);
    }
}
