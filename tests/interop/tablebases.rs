//! Syzygy tablebases: known results of small endings, whole games, and rescoring in training.
//! `cargo xtask test` downloads the tablebases; without them these tests fail and say so.

use std::path::Path;

use crate::{random_endings, syzygy};
use dc0_core::board::TablebaseResult::{CursedWin, Draw, Loss, Win};
use dc0_core::board::{
    Adjudication, Ending, Game, GameResult, Move, Outcome, Position, Reason, Rules, Side, Tablebase,
    TablebaseResult,
};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_core::store::{GameRow, PositionRow};
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{CappedGames, TrainParams};
use rand::RngExt;
use rand::seq::IndexedRandom;

fn tablebase() -> Tablebase {
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
        // The queen can be taken.
        ("8/8/8/8/8/8/3k4/3Q3K b - - 0 1", Draw),
        // Stalemate, and mate.
        ("k7/2Q5/8/8/8/8/8/7K b - - 0 1", Draw),
        ("k7/1Q6/1K6/8/8/8/8/8 b - - 0 1", Loss),
        // A king on the sixth rank in front of its pawn wins; a king behind its pawn, or a rook pawn, does not.
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", Loss),
        ("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1", Draw),
        ("k7/8/8/8/8/8/P7/K7 w - - 0 1", Draw),
        ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", Win),
        ("8/8/8/3k4/8/8/8/KNN5 w - - 0 1", Draw),
    ];
    let tablebase = tablebase();
    for (fen, expected) in cases {
        assert_eq!(tablebase.probe_wdl(&position(fen)).expect("sound tables"), Some(expected), "{fen}");
    }
}

#[test]
fn castling_rights_and_too_many_pieces_are_not_covered() {
    let tablebase = tablebase();
    assert_eq!((tablebase.max_pieces(), tablebase.tables()), (4, 35));
    for fen in ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/R3K1NR w - - 0 1"] {
        assert_eq!(tablebase.probe_wdl(&position(fen)).expect("sound tables"), None, "{fen}");
        assert_eq!(tablebase.probe_with_clock(&position(fen)).expect("sound tables"), None, "{fen}");
        let game = Game::from_position(position(fen));
        assert_eq!(tablebase.best_moves(&game).expect("sound tables"), None, "{fen}");
    }
}

#[test]
fn several_folders_form_one_tablebase() {
    let (folder, empty) = (syzygy(), tempfile::tempdir().expect("a folder"));
    let both = format!("{}:{}", empty.path().display(), folder.display());
    let both = Tablebase::open(Path::new(&both)).expect("tables");
    assert_eq!((both.digest(), &both), (tablebase().digest(), &tablebase()));
    std::fs::copy(folder.join("KQvK.rtbw"), empty.path().join("KQvK.rtbw")).expect("copies");
    let few = Tablebase::open(empty.path()).expect("one table");
    assert_ne!((few.digest(), &few), (both.digest(), &both));
    // Without DTZ files the WDL is known, but moves cannot be ranked.
    let game = Game::from_position(position("4k3/8/8/8/8/8/8/3QK3 w - - 0 1"));
    assert_eq!(few.probe_wdl(game.position()).expect("a sound table"), Some(Win));
    assert_eq!(few.rank_root(&game).expect("a sound table"), None);
}

#[test]
fn a_win_beyond_the_fifty_move_rule_is_a_draw() {
    let tablebase = tablebase();
    let probe = |fen: &str| tablebase.probe_with_clock(&position(fen)).expect("sound tables");
    assert_eq!(probe("4k3/8/8/8/8/8/8/3QK3 w - - 40 90"), Some(Win));
    assert_eq!(probe("4k3/8/8/8/8/8/8/3QK3 w - - 95 90"), Some(CursedWin));
    // Mated by the hundredth ply: the mate counts.
    assert_eq!(probe("k6R/8/1K6/8/8/8/8/8 b - - 100 90"), Some(Loss));
    let late = Game::from_position(position("4k3/8/8/8/8/8/8/3QK3 w - - 95 90"));
    let ranked = tablebase.rank_root(&late).expect("sound tables").expect("covered");
    assert!(ranked.iter().all(|ranked| ranked.result.outcome() == 0));
    let mate = Game::from_position(position("k7/8/1K6/8/8/8/8/7R w - - 99 90"));
    let best = tablebase.best_moves(&mate).expect("sound tables").expect("covered");
    assert_eq!(best, [Move::from_uci("h1h8").expect("a move")]);
}

#[test]
fn best_moves_keep_the_result_and_no_other_is_better() {
    let tablebase = tablebase();
    for number in 0..300 {
        let mut stream = stream(number);
        let pieces = ["Q", "R", "P", "BN", "Qr", "Rp", "Pp", "QP"][number as usize % 8];
        let game = Game::from_position(random_endings::random(pieces, 0, &mut stream));
        let before = tablebase.probe_wdl(game.position()).expect("sound tables").expect("covered");
        let ranked = tablebase.rank_root(&game).expect("sound tables").expect("covered");
        let best = tablebase.best_moves(&game).expect("sound tables").expect("covered");
        assert!(!best.is_empty());
        for ranked in ranked {
            let is_best = best.contains(&ranked.mv);
            assert!(ranked.result <= before && (!is_best || ranked.result == before), "{ranked:?}");
        }
    }
}

/// Plays random best moves on both sides to the end.
fn play_out(tablebase: &Tablebase, game: &mut Game, stream: &mut Stream) -> Outcome {
    loop {
        if let Some(outcome) = game.outcome(&Rules { max_plies: 2000 }) {
            return outcome;
        }
        let best = tablebase.best_moves(game).expect("sound tables").expect("covered");
        game.play_unchecked(*best.choose(stream).expect("the game is not over"));
    }
}

#[test]
fn any_best_moves_win_within_the_fifty_move_rule() {
    let tablebase = tablebase();
    let mut won = 0;
    for number in 0..160 {
        let mut stream = stream(1000 + number);
        let pieces = ["Q", "R", "BN", "Qr", "P", "QP", "BB", "Rn"][number as usize % 8];
        let clock = stream.random_range(0..30);
        let mut game = Game::from_position(random_endings::random(pieces, clock, &mut stream));
        let Some(expected) = tablebase.probe_with_clock(game.position()).expect("sound tables") else {
            continue;
        };
        let side = game.position().side_to_move();
        let start = game.position().fen();
        let outcome = play_out(&tablebase, &mut game, &mut stream);
        assert_eq!(outcome.score_for(side), expected.outcome(), "{start} {outcome:?}");
        won += u32::from(outcome.reason == Reason::Checkmate);
    }
    assert!(won >= 100, "{won} games were won");
}

#[test]
fn after_a_repetition_only_the_shortest_wins_remain() {
    let tablebase = tablebase();
    let mut game = Game::from_position(position("4k3/8/8/8/8/8/8/3QK3 w - - 0 1"));
    let best = |game: &Game| tablebase.best_moves(game).expect("sound tables").expect("covered");
    let free = best(&game).len();
    for text in ["d1d2", "e8e7", "d2d1", "e7e8"] {
        game.play_unchecked(Move::from_uci(text).expect("a move"));
    }
    assert!(game.has_repeated());
    assert!(best(&game).len() < free);
    let ranked = tablebase.rank_root(&game).expect("sound tables").expect("covered");
    let shortest = ranked.iter().filter(|ranked| ranked.dtz > 0).map(|ranked| ranked.dtz).min();
    let kept = best(&game);
    assert!(
        ranked.iter().filter(|ranked| kept.contains(&ranked.mv)).all(|ranked| Some(ranked.dtz) == shortest)
    );
}

/// A game as self-play stores it, with the given result from White's side.
fn stored(fen: &str, moves: &str, result: i8, reason: impl Into<Ending>) -> (GameRow, Vec<PositionRow>) {
    let mut game = Game::from_position(position(fen));
    let mut rows = Vec::new();
    for text in moves.split(' ') {
        let mv = Move::from_uci(text).expect("a move");
        rows.push(row(&game, mv, result));
        game.play_unchecked(mv);
    }
    let moves = game.moves().iter().map(|mv| mv.packed()).collect();
    let network = "0123456789abcdef".to_owned();
    let result = GameResult::from_white_score(result).expect("1, 0 or -1");
    let start_fen = game.start().fen();
    (GameRow { game: 0, network, start_fen, moves, opening_plies: 0, result, reason: reason.into() }, rows)
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
        policy_surprise: 0.0,
        result: if game.position().side_to_move() == Side::White { result } else { -result },
    }
}

/// The end of a game whose result is certain, although it was not played out.
const BY_TABLES: Ending = Ending::Adjudicated(Adjudication::Tablebase);

/// The samples of some plies of a game, whose stored result counts even if the ply cap ended it. With tablebases, results of the ply
/// cap have a low weight in positions that are not covered; without, they have full weight.
fn samples(
    (game, rows): &(GameRow, Vec<PositionRow>),
    plies: std::ops::Range<usize>,
    rescored: bool,
) -> Samples {
    let params = TrainParams {
        tablebases: rescored.then(|| syzygy().display().to_string()),
        validation_fraction: 0.0,
        capped_games: CappedGames::Draw,
        ply_cap_value_weight: if rescored { 0.25 } else { 1.0 },
        ..TrainParams::default()
    };
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut samples = Samples::new(encoding, &params).expect("tables");
    let (games, positions) = (std::slice::from_ref(game), &rows[plies]);
    samples.add(Part { name: "part", source: 0, weight: 1.0, games, positions }).expect("sound rows");
    samples
}

fn digest(game: &(GameRow, Vec<PositionRow>), plies: std::ops::Range<usize>, rescored: bool) -> String {
    samples(game, plies, rescored).digest()
}

#[test]
fn a_won_ending_cut_off_by_the_ply_cap_is_trained_as_won() {
    // Five pieces, so the position before the rook is taken is not covered.
    let fen = "4k3/8/8/8/8/8/3r4/3QKN2 w - - 0 1";
    let moves = "d1d2 e8e7 d2d4 e7e6 d4e3";
    let as_played = stored(fen, moves, 0, Reason::PlyCap);
    let as_won = stored(fen, moves, 1, BY_TABLES);
    assert_eq!(digest(&as_played, 0..5, true), digest(&as_won, 0..5, false));
    assert_ne!(digest(&as_played, 0..5, false), digest(&as_won, 0..5, false));
    assert_eq!(digest(&as_won, 0..5, true), digest(&as_won, 0..5, false));
    // What the Brier score and the calibration error compare with.
    let results = |rescored| {
        let samples = samples(&as_played, 0..5, rescored);
        (0..5).map(|index| samples.training_row(index).result).collect::<Vec<_>>()
    };
    assert_eq!(results(true), [1, -1, 1, -1, 1].map(Some));
    assert_eq!(results(false), [None; 5]);
}

#[test]
fn a_blundered_win_is_a_win_before_the_blunder_and_a_draw_after_it() {
    // The queen's last move gives stalemate.
    let fen = "k7/8/8/8/8/8/8/K2Q4 w - - 0 1";
    let moves = "d1d7 a8b8 d7e7 b8a8 e7c7";
    let as_played = stored(fen, moves, 0, Reason::Stalemate);
    let as_won = stored(fen, moves, 1, Reason::Checkmate);
    assert_eq!(digest(&as_played, 0..5, true), digest(&as_won, 0..5, false));
    let queen_lost = "d1d7 a8b8 d7c7 b8c7 a1a2 c7c6";
    let as_played = stored(fen, queen_lost, 1, Reason::PlyCap);
    let (won, drawn) = (stored(fen, queen_lost, 1, BY_TABLES), stored(fen, queen_lost, 0, BY_TABLES));
    assert_eq!(digest(&as_played, 0..3, true), digest(&won, 0..3, false));
    assert_eq!(digest(&as_played, 3..6, true), digest(&drawn, 3..6, false));
}

#[test]
fn a_folder_without_tablebases_is_an_error_before_training() {
    let folder = tempfile::tempdir().expect("a folder");
    let tablebases = Some(folder.path().display().to_string());
    let params = TrainParams { tablebases, ..TrainParams::default() };
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let error = Samples::new(encoding, &params).expect_err("no tables").to_string();
    assert!(error.contains("no Syzygy tables found"), "{error}");
}
