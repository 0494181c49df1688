//! The search with tablebases. `cargo xtask test` fetches the tables; without them these tests fail and say so.

use std::fs;

use crate::{endings, syzygy};
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

fn begun(game: &Game, params: &SearchParams, tables: &Tablebase) -> Search {
    Search::with_tablebases(game.clone(), RULES, params.clone(), Some(tables.clone()))
}

fn run(search: &mut Search) -> Result<(), EvaluatorError> {
    let mut evaluator = Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 5);
    search.run(&mut evaluator)
}

fn searched(game: &Game, params: &SearchParams, tables: &Tablebase) -> Search {
    let mut search = begun(game, params, tables);
    run(&mut search).expect("sound tables");
    search.check_invariants();
    search
}

fn game(fen: &str) -> Game {
    Game::from_position(Position::from_fen(fen).expect("a legal position"))
}

fn played(search: &Search) -> Move {
    let mut unused = Seed { run: 0, step: 0 }.stream(0, Purpose::MoveChoice);
    search.choose(&ChoiceParams::default(), 0.0, &mut unused)
}

/// Random positions with three and four pieces in which a game can go on.
fn some_endings() -> Vec<Game> {
    let mut stream = Seed { run: 5, step: 9 }.stream(0, Purpose::RandomPlayer);
    let pieces = ["Q", "R", "P", "Qr", "Rp", "BN", "Pp", "Rb"];
    let positions =
        (0..40).map(|number: usize| endings::random(pieces[number % pieces.len()], 0, &mut stream));
    let games = positions.map(Game::from_position);
    games.filter(|game| game.outcome(&RULES).is_none()).collect()
}

#[test]
fn both_engines_find_the_same_with_tables() {
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let gumbel = RootParams { rule: RootRule::Gumbel, considered: 4, ..RootParams::default() };
    for tablebase_use in [TablebaseUse::Both, TablebaseUse::Root, TablebaseUse::Leaves] {
        for root in [RootParams::default(), gumbel.clone()] {
            for game in some_endings() {
                let found = |engine| {
                    let params = SearchParams { engine, root: root.clone(), ..params(60, tablebase_use) };
                    let search = searched(&game, &params, &tables);
                    let mut visits: Vec<(Move, u32, Option<Proof>)> =
                        search.root_moves().map(|seen| (seen.played, seen.visits, seen.proof)).collect();
                    visits.sort_unstable_by_key(|(played, _, _)| *played);
                    (visits, played(&search))
                };
                let fen = game.position().fen();
                assert_eq!(found(Engine::Fast), found(Engine::Reference), "{fen} {tablebase_use:?}");
            }
        }
    }
}

#[test]
fn only_moves_that_keep_the_result_are_searched_at_the_root() {
    let tables = Tablebase::open(&syzygy()).expect("tables");
    for game in some_endings() {
        let best = tables.best_moves(&game).expect("sound tables").expect("all are in the tables");
        let search = searched(&game, &params(50, TablebaseUse::Root), &tables);
        let strays = search.root_moves().filter(|seen| seen.visits > 0 && !best.contains(&seen.played));
        assert_eq!(strays.count(), 0, "{}", game.position().fen());
        assert!(best.contains(&played(&search)) && search.tablebase_hits() == 1);
        let target: f64 =
            search.policy_target().iter().filter(|of| best.contains(&of.played)).map(|of| of.share).sum();
        assert!((target - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_search_asks_the_tables_that_its_parameters_name() {
    let folder = syzygy().display().to_string();
    let params = SearchParams { tablebases: Some(folder), ..params(50, TablebaseUse::Both) };
    let mut search = Search::new(game("8/8/8/3k4/8/8/8/4K2R w - - 0 1"), RULES, params).expect("tables");
    run(&mut search).expect("sound tables");
    assert!(search.tablebase_hits() > 0);
}

#[test]
fn a_capture_into_the_tables_is_certain() {
    let tables = Tablebase::open(&syzygy()).expect("tables");
    // Taking the rook leaves a queen against a king; the position itself has five pieces.
    let game = game("4k3/8/8/8/8/8/3r4/3QKN2 w - - 0 1");
    let search = searched(&game, &params(400, TablebaseUse::Leaves), &tables);
    let best = search.root_moves().find(|seen| seen.played == played(&search)).expect("is legal");
    assert_eq!((best.proof, search.proof()), (Some(Proof::Win), Some(Proof::Win)));
    let without = searched(&game, &params(400, TablebaseUse::Root), &tables);
    assert!(without.proof().is_none() && without.tablebase_hits() == 0);
}

#[test]
fn a_rook_wins_with_a_few_simulations_a_move() {
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let params = SearchParams { reuse_tree: true, ..params(16, TablebaseUse::Both) };
    let mut search = begun(&game("8/8/8/3k4/8/8/8/4K2R w - - 0 1"), &params, &tables);
    while search.outcome().is_none() {
        run(&mut search).expect("sound tables");
        search.play_unchecked(played(&search));
    }
    let outcome = search.outcome().expect("is over");
    assert_eq!(outcome.winner, Some(dc0_core::board::Side::White), "{outcome:?}");
}

#[test]
fn a_damaged_table_ends_the_search_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(syzygy()).expect("tables") {
        let path = entry.expect("an entry").path();
        let Some(name) = path.file_name().filter(|_| path.extension().is_some()) else { continue };
        fs::copy(&path, folder.path().join(name)).expect("copied");
    }
    let table = folder.path().join("KQNvK.rtbw");
    let content = fs::read(&table).expect("the table");
    fs::write(&table, vec![0; content.len()]).expect("written");
    let tables = Tablebase::open(folder.path()).expect("tables");
    let game = game("4k3/8/8/8/8/8/3r4/3QKN2 w - - 0 1");
    let mut search = begun(&game, &params(400, TablebaseUse::Leaves), &tables);
    let error = run(&mut search).expect_err("the table is damaged").to_string();
    assert!(error.contains("KQNvK.rtbw") && error.contains("is damaged"), "{error}");
}
