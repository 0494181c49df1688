//! The finished shards of a match that is under way, and what its sequential test says of them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use dc0_core::arena::{self, ArenaParams, Sprt, SprtPairs};
use dc0_core::event::{Event, Observer as _};
use dc0_core::poison::IgnorePoison as _;
use dc0_runs::ShardNote;

use super::Part;
use crate::progress::StepProgress;

/// The finished shards of a match that is under way, for its sequential test and for progress.
pub(super) struct MatchSoFar<'a> {
    params: &'a ArenaParams,
    known: Mutex<Known>,
}

/// Finished shards, and how many of their pairs made how many half points. These and the test are kept because a match may have a hundred
/// thousand shards.
#[derive(Default)]
pub(super) struct Known {
    parts: BTreeMap<u32, Part>,
    counts: [u32; 5],
    tested: Tested,
}

/// The sequential test of the shards before the first that is missing.
#[derive(Default)]
struct Tested {
    shards: u32,
    pairs: SprtPairs,
    decision: Option<(u32, Sprt)>,
}

impl Known {
    fn add(&mut self, shard: u32, part: Part) {
        self.remove(shard);
        for half_points in &part.half_points {
            self.counts[usize::from(*half_points)] += 1;
        }
        self.parts.insert(shard, part);
    }

    pub(super) fn remove(&mut self, shard: u32) {
        let Some(part) = self.parts.remove(&shard) else { return };
        for half_points in part.half_points {
            self.counts[usize::from(half_points)] -= 1;
        }
        self.tested = Tested::default();
    }

    /// The number of pairs that decide the match's test, and the test after them; `None` if there is no test, or not enough pairs yet.
    /// Pairs count in their order, so what follows a shard that is missing does not count yet.
    pub(super) fn decision(&mut self, params: &ArenaParams) -> Option<(u32, Sprt)> {
        let sprt = params.sprt.as_ref()?;
        let Tested { shards, pairs, decision } = &mut self.tested;
        while decision.is_none()
            && let Some(part) = self.parts.get(shards)
        {
            let mut points = part.half_points.iter().map(|half_points| f64::from(*half_points) / 2.0);
            *decision = points.find_map(|points| sprt.add(pairs, points)).map(|test| (pairs.number(), test));
            *shards += 1;
        }
        *decision
    }
}

impl<'a> MatchSoFar<'a> {
    pub(super) fn new(params: &'a ArenaParams, finished: BTreeMap<u32, ShardNote<Part>>) -> Self {
        let mut known = Known::default();
        for (shard, note) in finished {
            known.add(shard, note.part);
        }
        Self { params, known: Mutex::new(known) }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().ignore_poison()
    }

    pub(super) fn is_decided(&self) -> bool {
        self.known().decision(self.params).is_some()
    }

    /// Adds a finished shard, reports the score so far, and says whether the match goes on.
    pub(super) fn add(&self, shard: u32, part: Part, progress: &StepProgress) -> ControlFlow<()> {
        let mut known = self.known();
        known.add(shard, part);
        let (counts, decision) = (known.counts, known.decision(self.params));
        drop(known);
        let pairs: u32 = counts.iter().sum();
        let points: u32 = (0..).zip(counts).map(|(half_points, count)| half_points * count).sum();
        let (low, high) = arena::interval(&counts);
        let score = f64::from(points) / f64::from(4 * pairs.max(1));
        let mut metrics = vec![("score", score), ("low", low), ("high", high)];
        if let Some(sprt) = &self.params.sprt {
            let test = sprt.test(&counts);
            metrics.extend([("LLR", test.llr), ("fails", test.lower), ("passes", test.upper)]);
        }
        for (name, value) in metrics {
            progress.event(Event::Metric { name, value });
        }
        if decision.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Part};

    #[test]
    fn counts_of_pairs_are_those_of_the_shards_that_are_there() {
        let part =
            |half_points: &[u8]| Part { games: 4, half_points: half_points.to_vec(), ..Part::default() };
        let mut known = Known::default();
        known.add(0, part(&[0, 4]));
        known.add(1, part(&[4, 2]));
        assert_eq!(known.counts, [1, 0, 1, 0, 2]);
        known.remove(0);
        known.remove(7);
        assert_eq!(known.counts, [0, 0, 1, 0, 1]);
        known.add(1, part(&[1]));
        assert_eq!((known.counts, known.parts.len()), ([0, 1, 0, 0, 0], 1));
    }
}
