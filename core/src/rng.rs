//! Seeded random streams.
//!
//! Every random number comes from a stream keyed by (run seed, step, game, purpose), so it depends neither on threads nor
//! on other games. The generator is `ChaCha` because its specification fixes its output, unlike that of `StdRng`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::param_enum;

/// The generator of every stream.
pub type Stream = ChaCha8Rng;

param_enum! {
    /// What a stream is used for; different purposes never share random numbers.
    ///
    /// The name is part of the stream's key: changing it changes every result that depends on the stream.
    pub enum Purpose {
        /// Random moves at the start of a game.
        Opening = "opening",
        /// The order in which games use the openings of a book.
        Book = "book",
        /// What a game of self-play starts from.
        Start = "start",
        /// Dirichlet noise at the root.
        RootNoise = "root-noise",
        /// The choice of a move by temperature.
        MoveChoice = "move-choice",
        /// Which moves get a full search under playout cap randomisation.
        PlayoutCap = "playout-cap",
        /// Which games of self-play are played through although a side would resign.
        Resignation = "resignation",
        /// Which positions are searched again.
        Reanalysis = "reanalysis",
        /// Which positions a net is measured on.
        Validation = "validation",
        /// Initial weights of a net.
        Weights = "weights",
        /// Differences between the copied channels of a grown net.
        Growth = "growth",
        /// The samples of a training update.
        Sampling = "sampling",
        /// Which samples of an epoch are mirrored.
        Mirroring = "mirroring",
        /// Moves of the random player.
        RandomPlayer = "random-player",
        /// Bootstrap resampling for confidence intervals.
        Bootstrap = "bootstrap",
        /// One dimension of a sweep trial's point.
        Trial = "trial",
        /// The opponents of a league.
        League = "league",
    }
}

/// The seed of all random streams of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The run's seed.
    pub run: u64,
    /// A number derived from the step's identity.
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
    fn streams_differ_by_every_part_of_the_key_and_repeat_for_equal_keys() {
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
