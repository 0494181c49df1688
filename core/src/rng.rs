//! Seeded random streams.
//!
//! Every random number belongs to a stream keyed by (run seed, step, game, purpose), so it depends neither on threads nor
//! on what other games do. `ChaCha` is used because its output is fixed by its specification, unlike `StdRng`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator of every stream.
pub type Stream = ChaCha8Rng;

/// What a stream decides, so that no two decisions share numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Random moves at the start of a game.
    Opening,
    /// Dirichlet noise at the root.
    RootNoise,
    /// The choice of a move by temperature.
    MoveChoice,
    /// Which moves get a full search.
    PlayoutCap,
    /// Initial weights of a net.
    Weights,
    /// Differences between the copied channels of a grown net.
    Growth,
    /// Which positions a training update sees.
    Sampling,
    /// Moves of a player that moves at random.
    RandomPlayer,
    /// Resampling of results for intervals.
    Bootstrap,
    /// One dimension of the point that a sweep tries.
    Trial,
}

impl Purpose {
    /// Part of every stream's key: changing a name changes every result that depends on it.
    fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::RootNoise => "root-noise",
            Self::MoveChoice => "move-choice",
            Self::PlayoutCap => "playout-cap",
            Self::Weights => "weights",
            Self::Growth => "growth",
            Self::Sampling => "sampling",
            Self::RandomPlayer => "random-player",
            Self::Bootstrap => "bootstrap",
            Self::Trial => "trial",
        }
    }
}

/// Where the streams of one step come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The run's seed.
    pub run: u64,
    /// The step's number within the run's identity of steps.
    pub step: u64,
}

impl Seed {
    /// The stream of one game (or of one update, net, …) for one purpose.
    pub fn stream(self, game: u64, purpose: Purpose) -> Stream {
        let mut hasher = blake3::Hasher::new_derive_key("dc0 random stream 1");
        hasher.update(&self.run.to_le_bytes());
        hasher.update(&self.step.to_le_bytes());
        hasher.update(&game.to_le_bytes());
        hasher.update(purpose.name().as_bytes());
        ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::{Purpose, Seed};

    #[test]
    fn every_part_of_the_key_gives_another_stream_and_equal_keys_the_same() {
        let first = |run, step, game, purpose| -> u64 { Seed { run, step }.stream(game, purpose).random() };
        let base = first(1, 2, 3, Purpose::Opening);
        assert_eq!(base, first(1, 2, 3, Purpose::Opening));
        for other in [
            first(2, 2, 3, Purpose::Opening),
            first(1, 3, 3, Purpose::Opening),
            first(1, 2, 4, Purpose::Opening),
            first(1, 2, 3, Purpose::RootNoise),
        ] {
            assert_ne!(base, other);
        }
    }
}
