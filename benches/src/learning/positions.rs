//! Positions of stored games, each with the game up to there.

use std::collections::HashMap;
use std::error::Error;

use dc0_core::board::Game;
use dc0_core::store::{FileEntry, GameRow, PositionRow, ShardFiles, read_entry};
use dc0_runs::Slot;
use dc0_runs::net::run_folder;
use dc0_runs::view::RunView;

use super::study::StoredPosition;

/// At most `count` positions of some iterations of a run, evenly spaced; of all iterations if none are given.
pub(super) fn read(
    run: &str,
    iterations: &[u32],
    count: usize,
) -> Result<Vec<StoredPosition>, Box<dyn Error>> {
    let folder = run_folder(run).ok_or_else(|| format!("{run}: expected the folder of a run"))?;
    let steps = RunView::new(folder.clone()).steps()?;
    let is_wanted = |slot: &Option<Slot>| {
        slot.is_some_and(|slot| iterations.is_empty() || iterations.contains(&slot.number))
    };
    let files: Vec<FileEntry> = steps
        .into_iter()
        .filter(|step| {
            ["self_play", "reanalyze"].contains(&step.manifest.kind.as_str())
                && is_wanted(&step.manifest.slot())
        })
        .flat_map(|step| step.manifest.files)
        .collect();
    let all: usize = ShardFiles::of_iteration(&files).map(|shard| shard.positions.rows as usize).sum();
    if all == 0 {
        return Err(format!("{run} has no games of self-play in the iterations {iterations:?}").into());
    }
    let count = count.min(all);
    let (mut found, mut before) = (Vec::new(), 0);
    for shard in ShardFiles::of_iteration(&files) {
        let games: Vec<GameRow> = read_entry(folder.root(), shard.games)?;
        let rows: Vec<PositionRow> = read_entry(folder.root(), shard.positions)?;
        let games: HashMap<u32, &GameRow> = games.iter().map(|game| (game.game, game)).collect();
        for (index, row) in (before..).zip(rows) {
            // The position that is the next of `count` evenly spaced ones.
            if index == found.len() * all / count && found.len() < count {
                let game = games.get(&row.game).ok_or_else(|| format!("no game {} is stored", row.game))?;
                found.push(with_game(game, row)?);
            }
        }
        before += shard.positions.rows as usize;
    }
    Ok(found)
}

fn with_game(game: &GameRow, row: PositionRow) -> Result<StoredPosition, Box<dyn Error>> {
    let moves = game.moves.get(..row.ply.into());
    let moves = moves.ok_or_else(|| format!("game {} has no ply {}", game.game, row.ply))?;
    Ok(StoredPosition { game: Game::from_packed(&game.start_fen, moves)?, row, end: game.reason })
}
