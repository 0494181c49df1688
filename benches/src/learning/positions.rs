//! Positions of stored games, each with the game up to there.

use std::collections::HashMap;
use std::error::Error;

use dc0_core::board::Game;
use dc0_core::store::{GameRow, PositionRow, ShardFiles, read_entry};

use super::study::StoredPosition;
use crate::stored_games::files;

/// At most `count` positions of some iterations of a run, evenly spaced; of all iterations if none are given.
pub(super) fn read(
    run: &str,
    iterations: &[u32],
    count: usize,
) -> Result<Vec<StoredPosition>, Box<dyn Error>> {
    let (folder, files) = files(run, &["self_play", "reanalyze"], iterations)?;
    let all: usize = ShardFiles::of_iteration(&files).map(|shard| shard.positions.rows as usize).sum();
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
