//! Stored games, position by position, with the results of their searches.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

use dc0_analysis::web;
use dc0_core::board::GameTextError;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::store::{
    GameRow, HeaderRow, MatchGameRow, PositionRow, StoreError, StoredGame, TableRow, read_table,
};
use serde_json::{Value, json};
use thiserror::Error;

use super::cache::{Stamp, stamp};
use super::game_steps::{GameSource, GameSteps};
use super::library::{Found, Library};
use super::reply::Reply;
use super::shard::Shard;
use dc0_process::fault::chain;

/// Games of a page.
pub(super) const GAMES: u64 = 24;

/// Larger files are not read for a few games.
const MAX_BYTES: u64 = 64 << 20;

/// Games of a table; an error for each that cannot be replayed.
pub(super) type StoredGames = Vec<Result<StoredGame, GameTextError>>;

/// Why games, or their searches, cannot be shown.
#[derive(Debug, Error)]
pub(super) enum GamesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("games are without their searches: {0}")]
    Searches(#[source] StoreError),
    #[error("{} is larger than {} MiB, so the games are without their searches", file.display(), MAX_BYTES >> 20)]
    SearchesTooLarge { file: PathBuf },
    #[error("{} is larger than {} MiB, too large for a page; `dc0-run export pgn` writes its games", file.display(), MAX_BYTES >> 20)]
    TooLarge { file: PathBuf },
}

impl GamesError {
    fn is_missing(&self) -> bool {
        matches!(self, Self::Store(StoreError::Missing { .. }) | Self::Searches(StoreError::Missing { .. }))
    }
}

/// The reply with the games that were read last: all readers of a run request the same.
#[derive(Debug, Default)]
pub(super) struct Games(Mutex<Option<(Key, Reply)>>);

/// A run, its games, the first one that is shown, and the stamps of the files with those that are.
type Key = (String, GameSource, u64, Vec<Option<Stamp>>);

impl Games {
    /// The reply with a page of games, from one on; `None` if files of the latest shard have moved. Concurrent callers wait.
    pub(super) fn get(
        &self,
        library: &Library,
        steps: &GameSteps,
        run: &Found,
        source: GameSource,
        from: u64,
    ) -> Option<Reply> {
        let mut last = self.0.lock().ignore_poison();
        let parts = source.parts(from..from.saturating_add(GAMES));
        let files = parts.iter().flat_map(|(shard, _)| shard.files());
        let stamps = files.map(|file| stamp(&library.file(run, file)?)).collect();
        let key = (run.path.clone(), source, from, stamps);
        if let Some((_, reply)) = last.as_ref().filter(|(known, _)| *known == key) {
            return Some(reply.clone());
        }
        let reply = Reply::json(200, &page(library, steps, run, &key.1, from)?);
        *last = Some((key, reply.clone()));
        Some(reply)
    }
}

/// A page of games, as the page's board reads them; `None` if files of the latest shard have moved. `next` is the first game of the page
/// after it.
fn page(library: &Library, steps: &GameSteps, run: &Found, source: &GameSource, from: u64) -> Option<Value> {
    let mut games = Vec::new();
    let mut unreadable = 0;
    let mut because: Option<GamesError> = None;
    let mut next = from;
    let mut names = BTreeMap::new();
    for (shard, part) in source.parts(from..from.saturating_add(GAMES)) {
        let indices = next..;
        next += part.len() as u64;
        let read = stored_with_searches(library, run, shard, part.clone());
        let cause = read.as_ref().map_or_else(Some, |(_, without_searches)| without_searches.as_ref());
        if let Some(cause) = cause.filter(|cause| source.is_latest && cause.is_missing()) {
            log::debug!("the games of {} are not shown yet: {cause}", run.path);
            return None;
        }
        let (found, without_searches) = match read {
            Ok(found) => found,
            Err(cause) => {
                log::warn!("games of {} are not shown: {}", run.path, chain(&cause));
                unreadable += part.len();
                because = Some(cause);
                continue;
            }
        };
        because = because.or(without_searches);
        for (game, index) in found.into_iter().zip(indices) {
            match game {
                Ok(mut game) => {
                    for name in [&mut game.white, &mut game.black] {
                        let player = || steps.player(library, run, name);
                        let player = names.entry(name.clone()).or_insert_with(player);
                        name.clone_from(player);
                    }
                    games.push(shown(&game, index));
                }
                Err(cause) => {
                    unreadable += 1;
                    log::warn!("a game of {} is not shown: {cause}", run.folder.path(&shard.games).display());
                }
            }
        }
    }
    let because = because.map(|cause| chain(&cause));
    Some(json!({
        "source": source.name, "games": games, "from": from, "next": next, "all": source.count(),
        "unreadable": unreadable, "because": because,
    }))
}

/// Some games of a shard with their searches, or without them, and with the reason, where only these cannot be read.
pub(super) fn stored_with_searches(
    library: &Library,
    run: &Found,
    shard: &Shard,
    part: Range<usize>,
) -> Result<(StoredGames, Option<GamesError>), GamesError> {
    let cause = match stored(library, run, shard, part.clone(), true) {
        Ok(games) => return Ok((games, None)),
        Err(GamesError::TooLarge { file }) => GamesError::SearchesTooLarge { file },
        Err(GamesError::Store(cause)) => GamesError::Searches(cause),
        Err(cause) => cause,
    };
    // It fails for the same reason where it is the games that cannot be read.
    Ok((stored(library, run, shard, part, false)?, Some(cause)))
}

/// Some games of a shard. Searches are read on request: they need far more memory than moves.
pub(super) fn stored(
    library: &Library,
    run: &Found,
    shard: &Shard,
    part: Range<usize>,
    with_searches: bool,
) -> Result<StoredGames, GamesError> {
    let (first, count) = (part.start, part.len());
    let searched = match &shard.positions {
        Some(positions) if with_searches => rows::<PositionRow>(library, run, positions)?,
        _ => Vec::new(),
    };
    if let Some(headers) = &shard.headers {
        let games = rows::<GameRow>(library, run, &shard.games)?;
        let games = games.iter().zip(rows::<HeaderRow>(library, run, headers)?).skip(first).take(count);
        Ok(games.map(|(row, header)| StoredGame::of_import(row, header, &searched)).collect())
    } else if shard.positions.is_some() {
        let games = rows::<GameRow>(library, run, &shard.games)?;
        let games = games.iter().skip(first).take(count);
        Ok(games.map(|row| StoredGame::of_self_play(row, &searched)).collect())
    } else {
        let games = rows::<MatchGameRow>(library, run, &shard.games)?;
        Ok(games.iter().skip(first).take(count).map(StoredGame::of_match).collect())
    }
}

fn rows<R: TableRow>(library: &Library, run: &Found, file: &str) -> Result<Vec<R>, GamesError> {
    let missing = || StoreError::Missing { file: run.folder.path(file) };
    let path = library.file(run, file).ok_or_else(missing)?;
    if fs::metadata(&path).is_ok_and(|found| found.len() > MAX_BYTES) {
        return Err(GamesError::TooLarge { file: path });
    }
    Ok(read_table(&path)?)
}

fn shown(game: &StoredGame, index: u64) -> Value {
    let mut shown = web::games::game(game);
    shown["index"] = index.into();
    shown["title"] = format!("game {}", game.number).into();
    shown
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use dc0_core::board::{Game, GameResult, Reason};
    use dc0_core::store::{GameRow, Provenance, write_table};
    use serde_json::{Value, json};

    use super::{GAMES, Games, MAX_BYTES, page};
    use crate::serve::game_steps::{GameSource, GameSteps};
    use crate::serve::library::{Found, Library};
    use crate::serve::shard::Shard;

    /// A run with one game, whose searches are in a table that is too large.
    pub(in crate::serve) fn with_large_searches(folder: &Path) -> (Library, Found, GameSource) {
        let root = folder.join("x");
        fs::create_dir(&root).expect("a folder");
        fs::write(root.join("run.json"), "{}").expect("writes");
        let game = Game::from_text("startpos moves e2e4 e7e5").expect("a game");
        let row = GameRow {
            game: 0,
            network: String::new(),
            start_fen: game.start().fen(),
            moves: game.moves().iter().map(|mv| mv.packed()).collect(),
            opening_plies: 0,
            result: GameResult::Draw,
            reason: Reason::PlyCap.into(),
        };
        write_table(&root, "games", &[row], &Provenance::new()).expect("writes");
        File::create(root.join("positions")).and_then(|file| file.set_len(MAX_BYTES + 1)).expect("a file");
        let library = Library::open(folder).expect("a folder");
        let run = library.find(&["x".to_owned()]).expect("a run");
        let (games, positions) = ("games".to_owned(), Some("positions".to_owned()));
        let shard = Shard { games, positions, headers: None, count: 1 };
        (library, run, GameSource { name: "games".to_owned(), shards: vec![shard], is_latest: false })
    }

    #[test]
    fn games_of_a_table_that_is_too_large_count_as_unreadable() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("x")).expect("a folder");
        fs::write(folder.path().join("x/run.json"), "{}").expect("writes");
        File::create(folder.path().join("x/games"))
            .and_then(|file| file.set_len(MAX_BYTES + 1))
            .expect("a file");
        let library = Library::open(folder.path()).expect("a folder");
        let run = library.find(&["x".to_owned()]).expect("a run");
        let shard = Shard { games: "games".to_owned(), positions: None, headers: None, count: GAMES + 3 };
        let source = GameSource { name: "games".to_owned(), shards: vec![shard], is_latest: false };
        let page = |from| page(&library, &GameSteps::default(), &run, &source, from).expect("a page");
        let first = page(0);
        assert_eq!(
            (&first["unreadable"], &first["next"], &first["games"]),
            (&24.into(), &24.into(), &serde_json::json!([]))
        );
        assert!(first["because"].as_str().is_some_and(|why| why.contains("larger than 64 MiB")), "{first}");
        assert_eq!((&page(24)["unreadable"], &page(24)["next"]), (&json!(3), &json!(27)));
    }

    #[test]
    fn games_are_listed_without_their_searches_where_only_these_are_too_large() {
        let folder = tempfile::tempdir().expect("a folder");
        let (library, run, source) = with_large_searches(folder.path());
        let page = page(&library, &GameSteps::default(), &run, &source, 0).expect("a page");
        assert_eq!((&page["unreadable"], &page["games"][0]["plies"][1]["m"][0]), (&json!(0), &json!("e4")));
        assert_eq!(page["games"][0]["plies"][0]["t"], json!(null));
        let because = page["because"].as_str().unwrap_or_default();
        let expected = "x/positions is larger than 64 MiB, so the games are without their searches";
        assert!(because.ends_with(expected), "{because}");
    }

    #[test]
    fn games_beside_a_damaged_table_are_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (library, run, source) = with_large_searches(folder.path());
        let root = folder.path().join("x");
        fs::write(root.join("damaged"), "{}").expect("writes");
        let source = |is_latest, shards: &[(&str, &str)]| {
            let shard = |(games, positions): &(&str, &str)| {
                let (games, positions) = ((*games).to_owned(), Some((*positions).to_owned()));
                Shard { games, positions, headers: None, count: 1 }
            };
            GameSource { shards: shards.iter().map(shard).collect(), is_latest, ..source.clone() }
        };
        let steps = GameSteps::default();
        let page = |source: &GameSource| page(&library, &steps, &run, source, 0);
        let because = |page: &Value| page["because"].as_str().unwrap_or_default().to_owned();
        let after_damaged = source(false, &[("damaged", "damaged"), ("games", "damaged")]);
        let found = page(&after_damaged).expect("a page");
        assert_eq!((&found["unreadable"], &found["next"]), (&json!(1), &json!(2)), "{found}");
        assert_eq!((&found["games"][0]["index"], &found["games"][1]), (&json!(1), &Value::Null), "{found}");
        assert!(because(&found).contains("damaged is not a whole"), "{found}");
        let found = page(&source(false, &[("games", "damaged")])).expect("a page");
        assert_eq!((&found["unreadable"], &found["games"][0]["index"]), (&json!(0), &json!(0)), "{found}");
        assert!(because(&found).starts_with("games are without their searches: "), "{found}");
        // Files of a finished step do not come back; those of the latest shard may have moved.
        for (games, unreadable) in [("games", 0), ("absent", 1)] {
            let found = page(&source(false, &[(games, "absent")])).expect("a page");
            assert_eq!(found["unreadable"], unreadable, "{found}");
            assert!(because(&found).contains("absent is missing"), "{found}");
            assert_eq!(page(&source(true, &[(games, "absent")])), None);
        }
        // A table that was put back is read again.
        let games = Games::default();
        let unreadable = || {
            let reply = games.get(&library, &steps, &run, after_damaged.clone(), 0).expect("a page");
            serde_json::from_slice::<Value>(&reply.body).expect("JSON")["unreadable"].clone()
        };
        assert_eq!((unreadable(), unreadable()), (json!(1), json!(1)));
        fs::copy(root.join("games"), root.join("damaged")).expect("copies");
        assert_eq!(unreadable(), 0);
    }
}
