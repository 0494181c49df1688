//! Where polars computes, fenced off from the rest of the process: on a thread of its own, so that a panic is an answer, and on no
//! more cores than the question may take.

use std::panic;
use std::sync::Once;
use std::thread;

use polars::prelude::{DataFrame, Engine, LazyFrame};
use polars_async::executor::ALLOW_RAYON_THREADS;

/// How answers are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// By all cores. Sums of fractions may differ in their last digit from machine to machine.
    Fast,
    /// By one thread, so that equal questions to equal tables get equal answers on any machine, and training keeps its cores.
    Exact,
}

/// polars has panicked, as it does on some statements and on some damaged files.
pub(crate) struct GaveUp;

/// The threads of polars' own pool have names that begin so; that of a question has one like them.
const THREADS: &str = "polars-";
/// As much as a main thread has: statements may be nested deeply.
const STACK: usize = 8 << 20;

/// Does something with polars.
pub(crate) fn run<T: Send>(work: Work, act: impl FnOnce() -> T + Send) -> Result<T, GaveUp> {
    hide_panics();
    thread::scope(|scope| {
        let act = move || {
            // Where this is false polars takes no pool, and computes on the thread that asks.
            ALLOW_RAYON_THREADS.set(work == Work::Fast);
            act()
        };
        let thread = thread::Builder::new().name(format!("{THREADS}question")).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, act).map_err(|_| GaveUp)?;
        thread.join().map_err(|_| GaveUp)
    })
}

/// The rows of a frame, or what polars says.
pub(crate) fn collect(lazy: &LazyFrame, work: Work) -> Result<DataFrame, String> {
    match run(work, || lazy.clone().collect_with_engine(Engine::InMemory)) {
        Ok(Ok(answer)) => Ok(answer.unwrap_single()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(GaveUp) => Err("the engine gave up".to_owned()),
    }
}

/// Who asked is told in an error, so polars' panics are not shown. What is shown is one setting of the whole process, which this
/// changes for polars' code on polars' threads alone.
fn hide_panics() {
    static HIDDEN: Once = Once::new();
    HIDDEN.call_once(|| {
        let shown = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let is_own_thread = thread::current().name().is_some_and(|name| name.starts_with(THREADS));
            let is_own_code = panic.location().is_some_and(|place| place.file().contains(THREADS));
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

    use super::{GaveUp, Work, collect, run};

    #[test]
    fn a_panic_is_an_answer_and_the_next_question_is_not_touched_by_it() {
        assert!(matches!(run(Work::Exact, || panic!("a panic that this test shows")), Err(GaveUp)));
        let rows = DataFrame::new(2, vec![Series::new("n".into(), [1_i64, 2]).into()]).expect("a column");
        let sum = collect(&rows.lazy().select([col("n").sum()]), Work::Exact).expect("a sum");
        assert_eq!(sum.column("n").expect("n").get(0).expect("a row").extract::<i64>(), Some(3));
    }

    #[test]
    fn exact_work_has_one_thread() {
        let threads = |work| run(work, || RAYON.current_num_threads()).unwrap_or_default();
        assert_eq!(threads(Work::Exact), 1);
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(threads(Work::Fast), all);
    }
}
