//! Answers that were given before.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Batch, Evaluations, Evaluator, EvaluatorError, Wdl};
use crate::encoding::Encoding;

/// An evaluator that remembers its last answers, first in, first out.
///
/// Answers are found by everything that the encoding sees, so positions that differ only in what the net cannot see share
/// theirs. What is asked twice in one batch is evaluated once.
pub struct Cached {
    inner: Box<dyn Evaluator>,
    capacity: usize,
    /// Where each remembered row's answer lies in `answers`.
    places: HashMap<u128, usize>,
    /// A ring: the next answer goes to `next`.
    answers: Vec<Answer>,
    next: usize,
    /// The rows that were not found, and what the inner evaluator says of them.
    misses: Batch,
    missed: Evaluations,
    /// Where each row's answer comes from.
    sources: Vec<Source>,
    miss_keys: Vec<u128>,
    /// Rows of the present batch that are misses already.
    asked: HashMap<u128, usize>,
    hits: u64,
}

#[derive(Debug, Clone)]
struct Answer {
    key: u128,
    policy: Box<[f32]>,
    wdl: Wdl,
    /// Absent where the evaluator does not know.
    moves_left: Option<f32>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    /// The place of a remembered answer.
    Remembered(usize),
    /// A row of the misses.
    Missed(usize),
}

impl Cached {
    /// Memory of one remembered answer: itself, its place (a hash table is at least 7/16 full), and 40 legal moves, more than most
    /// positions have.
    pub const BYTES_EACH: usize =
        size_of::<Answer>() + size_of::<(u128, usize)>() * 16 / 7 + 40 * size_of::<f32>();

    /// Remembers at most `capacity` answers of another evaluator.
    pub fn new(inner: Box<dyn Evaluator>, capacity: usize) -> Self {
        Self {
            inner,
            capacity,
            places: HashMap::new(),
            answers: Vec::new(),
            next: 0,
            misses: Batch::default(),
            missed: Evaluations::default(),
            sources: Vec::new(),
            miss_keys: Vec::new(),
            asked: HashMap::new(),
            hits: 0,
        }
    }

    /// Answers that are remembered now.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    fn sort_out(&mut self, batch: &Batch) {
        self.misses.clear();
        self.sources.clear();
        self.miss_keys.clear();
        self.asked.clear();
        for row in 0..batch.len() {
            let key = row_key(batch, row, self.inner.encoding());
            let source = match (self.places.get(&key), self.asked.entry(key)) {
                (Some(place), _) => Source::Remembered(*place),
                (None, Entry::Occupied(earlier)) => Source::Missed(*earlier.get()),
                (None, Entry::Vacant(first)) => {
                    let miss = *first.insert(self.misses.len());
                    self.miss_keys.push(key);
                    copy_row(batch, row, self.inner.encoding(), &mut self.misses);
                    Source::Missed(miss)
                }
            };
            self.sources.push(source);
        }
        self.hits += (batch.len() - self.misses.len()) as u64;
    }

    fn remember_misses(&mut self) {
        for (row, key) in std::mem::take(&mut self.miss_keys).into_iter().enumerate() {
            let policy = self.missed.policy[self.misses.legal_range(row)].into();
            let moves_left = self.missed.moves_left.get(row).copied();
            self.remember(Answer { key, policy, wdl: self.missed.wdl[row], moves_left });
        }
    }

    fn remember(&mut self, answer: Answer) {
        self.places.insert(answer.key, self.next);
        if self.answers.len() < self.capacity {
            self.answers.push(answer);
        } else {
            let forgotten = std::mem::replace(&mut self.answers[self.next], answer);
            self.places.remove(&forgotten.key);
        }
        self.next = (self.next + 1) % self.capacity;
    }
}

impl Evaluator for Cached {
    fn encoding(&self) -> &Encoding {
        self.inner.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.sort_out(batch);
        if !self.misses.is_empty() {
            self.inner.evaluate(&self.misses, &mut self.missed)?;
        }
        out.clear();
        for source in &self.sources {
            let (policy, wdl, moves_left) = match *source {
                Source::Remembered(place) => {
                    let Answer { policy, wdl, moves_left, .. } = &self.answers[place];
                    (&**policy, *wdl, *moves_left)
                }
                Source::Missed(row) => {
                    let policy = &self.missed.policy[self.misses.legal_range(row)];
                    (policy, self.missed.wdl[row], self.missed.moves_left.get(row).copied())
                }
            };
            out.policy.extend_from_slice(policy);
            out.wdl.push(wdl);
            out.moves_left.extend(moves_left);
        }
        self.remember_misses();
        Ok(())
    }

    fn start_shard(&mut self) {
        self.places.clear();
        self.answers.clear();
        (self.next, self.hits) = (0, 0);
        self.inner.start_shard();
    }

    fn cache_hits(&self) -> u64 {
        self.hits
    }
}

fn copy_row(batch: &Batch, row: usize, encoding: &Encoding, out: &mut Batch) {
    let (binary, scalars) = (encoding.binary_count(), encoding.scalar_count());
    out.binary.extend_from_slice(&batch.binary[row * binary..][..binary]);
    out.scalars.extend_from_slice(&batch.scalars[row * scalars..][..scalars]);
    out.legal.extend_from_slice(&batch.legal[batch.legal_range(row)]);
    out.legal_ends.push(out.legal.len() as u32);
    out.keys.push(batch.keys[row]);
}

/// 128 bits of everything that the net sees of a row.
fn row_key(batch: &Batch, row: usize, encoding: &Encoding) -> u128 {
    let (binary, scalars) = (encoding.binary_count(), encoding.scalar_count());
    let bits = batch.binary[row * binary..][..binary].iter().copied();
    let numbers = batch.scalars[row * scalars..][..scalars].iter().map(|scalar| u64::from(scalar.to_bits()));
    let legal = batch.legal[batch.legal_range(row)].iter().map(|index| u64::from(index.get()));
    let (mut low, mut high) = (0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03);
    for word in bits.chain(numbers).chain(legal) {
        low = folded(low ^ word, 0xa076_1d64_78bd_642f);
        high = folded(high ^ word, 0xe703_7ed1_a0b4_28db);
    }
    u128::from(high) << 64 | u128::from(low)
}

/// The two halves of a 128-bit product, folded: the mixing step of wyhash (Wang Yi, public domain).
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::Cached;
    use crate::board::Game;
    use crate::encoding::{Encoding, EncodingName, Orientation};
    use crate::network::fake::Hashed;
    use crate::network::samples::{batch_of, encoding};
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

    fn answers(evaluator: &mut dyn Evaluator, batch: &Batch) -> Evaluations {
        let mut out = Evaluations::default();
        evaluator.evaluate(batch, &mut out).expect("fakes do not fail");
        out
    }

    fn same(a: &Evaluations, b: &Evaluations) -> bool {
        a.policy == b.policy && a.wdl == b.wdl
    }

    #[test]
    fn answers_are_those_of_the_evaluator_and_each_row_is_asked_once() {
        let (mut cache, rows) = cached(1000);
        let batch = batch_of((0..40).chain(0..40).chain(20..60));
        let plain = answers(&mut Hashed::new(encoding(), 1), &batch);
        // Openings of 0 plies are all alike, so fewer rows than games are different.
        assert!(same(&answers(&mut cache, &batch), &plain));
        let first = rows.get();
        assert!(first <= 60, "{first}");
        assert!(same(&answers(&mut cache, &batch), &plain));
        assert_eq!((rows.get(), cache.cache_hits()), (first, (2 * batch.len() - first) as u64));
    }

    #[test]
    fn the_oldest_answers_are_forgotten_and_a_shard_starts_with_none() {
        let (mut cache, rows) = cached(10);
        for number in 100..130 {
            answers(&mut cache, &batch_of(number..=number));
        }
        let before = rows.get();
        answers(&mut cache, &batch_of(120..130));
        assert_eq!((rows.get(), cache.len()), (before, 10), "the last ten are remembered");
        answers(&mut cache, &batch_of(100..110));
        assert_eq!(rows.get(), before + 10, "the first ten are not");
        cache.start_shard();
        answers(&mut cache, &batch_of(100..110));
        assert_eq!((rows.get(), cache.cache_hits()), (before + 20, 0));
    }

    #[test]
    fn positions_that_differ_only_in_their_past_are_asked_for_where_the_encoding_sees_it() {
        let ways = ["g1f3 g8f6 b1c3 b8c6", "b1c3 g8f6 g1f3 b8c6", "b1c3 b8c6 g1f3 g8f6"];
        let asked = |name, history| {
            let encoding = Encoding::with_history(name, Orientation::SideToMove, history).expect("a history");
            let mut batch = Batch::default();
            for way in ways.into_iter().chain(ways) {
                let game = Game::from_text(&format!("startpos moves {way}")).expect("a game");
                batch.push(&encoding, &game);
            }
            let (mut cache, rows) = cached_of(encoding, 100);
            let first = answers(&mut cache, &batch);
            assert!(same(&answers(&mut cache, &batch), &first));
            rows.get()
        };
        assert_eq!(asked(EncodingName::Dc0, 1), 1);
        assert_eq!(asked(EncodingName::AlphaZero, 8), 3);
        assert_eq!(asked(EncodingName::Leela, 8), 3);
        // After the third ply two of the ways have led to the same position.
        assert_eq!(asked(EncodingName::AlphaZero, 2), 2);
        assert_eq!(asked(EncodingName::Leela, 1), 1);
    }
}
