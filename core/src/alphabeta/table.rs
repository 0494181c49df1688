//! The transposition table: what was found for positions that other lines of the search lead to again.
//!
//! Threads share it without locks: a slot holds its data and the position's key mixed with that data, so that a slot that two threads
//! wrote at the same time fits no key (Hyatt and Mann 2002, "A lock-less transposition table implementation for parallel search
//! chess engines"). A search with one thread is deterministic; what the table holds from earlier searches is part of its input.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::score::{from_table, to_table};
use crate::board::{Move, Position};

/// How a stored score relates to the position's. None is 0, so that no entry looks like an empty slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Bound {
    /// The score is at most this: no move reached the window.
    Upper = 1,
    /// The score is at least this: a move was refuted.
    Lower = 2,
    /// The score is this.
    Exact = 3,
}

impl Bound {
    fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            1 => Self::Upper,
            2 => Self::Lower,
            _ => Self::Exact,
        }
    }

    /// Whether a score with this bound decides a search with the window above `alpha` and below `beta`.
    pub(super) fn decides(self, score: i32, alpha: i32, beta: i32) -> bool {
        match self {
            Self::Exact => true,
            Self::Lower => score >= beta,
            Self::Upper => score <= alpha,
        }
    }
}

/// What is known of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The best or refuting move, if one was found.
    pub(super) best: Option<Move>,
    /// The score from the root of the search that asks.
    pub(super) score: i32,
    /// The static evaluation; `None` for a position in check.
    pub(super) evaluation: Option<i32>,
    /// Plies that were searched; 0 by quiescence.
    pub(super) depth: i32,
    pub(super) bound: Bound,
}

/// Slots of one index: a cache line.
const SLOTS: usize = 4;

/// A slot's evaluation where there is none.
const NO_EVALUATION: i32 = i16::MIN as i32;

/// Generations are counted modulo this.
const GENERATIONS: u8 = 64;

/// Plies that one search of age counts for when a slot is chosen to be replaced. Chosen.
const AGE_PLIES: i32 = 4;

/// An entry is not replaced by one of the same position and search that is shallower by more than this, unless the new score is exact.
/// Chosen.
const KEPT_PLIES: i32 = 3;

#[derive(Default)]
struct Slot {
    mixed: AtomicU64,
    data: AtomicU64,
}

#[derive(Default)]
#[repr(align(64))]
struct Bucket([Slot; SLOTS]);

/// The table's key of a position with a key: the nearer the fifty-move rule is, the more a score depends on the halfmove clock, so from 14
/// on every eight clocks have keys of their own (Stockfish's `Position::adjust_key50`).
pub(super) fn table_key(position: &Position, key: u64) -> u64 {
    let Some(near) = position.halfmove_clock().checked_sub(14) else { return key };
    // A linear congruential generator with the constants of Knuth's MMIX.
    let seed = u64::from(near / 8);
    key ^ seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// The table of one searcher.
pub(super) struct Table {
    buckets: Vec<Bucket>,
    generation: AtomicU8,
}

impl Table {
    /// A table of some MiB; without memory it stores nothing.
    pub(super) fn new(mebibytes: u32) -> Self {
        let buckets = mebibytes as usize * (1 << 20) / size_of::<Bucket>();
        Self { buckets: (0..buckets).map(|_| Bucket::default()).collect(), generation: AtomicU8::new(0) }
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        for slot in self.buckets.iter().flat_map(|bucket| &bucket.0) {
            slot.mixed.store(0, Ordering::Relaxed);
            slot.data.store(0, Ordering::Relaxed);
        }
        self.generation.store(0, Ordering::Relaxed);
    }

    /// A search begins: older entries are replaced first from here on.
    pub(super) fn begin_search(&self) {
        let next = (self.generation() + 1) % GENERATIONS;
        self.generation.store(next, Ordering::Relaxed);
    }

    fn generation(&self) -> u8 {
        self.generation.load(Ordering::Relaxed)
    }

    fn bucket(&self, key: u64) -> Option<&Bucket> {
        // The upper bits of key times length spread evenly over any length.
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        self.buckets.get(index as usize)
    }

    /// Begins to fetch what is known of a position from memory, so that it is there when the search comes to it.
    pub(super) fn prefetch(&self, key: u64) {
        if let Some(bucket) = self.bucket(key) {
            // Nothing waits for what is loaded here; the loads of `probe` then find it in the cache.
            std::hint::black_box(bucket.0[0].data.load(Ordering::Relaxed));
        }
    }

    /// What is known of the position with a key, `ply` plies below the root.
    pub(super) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let stored = self.bucket(key)?.0.iter().find_map(|slot| {
            let data = slot.data.load(Ordering::Relaxed);
            (data != 0 && slot.mixed.load(Ordering::Relaxed) ^ data == key).then_some(data)
        })?;
        let packed = Packed(stored);
        Some(Entry {
            best: packed.best(),
            score: from_table(packed.score(), ply),
            evaluation: Some(packed.evaluation()).filter(|evaluation| *evaluation != NO_EVALUATION),
            depth: packed.depth(),
            bound: Bound::from_bits(stored >> 56),
        })
    }

    /// Stores what was found at a position `ply` plies below the root. Without a best move, that of an earlier entry is kept.
    pub(super) fn store(&self, key: u64, ply: usize, entry: &Entry) {
        let Some(bucket) = self.bucket(key) else { return };
        let generation = self.generation();
        let load = |slot: &Slot| {
            let data = slot.data.load(Ordering::Relaxed);
            (Packed(data), slot.mixed.load(Ordering::Relaxed) ^ data == key && data != 0)
        };
        let (mut target, mut least) = (&bucket.0[0], i32::MAX);
        let mut best = entry.best;
        for slot in &bucket.0 {
            let (packed, is_same) = load(slot);
            if is_same {
                let is_fresh = packed.generation() == generation;
                if is_fresh && entry.bound != Bound::Exact && entry.depth + KEPT_PLIES < packed.depth() {
                    return;
                }
                (target, best) = (slot, best.or(packed.best()));
                break;
            }
            let worth = packed.worth(generation);
            if worth < least {
                (target, least) = (slot, worth);
            }
        }
        let data = Packed::new(best, to_table(entry.score, ply), entry, generation).0;
        target.data.store(data, Ordering::Relaxed);
        target.mixed.store(key ^ data, Ordering::Relaxed);
    }

    /// How full it is with entries of the current search, in thousandths, by a sample.
    pub(super) fn permill(&self) -> u32 {
        let sample = &self.buckets[..self.buckets.len().min(250)];
        let generation = self.generation();
        let is_used = |slot: &&Slot| {
            let data = slot.data.load(Ordering::Relaxed);
            data != 0 && Packed(data).generation() == generation
        };
        let used = sample.iter().flat_map(|bucket| &bucket.0).filter(is_used).count();
        (used * 1000).checked_div(sample.len() * SLOTS).unwrap_or(0) as u32
    }
}

/// An entry in 64 bits: move 16, score 16, evaluation 16, depth 8, bound 2, generation 6.
#[derive(Clone, Copy)]
struct Packed(u64);

impl Packed {
    fn new(best: Option<Move>, score: i32, entry: &Entry, generation: u8) -> Self {
        let best = u64::from(best.map_or(0, Move::packed));
        let sixteen = |number: i32| u64::from(number as i16 as u16);
        let evaluation = entry.evaluation.unwrap_or(NO_EVALUATION);
        Self(
            best | sixteen(score) << 16
                | sixteen(evaluation) << 32
                | u64::from(entry.depth.clamp(0, 255) as u8) << 48
                | (entry.bound as u64) << 56
                | u64::from(generation) << 58,
        )
    }

    /// No move goes from a1 to a1, so 0 stands for none.
    fn best(self) -> Option<Move> {
        Some(self.0 as u16).filter(|packed| *packed != 0).and_then(Move::from_packed)
    }

    fn score(self) -> i32 {
        i32::from((self.0 >> 16) as u16 as i16)
    }

    fn evaluation(self) -> i32 {
        i32::from((self.0 >> 32) as u16 as i16)
    }

    fn depth(self) -> i32 {
        (self.0 >> 48 & 255) as i32
    }

    fn generation(self) -> u8 {
        (self.0 >> 58) as u8
    }

    /// Deep and recent entries are worth more; an empty slot is worth the least.
    fn worth(self, generation: u8) -> i32 {
        if self.0 == 0 {
            return i32::MIN;
        }
        let age = (GENERATIONS + generation - self.generation()) % GENERATIONS;
        self.depth() - AGE_PLIES * i32::from(age)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Entry, Table};
    use crate::alphabeta::score::MATE;
    use crate::board::Move;

    fn entry(depth: i32) -> Entry {
        let best = Move::from_uci("e2e4");
        Entry { best, score: -17, evaluation: Some(-23), depth, bound: Bound::Lower }
    }

    #[test]
    fn entries_come_back_as_they_were_stored() {
        let table = Table::new(1);
        let cases = [
            entry(7),
            Entry { best: None, evaluation: None, bound: Bound::Upper, ..entry(0) },
            Entry { best: Move::from_uci("a7b8q"), score: MATE - 9, bound: Bound::Exact, ..entry(255) },
            Entry { score: 5 - MATE, ..entry(1) },
        ];
        for (key, entry) in (1u64 << 40..).step_by(1 << 45).zip(cases) {
            assert_eq!(table.probe(key, 3), None);
            table.store(key, 3, &entry);
            assert_eq!(table.probe(key, 3), Some(entry));
            assert_eq!(table.probe(key ^ 1, 3), None);
        }
        table.clear();
        assert_eq!(table.probe(1 << 40, 3), None);
    }

    #[test]
    fn a_mate_is_counted_from_the_position_that_asks() {
        let table = Table::new(1);
        table.store(5, 4, &Entry { score: MATE - 9, ..entry(3) });
        assert_eq!(table.probe(5, 0).map(|entry| entry.score), Some(MATE - 5));
    }

    #[test]
    fn the_shallowest_and_oldest_entries_are_replaced() {
        let table = Table::new(1);
        // Small keys share the first bucket.
        for key in 1..=4 {
            table.store(key, 0, &entry(key as i32));
        }
        table.store(5, 0, &entry(1));
        let kept: Vec<u64> = (1..=5).filter(|key| table.probe(*key, 0).is_some()).collect();
        assert_eq!(kept, [2, 3, 4, 5]);
        // Two searches later the deepest of them is worth less than a shallow one of today.
        table.begin_search();
        table.begin_search();
        for key in 6..=9 {
            table.store(key, 0, &entry(1));
        }
        assert!((6..=9).all(|key| table.probe(key, 0).is_some()));
    }

    #[test]
    fn a_shallow_bound_does_not_replace_a_deep_one_and_a_move_is_kept() {
        let table = Table::new(1);
        table.store(1, 0, &entry(9));
        table.store(1, 0, &Entry { score: 3, ..entry(2) });
        assert_eq!(table.probe(1, 0), Some(entry(9)));
        table.store(1, 0, &Entry { best: None, ..entry(10) });
        assert_eq!(table.probe(1, 0), Some(entry(10)));
    }

    #[test]
    fn a_table_without_memory_stores_nothing() {
        let table = Table::new(0);
        table.store(1, 0, &entry(9));
        assert_eq!((table.probe(1, 0), table.permill()), (None, 0));
    }

    #[test]
    fn a_slot_that_two_threads_wrote_fits_no_key() {
        let table = Table::new(1);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let table = &table;
                scope.spawn(move || {
                    for round in 0..20_000u64 {
                        let key = 1 + (round + thread) % 7;
                        // The depth is the key's, so that mixed halves are found.
                        table.store(key, 0, &entry(key as i32));
                        if let Some(found) = table.probe(key, 0) {
                            assert_eq!(found.depth, key as i32);
                        }
                    }
                });
            }
        });
    }
}
