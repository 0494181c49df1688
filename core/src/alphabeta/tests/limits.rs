//! Limits, lines, stops and threads.

use std::collections::BTreeSet;

use super::{found, game, random_games, search, searcher, to_depth};
use crate::alphabeta::{
    AlphaBeta, AlphaBetaParams, Control, Found, Limits, PieceSquares, Score, SelectivityParams, Unwatched,
    bench,
};
use crate::board::{Game, Move};

fn legal_line(game: &Game, moves: &[Move]) -> bool {
    let mut game = game.clone();
    moves.iter().all(|mv| {
        let is_legal = game.position().is_legal(*mv);
        if is_legal {
            game.play_unchecked(*mv);
        }
        is_legal
    })
}

#[test]
fn the_signature_is_unchanged() {
    let selectivity = SelectivityParams::default();
    let nodes = bench::nodes(bench::DEPTH, &selectivity, &|| Box::<PieceSquares>::default());
    assert_eq!(nodes.expect("no tablebases"), bench::SIGNATURE);
}

#[test]
fn equal_searches_find_the_same() {
    let games = random_games(51, 6, 10);
    let run = || {
        let mut searcher = searcher(&AlphaBetaParams::default());
        let limits = Limits { nodes: Some(20_000), lines: 2, ..Limits::default() };
        games.iter().map(|game| search(&mut searcher, game, &limits)).collect::<Vec<Found>>()
    };
    assert_eq!(run(), run());
    // What earlier searches left in the table is part of the input; a new game forgets it.
    let mut searcher = searcher(&AlphaBetaParams::default());
    let first = search(&mut searcher, &games[0], &to_depth(8));
    search(&mut searcher, &games[1], &to_depth(8));
    searcher.start_game();
    assert_eq!(search(&mut searcher, &games[0], &to_depth(8)), first);
}

#[test]
fn nodes_are_not_exceeded_by_one_thread() {
    for nodes in [1, 2, 100, 1023, 1024, 1025, 5000] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let found = found(&AlphaBetaParams::default(), &Game::initial(), &limits);
        assert_eq!(found.nodes, nodes);
        assert!(Game::initial().position().is_legal(found.best()));
    }
}

#[test]
fn a_search_that_stops_within_an_iteration_claims_no_loss_that_the_last_one_did_not_find() {
    // In the first, the move that is searched first is mated and others are not; in the third, the side to move is mated.
    let positions = [
        "2Qbk1n1/3R3r/5p2/4p1pp/2P1P3/1P2BN2/P4PPR/K4B2 b - - 1 1",
        "2kr3r/p1p1b1p1/5n2/1q2Kp1p/8/4P1P1/nP1P4/R1B5 w - - 1 2",
        "1Qb5/p2k1R2/1p2p3/5p2/8/2NP4/PP3PP1/R3K1N1 b Q - 0 1",
        "1r1k1r2/3n3p/B3Q1pb/2p5/8/P1N3PP/1PP2q2/1R1K2R1 w K - 1 26",
    ];
    let mut claims = 0;
    for fen in positions {
        for nodes in (5..400).step_by(7).chain((400..3000).step_by(97)) {
            let (game, limits) = (game(fen), Limits { nodes: Some(nodes), ..Limits::default() });
            let stopped = found(&AlphaBetaParams::default(), &game, &limits);
            let Score::Mate(moves) = stopped.score() else { continue };
            if moves < 0 {
                claims += 1;
                assert!(stopped.depth > 0, "{fen}, {nodes} nodes: mated in {} before any iteration", -moves);
                let finished = found(&AlphaBetaParams::default(), &game, &to_depth(stopped.depth));
                assert_eq!(
                    finished.score(),
                    stopped.score(),
                    "{fen}, {nodes} nodes, depth {}",
                    stopped.depth
                );
            }
        }
    }
    assert!(claims > 10, "{claims}");
}

#[test]
fn a_search_that_scores_no_move_has_the_evaluation_of_the_root() {
    let evaluations =
        [("4k3/8/8/8/8/8/8/QQQ1K3 w - - 0 1", 1000..4000), ("4k3/8/8/8/8/8/4q3/QQQ1K3 w - - 0 1", 500..3000)];
    for (fen, expected) in evaluations {
        for lines in [1, 2] {
            let limits = Limits { nodes: Some(1), lines, ..Limits::default() };
            let found = found(&AlphaBetaParams::default(), &game(fen), &limits);
            assert_eq!((found.nodes, found.depth), (1, 0));
            for line in &found.lines {
                assert!(
                    matches!(line.score, Score::Centipawns(own) if expected.contains(&own)),
                    "{fen}: {:?}",
                    line.score
                );
            }
        }
    }
}

#[test]
fn the_first_line_stands_if_the_search_of_the_second_is_stopped() {
    // Both legal moves are mated. With six positions, the search stops within the second line of its first iteration.
    let game = game("7q/2qPk3/8/2b2r2/4r3/8/7P/6K1 w - - 0 1");
    let of_lines = |lines| {
        let limits = Limits { nodes: Some(6), lines, ..Limits::default() };
        found(&AlphaBetaParams::default(), &game, &limits)
    };
    let (one, two) = (of_lines(1), of_lines(2));
    assert_eq!((one.score(), two.score()), (Score::Mate(-1), Score::Mate(-1)));
    assert_eq!(one.best(), two.best());
}

#[test]
fn every_line_is_legal_and_each_begins_with_another_move() {
    for game in random_games(52, 30, 5) {
        let limits = Limits { nodes: Some(20_000), lines: 4, ..Limits::default() };
        let found = found(&AlphaBetaParams::default(), &game, &limits);
        assert_eq!(found.lines.len(), game.position().legal_move_count().min(4));
        let firsts: BTreeSet<Move> = found.lines.iter().map(|line| line.moves[0]).collect();
        assert_eq!(firsts.len(), found.lines.len());
        assert!(found.lines.iter().all(|line| legal_line(&game, &line.moves)), "{found:?}");
        assert!(found.lines.windows(2).all(|pair| pair[0].score.value() >= pair[1].score.value()));
    }
}

/// A mate in one is found with the first line of the first iteration, and the others do not come to their end.
#[test]
fn a_line_that_was_found_stands_when_the_search_for_others_ends() {
    let mate = game("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 4");
    let enough = found(&AlphaBetaParams::default(), &mate, &to_depth(1)).nodes;
    for lines in 1..=4 {
        for more in [2, 10, 50, 200] {
            let nodes = enough + more;
            let limits = Limits { nodes: Some(nodes), lines, ..Limits::default() };
            let found = found(&AlphaBetaParams::default(), &mate, &limits);
            assert_eq!(found.score(), Score::Mate(1), "{lines} lines, {nodes} nodes: {found:?}");
        }
    }
}

#[test]
fn only_the_given_root_moves_are_searched() {
    let root_moves: Vec<Move> = ["a2a3", "h2h4"].into_iter().filter_map(Move::from_uci).collect();
    let limits = Limits { root_moves: root_moves.clone(), lines: 5, ..to_depth(6) };
    let found = found(&AlphaBetaParams::default(), &Game::initial(), &limits);
    assert_eq!(found.lines.len(), 2);
    assert!(found.lines.iter().all(|line| root_moves.contains(&line.moves[0])));
}

#[test]
fn a_mate_that_was_looked_for_ends_the_search() {
    // Mate in two by the rooks.
    let rooks = game("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1");
    let limits = Limits { mate: Some(2), ..to_depth(20) };
    let found = found(&AlphaBetaParams::default(), &rooks, &limits);
    assert_eq!(found.score(), Score::Mate(2));
    assert!(found.depth < 8, "{}", found.depth);
}

/// Stops after some questions, and counts iterations.
struct Impatient {
    questions: u32,
    iterations: u32,
    most_iterations: u32,
}

impl Control for Impatient {
    fn should_stop(&mut self, _: u64) -> bool {
        self.questions -= u32::from(self.questions > 0);
        self.questions == 0
    }

    fn goes_on(&mut self, found: &Found) -> bool {
        self.iterations += 1;
        assert_eq!(found.depth, self.iterations);
        self.iterations < self.most_iterations
    }
}

#[test]
fn the_caller_stops_a_search() {
    let mut at_once = Impatient { questions: 1, iterations: 0, most_iterations: 100 };
    let mut soon = Impatient { questions: 20, iterations: 0, most_iterations: 100 };
    let mut after_four = Impatient { questions: u32::MAX, iterations: 0, most_iterations: 4 };
    let run = |control: &mut Impatient| {
        let mut searcher = searcher(&AlphaBetaParams::default());
        searcher.search(&Game::initial(), &Limits::default(), control).expect("no tablebases")
    };
    let first = run(&mut at_once);
    assert_eq!((first.nodes, first.depth), (1024, at_once.iterations));
    let stopped = run(&mut soon);
    assert!(stopped.nodes <= 20 * 1024 && stopped.depth == soon.iterations && stopped.depth > 1);
    assert_eq!((run(&mut after_four).depth, after_four.iterations), (4, 4));
}

#[test]
fn threads_share_a_search_and_stop_together() {
    let params = AlphaBetaParams { threads: 3, ..AlphaBetaParams::default() };
    let mut searcher = AlphaBeta::new(&params, None, &|| Box::<PieceSquares>::default());
    for game in bench::positions() {
        let found = searcher.search(&game, &to_depth(7), &mut Unwatched).expect("no tablebases");
        assert_eq!(found.depth, 7);
        assert!(legal_line(&game, &found.lines[0].moves));
    }
    let limits = Limits { nodes: Some(50_000), ..Limits::default() };
    let found = search(&mut searcher, &Game::initial(), &limits);
    assert!((50_000..80_000).contains(&found.nodes), "{}", found.nodes);
    let rooks = game("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1");
    assert_eq!(search(&mut searcher, &rooks, &to_depth(6)).score(), Score::Mate(2));
}

#[test]
fn scores_that_were_still_rising_are_lower_bounds() {
    let mut bounds = 0;
    for game in random_games(53, 40, 12) {
        let mut searcher = searcher(&AlphaBetaParams::default());
        assert!(!search(&mut searcher, &game, &to_depth(6)).lines[0].is_lower_bound);
        for nodes in (2000..6000).step_by(250) {
            searcher.start_game();
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            bounds += u32::from(search(&mut searcher, &game, &limits).lines[0].is_lower_bound);
        }
    }
    assert!(bounds > 10, "{bounds}");
}
