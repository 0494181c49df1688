//! Games played by alpha-beta with a net of random weights.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::{StopsAfter, job, params};
use crate::alphabeta::SelectivityParams;
use crate::board::{Adjudication, Ending, GameResult, Reason};
use crate::book::Book;
use crate::durable::digest;
use crate::event::{Event, Observer, Silent};
use crate::network::nnue::NnueNet;
use crate::network::{initial_weights, preset};
use crate::params::{Param as _, Value, read};
use crate::rng::Seed;
use crate::search::SearchParams;
use crate::selfplay::{
    AlphaBetaSearch, Archive, GameRow, LevelDraw, Openings, PositionRow, SelfPlayError, SelfPlayJob,
    SelfPlayParams, SelfPlayResignation, SelfPlaySearch, Shard, ShardResult, StartParams, play,
    play_alphabeta, shards_of,
};
use crate::store::legality::self_play_fault;

fn net() -> Arc<NnueNet> {
    let spec = preset("nnue-128").expect("exists").spec;
    let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
    Arc::new(NnueNet::new(&spec, &weights).expect("in range"))
}

fn search() -> AlphaBetaSearch {
    AlphaBetaSearch { nodes: 300, hash_mb: 1, ..AlphaBetaSearch::default() }
}

fn alphabeta_params() -> SelfPlayParams {
    SelfPlayParams { search: search().into(), opening_plies: 4, max_plies: 60, ..params() }
}

fn played_by(job: &SelfPlayJob<'_>, shards: &[Shard], lanes: u32) -> BTreeMap<u32, ShardResult> {
    let kept = Mutex::new(BTreeMap::new());
    let keep = |shard: Shard, result| {
        kept.lock().unwrap().insert(shard.index, result);
        Ok(())
    };
    play_alphabeta(job, &net(), shards, lanes, &keep, &Silent).expect("nothing fails");
    kept.into_inner().unwrap()
}

fn played(params: &SelfPlayParams, lanes: u32) -> BTreeMap<u32, ShardResult> {
    played_by(&job(params), &shards_of(params.games, params.shard_games), lanes)
}

/// The rows of each game, after they were compared with the rules of chess.
fn games(shards: &BTreeMap<u32, ShardResult>, params: &SelfPlayParams) -> Vec<(Ending, Vec<PositionRow>)> {
    let games = shards.values().flat_map(|shard| {
        shard.games.iter().map(|game| {
            let own = shard.positions.iter().filter(|row| row.game == game.game);
            let own: Vec<PositionRow> = own.cloned().collect();
            assert_eq!(self_play_fault(game, &own, &params.rules()), None);
            (game.reason, own)
        })
    });
    games.collect()
}

#[test]
fn a_shard_depends_on_nothing_but_its_description() {
    let params = alphabeta_params();
    let one = played(&params, 1);
    assert_eq!(one, played(&params, 3));
    // A lane that played other games before, and shards of another size.
    let second = &shards_of(params.games, params.shard_games)[1..2];
    assert_eq!(played_by(&job(&params), second, 1)[&1], one[&1]);
    let larger = played(&SelfPlayParams { shard_games: 12, ..params.clone() }, 1);
    let all = one.values().flat_map(|shard| shard.games.clone()).collect::<Vec<_>>();
    assert_eq!(larger[&0].games, all);
    assert!(all.iter().any(|game| game.moves[..4] != all[0].moves[..4]));
}

/// Moves and nodes of a search in integers do not depend on the processor. After an intended change of the games, update the digest and
/// explain the change in the commit.
#[test]
fn games_are_unchanged() {
    let shards = played(&alphabeta_params(), 1);
    let game =
        |row: &GameRow| format!("{} {:?} {} {:?}\n", row.start_fen, row.moves, row.opening_plies, row.reason);
    let position = |row: &PositionRow| {
        format!("{} {} {} {} {:?}\n", row.ply, row.played, row.legal, row.simulations, row.result)
    };
    let text = |shard: &ShardResult| -> String {
        shard.games.iter().map(game).chain(shard.positions.iter().map(position)).collect()
    };
    let found: Vec<String> = shards.values().map(text).collect();
    assert_eq!(&digest(found.concat().as_bytes())[..16], "0118e2a718a15c4d");
}

/// Counts the evaluations that are reported.
#[derive(Default)]
struct Evaluations(AtomicU64);

impl Observer for Evaluations {
    fn event(&self, event: Event<'_>) {
        if let Event::Work { unit: "evaluations", amount } = event {
            self.0.fetch_add(amount, Ordering::Relaxed);
        }
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

#[test]
fn reported_evaluations_are_those_of_the_games() {
    let (params, reported) = (alphabeta_params(), Evaluations::default());
    let stats = Mutex::new(Vec::new());
    let keep = |_, result: ShardResult| {
        stats.lock().unwrap().push(result.stats.evaluations);
        Ok(())
    };
    play_alphabeta(&job(&params), &net(), &shards_of(12, 5), 2, &keep, &reported).expect("nothing fails");
    assert_eq!(reported.0.into_inner(), stats.into_inner().unwrap().iter().sum::<u64>());
}

#[test]
fn both_searches_name_their_tablebases() {
    let tables = || Some("tables".to_owned());
    let alphabeta = AlphaBetaSearch { tablebases: tables(), ..search() };
    let tree = SearchParams { tablebases: tables(), ..SearchParams::default() };
    for search in [SelfPlaySearch::from(alphabeta), tree.into()] {
        assert_eq!(search.tablebases(), Some("tables"));
    }
    assert_eq!(SelfPlaySearch::from(search()).tablebases(), None);
}

#[test]
fn rows_say_what_the_search_found() {
    let params = alphabeta_params();
    let shards = played(&params, 2);
    for (_, rows) in games(&shards, &params) {
        let any = |is_set: fn(&PositionRow) -> bool| rows.iter().any(is_set);
        assert!(any(|row| row.root_d > 0.0) && any(|row| row.net_q != 0.0) && any(|row| row.net_d > 0.0));
        for row in rows {
            assert_eq!(
                (&row.moves, &row.visits, &row.target),
                (&vec![row.played], &vec![1], &vec![u16::MAX])
            );
            assert!(row.full && (1..=300).contains(&row.simulations));
            assert!(row.root_q.abs() + row.root_d <= 1.0 + 1e-6 && row.root_d >= 0.0);
            // One of at least two moves has all of the target, so the prior is surprised unless it is sure of that move.
            assert!(row.net_q.abs() < 1.0 && row.policy_surprise.is_finite());
            assert!(row.policy_surprise > 0.0 || row.legal == 1, "{row:?}");
        }
    }
    for shard in shards.values() {
        let simulations: u64 = shard.positions.iter().map(|row| u64::from(row.simulations)).sum();
        assert_eq!(shard.stats.simulations, simulations);
        assert!(shard.stats.evaluations > simulations / 4 && shard.stats.batches == shard.stats.evaluations);
    }
    let untargeted = SelfPlayParams { policy_targets: false, ..params };
    assert!(played(&untargeted, 1).values().flat_map(|shard| &shard.positions).all(|row| !row.full));
}

#[test]
fn searches_use_all_of_their_nodes() {
    let search = AlphaBetaSearch { nodes: 5000, ..search() };
    let params = SelfPlayParams { search: search.into(), games: 1, max_plies: 12, ..alphabeta_params() };
    for (_, rows) in games(&played(&params, 1), &params) {
        assert!(rows.iter().all(|row| row.simulations == 5000), "{rows:?}");
    }
}

#[test]
fn the_parameters_of_the_search_reach_it() {
    let rows = |search: AlphaBetaSearch| -> Vec<PositionRow> {
        let params = SelfPlayParams { search: search.into(), games: 1, max_plies: 12, ..alphabeta_params() };
        played(&params, 1).into_values().flat_map(|shard| shard.positions).collect()
    };
    let selectivity = SelectivityParams { late_move_reductions: false, ..SelectivityParams::default() };
    let larger = AlphaBetaSearch { nodes: 5000, ..search() };
    let changed = [
        AlphaBetaSearch { depth: Some(2), ..larger.clone() },
        AlphaBetaSearch { hash_mb: 0, ..larger.clone() },
        AlphaBetaSearch { selectivity, ..larger.clone() },
    ];
    let expected = rows(larger);
    for search in changed {
        assert_ne!(rows(search.clone()), expected, "{search:?}");
    }
}

#[test]
fn a_mate_in_one_is_played_with_the_value_1() {
    let epd = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n";
    let book = Book::read("m.epd", epd.as_bytes(), None).expect("a book");
    let openings = Openings { book: Some(book), archive: Archive::default() };
    let source = StartParams { file: "m.epd".to_owned(), ..StartParams::default() };
    let params = SelfPlayParams { openings: Some(source), opening_plies: 0, games: 1, ..alphabeta_params() };
    let job = SelfPlayJob { openings: Some(&openings), ..job(&params) };
    let shards = played_by(&job, &shards_of(1, 1), 1);
    let [(ending, rows)] = games(&shards, &params).try_into().expect("one game");
    assert_eq!(ending, Ending::Rules(Reason::Checkmate));
    assert_eq!((rows.len(), rows[0].root_q, rows[0].root_d, rows[0].result), (1, 1.0, 0.0, 1));
    assert_eq!(shards[&0].games[0].result, GameResult::WhiteWins);
}

#[test]
fn games_end_by_the_values_of_their_searches() {
    let resignation = SelfPlayResignation { moves: 2, value: 0.03, played_through: 0.5 };
    let resigned = SelfPlayParams { resignation: Some(resignation), ..alphabeta_params() };
    let level = LevelDraw { moves: 2, value: 0.08, first_ply: 20 };
    let drawn = SelfPlayParams { level_draw: Some(level), ..alphabeta_params() };
    let ends = |params: &SelfPlayParams, by| -> Vec<Vec<PositionRow>> {
        let games = games(&played(params, 2), params).into_iter();
        let ended = games.filter(|(ending, _)| *ending == Ending::Adjudicated(by));
        ended.map(|(_, rows)| rows).collect()
    };
    let (resigned_games, drawn_games) =
        (ends(&resigned, Adjudication::Resignation), ends(&drawn, Adjudication::AgreedDraw));
    assert!(!resigned_games.is_empty() && !drawn_games.is_empty());
    for rows in resigned_games {
        assert!(rows.iter().rev().take(3).step_by(2).all(|row| row.root_q <= -0.03));
    }
    for rows in drawn_games {
        let is_level = |rows: &[PositionRow]| {
            rows.iter().rev().take(4).all(|row| row.root_q.abs() <= 0.08) && rows[rows.len() - 1].ply >= 19
        };
        assert!(is_level(&rows) && !is_level(&rows[..rows.len() - 1]));
    }
    let tested: u64 = played(&resigned, 2).values().map(|shard| shard.stats.resignations_tested).sum();
    assert!(tested > 0);
}

#[test]
fn openings_beyond_the_bound_are_drawn_again() {
    let first = |params: &SelfPlayParams| -> Vec<f32> {
        let games = games(&played(params, 2), params);
        games.iter().map(|(_, rows)| rows[0].root_q.abs()).collect()
    };
    let all = SelfPlayParams { max_plies: 12, ..alphabeta_params() };
    let values = first(&all);
    let mut sorted = values.clone();
    sorted.sort_by(f32::total_cmp);
    let bound = sorted[sorted.len() / 2];
    let bounded = SelfPlayParams { max_opening_value: Some(bound.into()), ..all.clone() };
    let even = first(&bounded);
    for (value, even) in values.iter().zip(&even) {
        assert!(*even <= bound && (*value > bound || value == even), "{value} {even} {bound}");
    }
}

#[test]
fn the_most_even_of_refused_openings_is_played() {
    // A search that sees every first move as better for one side.
    let search = AlphaBetaSearch { nodes: 200, ..search() };
    let values = |count: u32, max_opening_value: Option<f64>| -> Vec<f32> {
        let params = SelfPlayParams {
            search: search.clone().into(),
            games: count,
            opening_plies: 1,
            max_plies: 3,
            max_opening_value,
            ..alphabeta_params()
        };
        let games = games(&played(&params, 2), &params);
        games.iter().map(|(_, rows)| rows[0].root_q.abs()).collect()
    };
    // Each of the 20 first moves is drawn again and again, and none of them is as even as the bound.
    let least = values(200, None).into_iter().min_by(f32::total_cmp).expect("games");
    assert!(least > 0.0);
    assert_eq!(values(2, Some(0.0)), [least; 2]);
}

#[test]
fn a_request_to_stop_ends_a_long_search() {
    let long = AlphaBetaSearch { nodes: 1_000_000_000, ..search() };
    let params = SelfPlayParams { search: long.into(), ..alphabeta_params() };
    let (shards, stops) = (shards_of(12, 5), StopsAfter(Mutex::new(10)));
    let ended = play_alphabeta(&job(&params), &net(), &shards, 1, &|_, _| Ok(()), &stops);
    assert!(matches!(ended, Err(SelfPlayError::Cancelled(_))));
}

#[test]
fn each_job_plays_games_of_its_own_search() {
    let (tree, alphabeta, shards) = (params(), alphabeta_params(), shards_of(1, 1));
    let other = play_alphabeta(&job(&tree), &net(), &shards, 1, &|_, _| Ok(()), &Silent);
    assert!(matches!(other, Err(SelfPlayError::Searcher { expected: "alphabeta" })));
    let other = play(&job(&alphabeta), &shards, 1, &|_, _| Ok(()), &Silent);
    assert!(matches!(other, Err(SelfPlayError::Searcher { expected: "tree" })));
}

fn read_json(json: &str) -> Result<SelfPlayParams, String> {
    let value: Value = serde_json::from_str(json).expect("test JSON");
    read("self_play", &value).map_err(|error| error.to_string())
}

#[test]
fn parameters_of_the_other_search_are_refused_with_all_other_problems() {
    let given = r#"{"search": {"kind": "alphabeta", "nodes": 0, "simulations": 8, "root": {}},
        "temperature": 1, "playout_cap": {}, "cache": 5, "resignation": {}}"#;
    let error = read_json(given).expect_err("five problems");
    let of_tree = r#"belongs to the search "tree", and search.kind is "alphabeta"; leave one of them out"#;
    for name in ["search.simulations", "search.root", "temperature", "playout_cap", "cache"] {
        assert!(error.contains(&format!("\n  {name}: {of_tree}")), "{name}: {error}");
    }
    assert!(error.contains("6 problems") && error.contains("\n  search.nodes: must lie in"), "{error}");
    let error =
        read_json(r#"{"search": {"nodes": 9, "simulations": 8}, "level_draw": {}}"#).expect_err("wrong");
    let of_alphabeta =
        r#"belongs to the search "alphabeta", and search.kind is "tree"; leave one of them out"#;
    for name in ["search.nodes", "level_draw"] {
        assert!(error.contains(&format!("\n  {name}: {of_alphabeta}")), "{name}: {error}");
    }
    let bounded = r#"{"search": {"kind": "alphabeta"}, "max_opening_value": 0.5}"#;
    assert!(
        read_json(bounded).expect_err("no moves").contains("max_opening_value: draws random moves again")
    );
}

#[test]
fn parameters_are_stored_with_those_of_their_search_alone() {
    let selectivity = SelectivityParams { null_move: false, ..SelectivityParams::default() };
    let alphabeta = AlphaBetaSearch { selectivity, ..search() };
    let params = SelfPlayParams { search: alphabeta.into(), ..SelfPlayParams::default() };
    let stored = params.to_value();
    assert!(stored.member("temperature").is_none() && stored.member("level_draw").is_some());
    assert_eq!(read("self_play", &stored), Ok(params));
    // What is stored of a tree search has not changed, nor have the identities of steps.
    let tree = SelfPlayParams::default().to_value();
    assert!(tree.member("temperature").is_some() && tree.member("level_draw").is_none());
    assert_eq!(tree.member("search"), Some(&SearchParams::default().to_value()));
    assert_eq!(read_json(r#"{"search": {"kind": "tree"}}"#), Ok(SelfPlayParams::default()));
}
