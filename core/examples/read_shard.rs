//! Plays a shard of self-play, stores it as two Parquet tables, reads it back, and prints the values of a game's searches.
//!
//! `cargo run --release -p dc0-core --example read_shard`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::event::Silent;
use dc0_core::network::fake::Material;
use dc0_core::network::{Evaluator, EvaluatorError};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, Shard, play_shard};
use dc0_core::store::{
    GameRow, PositionRow, Provenance, ShardFiles, StoredGame, StoredPly, read_entry, write_table,
};

fn evaluator() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(Material::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove))))
}

fn main() -> Result<(), Box<dyn Error>> {
    let search = SearchParams { simulations: 64, ..SearchParams::default() };
    let params = SelfPlayParams { search: search.into(), max_plies: 120, ..SelfPlayParams::default() };
    let job = SelfPlayJob::new(&params, Seed { run: 1, step: 0 }, "material", &evaluator);
    let shard = Shard { index: 0, first_game: 0, games: 8 };
    let played = play_shard(&job, shard, &mut [evaluator()?], &Silent)?;

    let folder = tempfile::tempdir()?;
    let provenance = Provenance::from([("example".to_owned(), "read_shard".to_owned())]);
    let files = [
        write_table(folder.path(), "games/part-00000.parquet", &played.games, &provenance)?,
        write_table(folder.path(), "positions/part-00000.parquet", &played.positions, &provenance)?,
    ];

    for shard in ShardFiles::of_iteration(&files) {
        // Reading checks the digests of the files, the columns of the tables, and every row.
        let games: Vec<GameRow> = read_entry(folder.path(), shard.games)?;
        let positions: Vec<PositionRow> = read_entry(folder.path(), shard.positions)?;
        println!("{}: {} games, {} positions", shard.name(), games.len(), positions.len());
        for row in &games {
            println!("game {}: {} by {}", row.game, row.result.symbol(), row.reason.name());
        }
        let game = StoredGame::of_self_play(&games[0], &positions)?;
        println!("\n{}", game.pgn("read_shard"));
        for StoredPly { ply, position, search, .. } in game.plies().take(4) {
            let Some(search) = search else { continue };
            println!("ply {ply}: {} value {:+.3}, net {:+.3}", position.fen(), search.root_q, search.net_q);
        }
    }
    Ok(())
}
