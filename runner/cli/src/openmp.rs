//! How libtorch's threads wait for each other.

#[cfg(target_os = "linux")]
use dc0_core::network::torch::runtime;

/// How OpenMP threads wait: `passive` lets them sleep.
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";
/// GNU's finer setting of the same. A user who sets either has chosen.
const SPIN_COUNT: &str = "GOMP_SPINCOUNT";

/// How often a waiting thread polls before it sleeps: some tens of microseconds, about as long as waking it takes.
const SPINS: &str = "20000";

/// Makes waiting threads sleep soon, unless the user has chosen otherwise. Must be called before anything else.
///
/// By default GNU's OpenMP spins for very long. If another program uses one of the cores, the spinning threads keep the thread
/// they wait for from running. Threads that sleep at once must be woken some hundred times in an update, which takes longer than
/// a small net's work; `docs/performance.md` has measurements of both. The library, which comes with libtorch, reads its settings
/// when it is loaded. Where that has happened before `main`, the program restarts itself; process and terminal stay the same.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a variable of the environment has no safe interface")]
pub(crate) fn let_waiting_threads_sleep() {
    use std::os::unix::process::CommandExt;

    if has_chosen(|name| std::env::var_os(name).is_some()) {
        return;
    }
    if !runtime::is_loaded() {
        // SAFETY: the program has one thread.
        unsafe { std::env::set_var(SPIN_COUNT, SPINS) };
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut restart = std::process::Command::new(program);
    let error = restart.args(std::env::args_os().skip(1)).env(SPIN_COUNT, SPINS).exec();
    // Only reached if the restart fails; the program then runs as it is, which is slower under load.
    log::debug!("cannot set {SPIN_COUNT}: {error}");
}

/// Whether the way of waiting is set, by the user or by this program's restart.
#[cfg(target_os = "linux")]
fn has_chosen(is_set: impl Fn(&str) -> bool) -> bool {
    [WAIT_POLICY, SPIN_COUNT].into_iter().any(is_set)
}

/// The libraries of other systems do not spin for long.
#[cfg(not(target_os = "linux"))]
pub(crate) fn let_waiting_threads_sleep() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{SPIN_COUNT, WAIT_POLICY, has_chosen};

    #[test]
    fn a_wait_policy_that_is_set_is_kept() {
        assert!(!has_chosen(|_| false));
        assert!(has_chosen(|name| name == WAIT_POLICY) && has_chosen(|name| name == SPIN_COUNT));
    }
}
