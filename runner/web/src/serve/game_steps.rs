//! The steps of a run that have games, and the tables that hold them.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::cache::Stamped;
use super::library::{Found, Library};
use super::shard::{self, Shard};
use dc0_core::store::MatchGameRow;
use dc0_runs::{Manifest, Series, Slot};

/// The finished steps of runs; a manifest is read once.
#[derive(Debug, Default)]
pub(super) struct GameSteps(Stamped<StoredStep>);

/// A finished step, as far as its games and the names of its net matter.
#[derive(Debug, Default)]
struct StoredStep {
    /// Its name in addresses: that of its manifest.
    id: String,
    /// Its name on the page: `iteration 0003`, `match 0002`, `network 0004`.
    name: String,
    /// The digest of the net that it made.
    net: Option<String>,
    shards: Vec<Shard>,
}

/// The games that a page of games or a PGN file is taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GameSource {
    /// The step's name on the page; for the latest stored shard the name of its file.
    pub(super) name: String,
    /// Its tables, in order.
    pub(super) shards: Vec<Shard>,
    /// Whether it is the latest stored shard, whose files move when its step is finished; those of finished steps stay.
    pub(super) is_latest: bool,
}

impl GameSource {
    /// The number of games.
    pub(super) fn count(&self) -> u64 {
        self.shards.iter().map(|shard| shard.count).sum()
    }

    /// The shards that hold some of the games, each with the numbers of those within it.
    pub(super) fn parts(&self, games: std::ops::Range<u64>) -> Vec<(&Shard, std::ops::Range<usize>)> {
        let mut before = 0;
        let mut parts = Vec::new();
        for shard in &self.shards {
            let within = |game: u64| game.saturating_sub(before).min(shard.count) as usize;
            let part = within(games.start)..within(games.end);
            if !part.is_empty() {
                parts.push((shard, part));
            }
            before += shard.count;
        }
        parts
    }
}

impl StoredStep {
    /// What a manifest says; nothing if it cannot be read now.
    fn read(path: &Path) -> Self {
        let Ok(manifest) = Manifest::read(path) else { return Self::default() };
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = manifest.slot().map(Slot::name);
        let has_games =
            manifest.slot().is_some_and(|slot| [Series::Iterations, Series::Matches].contains(&slot.series));
        Self {
            id: id.unwrap_or_default(),
            name: name.unwrap_or_else(|| manifest.kind.clone()),
            net: manifest.weights().map(|weights| weights.blake3.clone()),
            shards: if has_games { Shard::all(&manifest.files) } else { Vec::new() },
        }
    }

    fn source(&self) -> GameSource {
        GameSource { name: self.name.clone(), shards: self.shards.clone(), is_latest: false }
    }
}

impl GameSteps {
    /// The finished steps of a run, in order.
    fn all(&self, library: &Library, run: &Found) -> Vec<Arc<StoredStep>> {
        let paths = shard::manifests(library, run).into_iter().filter_map(|path| library.own(path));
        paths.filter_map(|path| self.0.get(&path, |_| StoredStep::read(&path))).collect()
    }

    /// The steps with games, for the page's list: their ids, names and numbers of games.
    pub(super) fn list(&self, library: &Library, run: &Found) -> Value {
        let with_games = self.all(library, run).into_iter().filter(|step| !step.shards.is_empty());
        let row = |step: Arc<StoredStep>| json!({ "id": step.id, "name": step.name, "games": step.source().count() });
        with_games.map(row).collect()
    }

    /// The games of a finished step, or those of the latest stored shard.
    pub(super) fn source(&self, library: &Library, run: &Found, id: Option<&str>) -> Option<GameSource> {
        let Some(id) = id else {
            let shard = shard::latest(library, run)?;
            return Some(GameSource { name: shard.games.clone(), shards: vec![shard], is_latest: true });
        };
        let mut steps = self.all(library, run).into_iter();
        Some(steps.find(|step| step.id == id && !step.shards.is_empty())?.source())
    }

    /// A player's name: tables name nets by the first digits of their digests, which become the nets' names here.
    pub(super) fn player(&self, library: &Library, run: &Found, name: &str) -> String {
        let Some((digits, _)) = MatchGameRow::net_of(name) else { return name.to_owned() };
        let makes_it = |step: &Arc<StoredStep>| step.net.as_ref().is_some_and(|net| net.starts_with(digits));
        let step = self.all(library, run).into_iter().find(makes_it);
        step.map_or_else(|| name.to_owned(), |step| format!("{} ({name})", step.name))
    }
}

#[cfg(test)]
mod tests {
    use super::{GameSource, Shard};

    #[test]
    fn a_page_of_games_may_lie_in_several_shards() {
        let shard =
            |name: &str, count| Shard { games: name.to_owned(), positions: None, headers: None, count };
        let shards = vec![shard("a", 3), shard("b", 0), shard("c", 5)];
        let source = GameSource { name: String::new(), shards, is_latest: false };
        let parts = |games| -> Vec<(String, std::ops::Range<usize>)> {
            source.parts(games).into_iter().map(|(shard, part)| (shard.games.clone(), part)).collect()
        };
        assert_eq!(source.count(), 8);
        assert_eq!(parts(2..5), [("a".to_owned(), 2..3), ("c".to_owned(), 0..2)]);
        assert_eq!(parts(7..40), [("c".to_owned(), 4..5)]);
        assert_eq!(parts(8..9), []);
    }
}
