//! Seeded random streams.
//!
//! Every random number comes from a stream keyed by (run seed, step, game, purpose), so it depends neither on threads nor
//! on other games. The generator is `ChaCha` because its specification fixes its output, unlike that of `StdRng`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator of every stream.
pub type Stream = ChaCha8Rng;

/// What a stream is used for; different purposes never share random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Random moves at the start of a game.
    Opening,
    /// The order in which games use the openings of a book.
    Book,
    /// What a game of self-play starts from.
    Start,
    /// Dirichlet noise at the root.
    RootNoise,
    /// The choice of a move by temperature.
    MoveChoice,
    /// Which moves get a full search under playout cap randomisation.
    PlayoutCap,
    /// Which games of self-play are played through although a side would resign.
    Resignation,
    /// Which positions are searched again.
    Reanalysis,
    /// Which positions a net is measured on.
    Validation,
    /// Initial weights of a net.
    Weights,
    /// Differences between the copied channels of a grown net.
    Growth,
    /// The samples of a training update.
    Sampling,
    /// Which samples of an epoch are mirrored.
    Mirroring,
    /// Moves of the random player.
    RandomPlayer,
    /// Bootstrap resampling for confidence intervals.
    Bootstrap,
    /// One dimension of a sweep trial's point.
    Trial,
    /// The opponents of a league.
    League,
}

impl Purpose {
    /// Part of the stream's key: changing a name changes every result that depends on the stream.
    fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Book => "book",
            Self::Start => "start",
            Self::RootNoise => "root-noise",
            Self::MoveChoice => "move-choice",
            Self::PlayoutCap => "playout-cap",
            Self::Resignation => "resignation",
            Self::Reanalysis => "reanalysis",
            Self::Validation => "validation",
            Self::Weights => "weights",
            Self::Growth => "growth",
            Self::Sampling => "sampling",
            Self::Mirroring => "mirroring",
            Self::RandomPlayer => "random-player",
            Self::Bootstrap => "bootstrap",
            Self::Trial => "trial",
            Self::League => "league",
        }
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
