//! One evaluator out of several: each batch is divided among threads.

use std::hint;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use super::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::encoding::Encoding;

/// How often a thread looks for its next part before it sleeps: some tenths of a millisecond, more than the search takes between two
/// batches. Threads that sleep between batches cost more than the time to wake them: Linux takes them for taking turns, and keeps them
/// on one core. A thread that yields instead waits for other programs' whole slices.
const LOOKS: u32 = 20_000;

/// An evaluator that divides the rows of each batch among threads, each with an evaluator of its own.
///
/// The division depends on the number of rows only, so results do not depend on timing. A search that uses it is the same with
/// any number of threads, except that a row's last digits may depend on the rows that are evaluated with it.
///
/// A part that its thread has not begun when the caller's own is done is evaluated by the caller: where other programs keep the cores
/// busy, the threads are not waited for.
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
    /// Why the rows could not be evaluated.
    error: Option<EvaluatorError>,
}

/// What a part waits for.
mod stage {
    /// For rows.
    pub(super) const IDLE: u8 = 0;
    /// For a thread that evaluates it.
    pub(super) const READY: u8 = 1;
    /// For its evaluations: the thread has begun, and holds the part's lock until it is done.
    pub(super) const BEGUN: u8 = 2;
    /// For nothing: the thread is to end.
    pub(super) const ENDED: u8 = 3;
}

/// A part that the caller and a thread share.
#[derive(Default)]
struct SharedPart {
    part: Mutex<Part>,
    stage: AtomicU8,
    /// Whether the thread is to start a shard, at the latest before its next part.
    starts_shard: AtomicBool,
}

struct Helper {
    shared: Arc<SharedPart>,
    thread: Option<JoinHandle<()>>,
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
            answers.recv().map_err(|_| ended()).flatten()?;
        }
        Ok(Self { own, own_part: Part::default(), helpers })
    }

    /// Adds the evaluations of the threads' parts, which begin with this row of the batch. Every part is finished, even after an error:
    /// the next batch must not meet an old one. After a panic that does not matter, since no later batch succeeds.
    fn finish_helpers(&mut self, mut first_row: usize, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let mut result = Ok(());
        for helper in &self.helpers {
            let mut part = helper.finish(&mut *self.own)?;
            let error = part.error.take().map(|error| in_whole_batch(error, first_row));
            result = result.and(error.map_or(Ok(()), Err));
            first_row += part.batch.len();
            if out.wdl.is_empty() {
                mem::swap(out, &mut part.evaluations);
                continue;
            }
            out.policy.extend_from_slice(&part.evaluations.policy);
            out.wdl.extend_from_slice(&part.evaluations.wdl);
            out.moves_left.extend_from_slice(&part.evaluations.moves_left);
        }
        result
    }
}

/// The rows of one of several parts of a batch; the first part never has fewer than others.
fn rows_of(part: usize, parts: usize, rows: usize) -> Range<usize> {
    let start = |part: usize| (part * rows).div_ceil(parts);
    start(part)..start(part + 1)
}

fn ended() -> EvaluatorError {
    EvaluatorError::Make { cause: "a thread that evaluates has ended".to_owned() }
}

impl Evaluator for Divided {
    fn encoding(&self) -> &Encoding {
        self.own.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let parts = self.helpers.len() + 1;
        for (part, helper) in (1..).zip(&self.helpers) {
            helper.give(batch, rows_of(part, parts, batch.len()), self.own.encoding())?;
        }
        let own_rows = rows_of(0, parts, batch.len());
        self.own_part.take_rows(batch, own_rows, self.own.encoding());
        let evaluated = self.own.evaluate(&self.own_part.batch, out);
        let finished = self.finish_helpers(self.own_part.batch.len(), out);
        evaluated.and(finished)
    }

    /// Gives all rows to the threads.
    fn begin(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        let parts = self.helpers.len();
        for (part, helper) in self.helpers.iter().enumerate() {
            helper.give(batch, rows_of(part, parts, batch.len()), self.own.encoding())?;
        }
        Ok(())
    }

    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        if self.helpers.is_empty() {
            return self.own.evaluate(batch, out);
        }
        out.clear();
        self.finish_helpers(0, out)
    }

    fn start_shard(&mut self) {
        self.own.start_shard();
        for helper in &self.helpers {
            helper.shared.starts_shard.store(true, Ordering::Release);
            helper.wake();
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

    fn evaluate_by(&mut self, evaluator: &mut dyn Evaluator) {
        self.error = evaluator.evaluate(&self.batch, &mut self.evaluations).err();
    }
}

impl SharedPart {
    fn stage(&self) -> u8 {
        self.stage.load(Ordering::Acquire)
    }

    /// Whether this thread is the one that moves the part from a stage to another.
    fn moves(&self, from: u8, to: u8) -> bool {
        self.stage.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Locks the part; an error if its thread has ended within an evaluation.
    fn lock(&self) -> Result<MutexGuard<'_, Part>, EvaluatorError> {
        self.part.lock().map_err(|_| ended())
    }

    /// Looks some times whether the part is at another stage.
    fn looks_past(&self, stage: u8) -> bool {
        for _ in 0..LOOKS {
            if self.stage() != stage {
                return true;
            }
            hint::spin_loop();
        }
        false
    }

    /// Starts a shard if the thread is to.
    fn start_shard(&self, evaluator: &mut dyn Evaluator) {
        if self.starts_shard.swap(false, Ordering::Acquire) {
            evaluator.start_shard();
        }
    }

    /// The work of a thread, until it is to end.
    fn work(&self, evaluator: &mut dyn Evaluator) {
        loop {
            match self.stage() {
                stage::ENDED => return,
                stage::READY => {
                    let Ok(mut part) = self.lock() else { return };
                    if self.moves(stage::READY, stage::BEGUN) {
                        self.start_shard(evaluator);
                        part.evaluate_by(evaluator);
                        // The caller may have dropped the evaluator.
                        self.moves(stage::BEGUN, stage::IDLE);
                    }
                }
                waiting => {
                    if self.starts_shard.load(Ordering::Relaxed) {
                        // A panic poisons the lock, as one within an evaluation does.
                        let Ok(_part) = self.lock() else { return };
                        self.start_shard(evaluator);
                    }
                    if !self.looks_past(waiting) {
                        thread::park();
                    }
                }
            }
        }
    }
}

impl Helper {
    fn start<M>(make: M, ready: Sender<Result<(), EvaluatorError>>) -> Self
    where
        M: FnOnce() -> Result<Box<dyn Evaluator>, EvaluatorError> + Send + 'static,
    {
        let shared = Arc::<SharedPart>::default();
        let own = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let (mut evaluator, answer) = match make() {
                Ok(evaluator) => (Some(evaluator), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // The receiver is gone once another evaluator could not be made.
            let _gone = ready.send(answer);
            drop(ready);
            if let Some(evaluator) = &mut evaluator {
                own.work(evaluator.as_mut());
            }
        });
        Self { shared, thread: Some(thread) }
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// Offers some rows to the thread; of none, it need not know.
    fn give(&self, batch: &Batch, rows: Range<usize>, encoding: &Encoding) -> Result<(), EvaluatorError> {
        let mut part = self.shared.lock()?;
        part.evaluations.clear();
        part.take_rows(batch, rows, encoding);
        if !part.batch.is_empty() {
            self.shared.stage.store(stage::READY, Ordering::Release);
            drop(part);
            self.wake();
        }
        Ok(())
    }

    /// The rows offered last, evaluated: by the thread if it has begun, or by the caller's evaluator.
    fn finish(&self, own: &mut dyn Evaluator) -> Result<MutexGuard<'_, Part>, EvaluatorError> {
        if self.shared.moves(stage::READY, stage::IDLE) {
            let mut part = self.shared.lock()?;
            part.evaluate_by(own);
            return Ok(part);
        }
        self.shared.looks_past(stage::BEGUN);
        self.shared.lock()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.shared.stage.store(stage::ENDED, Ordering::Release);
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Divided, Helper, Part, SharedPart, rows_of};
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{self, ThreadId};
    use std::time::Duration;

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

    /// Fails in another shard than the one that it was started for last.
    struct Started {
        inner: Uniform,
        /// The number of the shard that it was started for.
        own: usize,
        /// The number of the shard now.
        shard: Arc<AtomicUsize>,
        starts: Sender<(ThreadId, usize)>,
    }

    impl Evaluator for Started {
        fn encoding(&self) -> &Encoding {
            self.inner.encoding()
        }

        fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
            self.inner.evaluate(batch, out)?;
            let is_started = self.own == self.shard.load(Ordering::Relaxed);
            if is_started { Ok(()) } else { Err(EvaluatorError::NotFinite { row: 0 }) }
        }

        fn start_shard(&mut self) {
            self.own = self.shard.load(Ordering::Relaxed);
            self.starts.send((thread::current().id(), self.own)).expect("the test waits");
        }
    }

    /// Panics in every thread but the one that made the batches.
    struct Panicking(Uniform, std::thread::ThreadId);

    impl Evaluator for Panicking {
        fn encoding(&self) -> &Encoding {
            self.0.encoding()
        }

        fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
            assert_eq!(std::thread::current().id(), self.1, "a planted panic");
            self.0.evaluate(batch, out)
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
    fn a_batch_that_was_begun_has_the_evaluations_of_the_whole_one() {
        for threads in 2..=4 {
            let mut divided = divided(threads);
            for rows in [1, 2, 3, 8, 0, 5] {
                let batch = batch_of(0..rows);
                let (mut whole, mut out) = (Evaluations::default(), Evaluations::default());
                Hashed::new(encoding(), 1).evaluate(&batch, &mut whole).expect("fakes do not fail");
                divided.begin(&batch).expect("the threads live");
                divided.finish(&batch, &mut out).expect("fakes do not fail");
                assert!(out.policy == whole.policy && out.wdl == whole.wdl, "{rows} rows, {threads} threads");
            }
        }
    }

    #[test]
    fn rows_are_divided_evenly() {
        for rows in 0..20 {
            let parts = [0, 1, 2].map(|part| rows_of(part, 3, rows));
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
    fn parts_that_no_thread_begins_are_evaluated_by_the_caller() {
        let absent = || Helper { shared: Arc::<SharedPart>::default(), thread: None };
        let own = Box::new(Hashed::new(encoding(), 1));
        let mut divided = Divided { own, own_part: Part::default(), helpers: vec![absent(), absent()] };
        for rows in [7, 1, 16] {
            let batch = batch_of(0..rows);
            let (mut whole, mut out) = (Evaluations::default(), Evaluations::default());
            Hashed::new(encoding(), 1).evaluate(&batch, &mut whole).expect("fakes do not fail");
            divided.evaluate(&batch, &mut out).expect("fakes do not fail");
            assert!(out.policy == whole.policy && out.wdl == whole.wdl, "{rows} rows");
        }
    }

    #[test]
    fn every_thread_starts_a_shard_before_its_rows_and_without_any() {
        let (starts, started) = channel();
        let shard = Arc::<AtomicUsize>::default();
        let number = Arc::clone(&shard);
        let make = move || -> Result<Box<dyn Evaluator>, EvaluatorError> {
            let (shard, starts) = (Arc::clone(&number), starts.clone());
            Ok(Box::new(Started { inner: Uniform::new(encoding()), own: 0, shard, starts }))
        };
        let mut divided = Divided::new(3, make).expect("made");
        for number in 1..=200 {
            shard.store(number, Ordering::Relaxed);
            divided.start_shard();
            for _ in 0..3 {
                divided.evaluate(&batch_of(0..16), &mut Evaluations::default()).expect("all are started");
            }
        }
        shard.store(201, Ordering::Relaxed);
        divided.start_shard();
        let mut threads = BTreeSet::new();
        while threads.len() < 3 {
            let (thread, number) =
                started.recv_timeout(Duration::from_mins(1)).expect("every thread starts it");
            if number == 201 {
                threads.insert(format!("{thread:?}"));
            }
        }
    }

    #[test]
    fn a_thread_that_panicked_is_an_error_of_this_batch_and_of_the_next() {
        let caller = std::thread::current().id();
        let mut divided =
            Divided::new(2, move || Ok(Box::new(Panicking(Uniform::new(encoding()), caller)))).expect("made");
        let mut out = Evaluations::default();
        // The caller takes parts back that the thread has not begun, so the first batches may succeed.
        let fails = |divided: &mut Divided, out: &mut Evaluations| {
            divided.evaluate(&batch_of(0..16), out).err().map(|error| error.to_string())
        };
        let first =
            (0..10_000).find_map(|_| fails(&mut divided, &mut out)).expect("the thread begins a part");
        assert!(first.contains("a thread that evaluates has ended"), "{first}");
        assert_eq!(fails(&mut divided, &mut out), Some(first));
    }

    #[test]
    fn an_evaluator_that_cannot_be_made_is_an_error() {
        let make = || Err(EvaluatorError::Make { cause: "no device".to_owned() });
        assert!(Divided::new(3, make).is_err());
    }
}
