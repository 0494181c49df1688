//! The latest stored games, position by position, with the results of their searches.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use dc0_core::board::{Game, GameResult, GameTextError, Move, Position};
use dc0_core::store::{FileEntry, GameRow, MatchGameRow, PositionRow, StoreError, StoredGame, read_table};
use serde_json::{Value, json};

use super::cache::{Stamp, stamp};
use super::library::{Found, Kind, Library};
use super::reply::Reply;
use dc0_runs::view::{GameFiles, manifest_files};
use dc0_runs::{Manifest, ShardNote, shard_notes};

/// Games of a shard that are shown.
const GAMES: usize = 24;

/// Moves of a search that are shown.
const MOVES: usize = 6;

/// Larger files are not read for a few games.
const MAX_BYTES: u64 = 64 << 20;

/// The files of a shard, relative to the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shard {
    /// The games.
    pub(super) games: String,
    /// The searched positions, in self-play.
    positions: Option<String>,
}

impl Shard {
    /// The shards among a step's files.
    fn all(files: &[FileEntry]) -> Vec<Self> {
        let path = |file: &FileEntry| file.path.clone();
        GameFiles::among(files)
            .map(|shard| Self { games: path(shard.games), positions: shard.positions.map(path) })
            .collect()
    }
}

/// The latest stored shard: of the unfinished step, or else of the last finished one.
pub(super) fn latest(library: &Library, run: &Found) -> Option<Shard> {
    let is_there = |shard: &Shard| {
        let mut files = std::iter::once(&shard.games).chain(&shard.positions);
        files.all(|file| library.file(run, file).is_some())
    };
    let finished = std::iter::once_with(|| finished(library, run)).flatten();
    unfinished(library, run).chain(finished).find(is_there)
}

/// The reply with the games that were read last: all readers of a run request the same.
#[derive(Debug, Default)]
pub(super) struct Games(Mutex<Option<(Source, Reply)>>);

/// A run, its shard, and the stamp of the shard's file.
type Source = (String, Shard, Option<Stamp>);

impl Games {
    /// The reply with the games of a shard. Concurrent callers wait.
    pub(super) fn get(&self, library: &Library, run: &Found, shard: &Shard) -> Result<Reply, StoreError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = library.file(run, &shard.games);
        let source = (run.path.clone(), shard.clone(), file.and_then(|file| stamp(&file)));
        if let Some((_, reply)) = last.as_ref().filter(|(known, _)| *known == source) {
            return Ok(reply.clone());
        }
        let reply = Reply::json(200, &games(library, run, shard)?);
        *last = Some((source, reply.clone()));
        Ok(reply)
    }
}

/// A version that changes when the tables of finished steps do: a digest of their manifests' names, or of a sweep's journal length.
pub(super) fn version(library: &Library, run: &Found) -> String {
    let names: Vec<String> = match run.kind {
        Kind::Run => manifests(library, run).iter().map(|path| path.display().to_string()).collect(),
        Kind::Sweep => {
            let journal = library.own(run.folder.sweep_journal()).and_then(|path| stamp(&path));
            journal.map(|(length, _)| length.to_string()).into_iter().collect()
        }
    };
    blake3::hash(names.join("\n").as_bytes()).to_hex()[..16].to_owned()
}

/// The manifests of finished steps in their order; none if they cannot be listed now.
pub(super) fn manifests(library: &Library, run: &Found) -> Vec<PathBuf> {
    let is_own = library.own(run.folder.steps()).is_some();
    if is_own { manifest_files(&run.folder).unwrap_or_default() } else { Vec::new() }
}

/// Shards of unfinished steps, the latest first. Notes are read lazily: there may be thousands.
fn unfinished(library: &Library, run: &Found) -> impl Iterator<Item = Shard> {
    let notes = shard_notes(&run.folder).into_iter().filter_map(|note| library.own(note));
    let dated = |note: PathBuf| {
        let written = stamp(&note).and_then(|(_, written)| written);
        (written, note.file_name().map(ToOwned::to_owned), note)
    };
    let mut found: Vec<_> = notes.map(dated).collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().flat_map(|(.., note)| Shard::all(&ShardNote::files(&note)))
}

/// The last shards of the last finished steps, the latest first.
fn finished(library: &Library, run: &Found) -> impl Iterator<Item = Shard> {
    let has_games = |path: &PathBuf| matches!(Manifest::kind_of(path), Some("self_play" | "arena"));
    let last = manifests(library, run).into_iter().rev().filter(has_games).take(3);
    let manifests = last.filter_map(|path| Manifest::read(&library.own(path)?).ok());
    manifests.filter_map(|manifest| Shard::all(&manifest.files).pop())
}

/// The games of a shard, as the page's board reads them.
pub(super) fn games(library: &Library, run: &Found, shard: &Shard) -> Result<Value, StoreError> {
    let games: Vec<Result<StoredGame, GameTextError>> = if let Some(positions) = &shard.positions {
        let searched = rows::<PositionRow>(library, run, positions)?;
        let games = rows::<GameRow>(library, run, &shard.games)?;
        games.iter().take(GAMES).map(|row| StoredGame::of_self_play(row, &searched)).collect()
    } else {
        rows::<MatchGameRow>(library, run, &shard.games)?
            .iter()
            .take(GAMES)
            .map(StoredGame::of_match)
            .collect()
    };
    let noun = if shard.positions.is_some() { "game" } else { "match game" };
    let shown = |game: Result<StoredGame, GameTextError>| match game {
        Ok(game) => Some(shown(noun, &game)),
        Err(cause) => {
            log::warn!("a game of {} is not shown: {cause}", run.folder.path(&shard.games).display());
            None
        }
    };
    let games: Vec<Value> = games.into_iter().filter_map(shown).collect();
    Ok(json!({ "source": shard.games, "games": games }))
}

fn rows<R: dc0_core::store::TableRow>(
    library: &Library,
    run: &Found,
    file: &str,
) -> Result<Vec<R>, StoreError> {
    let missing = || StoreError::Missing { file: run.folder.path(file) };
    let path = library.file(run, file).ok_or_else(missing)?;
    let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= MAX_BYTES);
    if is_small { read_table(&path) } else { Ok(Vec::new()) }
}

fn shown(noun: &str, game: &StoredGame) -> Value {
    json!({
        "title": format!("{noun} {}", game.number),
        "white": game.white, "black": game.black,
        "result": result(game.result), "reason": game.reason.name().replace('_', " "),
        "opening": game.opening_plies,
        "plies": plies(&game.game, |ply| game.searches.get(ply)?.as_ref()),
    })
}

fn result(result: GameResult) -> &'static str {
    match result {
        GameResult::WhiteWins => "1–0",
        GameResult::Draw => "½–½",
        GameResult::BlackWins => "0–1",
    }
}

/// One entry for each position: the pieces and the side to move, the move that led to it, and the search's result.
pub(super) fn plies<'a>(game: &Game, search: impl Fn(usize) -> Option<&'a PositionRow>) -> Vec<Value> {
    let mut before = Value::Null;
    let shown = |(ply, position): (usize, &Position)| {
        let searched = search(ply).map(|row| search_result(position, row));
        let shown = json!({ "b": placement(position), "m": before, "t": searched });
        if let Some(played) = game.moves().get(ply) {
            before = json!([position.san(*played), played.from(), played.to()]);
        }
        shown
    };
    game.positions().enumerate().map(shown).collect()
}

/// The first two fields of the FEN: piece placement and side to move.
pub(super) fn placement(position: &Position) -> String {
    position.fen().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn search_result(position: &Position, row: &PositionRow) -> Value {
    let all: u32 = row.visits.iter().sum();
    let mut tried: Vec<(u16, u32)> = row.moves.iter().copied().zip(row.visits.iter().copied()).collect();
    tried.sort_by_key(|(packed, visits)| (std::cmp::Reverse(*visits), *packed));
    let shown = |(packed, visits): &(u16, u32)| {
        let mv = Move::from_packed(*packed).filter(|mv| position.is_legal(*mv))?;
        let share = f64::from(*visits) / f64::from(all.max(1));
        Some(json!([position.san(mv), mv.from(), mv.to(), visits, share, *packed == row.played]))
    };
    json!({
        "q": [row.root_q, row.root_d],
        "n": [row.net_q, row.net_d],
        "s": row.simulations,
        "p": tried.iter().take(MOVES).filter_map(shown).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dc0_core::board::Game;
    use dc0_core::store::FileEntry;
    use serde_json::json;

    use super::{Manifest, Shard, ShardNote, latest, plies, version};
    use crate::serve::library::Found;
    use crate::serve::library::Library;

    fn run(folder: &std::path::Path) -> (Library, Found) {
        for file in [
            "run.json",
            "games/a",
            "positions/a",
            "games/b",
            "positions/b",
            "steps/work/aa/shard-00000.parquet",
        ] {
            let path = folder.join("x").join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "{}").expect("a file");
        }
        let library = Library::open(folder).expect("a folder");
        let found = library.find(&["x".to_owned()]).expect("a run");
        (library, found)
    }

    #[test]
    fn the_latest_shard_is_of_the_unfinished_or_the_last_finished_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let (library, run) = run(folder.path());
        let entries = |files: &[&str]| -> Vec<FileEntry> {
            let entry = |path: &&str| FileEntry {
                path: (*path).to_owned(),
                rows: 0,
                bytes: 2,
                blake3: "ab".repeat(32),
            };
            files.iter().map(entry).collect()
        };
        let note = |name: &str, files: &[&str]| {
            let note = ShardNote { files: entries(files), part: json!({ "games": 1 }) };
            note.write(&run.folder.all_work().join("aa").join(name)).expect("a note");
        };
        assert_eq!(latest(&library, &run), None);
        let empty = version(&library, &run);
        let manifest = Manifest {
            version: 1,
            step: "bb".repeat(32),
            kind: "self_play".to_owned(),
            kind_version: 1,
            params: dc0_core::params::Value::group(),
            inputs: Vec::new(),
            seed: 1,
            files: entries(&["games/a", "positions/a", "games/b", "positions/b"]),
            summary: dc0_core::params::Value::group(),
        };
        manifest.write(&run.folder.steps().join(manifest.file_name(1))).expect("a manifest");
        let of_games = |name: &str| Shard {
            games: format!("games/{name}"),
            positions: Some(format!("positions/{name}")),
        };
        assert_eq!(latest(&library, &run), Some(of_games("b")));
        assert_ne!(version(&library, &run), empty);
        note("shard-00001.json", &["games/a", "positions/a"]);
        assert_eq!(latest(&library, &run), Some(of_games("a")));
        // Missing files and truncated notes are skipped.
        fs::remove_file(folder.path().join("x/games/a")).expect("removes");
        note("shard-00000.json", &["steps/work/aa/shard-00000.parquet"]);
        fs::write(folder.path().join("x/steps/work/aa/shard-00002.json"), "{\"files\":[{").expect("writes");
        let of_match = Shard { games: "steps/work/aa/shard-00000.parquet".to_owned(), positions: None };
        assert_eq!(latest(&library, &run), Some(of_match));
    }

    #[test]
    fn a_game_is_listed_position_by_position() {
        let game = Game::from_text("startpos moves e2e4 e7e5").expect("a game");
        let plies = plies(&game, |_| None);
        assert_eq!(plies.len(), 3);
        assert_eq!(plies[1]["m"].to_string(), "[\"e4\",12,28]");
        assert_eq!(plies[2]["b"], "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w");
    }
}
