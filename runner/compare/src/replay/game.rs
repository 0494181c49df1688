//! Reads a stored game with its search results.

use dc0_core::board::GameTextError;
use dc0_core::selfplay::{GameRow, PositionRow};
use dc0_core::store::{FileEntry, HeaderRow, MatchGameRow, ShardFiles, StoredGame, read_entry};

use super::ReplayError;
use super::name::GameName;
use crate::diff::{Loaded, Step};
use dc0_runs::{Series, Slot};

/// A stored game and where it was found.
#[derive(Debug)]
pub(super) struct FoundGame {
    pub(super) name: GameName,
    /// The iteration or match that it belongs to.
    pub(super) step: Step,
    /// The table that holds it.
    pub(super) file: FileEntry,
    pub(super) stored: StoredGame,
}

impl FoundGame {
    /// Reads a game of a run.
    pub(super) fn read(run: &Loaded, name: GameName) -> Result<Self, ReplayError> {
        let step =
            run.steps.iter().find(|step| step.slot == name.slot).ok_or_else(|| no_step(run, name.slot))?;
        let (file, mut stored) = if name.slot.series == Series::Matches {
            match_game(run, step, name)
        } else {
            self_play_game(run, step, name)
        }?;
        for name in [&mut stored.white, &mut stored.black] {
            *name = player(run, name);
        }
        Ok(Self { name, step: step.clone(), file, stored })
    }
}

/// The error of a missing iteration or match; it names those that the run has.
fn no_step(run: &Loaded, slot: Slot) -> ReplayError {
    let noun = slot.series.noun();
    let numbers =
        run.steps.iter().filter(|step| step.slot.series == slot.series).map(|step| step.slot.number);
    let numbers: Vec<u32> = numbers.collect();
    let there = match (numbers.iter().min(), numbers.iter().max()) {
        (Some(first), Some(last)) if first == last => format!("it has {noun} {first}"),
        (Some(first), Some(last)) => format!("it has {noun} {first} to {last}"),
        _ => format!("it has no finished {noun}"),
    };
    let wanted = format!("{noun} {}", slot.number);
    ReplayError::NoStep { run: run.folder.root().to_owned(), wanted, there }
}

fn self_play_game(run: &Loaded, step: &Step, name: GameName) -> Result<(FileEntry, StoredGame), ReplayError> {
    let root = run.folder.root();
    let mut last = 0;
    for shard in ShardFiles::of_iteration(&step.manifest.files) {
        let games: Vec<GameRow> = read_entry(root, shard.games)?;
        last = games.last().map_or(last, |row| row.game);
        let Some(row) = games.into_iter().find(|row| row.game == name.game) else { continue };
        let positions: Vec<PositionRow> = read_entry(root, shard.positions)?;
        let stored = if let Some(headers) = shard.headers {
            let headers: Vec<HeaderRow> = read_entry(root, headers)?;
            let header = headers.into_iter().find(|header| header.game == row.game).unwrap_or_default();
            StoredGame::of_import(&row, header, &positions)
        } else {
            StoredGame::of_self_play(&row, &positions)
        };
        return Ok((shard.games.clone(), stored.map_err(damaged(run, shard.games, name))?));
    }
    Err(ReplayError::NoGame { step: step.name(), game: name.game, last })
}

fn match_game(run: &Loaded, step: &Step, name: GameName) -> Result<(FileEntry, StoredGame), ReplayError> {
    let file = &step.manifest.files[0];
    let rows: Vec<MatchGameRow> = read_entry(run.folder.root(), file)?;
    let last = rows.last().map_or(0, |row| row.game);
    let row = rows.into_iter().find(|row| row.game == name.game);
    let row = row.ok_or_else(|| ReplayError::NoGame { step: step.name(), game: name.game, last })?;
    Ok((file.clone(), StoredGame::of_match(&row).map_err(damaged(run, file, name))?))
}

/// A player's name: tables name nets by the first digits of their digest, which becomes the net's step.
fn player(run: &Loaded, name: &str) -> String {
    let Some((digits, _)) = MatchGameRow::net_of(name) else { return name.to_owned() };
    let is_it = |step: &&Step| step.manifest.files.iter().any(|entry| entry.blake3.starts_with(digits));
    run.steps.iter().find(is_it).map_or_else(|| name.to_owned(), |step| format!("{} ({name})", step.name()))
}

/// The error of a game that cannot be replayed.
fn damaged(run: &Loaded, file: &FileEntry, name: GameName) -> impl Fn(GameTextError) -> ReplayError {
    let file = run.folder.root().join(&file.path);
    move |error| {
        let cause = match error {
            GameTextError::Start(error) => error.to_string(),
            GameTextError::Move { number, .. } => format!("its move at ply {} is not legal", number - 1),
        };
        ReplayError::Damaged { file: file.clone(), game: name.game, cause }
    }
}
