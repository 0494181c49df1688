//! One evaluator out of several: each batch is divided among threads.

use std::hint;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use super::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::encoding::Encoding;

/// How often a thread looks for its next part before it sleeps: some milliseconds, more than the search takes between two batches.
/// Threads that sleep between batches cost more than the time to wake them: Linux takes them for taking turns, and keeps them on one
/// core.
const LOOKS: u32 = 4_000;

/// After so many looks, some tens of microseconds, a thread lets others run before it looks again.
const BUSY_LOOKS: u32 = 2_000;

/// An evaluator that divides the rows of each batch among threads, each with an evaluator of its own.
///
/// The division depends on the number of rows only, so results do not depend on timing. A search that uses it is the same with
/// any number of threads, except that a row's last digits may depend on the rows that are evaluated with it.
pub struct Divided {
    own: Box<dyn Evaluator>,
    own_part: Part,
    helpers: Vec<Helper>,
}

/// Some rows of a batch, and their evaluations.
#[derive(Default)]
struct Part {
    batch: Batch,
    evaluations: Evaluations,
}

/// What a thread does for a batch.
enum Job {
    Evaluate(Box<Part>),
    StartShard,
}

struct Helper {
    /// Dropped to end the thread.
    jobs: Option<Sender<Job>>,
    /// The part, and its number of rows or why they could not be evaluated.
    answers: Receiver<(Box<Part>, Result<(), EvaluatorError>)>,
    thread: Option<JoinHandle<()>>,
    is_busy: bool,
    /// The last part, and the memory of the next one.
    part: Box<Part>,
}

impl Divided {
    /// Starts the threads; `make` is called on each of them, and on the caller's, for its evaluator.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn new<M>(threads: usize, make: M) -> Result<Self, EvaluatorError>
    where
        M: Fn() -> Result<Box<dyn Evaluator>, EvaluatorError> + Clone + Send + 'static,
    {
        let (ready, answers) = channel();
        let start = |_| Helper::start(make.clone(), ready.clone());
        let helpers: Vec<Helper> = (1..threads).map(start).collect();
        drop(ready);
        let own = make()?;
        for _ in &helpers {
            answers.recv().map_err(|_| ended(0)).flatten()?;
        }
        Ok(Self { own, own_part: Part::default(), helpers })
    }

    /// The rows of a batch that thread number `thread` evaluates. The caller's has number 0, and never fewer rows than others.
    fn rows(&self, thread: usize, rows: usize) -> Range<usize> {
        let threads = self.helpers.len() + 1;
        let start = |thread: usize| (thread * rows).div_ceil(threads);
        start(thread)..start(thread + 1)
    }
}

fn ended(rows: usize) -> EvaluatorError {
    EvaluatorError::Device { rows, cause: "a thread that evaluates has ended".to_owned() }
}

impl Evaluator for Divided {
    fn encoding(&self) -> &Encoding {
        self.own.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        for number in 0..self.helpers.len() {
            let rows = self.rows(number + 1, batch.len());
            self.helpers[number].give(batch, rows, self.own.encoding());
        }
        let own_rows = self.rows(0, batch.len());
        self.own_part.take_rows(batch, own_rows, self.own.encoding());
        let evaluated = self.own.evaluate(&self.own_part.batch, out);
        // Every answer is taken, even after an error: the next batch must not meet an old one.
        let mut first_row = self.own_part.batch.len();
        let answers: Vec<Result<(), EvaluatorError>> = self
            .helpers
            .iter_mut()
            .map(|helper| {
                let evaluated = helper.finish(out).map_err(|error| in_whole_batch(error, first_row));
                first_row += helper.part.batch.len();
                evaluated
            })
            .collect();
        std::iter::once(evaluated).chain(answers).collect()
    }

    fn start_shard(&mut self) {
        self.own.start_shard();
        for helper in &self.helpers {
            helper.send(Job::StartShard);
        }
    }
}

/// An error in a part that begins with this row of the batch.
fn in_whole_batch(error: EvaluatorError, first_row: usize) -> EvaluatorError {
    match error {
        EvaluatorError::NotFinite { row } => EvaluatorError::NotFinite { row: first_row + row },
        other => other,
    }
}

impl Part {
    fn take_rows(&mut self, batch: &Batch, rows: Range<usize>, encoding: &Encoding) {
        self.batch.clear();
        for row in rows {
            self.batch.push_row(batch, row, encoding);
        }
    }
}

impl Helper {
    fn start<M>(make: M, ready: Sender<Result<(), EvaluatorError>>) -> Self
    where
        M: FnOnce() -> Result<Box<dyn Evaluator>, EvaluatorError> + Send + 'static,
    {
        let ((jobs, work), (done, answers)) = (channel(), channel());
        let thread = thread::spawn(move || {
            let (mut evaluator, answer) = match make() {
                Ok(evaluator) => (Some(evaluator), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // The receiver is gone once another evaluator could not be made.
            let _gone = ready.send(answer);
            drop(ready);
            let Some(evaluator) = &mut evaluator else { return };
            while let Some(job) = next(&work) {
                match job {
                    Job::StartShard => evaluator.start_shard(),
                    Job::Evaluate(mut part) => {
                        let evaluated = evaluator.evaluate(&part.batch, &mut part.evaluations);
                        let _gone = done.send((part, evaluated));
                    }
                }
            }
        });
        Self { jobs: Some(jobs), answers, thread: Some(thread), is_busy: false, part: Box::default() }
    }

    /// A job that a thread which has ended does not get is noticed by [`finish`](Self::finish).
    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let _ended = jobs.send(job);
        }
    }

    /// Starts the evaluation of some rows; of none, nothing is started.
    fn give(&mut self, batch: &Batch, rows: Range<usize>, encoding: &Encoding) {
        self.part.take_rows(batch, rows, encoding);
        self.is_busy = !self.part.batch.is_empty();
        if self.is_busy {
            let part = std::mem::take(&mut self.part);
            self.send(Job::Evaluate(part));
        }
    }

    /// Waits for the rows given last, and adds their evaluations to `out`.
    fn finish(&mut self, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        if !std::mem::take(&mut self.is_busy) {
            return Ok(());
        }
        let (part, evaluated) = next(&self.answers).ok_or_else(|| ended(0))?;
        self.part = part;
        evaluated?;
        let Evaluations { policy, wdl, moves_left } = &self.part.evaluations;
        out.policy.extend_from_slice(policy);
        out.wdl.extend_from_slice(wdl);
        out.moves_left.extend_from_slice(moves_left);
        Ok(())
    }
}

/// The next message; `None` once the sender is gone.
fn next<T>(messages: &Receiver<T>) -> Option<T> {
    for look in 0..LOOKS {
        match messages.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if look < BUSY_LOOKS => hint::spin_loop(),
            Err(TryRecvError::Empty) => thread::yield_now(),
        }
    }
    messages.recv().ok()
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Divided;
    use crate::board::Game;
    use crate::encoding::Encoding;
    use crate::network::fake::{Hashed, Uniform};
    use crate::network::samples::{batch_of, encoding};
    use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

    /// Fails at rows of one position.
    struct Failing(Uniform, u64);

    impl Evaluator for Failing {
        fn encoding(&self) -> &Encoding {
            self.0.encoding()
        }

        fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
            self.0.evaluate(batch, out)?;
            let failing = batch.keys.iter().position(|key| *key == self.1);
            failing.map_or(Ok(()), |row| Err(EvaluatorError::NotFinite { row }))
        }
    }

    fn divided(threads: usize) -> Divided {
        Divided::new(threads, || Ok(Box::new(Hashed::new(encoding(), 1)))).expect("fakes are made")
    }

    #[test]
    fn a_divided_batch_has_the_evaluations_of_the_whole_one() {
        for threads in 1..=5 {
            let mut divided = divided(threads);
            for rows in [1, 2, 3, 4, 7, 16, 1, 40] {
                let batch = batch_of(0..rows);
                let (mut whole, mut out) = (Evaluations::default(), Evaluations::default());
                Hashed::new(encoding(), 1).evaluate(&batch, &mut whole).expect("fakes do not fail");
                divided.evaluate(&batch, &mut out).expect("fakes do not fail");
                assert!(out.policy == whole.policy && out.wdl == whole.wdl, "{rows} rows, {threads} threads");
            }
            divided.start_shard();
            let mut out = Evaluations::default();
            divided.evaluate(&Batch::default(), &mut out).expect("no rows");
            assert!(out.wdl.is_empty());
        }
    }

    #[test]
    fn rows_are_divided_evenly() {
        let divided = divided(3);
        for rows in 0..20 {
            let parts = [0, 1, 2].map(|thread| divided.rows(thread, rows));
            assert_eq!((parts[0].start, parts[2].end), (0, rows));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            let sizes = parts.map(|part| part.len());
            assert!(sizes.iter().all(|size| *size <= sizes[0] && sizes[0] - size <= 1), "{sizes:?}");
        }
    }

    #[test]
    fn an_error_names_the_row_of_the_whole_batch_and_the_next_batch_is_not_affected() {
        let (good, bad) = (Game::initial(), Game::from_text("startpos moves e2e4").expect("a game"));
        let key = bad.key();
        let mut divided =
            Divided::new(3, move || Ok(Box::new(Failing(Uniform::new(encoding()), key)))).expect("made");
        let mut out = Evaluations::default();
        for failing in 0..7 {
            let mut batch = Batch::default();
            (0..7).for_each(|row| batch.push(&encoding(), if row == failing { &bad } else { &good }));
            let error = divided.evaluate(&batch, &mut out).expect_err("one row fails");
            assert!(matches!(error, EvaluatorError::NotFinite { row } if row == failing), "{error}");
            batch.clear();
            (0..4).for_each(|_| batch.push(&encoding(), &good));
            divided.evaluate(&batch, &mut out).expect("good rows");
            assert_eq!(out.wdl.len(), 4);
        }
    }

    #[test]
    fn an_evaluator_that_cannot_be_made_is_an_error() {
        let make = || Err(EvaluatorError::Device { rows: 0, cause: "no device".to_owned() });
        assert!(Divided::new(3, make).is_err());
    }
}
