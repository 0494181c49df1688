//! The games that were stored last, position by position, with what the search thought of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dc0_core::board::{GameResult, Move, Position};
use dc0_core::store::{GameRow, MatchGameRow, PositionRow, StoreError, read_table};
use serde_json::{Value, json};

use super::library::{Found, Kind, Library};
use super::memo::{Stamp, stamp};
use super::reply::Reply;

/// Games of a shard that are shown.
const GAMES: usize = 24;

/// Moves of a search that are shown.
const MOVES: usize = 6;

/// Files larger than this are not read for the sake of a few games.
const MOST_BYTES: u64 = 64 << 20;

/// Files of a shard, relative to the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shard {
    /// Its games.
    pub(super) games: String,
    /// What was searched, in self-play.
    positions: Option<String>,
}

/// The shard that was stored last: of the unfinished step, or of the last finished one.
pub(super) fn latest(library: &Library, run: &Found) -> Option<Shard> {
    let is_there = |shard: &Shard| {
        let mut files = std::iter::once(&shard.games).chain(&shard.positions);
        files.all(|file| library.file(run, file).is_some())
    };
    let finished = std::iter::once_with(|| finished(library, run)).flatten();
    unfinished(library, run).chain(finished).find(is_there)
}

/// The games that were read last, as they are answered: all who watch a run ask for the same.
#[derive(Debug, Default)]
pub(super) struct Games(Mutex<Option<(Source, Reply)>>);

/// A run, its shard, and the stamp of the shard's file.
type Source = (String, Shard, Option<Stamp>);

impl Games {
    /// The games of a shard. Whoever asks meanwhile waits.
    pub(super) fn get(&self, library: &Library, run: &Found, shard: &Shard) -> Result<Reply, StoreError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = library.file(run, &shard.games);
        let source = (run.path.clone(), shard.clone(), file.and_then(|file| stamp(&file)));
        if let Some((_, reply)) = last.as_ref().filter(|(of, _)| *of == source) {
            return Ok(reply.clone());
        }
        let reply = Reply::json(200, &games(library, run, shard)?);
        *last = Some((source, reply.clone()));
        Ok(reply)
    }
}

/// What changes when the tables of finished steps do: the names of their manifests.
pub(super) fn version(library: &Library, run: &Found) -> String {
    let names: Vec<String> = match run.kind {
        Kind::Run => library.files(run, "steps"),
        Kind::Sweep => {
            let journal = library.file(run, "trials.jsonl").and_then(|path| stamp(&path));
            journal.map(|(length, _)| length.to_string()).into_iter().collect()
        }
    };
    blake3::hash(names.join("\n").as_bytes()).to_hex()[..16].to_owned()
}

/// Shards of steps under way, the last one first. A note is read when its turn comes: there may be thousands.
fn unfinished(library: &Library, run: &Found) -> impl Iterator<Item = Shard> {
    let mut found = Vec::new();
    for step in library.files(run, "steps/work") {
        let folder = format!("steps/work/{step}");
        let notes = library.files(run, &folder).into_iter();
        let is_note = |name: &String| {
            name.strip_prefix("shard-").is_some_and(|rest| rest.strip_suffix(".json").is_some())
        };
        for note in notes.filter(is_note) {
            let Some(path) = library.file(run, &format!("{folder}/{note}")) else { continue };
            let written = stamp(&path).and_then(|(_, written)| written);
            found.push((written, note, path));
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().flat_map(|(.., path)| of_manifest(&path))
}

/// The last shards of the last finished steps, the last one first.
fn finished(library: &Library, run: &Found) -> impl Iterator<Item = Shard> {
    let names = library.files(run, "steps").into_iter().rev();
    let manifests = names.filter(|name| name.contains("-self_play-") || name.contains("-arena-")).take(3);
    let paths = manifests.filter_map(|name| library.file(run, &format!("steps/{name}")));
    paths.filter_map(|path| of_manifest(&path).pop())
}

/// The shards that a manifest or the note of a shard names; none where it cannot be read just now.
fn of_manifest(path: &Path) -> Vec<Shard> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let files = manifest["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let files: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
    let shard = |games: &&str| {
        let positions = games.strip_prefix("games/").map(|rest| format!("positions/{rest}"));
        let is_games =
            positions.is_some() || games.starts_with("matches/") || games.starts_with("steps/work/");
        is_games.then(|| Shard { games: (*games).to_owned(), positions })
    };
    files.iter().filter_map(shard).collect()
}

/// The games of a shard, as the board of the page reads them.
pub(super) fn games(library: &Library, run: &Found, shard: &Shard) -> Result<Value, StoreError> {
    let games: Vec<Value> = if let Some(positions) = &shard.positions {
        let thoughts = rows::<PositionRow>(library, run, positions)?;
        let thoughts: BTreeMap<(u32, usize), &PositionRow> =
            thoughts.iter().map(|row| ((row.game, row.ply as usize), row)).collect();
        let games = rows::<GameRow>(library, run, &shard.games)?;
        games.iter().take(GAMES).map(|game| of_self_play(game, &thoughts)).collect()
    } else {
        rows::<MatchGameRow>(library, run, &shard.games)?.iter().take(GAMES).map(of_match).collect()
    };
    Ok(json!({ "source": shard.games, "games": games }))
}

fn rows<R: dc0_core::store::TableRow>(
    library: &Library,
    run: &Found,
    file: &str,
) -> Result<Vec<R>, StoreError> {
    let missing = || StoreError::Missing { file: run.folder.path(file) };
    let path = library.file(run, file).ok_or_else(missing)?;
    let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= MOST_BYTES);
    if is_small { read_table(&path) } else { Ok(Vec::new()) }
}

fn of_self_play(game: &GameRow, thoughts: &BTreeMap<(u32, usize), &PositionRow>) -> Value {
    let thought = |ply: usize| thoughts.get(&(game.game, ply)).copied();
    json!({
        "title": format!("game {}", game.game),
        "white": game.network, "black": game.network,
        "result": result(game.result), "reason": game.reason.word().replace('_', " "),
        "opening": game.opening_plies,
        "plies": plies(&game.start_fen, &game.moves, &thought),
    })
}

fn of_match(game: &MatchGameRow) -> Value {
    let (white, black) =
        if game.first_is_white { (&game.first, &game.second) } else { (&game.second, &game.first) };
    json!({
        "title": format!("match game {}", game.game),
        "white": white, "black": black,
        "result": result(game.result), "reason": game.reason.word().replace('_', " "),
        "opening": game.opening_plies,
        "plies": plies(&game.start_fen, &game.moves, &|_| None),
    })
}

fn result(result: GameResult) -> &'static str {
    match result {
        GameResult::WhiteWins => "1–0",
        GameResult::Draw => "½–½",
        GameResult::BlackWins => "0–1",
    }
}

/// One entry for each position: the men and the side to move, the move that led to it, and what the search thought.
pub(super) fn plies<'a>(
    start: &str,
    moves: &[u16],
    thought: &dyn Fn(usize) -> Option<&'a PositionRow>,
) -> Vec<Value> {
    let Ok(mut position) = Position::from_fen(start) else { return Vec::new() };
    let mut plies = Vec::new();
    let mut before = Value::Null;
    for ply in 0..=moves.len() {
        let thought = thought(ply).map(|thought| opinion(&position, thought));
        plies.push(json!({ "b": men(&position), "m": before, "t": thought }));
        let played = moves.get(ply).and_then(|packed| Move::from_packed(*packed));
        let Some(played) = played.filter(|played| position.is_legal(*played)) else { break };
        before = json!([position.san(played), played.from(), played.to()]);
        let key = position.key();
        position.play_unchecked(played, key);
    }
    plies
}

/// The first two fields of the FEN.
pub(super) fn men(position: &Position) -> String {
    position.fen().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn opinion(position: &Position, thought: &PositionRow) -> Value {
    let all: u32 = thought.visits.iter().sum();
    let mut tried: Vec<(u16, u32)> =
        thought.moves.iter().copied().zip(thought.visits.iter().copied()).collect();
    tried.sort_by_key(|(packed, visits)| (std::cmp::Reverse(*visits), *packed));
    let row = |(packed, visits): &(u16, u32)| {
        let made = Move::from_packed(*packed).filter(|made| position.is_legal(*made))?;
        let share = f64::from(*visits) / f64::from(all.max(1));
        Some(json!([position.san(made), made.from(), made.to(), visits, share, *packed == thought.played]))
    };
    json!({
        "q": [thought.root_q, thought.root_d],
        "n": [thought.net_q, thought.net_d],
        "s": thought.simulations,
        "p": tried.iter().take(MOVES).filter_map(row).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Shard, latest, plies, version};
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
    fn the_last_stored_shard_is_of_the_step_under_way_or_else_of_the_last_finished_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (library, run) = run(folder.path());
        let note = |name: &str, files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| format!("{{\"path\":\"{file}\"}}")).collect();
            let path = folder.path().join("x/steps").join(name);
            fs::write(path, format!("{{\"files\":[{}]}}", files.join(","))).expect("a note");
        };
        assert_eq!(latest(&library, &run), None);
        let empty = version(&library, &run);
        note("0001-self_play-bb.json", &["games/a", "positions/a", "games/b", "positions/b"]);
        let of_games = |name: &str| Shard {
            games: format!("games/{name}"),
            positions: Some(format!("positions/{name}")),
        };
        assert_eq!(latest(&library, &run), Some(of_games("b")));
        assert_ne!(version(&library, &run), empty);
        note("work/aa/shard-00001.json", &["games/a", "positions/a"]);
        assert_eq!(latest(&library, &run), Some(of_games("a")));
        // Files that are gone, and notes that are cut short, are passed over.
        fs::remove_file(folder.path().join("x/games/a")).expect("removes");
        note("work/aa/shard-00000.json", &["steps/work/aa/shard-00000.parquet"]);
        fs::write(folder.path().join("x/steps/work/aa/shard-00002.json"), "{\"files\":[{").expect("writes");
        let of_match = Shard { games: "steps/work/aa/shard-00000.parquet".to_owned(), positions: None };
        assert_eq!(latest(&library, &run), Some(of_match));
    }

    #[test]
    fn a_game_is_told_position_by_position() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let told = plies(start, &[12 + 64 * 28, 52 + 64 * 36], &|_| None);
        assert_eq!(told.len(), 3);
        assert_eq!(told[1]["m"].to_string(), "[\"e4\",12,28]");
        assert_eq!(told[2]["b"], "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w");
        assert!(plies("no position", &[1], &|_| None).is_empty());
        assert_eq!(plies(start, &[0], &|_| None).len(), 1);
    }
}
