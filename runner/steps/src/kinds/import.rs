//! The steps that import games, one for each format, with the files of self-play for each shard, and two besides: headers and broken
//! games.

use std::collections::BTreeMap;
use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use dc0_core::import::{
    self, GameFormat, ImportError, ImportJob, ImportShard, ImportStats, Lc0Params, PgnParams, Resume,
    ShardPart, Source, SourceError,
};
use dc0_core::params::{Problem, Value};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::store::{RejectRow, read_entry, write_table_fast};
use dc0_process::format::counted;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace};

use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{Estimate, GAME_BYTES, TABLE_BYTES, Work, number};
use crate::files;
use crate::handles::Made;
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::speeds::ShardCost;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

/// The tables of a shard, in the order of its files.
const TABLES: [&str; 4] = ["games", "positions", "headers", "rejects"];

/// What the step of a format says of it.
pub(crate) trait ImportFormat: GameFormat + Send + 'static {
    /// The kind of its step.
    const KIND: &'static StepKind;
    /// Must change whenever the same call gives different results than before.
    const VERSION: u32;
    /// The step's functions.
    const USAGES: &'static [Usage];
    /// Assumed plies of a game.
    const PLIES: u64;
    /// Bytes of a position's row; with only one move in the target, most of it is the position.
    const POSITION_BYTES: f64;
    /// What the number beside a broken game counts.
    const LINE: &'static str;

    /// Assumed bytes of a game in a file whose name ends like this.
    fn game_bytes(ending: Option<&str>) -> u64;
}

impl ImportFormat for PgnParams {
    const KIND: &'static StepKind = &StepKind::IMPORT_PGN;
    const VERSION: u32 = 9;
    const USAGES: &'static [Usage] = &[Usage {
        name: "import_pgn",
        form: "run.import_pgn(file) or run.import_pgn([file, …]) or run.import_pgn(files, #{…})",
        returns: "games",
        meaning: "A step: imports the games of PGN files, plain or compressed (.zst, .gz), for training.",
        example: "fn with_games_of_others(run) { run.import_pgn(\"lichess.pgn.zst\", #{ min_elo: 2000, max_games: 100_000 }) }",
    }];
    const PLIES: u64 = 80;
    const POSITION_BYTES: f64 = 15.0;
    const LINE: &'static str = "line";

    fn game_bytes(ending: Option<&str>) -> u64 {
        match ending {
            Some("zst") => 320,
            Some("gz") => 500,
            _ => 2000,
        }
    }
}

impl ImportFormat for Lc0Params {
    const KIND: &'static StepKind = &StepKind::IMPORT_LC0;
    const VERSION: u32 = 3;
    const USAGES: &'static [Usage] = &[Usage {
        name: "import_lc0",
        form: "run.import_lc0(file) or run.import_lc0([file, …]) or run.import_lc0(files, #{…})",
        returns: "games",
        meaning: "A step: imports training data of Leela Chess Zero (.tar, .gz, or plain records of version 6 or 7) with its policies \
            and values, for training.",
        example: "fn with_games_of_lc0(run) { run.import_lc0(\"training-run1.tar\", #{ value: \"best\", max_games: 100_000 }) }",
    }];
    const PLIES: u64 = 110;
    const POSITION_BYTES: f64 = 80.0;
    const LINE: &'static str = "record";

    fn game_bytes(ending: Option<&str>) -> u64 {
        match ending {
            Some("tar" | "gz" | "zst") => 21_000,
            _ => 900_000,
        }
    }
}

/// The files to import.
pub(crate) struct Import<F> {
    sources: Vec<Source>,
    format: PhantomData<F>,
}

impl<F: ImportFormat> Step for Import<F> {
    const KIND: &'static StepKind = F::KIND;
    const VERSION: u32 = F::VERSION;
    const USAGES: &'static [Usage] = F::USAGES;
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[ArgumentKind::Text], &[ArgumentKind::Texts]];
    const NEEDS_MAP: bool = false;

    type Params = F;

    fn from_arguments(arguments: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        let paths: Vec<PathBuf> = match <[Argument; 1]>::try_from(arguments) {
            Ok([Argument::Text(path)]) => vec![path.into()],
            Ok([Argument::Texts(paths)]) => {
                let path = |path: Result<String, String>| {
                    path.map(PathBuf::from)
                        .map_err(|kind| format!("expected a list of files, and one item is {kind}"))
                };
                paths.into_iter().map(path).collect::<Result<_, _>>()?
            }
            _ => return Err(no_matching_form()),
        };
        if paths.is_empty() {
            return Err("expected at least one file, got none".to_owned());
        }
        let sources = sources::<F>(&paths).map_err(|error| error.to_string())?;
        Ok(Self { sources, format: PhantomData })
    }

    fn from_manifest(_: &Manifest, _: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self { sources: Vec::new(), format: PhantomData })
    }

    /// The name is part of an input because rows have it.
    fn inputs(&self, _: &F) -> Result<Vec<Input>, StepError> {
        let input = |(index, source): (usize, &Source)| Input {
            name: format!("source {index} {}", source.name),
            digest: source.digest.clone(),
        };
        Ok(self.sources.iter().enumerate().map(input).collect())
    }

    fn run(
        &self,
        params: &F,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let done = workspace.first_shards::<ShardPart>()?;
        let from = done.last().map_or_else(Resume::default, |note| note.part.next);
        let bytes: u64 = self.sources.iter().map(|source| source.bytes).sum();
        let amount = Amount { unit: "MB", done: 0, total: bytes.div_ceil(1_000_000) };
        let progress = context.progress(workspace, &format!("import of {}", self.name()), amount);
        let job = ImportJob { params, sources: &self.sources, from };
        let keep = |shard| keep(workspace, &shard).map_err(Into::into);
        import::import(job, context.lanes, &keep, &progress)?;
        context.close(&progress);
        self.product(params, workspace)
    }

    fn result(&self, _: &F, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(output.games(Made::Imported))
    }

    fn figures(summary: &Value) -> String {
        let figure = |name| number(summary, name) as usize;
        let (games, read) = (counted(figure("games"), "game"), figure("read"));
        let mut parts = vec![format!("{games} of {read} read"), counted(figure("positions"), "position")];
        for (name, what) in [("rejected", "broken"), ("left_out", "left out")] {
            parts.extend(by_kind(summary.member(name), what));
        }
        parts.join(", ")
    }

    fn planned(&self, _: &F, number: u32) -> Result<String, StepError> {
        Ok(format!("iteration {number:04}: import of {}", self.name()))
    }

    fn begun(&self, params: &F, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        let done = workspace.first_shards::<ShardPart>()?;
        let parts = done.len() as u32;
        let total = parts.max(self.shards(params));
        let amount = done.iter().map(|note| note.part.stats.games).sum();
        Ok(PartialProgress { parts, total, unit: "shards", amount })
    }

    fn memory(&self, params: &F, machine: Machine) -> Memory {
        Memory::of_rows(params.shard_games(), machine)
    }

    fn estimate(&self, params: &F, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate {
        let assumed = summary.cloned().unwrap_or_else(|| self.assumed(params, Assumption::Even).to_value());
        let [games, positions] = ["games", "positions"].map(|name| number(&assumed, name));
        let left = games.saturating_sub(done);
        let positions = positions * left / games.max(1);
        let tables = f64::from(self.shards(params)) * TABLES.len() as f64 * TABLE_BYTES;
        let bytes = left as f64 * 2.0 * GAME_BYTES + positions as f64 * F::POSITION_BYTES + tables;
        let work = Work { games: left, positions, bytes, ..Work::default() };
        let read = positions as f64 / f64::from(lanes.max(1));
        Estimate { work, pace: ShardCost { read, ..ShardCost::default() } }
    }

    fn mock_result(&self, params: &F, _: u32, _: u32, assumption: Assumption) -> MockResult {
        let files = (0..self.shards(params))
            .flat_map(|shard| TABLES.map(|folder| format!("{folder}/{shard:05}.parquet")))
            .collect();
        MockResult { summary: self.assumed(params, assumption).to_value(), files }
    }
}

impl<F: ImportFormat> Import<F> {
    /// The files for people.
    fn name(&self) -> String {
        let first = self.sources.first().map(|source| source.name.as_str()).unwrap_or_default();
        match self.sources.len() {
            0 | 1 => first.to_owned(),
            more => format!("{first} and {}", counted(more - 1, "more file")),
        }
    }

    /// The shards, if the files hold as many games as files of their size do.
    fn shards(&self, params: &F) -> u32 {
        let games = self.assumed(params, Assumption::Even).games;
        games.div_ceil(u64::from(params.shard_games())).max(1) as u32
    }

    /// The mock result: as many games as files of this size hold, with clocks and without.
    fn assumed(&self, params: &F, assumption: Assumption) -> ImportStats {
        let games_in = |source: &Source| {
            let ending = source.path.extension().and_then(|ending| ending.to_str());
            source.bytes.div_ceil(F::game_bytes(ending))
        };
        let all: u64 = self.sources.iter().map(games_in).sum();
        let games = params.max_games().map_or(all, |most| all.min(most.into()));
        let draws = games * assumption.pick([3, 1, 6]) / 10;
        let white_wins = (games - draws).div_ceil(2);
        ImportStats {
            read: games,
            games,
            white_wins,
            draws,
            black_wins: games - draws - white_wins,
            reasons: [("checkmate".to_owned(), games - draws)].into(),
            plies: games * F::PLIES,
            positions: games * F::PLIES.saturating_sub(params.skip_plies().into()),
            ..ImportStats::default()
        }
    }

    /// Merges the shards in order from their notes, so that the result does not depend on stops.
    fn product(&self, params: &F, workspace: &StepWorkspace) -> Result<Product, StepError> {
        let mut stats = ImportStats::default();
        let mut entries = Vec::new();
        for note in workspace.first_shards::<ShardPart>()? {
            stats.merge(&note.part.stats);
            entries.extend(note.files);
        }
        if stats.games == 0 {
            let rejects = entries.iter().find(|entry| entry.rows > 0);
            let rejects = rejects.map(|entry| read_entry::<RejectRow>(workspace.folder.root(), entry));
            let first = rejects.transpose()?.and_then(|rows| rows.into_iter().next());
            let first = first.map(|RejectRow { source, number, line, detail, .. }| {
                format!("; the first broken one is game {number} of {source}, {} {line}: {detail}", F::LINE)
            });
            let summary = stats.to_value();
            let kinds = [("rejected", "broken"), ("left_out", "left out")];
            let kinds = kinds.iter().filter_map(|(name, what)| by_kind(summary.member(name), what));
            let (read, kinds) = (stats.read, kinds.collect::<Vec<_>>().join(", "));
            return Err(ImportError::NoGames { read, kinds, first: first.unwrap_or_default() }.into());
        }
        if let Some(text) = params.doubt(&stats) {
            log::warn!("import of {}: {text}", self.name());
        }
        let mut summary = stats.to_value();
        summary.put("sources", Value::Int(self.sources.len() as i64));
        Ok(Product { files: entries, summary })
    }
}

/// Counts by kind: `12 broken (illegal_move 7, no_result 5)`; `None` if there are none.
fn by_kind(counts: Option<&Value>, what: &str) -> Option<String> {
    let Some(Value::Group(counts)) = counts else { return None };
    let sum: f64 = counts.values().filter_map(Value::as_f64).sum();
    let kinds: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    (sum > 0.0).then(|| format!("{sum} {what} ({})", kinds.join(", ")))
}

/// What a file looks like without reading it.
type Stamp = (u64, Option<SystemTime>);

/// By a format and paths, what was last found there, and how the files looked then.
type KnownSources = BTreeMap<(&'static str, Vec<PathBuf>), (Vec<Stamp>, Vec<Source>)>;

/// Files of a format with their digests. They are cached until a file changes, since a script is planned several times, and reading a
/// large file takes a while.
pub fn sources<F: GameFormat>(paths: &[PathBuf]) -> Result<Vec<Source>, SourceError> {
    static KNOWN: Mutex<KnownSources> = Mutex::new(BTreeMap::new());
    let stamp = |path: &PathBuf| {
        let found = fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()))
    };
    let stamps: Option<Vec<Stamp>> = paths.iter().map(stamp).collect();
    let key = (F::CONTENT, paths.to_vec());
    let known = || KNOWN.lock().ignore_poison();
    if let Some((before, sources)) = known().get(&key)
        && stamps.as_ref() == Some(before)
    {
        return Ok(sources.clone());
    }
    let sources = Source::all::<F>(paths)?;
    if let Some(stamps) = stamps {
        known().insert(key, (stamps, sources.clone()));
    }
    Ok(sources)
}

/// Stores a shard: first its tables, then the note that marks it as finished.
fn keep(workspace: &StepWorkspace, shard: &ImportShard) -> Result<(), StepError> {
    let number = shard.index.to_string();
    let provenance = files::provenance(workspace, [("shard", &number)]);
    let root: &Path = workspace.folder.root();
    let path = |table: &str| workspace.part(table, shard.index);
    let files = vec![
        write_table_fast(root, &path(TABLES[0]), &shard.games, &provenance)?,
        write_table_fast(root, &path(TABLES[1]), &shard.positions, &provenance)?,
        write_table_fast(root, &path(TABLES[2]), &shard.headers, &provenance)?,
        write_table_fast(root, &path(TABLES[3]), &shard.rejects, &provenance)?,
    ];
    let note = ShardNote { files, part: shard.part.clone() };
    Ok(workspace.keep_shard(shard.index, &note)?)
}
