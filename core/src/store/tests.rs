//! Tests at the stage's border, with the rows they share.

use std::path::Path;

use super::{
    FileEntry, GameRow, MatchGameRow, PositionRow, Provenance, Scores, TableRow, TrainingRow, ValidationRow,
    write_table,
};
use crate::board::{Ending, Fault, GameResult, Reason};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::event::Silent;
use crate::network::fake::Hashed;
use crate::rng::Seed;
use crate::search::SearchParams;
use crate::selfplay::{SelfPlayJob, SelfPlayParams, Shard, ShardResult, play_shard};

mod damage;
mod files;
mod game;
mod page;
mod rows;

/// Plays games of self-play with a fake net.
fn play_games(games: u32, simulations: u32, max_plies: u32) -> ShardResult {
    let search = SearchParams { simulations, ..SearchParams::default() };
    let params =
        SelfPlayParams { search: search.into(), opening_plies: 4, max_plies, ..SelfPlayParams::default() };
    let seed = Seed { run: 5, step: 1 };
    let unused = || unreachable!("the shard is passed its evaluator");
    let job = SelfPlayJob::new(&params, seed, "0123456789abcdef", &unused);
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let shard = Shard { index: 0, first_game: 0, games };
    play_shard(&job, shard, &mut [Box::new(Hashed::new(encoding, 1))], &Silent).expect("fakes do not fail")
}

fn provenance() -> Provenance {
    [("run", "test"), ("seed", "5")].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

fn write<R: TableRow>(root: &Path, path: &str, rows: &[R]) -> FileEntry {
    write_table(root, path, rows, &provenance()).expect("sound rows")
}

fn game() -> GameRow {
    GameRow {
        game: 3,
        network: "0123456789abcdef".to_owned(),
        start_fen: "4k3/P7/8/8/8/8/8/4K3 w - - 0 1".to_owned(),
        moves: vec![0x4e30, 0],
        opening_plies: 1,
        result: GameResult::BlackWins,
        reason: Reason::Checkmate.into(),
    }
}

fn position() -> PositionRow {
    PositionRow {
        game: 3,
        ply: 1,
        fen: "4k3/P7/8/8/8/8/8/4K3 w - - 0 1".to_owned(),
        played: 0x4e30,
        legal: 9,
        moves: vec![5, 0x4e30],
        visits: vec![1, 70_000],
        target: vec![1, 65_534],
        root_q: -1.0,
        root_d: 0.0,
        net_q: 0.1,
        net_d: 1.0,
        simulations: 70_001,
        full: true,
        policy_surprise: 0.5,
        result: 1,
    }
}

fn match_game() -> MatchGameRow {
    MatchGameRow {
        game: 8,
        pair: 4,
        first: "network 3".to_owned(),
        second: "greedy".to_owned(),
        first_is_white: false,
        start_fen: "4k3/P7/8/8/8/8/8/4K3 w - - 0 1".to_owned(),
        moves: vec![0x4e30],
        opening_plies: 0,
        plies: 1,
        scores: Scores(vec![-31_999.0]),
        depths: vec![12],
        seconds: vec![0.25],
        score: 0.0,
        result: GameResult::WhiteWins,
        reason: Ending::Forfeit(Fault::Crash),
        detail: "exit status 1".to_owned(),
    }
}

/// The numbers of a row about an update, whose figures all differ.
fn numbers<const COLUMNS: usize>(update: u32) -> [f64; COLUMNS] {
    std::array::from_fn(|column| if column == 0 { update.into() } else { 1.0 / column as f64 })
}

fn training(update: u32) -> TrainingRow {
    TrainingRow::from_numbers(numbers(update))
}

fn validation(update: u32) -> ValidationRow {
    ValidationRow { batch_norm_gap: -0.25, ..ValidationRow::from_numbers(numbers(update)) }
}
