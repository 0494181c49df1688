//! How libtorch's threads wait for each other.

#[cfg(target_os = "linux")]
use std::ffi::OsString;

#[cfg(target_os = "linux")]
use dc0_analysis::ONE_THREAD;

/// Says how OpenMP threads wait: `passive` lets them sleep.
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";
/// GNU's finer setting of the same; whoever gives it has chosen.
const SPIN_COUNT: &str = "GOMP_SPINCOUNT";

/// Looks at its flag as often before a waiting thread sleeps: some tens of microseconds, about what waking it takes.
const SPINS: &str = "20000";

/// Makes waiting threads sleep soon, unless the user has chosen otherwise, and one thread compute answers to questions; to be
/// called before anything else.
///
/// By default GNU's OpenMP spins for very long. As soon as another program wants one of the cores, the spinning threads keep the
/// one they wait for from running. Threads that sleep at once must be woken some hundred times in an update, which takes longer
/// than a small net's work; `docs/performance.md` has both measured. The library reads its settings before `main`, so the program
/// starts itself again with the setting; process and terminal stay the same.
#[cfg(target_os = "linux")]
pub(crate) fn let_waiting_threads_sleep() {
    use std::os::unix::process::CommandExt;

    let missing = missing(|name| std::env::var_os(name));
    let Ok(program) = std::env::current_exe() else { return };
    if missing.is_empty() {
        return;
    }
    let mut again = std::process::Command::new(program);
    let again = again.args(std::env::args_os().skip(1)).envs(missing.iter().copied()).exec();
    // Only reached where the program cannot be started again; it then runs as it is, which is slower under load.
    log::debug!("cannot set {missing:?}: {again}");
}

/// What has to be set. How threads wait is the user's choice; that one thread computes answers is not: beside training there is no
/// core to spare for tables, and equal questions of a script get equal answers on any machine.
#[cfg(target_os = "linux")]
fn missing(known: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, &'static str)> {
    let has_chosen = [WAIT_POLICY, SPIN_COUNT].iter().any(|name| known(name).is_some());
    let spins = (!has_chosen).then_some((SPIN_COUNT, SPINS));
    let is_one = known(ONE_THREAD.0).is_some_and(|threads| threads == ONE_THREAD.1);
    spins.into_iter().chain((!is_one).then_some(ONE_THREAD)).collect()
}

/// Other systems' libraries do not spin for long.
#[cfg(not(target_os = "linux"))]
pub(crate) fn let_waiting_threads_sleep() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use dc0_analysis::ONE_THREAD;

    use super::{SPIN_COUNT, SPINS, WAIT_POLICY, missing};

    #[test]
    fn one_thread_computes_answers_whatever_the_user_says_of_waiting() {
        let of = |known: &[(&str, &str)]| {
            missing(|name| known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into()))
        };
        assert_eq!(of(&[]), [(SPIN_COUNT, SPINS), ONE_THREAD]);
        assert_eq!(of(&[(WAIT_POLICY, "active")]), [ONE_THREAD]);
        assert_eq!(of(&[(SPIN_COUNT, "7"), (ONE_THREAD.0, "8")]), [ONE_THREAD]);
        assert!(of(&[(SPIN_COUNT, SPINS), ONE_THREAD]).is_empty(), "it starts again once");
    }
}
