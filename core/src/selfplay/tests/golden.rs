//! Golden games, which must not change; the other tests only compare the program with itself.
//!
//! The fakes' evaluations and the means of values are sums, products and quotients, which IEEE 754 fixes, and exponentials and
//! logarithms are computed in Rust, so the digests hold on every processor. Only Dirichlet noise uses logarithms and powers of the
//! system's mathematical library, whose last bit may differ; it decides a move about once in 10¹² draws.

use super::{params, played, search};
use crate::board::Side;
use crate::durable::digest;
use crate::search::{RootParams, RootRule, SearchParams};
use crate::selfplay::{GameRow, PlayoutCap, PositionRow, SelfPlayParams, ShardResult};

/// All stored values of a shard, without the names of the columns.
fn text(shard: &ShardResult) -> String {
    let game = |row: &GameRow| {
        let start = (row.game, &row.network, &row.start_fen, row.opening_plies);
        format!("{start:?} {:?} {} {}\n", row.moves, row.result.score_for(Side::White), row.reason.name())
    };
    let position = |row: &PositionRow| {
        let values = [row.root_q, row.root_d, row.net_q, row.net_d].map(f32::to_bits);
        let position = (row.game, row.ply, &row.fen, row.played, row.legal);
        let searched = (&row.moves, &row.visits, &row.target, row.simulations, row.full, row.result);
        format!("{position:?} {searched:?} {values:?}\n")
    };
    shard.games.iter().map(game).chain(shard.positions.iter().map(position)).collect()
}

/// After an intended change of the games, update the expected digest and explain the change in the commit.
#[track_caller]
fn check(params: &SelfPlayParams, expected: &str) {
    let found: Vec<String> = played(params, 1, 1).values().map(text).collect();
    assert_eq!(&digest(found.concat().as_bytes())[..16], expected);
}

#[test]
fn games_of_a_puct_root_with_all_exploration_are_unchanged() {
    let root = RootParams { forced_playouts: 2.0, ..RootParams::default() };
    let search = SearchParams { root, ..search() };
    let cap = PlayoutCap { fast_share: 0.5, fast_simulations: 6, ..PlayoutCap::default() };
    check(&SelfPlayParams { search: search.into(), playout_cap: Some(cap), ..params() }, "a8f2047534c68411");
}

#[test]
fn games_of_a_gumbel_root_are_unchanged() {
    let root = RootParams { rule: RootRule::Gumbel, considered: 4, ..RootParams::default() };
    let search = SearchParams { root, ..search() };
    check(&SelfPlayParams { search: search.into(), ..params() }, "0ab9846c22b482cb");
}
