//! A stored game with what its searches thought.

use std::path::{Path, PathBuf};

use dc0_core::board::{Game, Move, Position};
use dc0_core::selfplay::{GameRow, PositionRow};
use dc0_core::store::{FileEntry, MatchGameRow, read_entry};

use super::ReplayError;
use super::name::GameName;
use crate::diff::{Loaded, Step};
use dc0_runs::{Series, Slot};

/// A game as it is stored.
#[derive(Debug)]
pub(super) struct StoredGame {
    pub(super) name: GameName,
    /// The iteration or the match that it belongs to.
    pub(super) step: Step,
    /// The table that holds it.
    pub(super) file: FileEntry,
    pub(super) white: String,
    pub(super) black: String,
    /// All positions; one more than moves.
    pub(super) positions: Vec<Position>,
    pub(super) moves: Vec<Move>,
    pub(super) opening_plies: usize,
    /// 1 White won, 0 draw, −1 Black won.
    pub(super) result: i8,
    pub(super) reason: String,
    /// What the search of each ply came to; nothing of random openings and in matches.
    pub(super) searched: Vec<Option<PositionRow>>,
}

impl StoredGame {
    /// Reads a game of a run.
    pub(super) fn read(run: &Loaded, name: GameName) -> Result<Self, ReplayError> {
        let step =
            run.steps.iter().find(|step| step.slot == name.slot).ok_or_else(|| no_step(run, name.slot))?;
        if name.slot.series == Series::Matches {
            of_match(run, step, name)
        } else {
            of_iteration(run, step, name)
        }
    }

    /// The result as PGN has it.
    pub(super) fn score(&self) -> &'static str {
        match self.result {
            1 => "1-0",
            -1 => "0-1",
            _ => "1/2-1/2",
        }
    }
}

/// What the run has instead of what was asked for.
fn no_step(run: &Loaded, slot: Slot) -> ReplayError {
    let noun = slot.series.noun();
    let numbers =
        run.steps.iter().filter(|step| step.slot.series == slot.series).map(|step| step.slot.number);
    let numbers: Vec<u32> = numbers.collect();
    let there = match (numbers.iter().min(), numbers.iter().max()) {
        (Some(first), Some(last)) if first == last => format!("it has {noun} {first}"),
        (Some(first), Some(last)) => format!("it has {noun} {first} to {last}"),
        _ => format!("no {noun} is finished in it"),
    };
    let wanted = format!("{noun} {}", slot.number);
    ReplayError::NoStep { run: run.folder.root().to_owned(), wanted, there }
}

fn of_iteration(run: &Loaded, step: &Step, name: GameName) -> Result<StoredGame, ReplayError> {
    let root = run.folder.root();
    let mut last = 0;
    // Each games file is followed by its positions file.
    for pair in step.manifest.files.chunks_exact(2) {
        let games: Vec<GameRow> = read_entry(root, &pair[0])?;
        last = games.last().map_or(last, |row| row.game);
        let Some(row) = games.into_iter().find(|row| row.game == name.game) else { continue };
        let mut positions: Vec<PositionRow> = read_entry(root, &pair[1])?;
        positions.retain(|position| position.game == name.game);
        let (moves, positions_of) = walk(root, &pair[0], (name.game, &row.start_fen, &row.moves))?;
        let searched =
            |ply: usize| positions.iter().find(|position| usize::from(position.ply) == ply).cloned();
        return Ok(StoredGame {
            name,
            step: step.clone(),
            file: pair[0].clone(),
            white: player(run, &row.network),
            black: player(run, &row.network),
            searched: (0..moves.len()).map(searched).collect(),
            positions: positions_of,
            moves,
            opening_plies: row.opening_plies.into(),
            result: row.result,
            reason: row.reason,
        });
    }
    Err(ReplayError::NoGame { step: step.name(), game: name.game, last })
}

fn of_match(run: &Loaded, step: &Step, name: GameName) -> Result<StoredGame, ReplayError> {
    let root = run.folder.root();
    let file = &step.manifest.files[0];
    let rows: Vec<MatchGameRow> = read_entry(root, file)?;
    let last = rows.last().map_or(0, |row| row.game);
    let row = rows.into_iter().find(|row| row.game == name.game);
    let row = row.ok_or_else(|| ReplayError::NoGame { step: step.name(), game: name.game, last })?;
    let (moves, positions) = walk(root, file, (name.game, &row.start_fen, &row.moves))?;
    let (first, second) = (player(run, &row.first), player(run, &row.second));
    let (white, black) = if row.first_is_white { (first, second) } else { (second, first) };
    Ok(StoredGame {
        name,
        step: step.clone(),
        file: file.clone(),
        white,
        black,
        searched: vec![None; moves.len()],
        positions,
        moves,
        opening_plies: row.opening_plies.into(),
        result: row.result,
        reason: row.reason,
    })
}

/// A player of a table: nets are named by the first digits of their digest there.
fn player(run: &Loaded, name: &str) -> String {
    let is_it = |step: &&Step| step.manifest.files.iter().any(|entry| entry.blake3.starts_with(name));
    run.steps.iter().find(is_it).map_or_else(|| name.to_owned(), |step| format!("{} ({name})", step.name()))
}

/// The moves and all positions of a game; its moves must be legal.
fn walk(
    root: &Path,
    file: &FileEntry,
    (number, start, packed): (u32, &str, &[u16]),
) -> Result<(Vec<Move>, Vec<Position>), ReplayError> {
    let path: PathBuf = root.join(&file.path);
    let damaged = |cause: String| ReplayError::Damaged { file: path.clone(), game: number, cause };
    let start = Position::from_fen(start).map_err(|error| damaged(error.to_string()))?;
    let mut game = Game::from_position(start);
    let (mut moves, mut positions) = (Vec::new(), vec![game.position().clone()]);
    for (ply, packed) in packed.iter().enumerate() {
        let played = Move::from_packed(*packed).filter(|played| game.position().is_legal(*played));
        let played = played.ok_or_else(|| damaged(format!("its move at ply {ply} is not legal")))?;
        game.play_unchecked(played);
        moves.push(played);
        positions.push(game.position().clone());
    }
    Ok((moves, positions))
}
