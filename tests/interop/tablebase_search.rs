//! The search with tablebases. `cargo xtask test` downloads them; without them these tests fail and say so.

use std::fs;
use std::process::{Command, Stdio};

use crate::program::{PROGRAM, succeed};
use crate::{random_endings, syzygy};
use dc0_core::alphabeta::{AlphaBeta, AlphaBetaParams, Limits, PieceSquares, Score, Unwatched};
use dc0_core::board::{Game, Move, Position, Rules, Tablebase};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::EvaluatorError;
use dc0_core::network::fake::Hashed;
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::{
    ChoiceParams, Engine, Proof, RootParams, RootRule, Search, SearchParams, TablebaseUse,
};

const RULES: Rules = Rules { max_plies: 512 };

fn params(simulations: u32, tablebase_use: TablebaseUse) -> SearchParams {
    SearchParams { simulations, tablebase_use, ..SearchParams::default() }
}

fn new_search(game: &Game, params: &SearchParams, tablebase: &Tablebase) -> Search {
    Search::with_tablebases(game.clone(), RULES, params.clone(), Some(tablebase.clone()))
}

fn run(search: &mut Search) -> Result<(), EvaluatorError> {
    let mut evaluator = Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 5);
    search.run(&mut evaluator)
}

fn run_search(game: &Game, params: &SearchParams, tablebase: &Tablebase) -> Search {
    let mut search = new_search(game, params, tablebase);
    run(&mut search).expect("sound tables");
    search.check_invariants();
    search
}

fn game(fen: &str) -> Game {
    Game::from_position(Position::from_fen(fen).expect("a legal position"))
}

fn best_move(search: &Search) -> Move {
    let mut unused = Seed { run: 0, step: 0 }.stream(0, Purpose::MoveChoice);
    search.choose(&ChoiceParams::default(), 0.0, &mut unused)
}

/// Random positions with three and four pieces in which the game is not over.
fn some_endings() -> Vec<Game> {
    let mut stream = Seed { run: 5, step: 9 }.stream(0, Purpose::RandomPlayer);
    let pieces = ["Q", "R", "P", "Qr", "Rp", "BN", "Pp", "Rb"];
    let positions =
        (0..40).map(|number: usize| random_endings::random(pieces[number % pieces.len()], 0, &mut stream));
    let games = positions.map(Game::from_position);
    games.filter(|game| game.outcome(&RULES).is_none()).collect()
}

#[test]
fn both_engines_agree_with_tablebases() {
    let tablebase = Tablebase::open(&syzygy()).expect("tables");
    let gumbel = RootParams { rule: RootRule::Gumbel, considered: 4, ..RootParams::default() };
    for tablebase_use in [TablebaseUse::Both, TablebaseUse::Root, TablebaseUse::Leaves] {
        for root in [RootParams::default(), gumbel.clone()] {
            for game in some_endings() {
                let found = |engine| {
                    let params = SearchParams { engine, root: root.clone(), ..params(60, tablebase_use) };
                    let search = run_search(&game, &params, &tablebase);
                    let mut visits: Vec<(Move, u32, Option<Proof>)> =
                        search.root_moves().map(|edge| (edge.played, edge.visits, edge.proof)).collect();
                    visits.sort_unstable_by_key(|(mv, _, _)| *mv);
                    (visits, best_move(&search))
                };
                let fen = game.position().fen();
                assert_eq!(found(Engine::Fast), found(Engine::Reference), "{fen} {tablebase_use:?}");
            }
        }
    }
}

#[test]
fn only_result_preserving_moves_are_searched_at_the_root() {
    let tablebase = Tablebase::open(&syzygy()).expect("tables");
    let gumbel = RootParams { rule: RootRule::Gumbel, ..RootParams::default() };
    let roots = [RootParams::default(), gumbel];
    for (game, root) in
        some_endings().into_iter().flat_map(|game| roots.clone().map(|root| (game.clone(), root)))
    {
        let best = tablebase.best_moves(&game).expect("sound tables").expect("covered");
        let params = SearchParams { root, ..params(50, TablebaseUse::Root) };
        let search = run_search(&game, &params, &tablebase);
        let strays = search.root_moves().filter(|seen| seen.visits > 0 && !best.contains(&seen.played));
        assert_eq!(strays.count(), 0, "{}", game.position().fen());
        assert!(best.contains(&best_move(&search)) && search.tablebase_hits() == 1);
        let target: f64 = search
            .policy_target()
            .iter()
            .filter(|target| best.contains(&target.played))
            .map(|target| target.share)
            .sum();
        assert!((target - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_search_probes_the_tablebases_of_its_parameters() {
    let folder = syzygy().display().to_string();
    let params = SearchParams { tablebases: Some(folder), ..params(50, TablebaseUse::Both) };
    let mut search = Search::new(game("8/8/8/3k4/8/8/8/4K2R w - - 0 1"), RULES, params).expect("tables");
    run(&mut search).expect("sound tables");
    assert!(search.tablebase_hits() > 0);
}

#[test]
fn a_capture_into_the_tablebases_is_proven() {
    let tablebase = Tablebase::open(&syzygy()).expect("tables");
    // Taking the rook leaves a queen against a king; the position itself has five pieces.
    let game = game("4k3/8/8/8/8/8/3r4/3QKN2 w - - 0 1");
    let search = run_search(&game, &params(400, TablebaseUse::Leaves), &tablebase);
    let best = search.root_moves().find(|edge| edge.played == best_move(&search)).expect("is legal");
    assert_eq!((best.proof, search.proof()), (Some(Proof::Win), Some(Proof::Win)));
    let without = run_search(&game, &params(400, TablebaseUse::Root), &tablebase);
    assert!(without.proof().is_none() && without.tablebase_hits() == 0);
}

#[test]
fn a_rook_ending_is_won_with_few_simulations() {
    let tablebase = Tablebase::open(&syzygy()).expect("tables");
    let params = SearchParams { reuse_tree: true, ..params(16, TablebaseUse::Both) };
    let mut search = new_search(&game("8/8/8/3k4/8/8/8/4K2R w - - 0 1"), &params, &tablebase);
    while search.outcome().is_none() {
        run(&mut search).expect("sound tables");
        search.play_unchecked(best_move(&search));
    }
    let outcome = search.outcome().expect("is over");
    assert_eq!(outcome.winner, Some(dc0_core::board::Side::White), "{outcome:?}");
}

#[test]
fn a_damaged_table_is_reported_by_the_search() {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(syzygy()).expect("tables") {
        let path = entry.expect("an entry").path();
        let Some(name) = path.file_name().filter(|_| path.extension().is_some()) else { continue };
        fs::copy(&path, folder.path().join(name)).expect("copied");
    }
    let table = folder.path().join("KQNvK.rtbw");
    let content = fs::read(&table).expect("the table");
    fs::write(&table, vec![0; content.len()]).expect("written");
    let tablebase = Tablebase::open(folder.path()).expect("tables");
    let game = game("4k3/8/8/8/8/8/3r4/3QKN2 w - - 0 1");
    let mut search = new_search(&game, &params(400, TablebaseUse::Leaves), &tablebase);
    let error = run(&mut search).expect_err("the table is damaged").to_string();
    assert!(error.contains("KQNvK.rtbw") && error.contains("is damaged"), "{error}");
}

#[test]
fn alpha_beta_keeps_the_result_of_the_tables() {
    let folders = Some(syzygy().display().to_string());
    let params = AlphaBetaParams { tablebases: folders, ..AlphaBetaParams::default() };
    let tablebase = params.open_tablebases().expect("tables");
    let mut searcher = AlphaBeta::new(&params, tablebase.clone(), &|| Box::<PieceSquares>::default());
    let (tablebase, mut hits) = (tablebase.expect("they are given"), 0);
    let limits = Limits { depth: Some(6), ..Limits::default() };
    for game in some_endings() {
        let best = tablebase.best_moves(&game).expect("sound tables").expect("few pieces");
        let found = searcher.search(&game, &limits, &mut Unwatched).expect("sound tables");
        assert!(best.contains(&found.best()), "{}", game.position().fen());
        hits += found.tablebase_hits;
    }
    assert!(hits > 1000, "{hits}");
}

#[test]
fn where_tables_know_the_root_their_result_is_the_score_of_alpha_beta() {
    let params =
        AlphaBetaParams { tablebases: Some(syzygy().display().to_string()), ..AlphaBetaParams::default() };
    let tablebase = params.open_tablebases().expect("tables").expect("they are given");
    let mut searcher = AlphaBeta::new(&params, Some(tablebase.clone()), &|| Box::<PieceSquares>::default());
    let mut outcomes = [0, 0, 0];
    for game in some_endings() {
        let ranked = tablebase.rank_root(&game).expect("sound tables").expect("few pieces");
        for root_moves in [Vec::new(), ranked[..1].iter().map(|ranked| ranked.mv).collect()] {
            let allowed =
                ranked.iter().filter(|ranked| root_moves.is_empty() || root_moves.contains(&ranked.mv));
            let best = allowed.max_by_key(|ranked| ranked.rank).expect("a move");
            let limits = Limits { nodes: Some(500), root_moves: root_moves.clone(), ..Limits::default() };
            let found = searcher.search(&game, &limits, &mut Unwatched).expect("sound tables");
            let result = best.result.outcome();
            let of_score = match found.score() {
                Score::Centipawns(score) => i32::from(score > 30_000) - i32::from(score < -30_000),
                Score::Mate(moves) => moves.signum(),
            };
            assert_eq!(of_score, i32::from(result), "{}: {:?}", game.position().fen(), found.score());
            let is_draw = found.score() == Score::Centipawns(0);
            assert_eq!(is_draw, result == 0);
            outcomes[(result + 1) as usize] += 1;
        }
    }
    assert!(outcomes.iter().all(|count| *count > 3), "{outcomes:?}");
}

#[test]
fn alpha_beta_players_probe_tables() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tables = format!("{:?}", syzygy().display().to_string());
    let script = format!(
        "let run = open_run(\"tables\");
        let net = run.network(#{{ tower: #{{ kind: \"nnue\", filters: 128 }} }});
        run.arena(alphabeta(net, #{{ nodes: 100, tablebases: {tables} }}), alphabeta(#{{ nodes: 100, tablebases: {tables} }}), #{{ games: 4 }});"
    );
    fs::write(folder.path().join("x.rhai"), script).expect("writes");
    let mut command = Command::new(PROGRAM);
    command
        .current_dir(folder.path())
        .args(["x.rhai", "--device", "cpu", "--backend", "torch"])
        .stdin(Stdio::null());
    succeed(&mut command);
    let steps = fs::read_dir(folder.path().join("datasets/tables/steps")).expect("steps");
    let mut files = steps.filter_map(Result::ok).map(|entry| entry.path());
    let manifest = files.find(|path| path.display().to_string().contains("-arena-")).expect("a match");
    let text = fs::read_to_string(manifest).expect("a manifest");
    let digest = Tablebase::open(&syzygy()).expect("tables").digest();
    // The net's search has them as an input, and the search by material in its identity.
    assert_eq!(text.matches(&digest).count(), 2, "{text}");
}
