//! Lanes that read, parse and keep in turn.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

use super::assembler::{Assembler, ImportShard, ParsedChunk, Resume};
use super::chunks::Chunks;
use super::content::SourceError;
use super::format::{Chunk, GameFormat};
use super::source::Source;
use crate::event::{Cancelled, Event, Observer};
use crate::poison::IgnorePoison as _;

/// Stores a shard; called from the lanes' threads, in any order.
pub type KeepImport<'a> =
    dyn Fn(ImportShard) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + Sync + 'a;

/// An import ended early. Shards that were kept remain valid.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ImportError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error(
        "none of {read} games is taken: {kinds}{first}; look at the files, or give other options, for which dc0-run import needs another --out"
    )]
    NoGames {
        read: u64,
        /// How many are broken and left out, by kind.
        kinds: String,
        /// The first broken one; may be empty.
        first: String,
    },
    #[error("shard {shard} of the import could not be kept")]
    Keep { shard: u32, source: Box<dyn std::error::Error + Send + Sync> },
}

/// Everything that determines the rows of an import.
#[derive(Debug)]
pub struct ImportJob<'a, F> {
    /// The format, and what is taken.
    pub params: &'a F,
    /// The files, in order.
    pub sources: &'a [Source],
    /// Where to go on.
    pub from: Resume,
}

/// What the lanes share.
struct Shared<'a, F> {
    job: ImportJob<'a, F>,
    chunks: Mutex<Chunks<'a>>,
    assembler: Mutex<Assembler<'a, F>>,
    stopped: AtomicBool,
    keep: &'a KeepImport<'a>,
    observer: &'a dyn Observer,
}

/// Imports games on some lanes, and passes each shard to `keep`. Progress is counted in megabytes of the files.
pub fn import<F: GameFormat>(
    job: ImportJob<'_, F>,
    lanes: u32,
    keep: &KeepImport<'_>,
    observer: &dyn Observer,
) -> Result<(), ImportError> {
    let shared = Shared {
        chunks: Mutex::new(Chunks::new::<F>(job.sources, job.from.at)),
        assembler: Mutex::new(Assembler::new(job.params, job.from)),
        job,
        stopped: AtomicBool::new(false),
        keep,
        observer,
    };
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..lanes.max(1) {
            scope.spawn(|| {
                if let Err(error) = shared.lane() {
                    shared.stopped.store(true, Ordering::Relaxed);
                    first_error.lock().ignore_poison().get_or_insert(error);
                }
            });
        }
    });
    if let Some(error) = first_error.into_inner().ignore_poison() {
        return Err(error);
    }
    let last = shared.assembler.lock().ignore_poison().finish()?;
    last.map_or(Ok(()), |shard| shared.keep(shard))
}

impl<F: GameFormat> Shared<'_, F> {
    fn lane(&self) -> Result<(), ImportError> {
        while !self.stopped.load(Ordering::Relaxed) {
            self.observer.check()?;
            if self.assembler.lock().ignore_poison().is_full() {
                break;
            }
            let Some((number, chunk)) = self.chunks.lock().ignore_poison().next_chunk() else { break };
            let parsed = chunk.map(|chunk| self.parsed(&chunk));
            let whole = self.assembler.lock().ignore_poison().add(number, parsed);
            whole.into_iter().try_for_each(|shard| self.keep(shard))?;
        }
        Ok(())
    }

    fn parsed(&self, chunk: &Chunk) -> ParsedChunk {
        let source = chunk.start.source;
        let games = self.job.params.parse(chunk, &self.job.sources[source].name);
        let total = self.job.sources.iter().map(|source| source.bytes).sum::<u64>();
        let [done, total] = [chunk.read, total].map(|bytes| bytes.div_ceil(1_000_000));
        self.observer.event(Event::Progress { unit: "MB", done, total });
        ParsedChunk { source, next: chunk.next, games }
    }

    fn keep(&self, shard: ImportShard) -> Result<(), ImportError> {
        let (index, games) = (shard.index, shard.games.len() as u64);
        let positions = shard.positions.len() as u64;
        (self.keep)(shard).map_err(|source| ImportError::Keep { shard: index, source })?;
        self.observer.event(Event::Work { unit: "positions", amount: positions });
        self.observer.event(Event::Work { unit: "games", amount: games });
        Ok(())
    }
}
