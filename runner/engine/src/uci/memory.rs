//! What the evaluators remember (the option `Hash`).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dc0_core::encoding::Encoding;
use dc0_core::network::{Batch, Cached, Evaluations, Evaluator, EvaluatorError};

/// Memory for answers, shared out evenly among the threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// Answers that one thread remembers.
    each: usize,
    /// Answers that all remember.
    all: usize,
    /// Answers that are remembered now.
    used: Arc<AtomicUsize>,
}

impl Memory {
    /// Of some MiB for some threads.
    pub(super) fn new(mebibytes: u32, threads: u32) -> Self {
        let answers = (mebibytes as usize * (1 << 20)) / Cached::BYTES_EACH;
        let each = answers / threads.max(1) as usize;
        Self { each, all: each * threads as usize, used: Arc::default() }
    }

    /// An evaluator that remembers its answers; the same one if there is no memory.
    pub(super) fn with(&self, inner: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
        if self.each == 0 {
            return inner;
        }
        Box::new(Remembering { cached: Cached::new(inner, self.each), told: 0, used: Arc::clone(&self.used) })
    }

    /// How full it is, in thousandths.
    pub(super) fn permill(&self) -> u32 {
        (self.used.load(Ordering::Relaxed) * 1000).checked_div(self.all).unwrap_or(0) as u32
    }
}

/// A thread's evaluator, which tells how much it remembers.
struct Remembering {
    cached: Cached,
    /// What the sum of all has of this one.
    told: usize,
    used: Arc<AtomicUsize>,
}

impl Remembering {
    fn tell(&mut self) {
        let now = self.cached.len();
        self.used.fetch_add(now, Ordering::Relaxed);
        self.used.fetch_sub(self.told, Ordering::Relaxed);
        self.told = now;
    }
}

impl Evaluator for Remembering {
    fn encoding(&self) -> &Encoding {
        self.cached.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let evaluated = self.cached.evaluate(batch, out);
        self.tell();
        evaluated
    }

    fn start_shard(&mut self) {
        self.cached.start_shard();
        self.tell();
    }

    fn cache_hits(&self) -> u64 {
        self.cached.cache_hits()
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Game;
    use dc0_core::encoding::{Encoding, EncodingName, Orientation};
    use dc0_core::network::fake::Hashed;
    use dc0_core::network::{Batch, Cached, Evaluations, Evaluator};

    use super::Memory;

    fn evaluator() -> Box<dyn Evaluator> {
        Box::new(Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 1))
    }

    #[test]
    fn answers_of_all_threads_fill_the_memory_until_they_are_forgotten() {
        let memory = Memory::new(1, 2);
        let half = (1 << 20) / Cached::BYTES_EACH / 2;
        assert_eq!((memory.each, memory.all), (half, 2 * half));
        let mut threads = [memory.with(evaluator()), memory.with(evaluator())];
        let games = ["startpos", "startpos moves e2e4", "startpos moves d2d4"];
        for thread in &mut threads {
            let mut batch = Batch::default();
            for game in games {
                batch.push(thread.encoding(), &Game::from_text(game).expect("a game"));
            }
            thread.evaluate(&batch, &mut Evaluations::default()).expect("fakes do not fail");
        }
        assert_eq!(memory.permill() as usize, 6 * 1000 / memory.all);
        threads[0].start_shard();
        assert_eq!(memory.permill() as usize, 3 * 1000 / memory.all);
    }

    #[test]
    fn no_memory_remembers_nothing() {
        let memory = Memory::new(0, 1);
        let mut thread = memory.with(evaluator());
        let mut batch = Batch::default();
        batch.push(thread.encoding(), &Game::initial());
        for _ in 0..2 {
            thread.evaluate(&batch, &mut Evaluations::default()).expect("fakes do not fail");
        }
        assert_eq!((thread.cache_hits(), memory.permill()), (0, 0));
    }
}
