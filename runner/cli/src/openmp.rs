//! How libtorch's threads wait for each other.

/// Says how OpenMP threads wait: `passive` lets them sleep.
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";
/// GNU's finer setting of the same; whoever gives it has chosen.
const SPIN_COUNT: &str = "GOMP_SPINCOUNT";

/// Looks at its flag as often before a waiting thread sleeps: some tens of microseconds, about what waking it takes.
const SPINS: &str = "20000";

/// Makes waiting threads sleep soon, unless the user has chosen otherwise; to be called before anything else.
///
/// By default GNU's OpenMP spins for very long. As soon as another program wants one of the cores, the spinning threads keep the
/// one they wait for from running. Threads that sleep at once must be woken some hundred times in an update, which takes longer
/// than a small net's work; `docs/performance.md` has both measured. The library reads its settings before `main`, so the program
/// starts itself again with the setting; process and terminal stay the same.
#[cfg(target_os = "linux")]
pub(crate) fn let_waiting_threads_sleep() {
    use std::os::unix::process::CommandExt;

    let Ok(program) = std::env::current_exe() else { return };
    if has_chosen(|name| std::env::var_os(name).is_some()) {
        return;
    }
    let mut again = std::process::Command::new(program);
    let again = again.args(std::env::args_os().skip(1)).env(SPIN_COUNT, SPINS).exec();
    // Only reached where the program cannot be started again; it then runs as it is, which is slower under load.
    log::debug!("cannot set {SPIN_COUNT}: {again}");
}

/// Whether it is said how threads wait, by the user or by this program when it started itself again.
#[cfg(target_os = "linux")]
fn has_chosen(is_set: impl Fn(&str) -> bool) -> bool {
    [WAIT_POLICY, SPIN_COUNT].into_iter().any(is_set)
}

/// Other systems' libraries do not spin for long.
#[cfg(not(target_os = "linux"))]
pub(crate) fn let_waiting_threads_sleep() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{SPIN_COUNT, WAIT_POLICY, has_chosen};

    #[test]
    fn the_users_word_on_waiting_holds_and_the_program_starts_again_once() {
        assert!(!has_chosen(|_| false));
        assert!(has_chosen(|name| name == WAIT_POLICY) && has_chosen(|name| name == SPIN_COUNT));
    }
}
