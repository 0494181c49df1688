//! Runs polars isolated from the rest of the process: on its own thread, so that a panic becomes an error, and on no more cores
//! than the query may use.

use std::panic;
use std::sync::Once;
use std::thread;

use polars::prelude::{DataFrame, Engine, LazyFrame};
use polars_async::executor::ALLOW_RAYON_THREADS;

/// How queries are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// On all cores. Floating-point sums may differ in the last digit between machines.
    Fast,
    /// On one thread, so that a query returns the same result on every machine, and training keeps its cores.
    Exact,
}

/// polars panicked, as it does on some statements and on some damaged files.
pub(crate) struct Panicked;

/// The prefix of the names of polars' pool threads, which the query thread shares.
const THREADS: &str = "polars-";
/// As large as a main thread's stack: statements may be deeply nested.
const STACK: usize = 8 << 20;

/// Calls polars on a thread of its own.
pub(crate) fn run<T: Send>(work: Work, act: impl FnOnce() -> T + Send) -> Result<T, Panicked> {
    hide_panics();
    thread::scope(|scope| {
        let act = move || {
            // When this is false, polars uses no pool and computes on the calling thread.
            ALLOW_RAYON_THREADS.set(work == Work::Fast);
            act()
        };
        let thread = thread::Builder::new().name(format!("{THREADS}query")).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, act).map_err(|_| Panicked)?;
        thread.join().map_err(|_| Panicked)
    })
}

/// The rows of a frame, or polars' error message.
pub(crate) fn collect(lazy: &LazyFrame, work: Work) -> Result<DataFrame, String> {
    match run(work, || lazy.clone().collect_with_engine(Engine::InMemory)) {
        Ok(Ok(answer)) => Ok(answer.unwrap_single()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(Panicked) => Err("the SQL engine panicked".to_owned()),
    }
}

/// Hides polars' panic messages, which reach the caller as errors. The panic hook is global to the process; it stays unchanged for
/// all code but polars' own on polars' threads.
fn hide_panics() {
    static HIDDEN: Once = Once::new();
    HIDDEN.call_once(|| {
        let shown = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let is_own_thread = thread::current().name().is_some_and(|name| name.starts_with(THREADS));
            let is_own_code = panic.location().is_some_and(|location| location.file().contains(THREADS));
            if !(is_own_thread && is_own_code) {
                shown(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use polars::prelude::{DataFrame, IntoLazy, NamedFrom, Series, col};
    use polars_core::runtime::RAYON;

    use super::{Panicked, Work, collect, run};

    #[test]
    fn a_panic_becomes_an_error_and_the_next_query_works() {
        assert!(matches!(run(Work::Exact, || panic!("a panic that this test shows")), Err(Panicked)));
        let rows = DataFrame::new(2, vec![Series::new("n".into(), [1_i64, 2]).into()]).expect("a column");
        let sum = collect(&rows.lazy().select([col("n").sum()]), Work::Exact).expect("a sum");
        assert_eq!(sum.column("n").expect("n").get(0).expect("a row").extract::<i64>(), Some(3));
    }

    #[test]
    fn exact_queries_use_one_thread() {
        let threads = |work| run(work, || RAYON.current_num_threads()).unwrap_or_default();
        assert_eq!(threads(Work::Exact), 1);
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(threads(Work::Fast), all);
    }
}
