//! Mates and tactics with known solutions.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::{found, game, one_off, search, searcher, small, to_depth, uci, with};
use crate::alphabeta::reductions::Reductions;
use crate::alphabeta::table::Table;
use crate::alphabeta::thread::{Node, Shared, Thread, Worker};
use crate::alphabeta::{AlphaBetaParams, Limits, PieceSquares, Score, SelectivityParams, evaluation};
use crate::board::{Epd, Game, read_epd};

/// The mates of a file with their distances in moves.
fn mates(text: &str) -> Vec<(Game, u32)> {
    let epds = read_epd("mates.epd", text.as_bytes()).expect("an EPD file");
    let mate = |(_, epd): (usize, Epd)| Some((Game::from_position(epd.position.clone()), epd.mate_in()?));
    epds.into_iter().filter_map(mate).collect()
}

/// Positions with one best move, which wins material or mates: of "Win at Chess" (Reinfeld 1958), as the test suite WAC has them.
const TACTICS: &[(&str, &str)] = &[
    ("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1", "g3g6"),
    ("5rk1/1ppb3p/p1pb4/6q1/3P1p1r/2P1R2P/PP1BQ1P1/5RKN w - - 0 1", "e3g3"),
    ("r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 1", "h6h7"),
    ("5k2/6pp/p1qN4/1p1p4/3P4/2PKP2Q/PP3r2/3R4 b - - 0 1", "c6c4"),
    ("7k/p7/1R5K/6r1/6p1/6P1/8/8 w - - 0 1", "b6b7"),
    ("rnbqkb1r/pppp1ppp/8/4P3/6n1/7P/PPPNPPP1/R1BQKBNR b KQkq - 0 1", "g4e3"),
    ("3q1rk1/p4pp1/2pb3p/3p4/6Pr/1PNQ4/P1PB1PP1/4RRK1 b - - 0 1", "d6h2"),
    ("2br2k1/2q3rn/p2NppQ1/2p1P3/Pp5R/4P3/1P3PPP/3R2K1 w - - 0 1", "h4h7"),
    ("r1b1kb1r/3q1ppp/pBp1pn2/8/Np3P2/5B2/PPP3PP/R2Q1RK1 w kq - 0 1", "f3c6"),
    ("4k1r1/2p3r1/1pR1p3/3pP2p/3P2qP/P4N2/1PQ4P/5R1K b - - 0 1", "g4f3"),
];

#[test]
fn mates_are_found_with_their_distance() {
    let files = [
        include_str!("../../../../tests/data/mates.epd"),
        include_str!("../../../../datasets/puzzles/mates.epd"),
    ];
    let mut searcher = searcher(&small());
    let mut by_distance = [0; 5];
    for (game, distance) in files.into_iter().flat_map(mates) {
        searcher.start_game();
        let limits = Limits { mate: Some(distance), nodes: Some(3_000_000), ..to_depth(30) };
        let found = search(&mut searcher, &game, &limits);
        assert_eq!(found.score(), Score::Mate(distance as i32), "{}", game.position().fen());
        by_distance[distance as usize] += 1;
    }
    assert_eq!(by_distance, [0, 88, 89, 86, 3]);
}

#[test]
fn tactics_are_solved() {
    for (fen, best) in TACTICS {
        let limits = Limits { nodes: Some(2_000_000), depth: Some(14), ..Limits::default() };
        let found = found(&AlphaBetaParams::default(), &game(fen), &limits);
        assert_eq!(uci(found.best()), *best, "{fen} {found:?}");
    }
}

/// Results that are forced: whatever a search leaves out, it must find them.
const FORCED: &[(&str, u32, Score)] = &[
    ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 4, Score::Mate(1)),
    ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 8, Score::Mate(2)),
    ("7k/8/8/8/8/8/R7/1R4K1 b - - 0 1", 12, Score::Mate(-3)),
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 10, Score::Mate(3)),
    ("7k/5p1p/8/6Q1/8/1p6/qp4PP/7K w - - 0 1", 10, Score::Centipawns(0)),
    ("8/8/8/3k4/8/8/6q1/7K w - - 0 1", 4, Score::Centipawns(0)),
];

#[test]
fn what_is_forced_is_found_with_each_pruning_off() {
    let plain = [("all", SelectivityParams::default()), ("none", SelectivityParams::none())];
    for (name, selectivity) in one_off().into_iter().chain(plain) {
        for (fen, depth, score) in FORCED {
            let depth = if name == "none" { (*depth).min(6) } else { *depth };
            if name == "none" && *score == Score::Centipawns(0) {
                // The plain search would need long for the plies of a perpetual check.
                continue;
            }
            let found = found(&with(selectivity.clone()), &game(fen), &to_depth(depth));
            assert_eq!(found.score(), *score, "without {name}: {fen}");
        }
        for (fen, best) in &TACTICS[2..4] {
            let limits = Limits { nodes: Some(300_000), depth: Some(8), ..Limits::default() };
            let found = found(&with(selectivity.clone()), &game(fen), &limits);
            assert_eq!(uci(found.best()), *best, "without {name}: {fen}");
        }
    }
}

#[test]
fn zugzwang_is_seen_although_passes_are_tried() {
    // The side to move loses the pawn (trébuchet); and Black mates himself only because he must move (Morphy's problem).
    let trebuchet = game("8/8/8/2Kp4/3Pk3/8/8/8 w - - 0 1");
    let lost = found(&AlphaBetaParams::default(), &trebuchet, &to_depth(16)).score();
    assert!(lost.value() < -0.5, "{lost:?}");
    let problem =
        found(&AlphaBetaParams::default(), &game("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), &to_depth(8));
    assert_eq!((problem.score(), uci(problem.best()).as_str()), (Score::Mate(2), "a1a6"));
}

#[test]
fn a_pass_of_a_side_with_one_piece_is_verified_by_trying_moves() {
    // The bishop is pinned, and the king must leave it: White is far above the window, and would stay there only by a pass.
    let game = game("8/8/4p3/1k2P3/8/2p2p2/2P2P2/2KB2q1 w - - 0 1");
    let position = game.position();
    for (depth, above) in [(9, 250), (10, 450), (11, 450), (12, 450)] {
        let shared = Shared {
            selectivity: &SelectivityParams::default(),
            reductions: &Reductions::new(),
            table: &Table::new(1),
            tablebases: None,
            most_nodes: u64::MAX,
            has_helpers: false,
            stop: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            evaluations: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            error: Mutex::new(None),
        };
        let mut worker = Worker::new(Box::<PieceSquares>::default());
        let mut thread = Thread::new(&shared, &mut worker, None, &game);
        let beta = evaluation(position) - above;
        let node = Node { position, key: game.key(), ply: 0, is_check: false };
        assert!(thread.search(node, depth, beta - 1, beta, true) < beta, "depth {depth}");
    }
}
