//! For tests and benches: the nodes that the search visits on fixed positions, which change with its behaviour.

use super::{AlphaBeta, AlphaBetaParams, Limits, MakeStaticEvaluator, SelectivityParams, Unwatched};
use crate::board::{Game, Position, TablebaseError};

/// The depth of the signature.
pub const DEPTH: u32 = 10;

/// What [`nodes`] gives at [`DEPTH`] with material and piece squares and the default selectivity. It is part of the identity of players,
/// so that a changed search is another player; a change must be intended and announced.
pub const SIGNATURE: u64 = 555_893;

/// Twenty positions of openings, middlegames and endings: well-known test positions and positions of dc0's own games.
pub fn positions() -> Vec<Game> {
    let fens = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
        "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq - 2 5",
        "r1bq1rk1/pp2bppp/2n1pn2/2pp4/2PP4/1PN1PN2/PB3PPP/R2QKB1R w KQ - 1 8",
        "2rq1rk1/pb2bppp/1pn1pn2/3p4/3P4/1PN1BN2/PB3PPP/2RQ1RK1 w - - 4 14",
        "r2q1rk1/1b2bppp/p1n1pn2/1p6/3P4/1BN2N2/PP2QPPP/R1BR2K1 w - - 2 13",
        "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
        "8/pp2r1k1/2p1p3/3pP2p/1P1P1P1P/P5KR/8/8 w - - 0 1",
        "8/3p4/p1bk3p/Pp6/1Kp1PpPp/2P2P1P/2P5/5B2 b - - 0 1",
        "5k2/7R/4P2p/5K2/p1r2P1p/8/8/8 b - - 0 1",
        "6k1/6p1/P6p/r1N5/5p2/7P/1b3PP1/4R1K1 w - - 0 1",
        "8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1",
        "8/1p2k3/p2p4/P2P1p2/1P3K2/8/8/8 w - - 0 1",
        "6k1/5ppp/8/8/8/8/r4PPP/1q2QRK1 b - - 0 1",
        "1r6/1r3kp1/5p2/1P1Np2p/4P2P/1R3PP1/1R4K1/8 w - - 5 40",
    ];
    let game = |fen| Game::from_position(Position::from_fen(fen).expect("the bench positions are legal"));
    fens.map(game).into_iter().collect()
}

/// The positions visited by a search of each bench position to a depth, with one thread and an empty table of 16 MiB for each.
pub fn nodes(
    depth: u32,
    selectivity: &SelectivityParams,
    make_evaluator: &MakeStaticEvaluator<'_>,
) -> Result<u64, TablebaseError> {
    let params = AlphaBetaParams { selectivity: selectivity.clone(), ..AlphaBetaParams::default() };
    let mut searcher = AlphaBeta::new(&params, None, make_evaluator);
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    positions().iter().try_fold(0, |sum, game| {
        searcher.start_game();
        Ok(sum + searcher.search(game, &limits, &mut Unwatched)?.nodes)
    })
}
