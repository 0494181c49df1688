//! The random numbers for one trial's point.

use std::collections::BTreeMap;

use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

/// Length of one Sobol sequence; later trials continue with another one.
const SEQUENCE: u32 = 1 << 16;

/// The random streams of one trial's dimensions. Repeated draws continue in them.
pub(super) struct Draws {
    seed: u64,
    number: u32,
    streams: BTreeMap<String, Stream>,
    /// Number of Sobol points drawn so far, each from another sequence.
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

    /// A number in `[0, 1)` for each dimension, together one point of a Sobol sequence; each call uses another sequence.
    pub(super) fn sobol<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, f64> {
        // Names of dimensions have no spaces, so this key is not one of them.
        let key = format!("a sobol sequence {}", self.sequences);
        let scramble: u32 = stream(self.seed, self.number / SEQUENCE, &key).random();
        self.sequences += 1;
        let unit = |dimension| f64::from(sobol_burley::sample(self.number % SEQUENCE, dimension, scramble));
        (0..).zip(names).map(|(dimension, name)| (name, unit(dimension))).collect()
    }
}

fn stream(seed: u64, number: u32, name: &str) -> Stream {
    let key = blake3::hash(name.as_bytes());
    let (key, _) = key.as_bytes().split_first_chunk().expect("a digest has 32 bytes");
    let seed = Seed { run: seed, step: u64::from_le_bytes(*key) };
    seed.stream(u64::from(number), Purpose::Trial)
}
