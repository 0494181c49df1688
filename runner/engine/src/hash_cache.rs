//! The cache of evaluations: the option `Hash` of `uci`, `--hash` of `analysis`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dc0_core::encoding::Encoding;
use dc0_core::network::{Batch, Cached, Evaluations, Evaluator, EvaluatorError};

/// Room for cached evaluations, divided evenly among the threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct HashCache {
    /// Evaluations that one thread may cache.
    each: usize,
    /// Evaluations that all threads together may cache.
    all: usize,
    /// Evaluations that are cached now.
    used: Arc<AtomicUsize>,
}

impl HashCache {
    /// A cache of this many MiB for this many threads.
    pub(crate) fn new(mebibytes: u32, threads: u32) -> Self {
        let total = (mebibytes as usize * (1 << 20)) / Cached::BYTES_EACH;
        let each = total / threads.max(1) as usize;
        Self { each, all: each * threads as usize, used: Arc::default() }
    }

    /// The evaluator with a cache; without one if there is no room.
    pub(crate) fn with(&self, inner: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
        if self.each == 0 {
            return inner;
        }
        Box::new(CountingCache {
            cached: Cached::new(inner, self.each),
            counted: 0,
            used: Arc::clone(&self.used),
        })
    }

    /// How full it is, in thousandths.
    pub(crate) fn permill(&self) -> u32 {
        (self.used.load(Ordering::Relaxed) * 1000).checked_div(self.all).unwrap_or(0) as u32
    }
}

/// A thread's evaluator, which counts its cached evaluations.
struct CountingCache {
    cached: Cached,
    /// This cache's part of `used`.
    counted: usize,
    used: Arc<AtomicUsize>,
}

impl CountingCache {
    fn update_used(&mut self) {
        let now = self.cached.len();
        self.used.fetch_add(now, Ordering::Relaxed);
        self.used.fetch_sub(self.counted, Ordering::Relaxed);
        self.counted = now;
    }
}

impl Evaluator for CountingCache {
    fn encoding(&self) -> &Encoding {
        self.cached.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let evaluated = self.cached.evaluate(batch, out);
        self.update_used();
        evaluated
    }

    fn start_shard(&mut self) {
        self.cached.start_shard();
        self.update_used();
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

    use super::HashCache;

    fn evaluator() -> Box<dyn Evaluator> {
        Box::new(Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 1))
    }

    #[test]
    fn all_threads_fill_the_cache_until_it_is_cleared() {
        let cache = HashCache::new(1, 2);
        let half = (1 << 20) / Cached::BYTES_EACH / 2;
        assert_eq!((cache.each, cache.all), (half, 2 * half));
        let mut threads = [cache.with(evaluator()), cache.with(evaluator())];
        let games = ["startpos", "startpos moves e2e4", "startpos moves d2d4"];
        for thread in &mut threads {
            let mut batch = Batch::default();
            for game in games {
                batch.push(thread.encoding(), &Game::from_text(game).expect("a game"));
            }
            thread.evaluate(&batch, &mut Evaluations::default()).expect("fakes do not fail");
        }
        assert_eq!(cache.permill() as usize, 6 * 1000 / cache.all);
        threads[0].start_shard();
        assert_eq!(cache.permill() as usize, 3 * 1000 / cache.all);
    }

    #[test]
    fn a_cache_without_room_stores_nothing() {
        let cache = HashCache::new(0, 1);
        let mut thread = cache.with(evaluator());
        let mut batch = Batch::default();
        batch.push(thread.encoding(), &Game::initial());
        for _ in 0..2 {
            thread.evaluate(&batch, &mut Evaluations::default()).expect("fakes do not fail");
        }
        assert_eq!((thread.cache_hits(), cache.permill()), (0, 0));
    }
}
