//! A run at a glance: the Elo of its latest net and its latest loss. Ratings need the games of all matches, so they are computed
//! once for each new step, and only a few at a time.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use dc0_analysis::{AnalysisError, Database, Work};
use dc0_core::params::Value as Param;
use serde_json::{Map, Value, json};

use super::library::{Found, Kind, Library};
use super::shard;
use dc0_process::clock::Stopwatch;
use dc0_process::fault::chain;
use dc0_runs::{Generation, Manifest, Series, StepKind};
use dc0_tables::Sources;

/// The time for new runs at each call. Chosen: half of the interval at which event streams ask.
const BUDGET: Duration = Duration::from_millis(250);

/// Runs that are kept.
const MAX_RUNS: usize = 10_000;

/// What is known of each run, by its path.
#[derive(Debug, Default)]
pub(super) struct Glances(Mutex<BTreeMap<String, Glance>>);

/// A run at a glance.
#[derive(Debug)]
struct Glance {
    /// The version of the run's data.
    version: String,
    shown: Value,
}

impl Glances {
    /// All runs that are known so far, by their paths; after the budget, the other ones follow at the next call. `None` while
    /// another thread adds some.
    pub(super) fn all(&self, library: &Library, version: impl Fn(&Found) -> String) -> Option<Value> {
        let mut known = match self.0.try_lock() {
            Ok(known) => known,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if known.len() > MAX_RUNS {
            known.clear();
        }
        let watch = Stopwatch::start();
        let mut shown = Map::new();
        for run in library.all().into_iter().filter(|found| found.kind == Kind::Run) {
            let version = version(&run);
            let is_current = known.get(&run.path).is_some_and(|glance| glance.version == version);
            if !is_current && watch.elapsed() < BUDGET {
                let glance = Glance { version, shown: glance(library, &run) };
                known.insert(run.path.clone(), glance);
            }
            if let Some(glance) = known.get(&run.path) {
                shown.insert(run.path, glance.shown.clone());
            }
        }
        Some(Value::Object(shown))
    }
}

/// `loss` of the last training, and `elo` of the latest net with its interval and number; null where there is none.
fn glance(library: &Library, run: &Found) -> Value {
    let manifests = shard::manifests(library, run);
    let kind = |path: &Path| Manifest::kind_of(path).and_then(StepKind::named);
    let last = manifests.iter().rfind(|path| kind(path) == Some(&StepKind::TRAIN));
    let trained = last.and_then(|path| Manifest::read(&library.own(path.clone())?).ok());
    let loss = trained.and_then(|manifest| manifest.summary.figure("loss"));
    let has_match =
        manifests.iter().any(|path| kind(path).is_some_and(|kind| kind.series() == Series::Matches));
    // Links that lead out of the folder of runs are not followed.
    let elo = if has_match && library.stray(run).is_none() { elo(library, run) } else { None };
    json!({ "loss": loss.filter(|loss| loss.is_finite()), "elo": elo })
}

fn elo(library: &Library, run: &Found) -> Option<Value> {
    let folder = run.folder.root().display().to_string();
    let no_ratings = |cause: &dyn Error| log::info!("no ratings of {folder}: {}", chain(cause));
    let sources = Sources::named(Path::new(""), std::slice::from_ref(&folder));
    let sources = sources.inspect_err(|cause| no_ratings(cause)).ok()?;
    let promoted = library.generations(run);
    let rating = latest(&Database::new(sources.runs, Vec::new(), Work::Exact), &promoted);
    rating.inspect_err(|cause| no_ratings(cause)).ok()?
}

/// The rating of the net that was promoted last, or else of the one with the largest number. A run's first net is its generation 0
/// without a promotion.
fn latest(database: &Database, promoted: &[Generation]) -> Result<Option<Value>, AnalysisError> {
    let rows = database.query(
        "select player, net, elo, elo_low, elo_high from ratings where net is not null and elo is not null order by net",
    )?;
    let rows = rows.rows()?;
    let players = rows.column("player")?;
    let promoted = promoted.last().filter(|net| net.generation > 0);
    let is_last = |player: &Param| matches!(player, Param::Text(digest) if promoted.is_some_and(|net| net.blake3.starts_with(digest)));
    let Some(row) = players.iter().position(is_last).or_else(|| players.len().checked_sub(1)) else {
        return Ok(None);
    };
    let figure = |name: &str| Ok::<_, AnalysisError>(rows.numbers(name)?[row]);
    let (net, elo, low, high) = (figure("net")?, figure("elo")?, figure("elo_low")?, figure("elo_high")?);
    Ok(Some(json!({ "net": net, "elo": elo, "low": low, "high": high })))
}
