//! Why a step could not be done.

use std::error::Error;
use std::io;

use dc0_core::arena::ArenaError;
use dc0_core::board::{GameTextError, TablebaseError, TextFileError};
use dc0_core::event::Cancelled;
use dc0_core::import::{ImportError, SourceError};
use dc0_core::network::checkpoint::CheckpointError;
use dc0_core::network::nnue::NnueError;
use dc0_core::network::torch::TorchError;
use dc0_core::network::{EvaluatorError, GrowError};
use dc0_core::search::{AnalysisError, TreeFault};
use dc0_core::selfplay::SelfPlayError;
use dc0_core::store::StoreError;
use dc0_core::trainer::samples::SampleError;
use dc0_core::trainer::{TrainError, ValidateError};
use thiserror::Error;

use crate::memory::TooLittleMemory;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::format::counted;
use dc0_runs::RunError;

/// Workers could not do a step's shards.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FleetError {
    #[error("the broker at {address} {problem}")]
    Broker {
        /// Its address, without credentials.
        address: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    #[error(
        "no worker could do shard {shard}, of those that tried: {cause}; fix that, or see the workers' logs, and give the same command again"
    )]
    Failed {
        shard: u32,
        /// What the worker that tried it last says.
        cause: String,
    },
    #[error(
        "shard {shard} could not be done again here, it panicked: {cause}; report that, or leave the comparison out with `--recheck 0`, \
         and give the same command again"
    )]
    Recheck { shard: u32, cause: String },
    #[error(
        "what {} workers sent back for shard {shard} was wrong; the last was {worker}, because {cause}; stop the workers that are \
         put aside, and give the same command again",
        attempts
    )]
    Refused {
        shard: u32,
        /// Replies that were refused.
        attempts: u32,
        worker: String,
        cause: String,
    },
}

/// A step ended early. Its finished parts are kept, and the same command resumes from there.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StepError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Nnue(#[from] NnueError),
    #[error(
        "{file} is not the net that the run made: expected blake3 {expected}, found {found}; put the right file back"
    )]
    OtherNetwork { file: String, expected: String, found: String },
    #[error(transparent)]
    Samples(#[from] SampleError),
    /// Tablebases that a parameter names.
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
    #[error(transparent)]
    SelfPlay(#[from] SelfPlayError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Arena(#[from] ArenaError),
    #[error("openings: cannot read {file}: {cause}")]
    Openings { file: String, cause: io::Error },
    #[error("openings: {0}")]
    Book(#[from] TextFileError),
    #[error(
        "openings: {file} has {}{}{}, and the match has {}; play at most {} games, give a larger book, or set `repeat: true`, if the players do \
         not always play the same",
        counted(*openings, "opening"),
        if *skipped == 0 { String::new() } else { format!(" after the {skipped} that are skipped") },
        if *finished == 0 { String::new() } else { format!(", besides {} left out as over within `plies`", counted(*finished, "game")) },
        counted(*pairs, "pair"),
        2 * openings
    )]
    FewOpenings {
        file: String,
        /// Openings in it, without those skipped.
        openings: usize,
        skipped: usize,
        finished: usize,
        pairs: usize,
    },
    #[error(
        "openings: the longest opening of {file} has {plies} plies, which must stay below max_plies = {max_plies}, in self-play with `opening_plies`; \
         set `openings: #{{ file, plies }}`"
    )]
    LongOpenings { file: String, plies: usize, max_plies: u32 },
    #[error("{file} has positions of game {game}, which is not stored; `dc0-run verify` finds damaged files")]
    StrayPosition { file: String, game: u32 },
    /// Searches of given positions.
    #[error(transparent)]
    Search(#[from] AnalysisError),
    /// A stored tree from which no search can be restored.
    #[error(transparent)]
    Tree(#[from] TreeFault),
    /// A stored game that is not valid.
    #[error(transparent)]
    Game(#[from] GameTextError),
    /// An evaluator cannot be made.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error(transparent)]
    Grow(#[from] GrowError),
    #[error(transparent)]
    Torch(#[from] TorchError),
    #[error(transparent)]
    Memory(#[from] TooLittleMemory),
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The user asked to stop between two stages.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<ValidateError> for StepError {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::Sample(error) => error.into(),
            ValidateError::Game(error) => error.into(),
            ValidateError::Evaluator(error) => error.into(),
            ValidateError::Cancelled(error) => error.into(),
        }
    }
}

impl Fault for StepError {
    fn exit(&self) -> Exit {
        match self {
            Self::Run(error) => error.exit(),
            Self::OtherNetwork { .. }
            | Self::StrayPosition { .. }
            | Self::SelfPlay(SelfPlayError::Stray { .. }) => Exit::Storage,
            error if is_damaged_tablebase(error) => Exit::Storage,
            Self::Tablebase(_)
            | Self::Grow(_)
            | Self::Nnue(_)
            | Self::Memory(_)
            | Self::Import(ImportError::NoGames { .. })
            | Self::Openings { .. }
            | Self::Book(_)
            | Self::FewOpenings { .. }
            | Self::LongOpenings { .. } => Exit::BadInput,
            error => exit_of(error),
        }
    }
}

/// The exit code for a chain of causes: interrupted first, then damaged or unwritable data, then the rest.
fn exit_of(error: &(dyn Error + 'static)) -> Exit {
    let mut exit = Exit::Failed;
    let mut next = Some(error);
    while let Some(error) = next {
        if is_cancelled(error) {
            return Exit::Interrupted;
        }
        if is_storage(error) {
            exit = Exit::Storage;
        }
        next = error.source();
    }
    exit
}

/// A transparent error is hidden behind its cause, so the enums are checked one by one.
fn is_cancelled(error: &(dyn Error + 'static)) -> bool {
    let step = || matches!(error.downcast_ref(), Some(StepError::Cancelled(_)));
    let play = |error: &SelfPlayError| matches!(error, SelfPlayError::Cancelled(_));
    let train = |error: &TrainError| matches!(error, TrainError::Cancelled(_));
    let arena = |error: &ArenaError| matches!(error, ArenaError::Cancelled(_));
    match error.downcast_ref::<StepError>() {
        Some(StepError::SelfPlay(error)) => play(error),
        Some(StepError::Train(error)) => train(error),
        Some(StepError::Import(error)) => matches!(error, ImportError::Cancelled(_)),
        Some(StepError::Arena(error)) => arena(error),
        _ => step() || error.is::<Cancelled>(),
    }
}

fn is_storage(error: &(dyn Error + 'static)) -> bool {
    let step = match error.downcast_ref::<StepError>() {
        Some(StepError::Store(_) | StepError::Checkpoint(_) | StepError::Samples(_)) => true,
        Some(StepError::Train(error)) => is_training_state(error),
        Some(StepError::Import(ImportError::Source(error))) => {
            matches!(error, SourceError::Read { .. } | SourceError::Damaged { .. })
        }
        _ => false,
    };
    step || error.is::<io::Error>()
        || error.is::<StoreError>()
        || error.is::<CheckpointError>()
        || error.is::<RunError>()
}

/// Whether a tablebase is damaged, which a search reports in place of the net that it asks.
fn is_damaged_tablebase(error: &StepError) -> bool {
    use TablebaseError::Damaged;
    match error {
        StepError::Tablebase(error)
        | StepError::SelfPlay(SelfPlayError::Tablebase(error))
        | StepError::Arena(ArenaError::Tablebase(error)) => matches!(error, Damaged { .. }),
        StepError::Evaluator(error)
        | StepError::SelfPlay(SelfPlayError::Evaluator(error))
        | StepError::Arena(ArenaError::Evaluator(error))
        | StepError::Search(AnalysisError::Evaluator(error)) => {
            matches!(error, EvaluatorError::Tablebase(Damaged { .. }))
        }
        _ => false,
    }
}

fn is_training_state(error: &TrainError) -> bool {
    use TrainError::{OtherState, StateDamaged, StateRead, StateVersion, StateWrite};
    matches!(
        error,
        StateRead { .. } | StateWrite { .. } | StateDamaged { .. } | StateVersion { .. } | OtherState { .. }
    )
}

#[cfg(test)]
mod tests {
    use std::io;

    use dc0_core::arena::ArenaError;
    use dc0_core::board::TablebaseError;
    use dc0_core::event::Cancelled;
    use dc0_core::network::EvaluatorError;
    use dc0_core::selfplay::SelfPlayError;
    use dc0_core::store::StoreError;
    use dc0_core::trainer::TrainError;

    use super::{Exit, Fault, StepError};

    fn damaged_tablebase() -> TablebaseError {
        TablebaseError::Damaged {
            folder: "tables".into(),
            table: "KQvK.rtbw".to_owned(),
            cause: "short".to_owned(),
        }
    }

    fn full_disk() -> StoreError {
        StoreError::Write {
            file: "games.parquet".into(),
            source: io::Error::from(io::ErrorKind::StorageFull),
        }
    }

    #[test]
    fn exit_codes_depend_on_the_cause() {
        let keep = SelfPlayError::Keep { shard: 3, source: Box::new(StepError::from(full_disk())) };
        let cases = [
            (StepError::from(full_disk()), Exit::Storage),
            (StepError::from(keep), Exit::Storage),
            (StepError::from(SelfPlayError::Cancelled(Cancelled)), Exit::Interrupted),
            (StepError::from(TrainError::Cancelled(Cancelled)), Exit::Interrupted),
            (StepError::from(Cancelled), Exit::Interrupted),
            (StepError::from(SelfPlayError::Evaluator(EvaluatorError::NotFinite { row: 1 })), Exit::Failed),
            (StepError::from(TrainError::NoSamples { games: 1, held_out: 1, unused: 0 }), Exit::Failed),
            (StepError::from(TablebaseError::NoTables { folders: "tables".into() }), Exit::BadInput),
            (StepError::from(SelfPlayError::Stray { game: 1, ply: 2 }), Exit::Storage),
            (StepError::from(damaged_tablebase()), Exit::Storage),
            (StepError::from(SelfPlayError::Tablebase(damaged_tablebase())), Exit::Storage),
            (StepError::from(ArenaError::Evaluator(damaged_tablebase().into())), Exit::Storage),
            (
                StepError::from(TrainError::NetNotFinite { update: 1, tensor: "a".into(), value: f32::NAN }),
                Exit::Failed,
            ),
            (StepError::from(TrainError::OtherState { path: "state".into() }), Exit::Storage),
            (
                StepError::from(TrainError::StateVersion { path: "state".into(), found: 1, expected: 2 }),
                Exit::Storage,
            ),
        ];
        for (error, exit) in cases {
            assert_eq!(error.exit(), exit, "{error}");
        }
    }
}
