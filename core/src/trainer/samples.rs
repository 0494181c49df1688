//! Turns games and positions into training samples.
//!
//! Each game is replayed from its start, which restores repetitions, and every stored row is compared with the replay, so
//! contradictory data never becomes a sample. If the parameters name tablebases, results are those of perfect play for
//! positions that the tablebases cover.

mod replay;
mod rescore;
mod rows;
mod target;

use std::iter::repeat_n;
use std::path::Path;

use rayon::prelude::*;
use thiserror::Error;

use super::TrainParams;
use crate::board::{FenError, Tablebase, TablebaseError};
use crate::encoding::Encoding;
use crate::rng::Seed;
use crate::store::{GameRow, PositionRow, games_with_positions};

use replay::ReplayedGame;
pub(super) use replay::is_quiet;
use rows::Rows;
pub(super) use rows::hash_numbers;
pub use rows::{Reply, Sample};
use target::Targets;
pub use target::ValueTarget;

/// Games with all their positions, as stored in one part of the tables.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The games' origin within the run, such as `iteration=0003/part-00000`: for errors, and for the seed of what is left to chance
    /// about their positions.
    pub name: &'a str,
    /// The number of the source that it is read from: games that come from two sources are drawn from each by itself.
    pub source: u32,
    /// How often its positions are trained on in an epoch, on average, relative to others. At least 0; usually 1.
    pub weight: f64,
    /// Games, sorted by number.
    pub games: &'a [GameRow],
    /// Positions, sorted by game and ply.
    pub positions: &'a [PositionRow],
}

/// Stored rows that contradict each other or break the rules of chess.
#[derive(Debug, Error)]
#[error("{part}, game {game}, ply {ply}: {fault}{}", fault.advice())]
pub struct SampleError {
    /// The part's name.
    pub part: String,
    /// The game's number.
    pub game: u32,
    /// Plies played before the faulty position, including the opening.
    pub ply: usize,
    /// What is wrong.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a stored game or position.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Fault {
    #[error("{0}")]
    Start(FenError),
    #[error("the move {packed} (packed) is not legal here")]
    IllegalMove { packed: u16 },
    /// A stored value differs from the replay.
    #[error("the {column} should be {expected}, found {found}")]
    Differs { column: &'static str, expected: String, found: String },
    #[error("the policy target holds the move {packed} (packed), which is not legal here")]
    TargetIllegal { packed: u16 },
    #[error("a full search should have a policy target, found a sum of 0")]
    NoTarget,
    /// The search's value is not a valid distribution over results.
    #[error("root_q {q} and root_d {d} should satisfy |q| + d ≤ 1 with d in 0..=1")]
    SearchValue {
        /// P(win) − P(loss).
        q: f32,
        /// P(draw).
        d: f32,
    },
    #[error(
        "games and plies should be in ascending order, and every position should belong to a ply of a game of the same part"
    )]
    Order,
    /// The tablebases that correct results cannot be probed.
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
}

impl Fault {
    /// What to do, if the fault's own message does not say it.
    fn advice(&self) -> &'static str {
        match self {
            Self::Tablebase(_) => "",
            _ => "; the data is damaged, play or import it again",
        }
    }
}

/// Training samples in memory, about 330 B each with the default input, with the held-out ones apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    encoding: Encoding,
    targets: Targets,
    seed: Seed,
    /// Whether positions with the same input are one sample.
    is_deduplicated: bool,
    /// Corrects the games' results.
    tablebases: Option<Tablebase>,
    rows: Rows,
    /// Rows to train on; some are in it several times, see [`TrainParams::surprise_weight`].
    training: Vec<u32>,
    /// Rows of held-out games.
    validation: Vec<u32>,
    games: GameCounts,
}

/// How many games the samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GameCounts {
    /// Games trained on.
    pub training: u32,
    /// Games held out.
    pub validation: u32,
    /// Games that gave no sample.
    pub unused: u32,
}

/// The value targets of a game's positions, without tablebases. The positions are sorted by ply.
pub fn value_targets(
    game: &GameRow,
    positions: &[PositionRow],
    params: &TrainParams,
) -> Result<Vec<ValueTarget>, SampleError> {
    let mut ply = 0;
    let values = target::values(game, positions, &[], Targets::from_params(params), &mut ply);
    values.map_err(|fault| SampleError { part: "the game".to_owned(), game: game.game, ply, fault })
}

/// Whether a training with these parameters holds out a game.
pub(super) fn is_held_out(game: &GameRow, params: &TrainParams) -> bool {
    target::is_held_out(game, Targets::from_params(params))
}

impl Samples {
    /// An empty set of samples for nets with this encoding. The parameters decide the targets and what is held out; their
    /// tablebases are opened.
    pub fn new(encoding: Encoding, params: &TrainParams) -> Result<Self, TablebaseError> {
        Ok(Self::with_tablebases(encoding, params, params.open_tablebases()?))
    }

    /// As [`new`](Self::new), with tablebases of the parameters that are open already.
    pub(super) fn with_tablebases(
        encoding: Encoding,
        params: &TrainParams,
        tablebases: Option<Tablebase>,
    ) -> Self {
        let (rows, targets) = (Rows::new(&encoding), Targets::from_params(params));
        Self {
            encoding,
            targets,
            seed: Seed { run: 0, step: 0 },
            is_deduplicated: false,
            tablebases,
            rows,
            training: Vec::new(),
            validation: Vec::new(),
            games: GameCounts::default(),
        }
    }

    /// The seed that decides which positions are taken how often, where weights and parameters leave that to chance.
    pub fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Adds the positions of a part, game by game in parallel; the result does not depend on the number of threads.
    pub fn add(&mut self, part: Part<'_>) -> Result<(), SampleError> {
        let games: Result<Vec<_>, _> = games_with_positions(part.games, part.positions).collect();
        let games = games.map_err(|stray| out_of_order(part.name, stray))?;
        let setup = replay::ReplaySetup {
            encoding: &self.encoding,
            targets: self.targets,
            seed: self.seed,
            tablebases: self.tablebases.as_ref(),
        };
        let replayed: Result<Vec<ReplayedGame>, SampleError> =
            games.into_par_iter().map(|(game, own)| replay::replay(part, game, own, setup)).collect();
        for (game, replayed) in part.games.iter().zip(replayed?) {
            let held_out = target::is_held_out(game, self.targets);
            self.append(&replayed, held_out);
        }
        Ok(())
    }

    /// Ends the samples once all parts are added: if the parameters say so, makes one sample of all that have the same input. It has
    /// the means of their policy and value targets, and is in an epoch as often as any of them was.
    pub fn finish(mut self) -> Self {
        if self.targets.deduplicate && !self.is_deduplicated {
            self.training = self.rows.merge_duplicates(&self.training);
            self.is_deduplicated = true;
        }
        self
    }

    fn append(&mut self, game: &ReplayedGame, held_out: bool) {
        let first = self.rows.len() as u32;
        self.rows.append(&game.rows);
        let numbers = first..self.rows.len() as u32;
        let (samples, games) = if held_out {
            (&mut self.validation, &mut self.games.validation)
        } else {
            (&mut self.training, &mut self.games.training)
        };
        let before = samples.len();
        if held_out {
            samples.extend(numbers);
        } else {
            let copied = numbers.zip(&game.copies);
            samples.extend(copied.flat_map(|(number, copies)| repeat_n(number, *copies as usize)));
        }
        let games = if samples.len() > before { games } else { &mut self.games.unused };
        *games += 1;
    }

    /// The encoding of the samples' planes.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// Whether these parameters would make the same samples from the same games, and they are [finished](Self::finish).
    pub fn were_made_with(&self, params: &TrainParams) -> bool {
        if self.is_deduplicated != params.deduplicate {
            return false;
        }
        let folders = self.tablebases.as_ref().map(Tablebase::folders);
        folders == params.tablebases.as_deref().map(Path::new) && self.targets == Targets::from_params(params)
    }

    /// The number of samples to train on.
    pub fn training_count(&self) -> usize {
        self.training.len()
    }

    /// The number of held-out samples.
    pub fn validation_count(&self) -> usize {
        self.validation.len()
    }

    /// How many games the samples come from.
    pub fn games(&self) -> GameCounts {
        self.games
    }

    /// The samples' size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + size_of::<u32>() * (self.training.len() + self.validation.len())
    }

    /// A digest of every sample and of the split, as 64 hex digits.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.encoding.name().name().as_bytes());
        hasher.update(self.encoding.orientation().name().as_bytes());
        for number in [self.encoding.history(), self.encoding.name().version()] {
            hasher.update(&number.to_le_bytes());
        }
        self.rows.hash(&mut hasher);
        hash_numbers(&mut hasher, &self.training, |row| row.to_le_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// The `index`-th sample to train on, counted from 0 and below [`training_count`](Self::training_count).
    pub fn training_row(&self, index: usize) -> Sample<'_> {
        self.rows.sample(self.training[index] as usize)
    }

    /// The number of the row that is the `index`-th sample to train on.
    #[cfg(test)]
    pub(super) fn row_number(&self, index: usize) -> usize {
        self.training[index] as usize
    }

    /// The `index`-th held-out sample, counted from 0 and below [`validation_count`](Self::validation_count).
    pub fn validation_row(&self, index: usize) -> Sample<'_> {
        self.rows.sample(self.validation[index] as usize)
    }
}

/// The error of a position that belongs to no game.
pub(super) fn out_of_order(part: &str, row: &PositionRow) -> SampleError {
    SampleError { part: part.to_owned(), game: row.game, ply: row.ply.into(), fault: Fault::Order }
}
