//! Syzygy tablebases against what is known of small endings, over whole games, and in training.
//! `cargo xtask test` fetches the tables; without them these tests fail and say so.

use std::path::Path;

use crate::{endings, syzygy};
use dc0_core::board::TablebaseResult::{CursedWin, Draw, Loss, Win};
use dc0_core::board::{
    Game, GameResult, Move, Outcome, Position, Reason, Rules, Side, Tablebase, TablebaseResult,
};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_core::store::{GameRow, PositionRow};
use dc0_core::trainer::TrainParams;
use dc0_core::trainer::samples::{Part, Samples};
use rand::RngExt;
use rand::seq::IndexedRandom;

fn tables() -> Tablebase {
    Tablebase::open(&syzygy()).expect("tables")
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen).expect("a legal position")
}

fn stream(number: u64) -> Stream {
    Seed { run: 5, step: 4 }.stream(number, Purpose::RandomPlayer)
}

#[test]
fn known_positions_have_their_known_results() {
    let cases: [(&str, TablebaseResult); 10] = [
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", Win),
        ("4k3/8/8/8/8/8/8/3QK3 b - - 0 1", Loss),
        // The queen hangs.
        ("8/8/8/8/8/8/3k4/3Q3K b - - 0 1", Draw),
        // Stalemate, and mate.
        ("k7/2Q5/8/8/8/8/8/7K b - - 0 1", Draw),
        ("k7/1Q6/1K6/8/8/8/8/8 b - - 0 1", Loss),
        // The king on the sixth rank before its pawn wins; a king behind its pawn, or a rook's pawn, does not.
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", Loss),
        ("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1", Draw),
        ("k7/8/8/8/8/8/P7/K7 w - - 0 1", Draw),
        ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", Win),
        ("8/8/8/3k4/8/8/8/KNN5 w - - 0 1", Draw),
    ];
    let tables = tables();
    for (fen, expected) in cases {
        assert_eq!(tables.probe_wdl(&position(fen)).expect("sound tables"), Some(expected), "{fen}");
    }
}

#[test]
fn castling_rights_and_too_many_pieces_have_no_value() {
    let tables = tables();
    assert_eq!((tables.max_pieces(), tables.tables()), (4, 35));
    for fen in ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/R3K1NR w - - 0 1"] {
        assert_eq!(tables.probe_wdl(&position(fen)).expect("sound tables"), None, "{fen}");
        assert_eq!(tables.probe_with_clock(&position(fen)).expect("sound tables"), None, "{fen}");
        let game = Game::from_position(position(fen));
        assert_eq!(tables.best_moves(&game).expect("sound tables"), None, "{fen}");
    }
}

#[test]
fn several_folders_are_one_set_of_tables() {
    let (folder, empty) = (syzygy(), tempfile::tempdir().expect("a folder"));
    let both = format!("{}:{}", empty.path().display(), folder.display());
    let both = Tablebase::open(Path::new(&both)).expect("tables");
    assert_eq!((both.digest(), &both), (tables().digest(), &tables()));
    std::fs::copy(folder.join("KQvK.rtbw"), empty.path().join("KQvK.rtbw")).expect("copies");
    let few = Tablebase::open(empty.path()).expect("one table");
    assert_ne!((few.digest(), &few), (both.digest(), &both));
    // Without distances, the result after a capture or pawn move is known and the ranks are not.
    let game = Game::from_position(position("4k3/8/8/8/8/8/8/3QK3 w - - 0 1"));
    assert_eq!(few.probe_wdl(game.position()).expect("a sound table"), Some(Win));
    assert_eq!(few.rank_root(&game).expect("a sound table"), None);
}

#[test]
fn a_win_that_comes_after_the_fifty_moves_is_a_draw() {
    let tables = tables();
    let probe = |fen: &str| tables.probe_with_clock(&position(fen)).expect("sound tables");
    assert_eq!(probe("4k3/8/8/8/8/8/8/3QK3 w - - 40 90"), Some(Win));
    assert_eq!(probe("4k3/8/8/8/8/8/8/3QK3 w - - 95 90"), Some(CursedWin));
    // Mated with the hundredth ply: the mate counts.
    assert_eq!(probe("k6R/8/1K6/8/8/8/8/8 b - - 100 90"), Some(Loss));
    let late = Game::from_position(position("4k3/8/8/8/8/8/8/3QK3 w - - 95 90"));
    let ranked = tables.rank_root(&late).expect("sound tables").expect("covered");
    assert!(ranked.iter().all(|ranked| ranked.result.outcome() == 0));
    let mate = Game::from_position(position("k7/8/1K6/8/8/8/8/7R w - - 99 90"));
    let best = tables.best_moves(&mate).expect("sound tables").expect("covered");
    assert_eq!(best, [Move::from_uci("h1h8").expect("a move")]);
}

#[test]
fn the_best_moves_keep_the_result_and_no_other_does_better() {
    let tables = tables();
    for number in 0..300 {
        let mut stream = stream(number);
        let pieces = ["Q", "R", "P", "BN", "Qr", "Rp", "Pp", "QP"][number as usize % 8];
        let game = Game::from_position(endings::random(pieces, 0, &mut stream));
        let before = tables.probe_wdl(game.position()).expect("sound tables").expect("covered");
        let ranked = tables.rank_root(&game).expect("sound tables").expect("covered");
        let best = tables.best_moves(&game).expect("sound tables").expect("covered");
        assert!(!best.is_empty());
        for ranked in ranked {
            let kept = best.contains(&ranked.played);
            assert!(ranked.result <= before && (!kept || ranked.result == before), "{ranked:?}");
        }
    }
}

/// Plays the best moves on both sides, any of them, to the end.
fn play_out(tables: &Tablebase, game: &mut Game, stream: &mut Stream) -> Outcome {
    loop {
        if let Some(outcome) = game.outcome(&Rules { max_plies: 2000 }) {
            return outcome;
        }
        let best = tables.best_moves(game).expect("sound tables").expect("covered");
        game.play_unchecked(*best.choose(stream).expect("the game goes on"));
    }
}

#[test]
fn any_of_the_best_moves_wins_what_is_won_before_the_fifty_moves_are_over() {
    let tables = tables();
    let mut won = 0;
    for number in 0..160 {
        let mut stream = stream(1000 + number);
        let pieces = ["Q", "R", "BN", "Qr", "P", "QP", "BB", "Rn"][number as usize % 8];
        let clock = stream.random_range(0..30);
        let mut game = Game::from_position(endings::random(pieces, clock, &mut stream));
        let Some(expected) = tables.probe_with_clock(game.position()).expect("sound tables") else {
            continue;
        };
        let side = game.position().side_to_move();
        let start = game.position().fen();
        let outcome = play_out(&tables, &mut game, &mut stream);
        assert_eq!(outcome.score_for(side), expected.outcome(), "{start} {outcome:?}");
        won += u32::from(outcome.reason == Reason::Checkmate);
    }
    assert!(won >= 100, "{won} games were won");
}

#[test]
fn after_a_repetition_only_the_shortest_way_is_left() {
    let tables = tables();
    let mut game = Game::from_position(position("4k3/8/8/8/8/8/8/3QK3 w - - 0 1"));
    let best = |game: &Game| tables.best_moves(game).expect("sound tables").expect("covered");
    let free = best(&game).len();
    for text in ["d1d2", "e8e7", "d2d1", "e7e8"] {
        game.play_unchecked(Move::from_uci(text).expect("a move"));
    }
    assert!(game.has_repeated());
    assert!(best(&game).len() < free);
    let ranked = tables.rank_root(&game).expect("sound tables").expect("covered");
    let shortest = ranked.iter().filter(|ranked| ranked.dtz > 0).map(|ranked| ranked.dtz).min();
    let kept = best(&game);
    assert!(
        ranked
            .iter()
            .filter(|ranked| kept.contains(&ranked.played))
            .all(|ranked| Some(ranked.dtz) == shortest)
    );
}

/// A game as self-play stores it, with White's result as the caller claims it.
fn stored(fen: &str, moves: &str, result: i8, reason: Reason) -> (GameRow, Vec<PositionRow>) {
    let mut game = Game::from_position(position(fen));
    let mut rows = Vec::new();
    for text in moves.split(' ') {
        let played = Move::from_uci(text).expect("a move");
        rows.push(row(&game, played, result));
        game.play_unchecked(played);
    }
    let moves = game.moves().iter().map(|played| played.packed()).collect();
    let network = "0123456789abcdef".to_owned();
    let result = GameResult::from_white_score(result).expect("1, 0 or -1");
    let start_fen = game.start().fen();
    (GameRow { game: 0, network, start_fen, moves, opening_plies: 0, result, reason }, rows)
}

fn row(game: &Game, played: Move, result: i8) -> PositionRow {
    PositionRow {
        game: 0,
        ply: game.ply() as u16,
        fen: game.position().fen(),
        played: played.packed(),
        legal: game.position().legal_moves().len() as u16,
        visits: vec![1],
        target: vec![1],
        moves: vec![played.packed()],
        root_q: 0.0,
        root_d: 1.0,
        net_q: 0.0,
        net_d: 1.0,
        simulations: 1,
        full: true,
        result: if game.position().side_to_move() == Side::White { result } else { -result },
    }
}

/// A digest of the samples of some plies of a game. With tables, a result that only the ply cap gave counts little where they know
/// nothing; without, it counts in full.
fn digest((game, rows): &(GameRow, Vec<PositionRow>), plies: std::ops::Range<usize>, tables: bool) -> String {
    let params = TrainParams {
        tablebases: tables.then(|| syzygy().display().to_string()),
        validation_fraction: 0.0,
        ply_cap_value_weight: if tables { 0.25 } else { 1.0 },
        ..TrainParams::default()
    };
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut samples = Samples::new(encoding, &params).expect("tables");
    let (games, positions) = (std::slice::from_ref(game), &rows[plies]);
    samples.add(Part { name: "part", games, positions }).expect("sound rows");
    samples.digest()
}

#[test]
fn a_won_ending_that_the_ply_cap_cut_off_is_trained_as_won_from_the_first_move_on() {
    // Five pieces, so no table holds the position before the rook is taken.
    let fen = "4k3/8/8/8/8/8/3r4/3QKN2 w - - 0 1";
    let moves = "d1d2 e8e7 d2d4 e7e6 d4e3";
    let as_played = stored(fen, moves, 0, Reason::PlyCap);
    let as_won = stored(fen, moves, 1, Reason::PlyCap);
    assert_eq!(digest(&as_played, 0..5, true), digest(&as_won, 0..5, false));
    assert_ne!(digest(&as_played, 0..5, false), digest(&as_won, 0..5, false));
    assert_eq!(digest(&as_won, 0..5, true), digest(&as_won, 0..5, false));
}

#[test]
fn a_win_thrown_away_is_a_win_before_the_mistake_and_a_draw_after_it() {
    // The queen's last move gives stalemate.
    let fen = "k7/8/8/8/8/8/8/K2Q4 w - - 0 1";
    let moves = "d1d7 a8b8 d7e7 b8a8 e7c7";
    let as_played = stored(fen, moves, 0, Reason::Stalemate);
    let as_won = stored(fen, moves, 1, Reason::Checkmate);
    assert_eq!(digest(&as_played, 0..5, true), digest(&as_won, 0..5, false));
    let queen_lost = "d1d7 a8b8 d7c7 b8c7 a1a2 c7c6";
    let as_played = stored(fen, queen_lost, 1, Reason::PlyCap);
    let (won, drawn) =
        (stored(fen, queen_lost, 1, Reason::PlyCap), stored(fen, queen_lost, 0, Reason::PlyCap));
    assert_eq!(digest(&as_played, 0..3, true), digest(&won, 0..3, false));
    assert_eq!(digest(&as_played, 3..6, true), digest(&drawn, 3..6, false));
}

#[test]
fn a_folder_without_tables_stops_the_training_before_it_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let tablebases = Some(folder.path().display().to_string());
    let params = TrainParams { tablebases, ..TrainParams::default() };
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let error = Samples::new(encoding, &params).expect_err("no tables").to_string();
    assert!(error.contains("no Syzygy tables found"), "{error}");
}
