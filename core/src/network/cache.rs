//! A cache of evaluations.

use std::collections::HashMap;
use std::collections::hash_map;

use super::{Batch, Evaluations, Evaluator, EvaluatorError, Quiescence, Wdl};
use crate::encoding::Encoding;

/// An evaluator with a first-in, first-out cache of evaluations (an NN cache).
///
/// The key is everything that the encoding sees, so positions that differ only in what the net cannot see share an entry. Equal
/// rows of one batch are evaluated once.
pub struct Cached {
    inner: Box<dyn Evaluator>,
    capacity: usize,
    /// The slot in `entries` of each cached row, by its key.
    slots: HashMap<u128, usize>,
    /// A ring buffer: the next entry goes to slot `next`.
    entries: Vec<Entry>,
    next: usize,
    /// The rows that were not in the cache, and their evaluations.
    misses: Batch,
    miss_evaluations: Evaluations,
    /// The source of each row's evaluation.
    sources: Vec<Source>,
    miss_keys: Vec<u128>,
    /// The misses of the current batch, by key.
    pending: HashMap<u128, usize>,
    hits: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    key: u128,
    policy: Box<[f32]>,
    wdl: Wdl,
    /// `None` if the evaluator does not predict it.
    moves_left: Option<f32>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    /// A slot of the cache.
    Hit(usize),
    /// A row of `misses`.
    Miss(usize),
}

impl Cached {
    /// Memory of one entry: itself, its slot in the hash table (at least 7/16 full), and 40 legal moves, more than most positions
    /// have.
    pub const BYTES_EACH: usize =
        size_of::<Entry>() + size_of::<(u128, usize)>() * 16 / 7 + 40 * size_of::<f32>();

    /// Caches at most `capacity` evaluations of another evaluator.
    pub fn new(inner: Box<dyn Evaluator>, capacity: usize) -> Self {
        Self {
            inner,
            capacity,
            slots: HashMap::new(),
            entries: Vec::new(),
            next: 0,
            misses: Batch::default(),
            miss_evaluations: Evaluations::default(),
            sources: Vec::new(),
            miss_keys: Vec::new(),
            pending: HashMap::new(),
            hits: 0,
        }
    }

    /// The number of cached evaluations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn look_up(&mut self, batch: &Batch) {
        self.misses.clear();
        self.sources.clear();
        self.miss_keys.clear();
        self.pending.clear();
        for row in 0..batch.len() {
            let key = row_key(batch, row, self.inner.encoding());
            let source = match (self.slots.get(&key), self.pending.entry(key)) {
                (Some(slot), _) => Source::Hit(*slot),
                (None, hash_map::Entry::Occupied(earlier)) => Source::Miss(*earlier.get()),
                (None, hash_map::Entry::Vacant(first)) => {
                    let miss = *first.insert(self.misses.len());
                    self.miss_keys.push(key);
                    self.misses.push_row(batch, row, self.inner.encoding());
                    Source::Miss(miss)
                }
            };
            self.sources.push(source);
        }
        self.hits += (batch.len() - self.misses.len()) as u64;
    }

    fn store_misses(&mut self) {
        for (row, key) in std::mem::take(&mut self.miss_keys).into_iter().enumerate() {
            let policy = self.miss_evaluations.policy[self.misses.legal_range(row)].into();
            let moves_left = self.miss_evaluations.moves_left.get(row).copied();
            self.store(Entry { key, policy, wdl: self.miss_evaluations.wdl[row], moves_left });
        }
    }

    fn store(&mut self, entry: Entry) {
        self.slots.insert(entry.key, self.next);
        if self.entries.len() < self.capacity {
            self.entries.push(entry);
        } else {
            let evicted = std::mem::replace(&mut self.entries[self.next], entry);
            self.slots.remove(&evicted.key);
        }
        self.next = (self.next + 1) % self.capacity;
    }
}

impl Evaluator for Cached {
    fn encoding(&self) -> &Encoding {
        self.inner.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.look_up(batch);
        if !self.misses.is_empty() {
            self.inner.evaluate(&self.misses, &mut self.miss_evaluations)?;
        }
        out.clear();
        for source in &self.sources {
            let (policy, wdl, moves_left) = match *source {
                Source::Hit(slot) => {
                    let Entry { policy, wdl, moves_left, .. } = &self.entries[slot];
                    (&**policy, *wdl, *moves_left)
                }
                Source::Miss(row) => {
                    let policy = &self.miss_evaluations.policy[self.misses.legal_range(row)];
                    (
                        policy,
                        self.miss_evaluations.wdl[row],
                        self.miss_evaluations.moves_left.get(row).copied(),
                    )
                }
            };
            out.policy.extend_from_slice(policy);
            out.wdl.push(wdl);
            out.moves_left.extend(moves_left);
        }
        self.store_misses();
        Ok(())
    }

    fn start_shard(&mut self) {
        self.slots.clear();
        self.entries.clear();
        (self.next, self.hits) = (0, 0);
        self.inner.start_shard();
    }

    fn cache_hits(&self) -> u64 {
        self.hits
    }
}

/// A 128-bit hash of everything that an evaluation depends on.
fn row_key(batch: &Batch, row: usize, encoding: &Encoding) -> u128 {
    let (binary, scalars) = (encoding.binary_count(), encoding.scalar_count());
    let bits = batch.binary[row * binary..][..binary].iter().copied();
    let numbers = batch.scalars[row * scalars..][..scalars].iter().map(|scalar| u64::from(scalar.to_bits()));
    let legal = batch.legal[batch.legal_range(row)].iter().map(|index| u64::from(index.get()));
    let (mut low, mut high) = (0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03);
    for word in bits.chain(numbers).chain(legal) {
        low = mix(low ^ word, 0xa076_1d64_78bd_642f);
        high = mix(high ^ word, 0xe703_7ed1_a0b4_28db);
    }
    let low = match batch.quiescence[row] {
        Quiescence::Off => low,
        Quiescence::IfOffered => !low,
        Quiescence::Required => low.rotate_left(1),
    };
    u128::from(high) << 64 | u128::from(low)
}

/// The exclusive or of the halves of a 128-bit product: the mixing step of wyhash (Wang Yi, public domain).
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::Cached;
    use crate::board::Game;
    use crate::encoding::{Encoding, EncodingName, Orientation};
    use crate::network::fake::Hashed;
    use crate::network::samples::{batch_of, encoding, evaluate};
    use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

    /// Counts the rows that reach it.
    struct Counting(Hashed, std::rc::Rc<std::cell::Cell<usize>>);

    impl Evaluator for Counting {
        fn encoding(&self) -> &Encoding {
            self.0.encoding()
        }

        fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
            self.1.set(self.1.get() + batch.len());
            self.0.evaluate(batch, out)
        }
    }

    fn cached(capacity: usize) -> (Cached, std::rc::Rc<std::cell::Cell<usize>>) {
        cached_of(encoding(), capacity)
    }

    fn cached_of(encoding: Encoding, capacity: usize) -> (Cached, std::rc::Rc<std::cell::Cell<usize>>) {
        let rows = std::rc::Rc::new(std::cell::Cell::new(0));
        let inner = Counting(Hashed::new(encoding, 1), std::rc::Rc::clone(&rows));
        (Cached::new(Box::new(inner), capacity), rows)
    }

    fn same(a: &Evaluations, b: &Evaluations) -> bool {
        a.policy == b.policy && a.wdl == b.wdl
    }

    #[test]
    fn cached_evaluations_equal_the_evaluators_and_each_row_is_evaluated_once() {
        let (mut cache, rows) = cached(1000);
        let batch = batch_of((0..40).chain(0..40).chain(20..60));
        let plain = evaluate(&mut Hashed::new(encoding(), 1), &batch);
        // All openings of 0 plies are equal, so there are fewer distinct rows than games.
        assert!(same(&evaluate(&mut cache, &batch), &plain));
        let first = rows.get();
        assert!(first <= 60, "{first}");
        assert!(same(&evaluate(&mut cache, &batch), &plain));
        assert_eq!((rows.get(), cache.cache_hits()), (first, (2 * batch.len() - first) as u64));
    }

    #[test]
    fn the_oldest_entries_are_evicted_and_a_shard_starts_with_an_empty_cache() {
        let (mut cache, rows) = cached(10);
        for number in 100..130 {
            evaluate(&mut cache, &batch_of(number..=number));
        }
        let before = rows.get();
        evaluate(&mut cache, &batch_of(120..130));
        assert_eq!((rows.get(), cache.len()), (before, 10), "the last ten are cached");
        evaluate(&mut cache, &batch_of(100..110));
        assert_eq!(rows.get(), before + 10, "the first ten are not");
        cache.start_shard();
        evaluate(&mut cache, &batch_of(100..110));
        assert_eq!((rows.get(), cache.cache_hits()), (before + 20, 0));
    }

    #[test]
    fn different_histories_are_different_keys_if_the_encoding_sees_them() {
        let lines = ["g1f3 g8f6 b1c3 b8c6", "b1c3 g8f6 g1f3 b8c6", "b1c3 b8c6 g1f3 g8f6"];
        let evaluated_rows = |name, history| {
            let encoding =
                Encoding::try_new(name, Orientation::SideToMove, Some(history)).expect("a history");
            let mut batch = Batch::default();
            for line in lines.into_iter().chain(lines) {
                let game = Game::from_text(&format!("startpos moves {line}")).expect("a game");
                batch.push(&encoding, &game);
            }
            let (mut cache, rows) = cached_of(encoding, 100);
            let first = evaluate(&mut cache, &batch);
            assert!(same(&evaluate(&mut cache, &batch), &first));
            rows.get()
        };
        assert_eq!(evaluated_rows(EncodingName::Dc0, 1), 1);
        assert_eq!(evaluated_rows(EncodingName::AlphaZero, 8), 3);
        assert_eq!(evaluated_rows(EncodingName::Leela, 8), 3);
        // After the third ply two of the lines have reached the same position.
        assert_eq!(evaluated_rows(EncodingName::AlphaZero, 2), 2);
        assert_eq!(evaluated_rows(EncodingName::Leela, 1), 1);
    }
}
