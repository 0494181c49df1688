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
    let job = SelfPlayJob {
        params: &params,
        seed,
        network: "0123456789abcdef",
        make_evaluator: &unused,
        tables: None,
        openings: None,
    };
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

fn training(update: u32) -> TrainingRow {
    TrainingRow {
        update,
        learning_rate: 0.001,
        loss: 3.5,
        policy_loss: 2.5,
        value_loss: 1.0,
        moves_left_loss: 0.25,
        policy_accuracy: 0.25,
        policy_entropy: 2.0,
        gradient_norm: 1e-9,
        soft_policy_loss: 1.5,
        reply_loss: 4.5,
        material_loss: 0.125,
        policy_top_three: 0.5,
        brier: 0.75,
        weight_norm: 33.0,
    }
}

fn validation(update: u32) -> ValidationRow {
    ValidationRow {
        update,
        loss: 3.5,
        policy_loss: 2.5,
        value_loss: 1.0,
        moves_left_loss: 0.25,
        policy_accuracy: 0.25,
        policy_entropy: 2.0,
        soft_policy_loss: 1.5,
        reply_loss: 4.5,
        material_loss: 0.125,
        policy_top_three: 0.5,
        brier: 0.75,
        calibration_error: 0.0625,
        batch_norm_gap: -0.25,
    }
}
