//! The random numbers of one question.

use std::collections::BTreeMap;

use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

/// Indices of one Sobol sequence; later trials go on with another one.
const SEQUENCE: u32 = 1 << 16;

/// The streams of one trial's dimensions. A point that is drawn again goes on in them.
pub(super) struct Draws {
    seed: u64,
    number: u32,
    streams: BTreeMap<String, Stream>,
    /// How often a Sobol point was drawn.
    sequences: u32,
}

impl Draws {
    pub(super) fn new(seed: u64, number: u32) -> Self {
        Self { seed, number, streams: BTreeMap::new(), sequences: 0 }
    }

    /// The stream of a dimension.
    pub(super) fn stream(&mut self, name: &str) -> &mut Stream {
        let fresh = || stream(self.seed, self.number, name);
        self.streams.entry(name.to_owned()).or_insert_with(fresh)
    }

    /// A number in `[0, 1)` for a dimension.
    pub(super) fn unit(&mut self, name: &str) -> f64 {
        self.stream(name).random()
    }

    /// A number in `[0, 1)` for each dimension, all of one point of a sequence; the next call takes another sequence.
    pub(super) fn sobol<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, f64> {
        // No dimension has a name with blanks.
        let key = format!("a sobol sequence {}", self.sequences);
        let scramble: u32 = stream(self.seed, self.number / SEQUENCE, &key).random();
        self.sequences += 1;
        let unit = |at| f64::from(sobol_burley::sample(self.number % SEQUENCE, at, scramble));
        (0..).zip(names).map(|(at, name)| (name, unit(at))).collect()
    }
}

fn stream(seed: u64, number: u32, name: &str) -> Stream {
    let key = blake3::hash(name.as_bytes());
    let (key, _) = key.as_bytes().split_first_chunk().expect("a digest has 32 bytes");
    let seed = Seed { run: seed, step: u64::from_le_bytes(*key) };
    seed.stream(u64::from(number), Purpose::Trial)
}
