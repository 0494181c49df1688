//! Searching threads, each with its own copy of the net, which it keeps from search to search.
//!
//! On a CPU one thread searches, and the rows of its batches are divided among the threads: then the search does not depend on their
//! number. A net whose batches take no longer than the search for them is evaluated by the other threads meanwhile. On other devices
//! every thread searches with batches of its own, so that the device works while threads gather and apply.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use dc0_backend::is_by_rows;
use dc0_core::board::Game;
use dc0_core::network::torch::Device;
use dc0_core::network::{Batch, Divided, Evaluations, Evaluator, EvaluatorError};
#[cfg(doc)]
use dc0_core::search::SharedSearch;

use super::options::{Settings, SettingsError};
use crate::hash_cache::HashCache;

/// Work for one thread.
pub(super) type Task = Box<dyn FnOnce(&mut dyn Evaluator) -> Result<(), EvaluatorError> + Send>;

/// Where a thread sends the result of its task.
type Done = Sender<Result<(), EvaluatorError>>;

/// The threads for one set of options.
pub(super) struct Pool {
    workers: Vec<Worker>,
    /// Whether the halves of a leaf batch take turns.
    takes_turns: bool,
    settings: Settings,
    cache: HashCache,
}

struct Worker {
    /// Dropped to end the thread.
    tasks: Option<Sender<(Task, Done)>>,
    thread: Option<JoinHandle<()>>,
}

impl Pool {
    /// Starts the threads and waits until each has its copy.
    pub(super) fn new(settings: &Settings) -> Result<Self, EvaluatorError> {
        let failed = |cause: SettingsError| EvaluatorError::Make { cause: cause.to_string() };
        let (net, evaluators) = (Arc::clone(&settings.net), settings.evaluators().map_err(failed)?);
        let (searching, dividing) = match evaluators.device_for(&net.spec) {
            Device::Cpu => (1, settings.threads),
            _ => (settings.threads, 1),
        };
        let takes_turns = is_by_rows(&net.spec);
        // Where rows are evaluated one after the other, looking into a cache is divided as well.
        let caches = if takes_turns { searching * dividing } else { searching };
        let cache = HashCache::new(settings.hash, caches);
        let rows = settings.search.leaf_batch.div_ceil(dividing) as usize;
        let (ready, answers) = channel();
        let start = |_| {
            let (net, evaluators, cache) = (Arc::clone(&net), Arc::clone(&evaluators), cache.clone());
            let make_one = move || {
                let mut evaluator = evaluators.make(&net)?;
                warm_up(evaluator.as_mut(), rows)?;
                Ok(evaluator)
            };
            let make = move || {
                if takes_turns {
                    return divided(dividing, move || Ok(cache.with(make_one()?)));
                }
                Ok(cache.with(divided(dividing, make_one)?))
            };
            Worker::start(make, ready.clone())
        };
        let workers = (0..searching).map(start).collect();
        drop(ready);
        let pool = Self { workers, takes_turns, settings: settings.clone(), cache };
        first_error(&answers, pool.workers.len())?;
        Ok(pool)
    }

    /// Whether these threads fit the settings.
    pub(super) fn fits(&self, settings: &Settings) -> bool {
        self.settings.same_threads(settings)
    }

    /// The same threads, in place of those that the settings ask for.
    pub(super) fn serving(self, settings: &Settings) -> Self {
        Self { settings: settings.clone(), ..self }
    }

    /// The cache of the threads.
    pub(super) fn cache(&self) -> &HashCache {
        &self.cache
    }

    /// Whether the halves of a leaf batch take turns: the only thread that searches calls [`SharedSearch::work_in_turns`].
    pub(super) fn takes_turns(&self) -> bool {
        self.takes_turns
    }

    /// Drops all cached evaluations.
    pub(super) fn clear_cache(&self) -> Result<(), EvaluatorError> {
        self.all(|_| {
            Box::new(|evaluator| {
                evaluator.start_shard();
                Ok(())
            })
        })
    }

    /// Gives every thread its task and waits for all; the first error of any.
    pub(super) fn all(&self, task_of: impl Fn(usize) -> Task) -> Result<(), EvaluatorError> {
        let (done, answers) = channel();
        for (number, worker) in self.workers.iter().enumerate() {
            worker.give(task_of(number), done.clone());
        }
        drop(done);
        first_error(&answers, self.workers.len())
    }

    /// Gives one thread a task and waits for it.
    pub(super) fn one(&self, task: Task) -> Result<(), EvaluatorError> {
        let (done, answers) = channel();
        self.workers[0].give(task, done);
        first_error(&answers, 1)
    }
}

/// An evaluator that works on this many threads.
fn divided<M>(threads: u32, make: M) -> Result<Box<dyn Evaluator>, EvaluatorError>
where
    M: Fn() -> Result<Box<dyn Evaluator>, EvaluatorError> + Clone + Send + 'static,
{
    if threads == 1 { make() } else { Ok(Box::new(Divided::new(threads as usize, make)?)) }
}

/// Evaluates a position alone and in a batch: the first evaluation of each size takes several times as long as those after it, which
/// a short clock has no time for.
fn warm_up(evaluator: &mut dyn Evaluator, rows: usize) -> Result<(), EvaluatorError> {
    let (encoding, game) = (evaluator.encoding().clone(), Game::initial());
    for rows in [1, rows] {
        let mut batch = Batch::default();
        (0..rows).for_each(|_| batch.push(&encoding, &game));
        evaluator.evaluate(&batch, &mut Evaluations::default())?;
    }
    Ok(())
}

/// Waits for answers; a thread that ends without one has failed.
fn first_error(answers: &Receiver<Result<(), EvaluatorError>>, count: usize) -> Result<(), EvaluatorError> {
    let ended = |_| EvaluatorError::Make { cause: "a thread of the engine ended".to_owned() };
    let all: Vec<Result<(), EvaluatorError>> =
        (0..count).map(|_| answers.recv().map_err(ended).and_then(|answer| answer)).collect();
    all.into_iter().collect()
}

impl Worker {
    fn start(
        make: impl FnOnce() -> Result<Box<dyn Evaluator>, EvaluatorError> + Send + 'static,
        ready: Done,
    ) -> Self {
        let (tasks, work) = channel::<(Task, Done)>();
        let thread = thread::spawn(move || {
            let (mut evaluator, answer) = match make() {
                Ok(evaluator) => (Some(evaluator), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // The receiver is gone once the engine ends.
            let _ended = ready.send(answer);
            drop(ready);
            for (task, done) in work {
                let Some(evaluator) = &mut evaluator else { return };
                let _ended = done.send(task(evaluator.as_mut()));
            }
        });
        Self { tasks: Some(tasks), thread: Some(thread) }
    }

    /// A thread that has ended drops the task with its `done`, so the receiver does not wait in vain.
    fn give(&self, task: Task, done: Done) {
        if let Some(tasks) = &self.tasks {
            let _ended = tasks.send((task, done));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Settings;
    use super::Pool;

    #[test]
    fn halves_take_turns_with_nets_that_are_evaluated_row_by_row() {
        let mut settings = Settings::new(None).expect("the shipped net, on the CPU");
        settings.set("Threads", "2").expect("a number");
        let takes_turns = |settings: &Settings| Pool::new(settings).expect("threads start").takes_turns();
        assert!(takes_turns(&settings));
        settings.set("DC0Model", "shipped:az_small").expect("a shipped net");
        assert!(!takes_turns(&settings));
    }
}
