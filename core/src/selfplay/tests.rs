//! Self-play with fake evaluators: exact, repeatable, and independent of lanes and game slots.

mod alphabeta;
mod endings;
mod exploration;
mod golden;
mod reanalysis;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::openings::{Archive, Openings};
use super::{
    MakeEvaluator, PlayoutCap, SelfPlayError, SelfPlayJob, SelfPlayParams, SelfPlayStats, ShardResult, play,
    shards_of,
};
use crate::board::{Game, Move, Position};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::event::{Event, GameSnapshot, Observer, Silent};
use crate::network::fake::Hashed;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::params::{Schedule, Value, read};
use crate::rng::Seed;
use crate::search::{Engine, RootParams, RootRule, SearchParams};
use crate::store::GameRow;

fn search() -> SearchParams {
    SearchParams { simulations: 12, ..SearchParams::default() }
}

fn params() -> SelfPlayParams {
    SelfPlayParams {
        games: 12,
        search: search().into(),
        temperature: Schedule::from_points(vec![(0, 1.0), (30, 0.0)]).expect("rising"),
        opening_plies: 2,
        max_plies: 80,
        shard_games: 5,
        game_slots: 3,
        ..SelfPlayParams::default()
    }
}

fn hashed() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 1)))
}

fn job(params: &SelfPlayParams) -> SelfPlayJob<'_> {
    SelfPlayJob::new(params, Seed { run: 1, step: 1 }, "fake", &hashed)
}

fn played(params: &SelfPlayParams, lanes: u32, run: u64) -> BTreeMap<u32, ShardResult> {
    play_all(params, lanes, run, &hashed)
}

fn played_with(params: &SelfPlayParams, make_evaluator: &MakeEvaluator<'_>) -> BTreeMap<u32, ShardResult> {
    play_all(params, 1, 1, make_evaluator)
}

fn play_all(
    params: &SelfPlayParams,
    lanes: u32,
    run: u64,
    make_evaluator: &MakeEvaluator<'_>,
) -> BTreeMap<u32, ShardResult> {
    let job = SelfPlayJob::new(params, Seed { run, step: 1 }, "fake", make_evaluator);
    let kept = Mutex::new(BTreeMap::new());
    let keep = |shard: super::Shard, result| {
        kept.lock().unwrap().insert(shard.index, result);
        Ok(())
    };
    play(&job, &shards_of(params.games, params.shard_games), lanes, &keep, &Silent)
        .expect("fakes do not fail");
    kept.into_inner().unwrap()
}

#[test]
fn games_depend_on_the_seed_and_not_on_lanes() {
    let params = params();
    let one = played(&params, 1, 1);
    assert_eq!(one, played(&params, 2, 1));
    assert_ne!(one[&0].games, played(&params, 1, 2)[&0].games);
}

#[test]
fn games_do_not_depend_on_slots_or_shards() {
    // The fake evaluates row by row, so only the schedule of the games could make a difference.
    let games = |params: &SelfPlayParams| -> Vec<_> {
        played(params, 2, 1).into_values().flat_map(|shard| shard.games).collect()
    };
    let base = params();
    assert_eq!(games(&base), games(&SelfPlayParams { game_slots: 64, shard_games: 12, ..base.clone() }));
}

#[test]
fn rows_replay_as_games() {
    let shards = played(&params(), 1, 1);
    for shard in shards.values() {
        let mut rows = shard.positions.iter();
        for row in &shard.games {
            let mut game = Game::from_position(Position::from_fen(&row.start_fen).unwrap());
            for (ply, packed) in row.moves.iter().enumerate() {
                let played = Move::from_packed(*packed).expect("a move");
                assert!(game.position().is_legal(played));
                if ply >= row.opening_plies as usize {
                    let position = rows.next().expect("a row for every searched ply");
                    assert_eq!((position.game, position.ply as usize), (row.game, ply));
                    assert_eq!(position.fen, game.position().fen());
                    assert_eq!(position.played, *packed);
                    assert_eq!(position.legal as usize, game.position().legal_moves().len());
                    // The root's own evaluation is a simulation that makes no move. Proven searches stop early.
                    let visits: u32 = position.visits.iter().sum();
                    let simulations = search().simulations;
                    assert!(visits >= 1 && position.simulations <= simulations);
                    assert_eq!(position.simulations, visits + 1);
                    let proven = position.root_q.abs() == 1.0 || position.root_d == 1.0;
                    assert!(proven || position.simulations == simulations);
                    assert!(position.moves.is_sorted());
                    // The net's own value and P(draw) do not change when the solver proves a result.
                    assert!(position.net_q.abs() + position.net_d <= 1.0 + 1e-5 && position.net_d >= 0.0);
                    assert_eq!(position.result, row.result.score_for(game.position().side_to_move()));
                }
                game.play_unchecked(played);
            }
            let outcome = game.outcome(&params().rules()).expect("the game is over");
            assert_eq!((outcome.reason.into(), outcome.result()), (row.reason, row.result));
        }
        assert!(rows.next().is_none());
        assert_eq!(shard.stats.positions as usize, shard.positions.len());
        assert_eq!(shard.stats.games as usize, shard.games.len());
    }
}

#[test]
fn only_the_openings_that_the_seed_gives_are_allowed() {
    let (params, seed) = (params(), Seed { run: 1, step: 1 });
    let openings = Openings { book: None, archive: Archive::default() };
    let allows = |row: &GameRow| openings.allow(&params, seed, row).expect("can be replayed");
    let games: Vec<GameRow> = played(&params, 1, 1).into_values().flat_map(|shard| shard.games).collect();
    assert!(games.iter().all(allows));
    let row = &games[3];
    let reply =
        games.iter().find(|other| other.moves[0] != row.moves[0]).expect("two random plies differ").moves[0];
    for other in [
        GameRow { game: row.game + 1, ..row.clone() },
        GameRow { opening_plies: 1, ..row.clone() },
        GameRow { moves: row.moves[..1].to_vec(), ..row.clone() },
        GameRow {
            moves: std::iter::once(reply).chain(row.moves[1..].iter().copied()).collect(),
            ..row.clone()
        },
        GameRow {
            start_fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qkq - 0 1".into(),
            ..row.clone()
        },
    ] {
        assert!(!allows(&other), "{other:?}");
    }
}

#[test]
fn only_full_searches_of_a_playout_cap_are_targets() {
    let search = SearchParams { simulations: 20, solver: false, ..SearchParams::default() };
    let cap = PlayoutCap { fast_share: 0.75, fast_simulations: 5, ..PlayoutCap::default() };
    let capped = SelfPlayParams { search: search.into(), playout_cap: Some(cap), ..params() };
    let rows: Vec<_> = played(&capped, 1, 1).into_values().flat_map(|shard| shard.positions).collect();
    let full = rows.iter().filter(|row| row.full).count();
    assert!(rows.iter().all(|row| row.simulations == if row.full { 20 } else { 5 }));
    let share = full as f64 / rows.len() as f64;
    assert!((share - 0.25).abs() < 0.08, "{share} of {} searches are full", rows.len());
    let untargeted = SelfPlayParams { policy_targets: false, ..capped };
    let rows = played(&untargeted, 1, 1).into_values().flat_map(|shard| shard.positions);
    assert!(rows.into_iter().all(|row| !row.full));
}

#[test]
fn a_cache_saves_evaluations_and_changes_no_game() {
    let plain = played(&params(), 1, 1);
    let cached = played(&SelfPlayParams { cache: 100_000, ..params() }, 2, 1);
    for (one, other) in plain.values().zip(cached.values()) {
        assert_eq!((&one.games, &one.positions), (&other.games, &other.positions));
        assert_eq!((one.stats.cache_hits, one.stats.evaluations), (0, other.stats.evaluations));
        assert!(other.stats.cache_hits > other.stats.evaluations / 20, "{:?}", other.stats);
        assert!(
            other.stats.batches <= one.stats.batches,
            "batches that were cached entirely did not reach the net"
        );
    }
}

/// Counts what reaches the net below a cache.
struct Counting {
    net: Hashed,
    /// Rows, and batches with any.
    seen: Arc<Mutex<(u64, u64)>>,
}

impl Evaluator for Counting {
    fn encoding(&self) -> &Encoding {
        self.net.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let mut seen = self.seen.lock().unwrap();
        *seen = (seen.0 + batch.len() as u64, seen.1 + u64::from(!batch.is_empty()));
        self.net.evaluate(batch, out)
    }
}

#[test]
fn evaluations_batches_and_cache_hits_are_what_the_net_saw() {
    let engines = [Engine::Fast, Engine::Reference];
    for (cache, engine) in [0, 100_000].into_iter().flat_map(|cache| engines.map(|engine| (cache, engine))) {
        let seen = Arc::new(Mutex::new((0, 0)));
        let counting = || -> Result<Box<dyn Evaluator>, EvaluatorError> {
            let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
            Ok(Box::new(Counting { net: Hashed::new(encoding, 1), seen: Arc::clone(&seen) }))
        };
        let search = SearchParams { simulations: 8, engine, ..SearchParams::default() };
        let params = SelfPlayParams { cache, search: search.into(), ..params() };
        let job = SelfPlayJob { make_evaluator: &counting, ..job(&params) };
        let stats = Mutex::new(SelfPlayStats::default());
        let keep = |_, result: ShardResult| {
            stats.lock().unwrap().merge(&result.stats);
            Ok(())
        };
        play(&job, &shards_of(params.games, params.shard_games), 1, &keep, &Silent).expect("plays");
        let stats = stats.into_inner().unwrap();
        let (rows, batches) = *seen.lock().unwrap();
        assert_eq!(stats.evaluations - stats.cache_hits, rows, "{engine:?}");
        assert_eq!(stats.cache_hits > 0, cache > 0);
        // The reference engine makes no batches.
        if engine == Engine::Fast {
            assert_eq!(stats.batches, batches);
        }
    }
}

#[test]
fn games_of_every_root_rule_do_not_depend_on_lanes_or_slots() {
    let gumbel = RootParams { rule: RootRule::Gumbel, considered: 4, ..RootParams::default() };
    let forced = RootParams { forced_playouts: 2.0, ..RootParams::default() };
    let with_root =
        |root, reuse_tree| SearchParams { root, reuse_tree, simulations: 12, ..SearchParams::default() };
    for search in [with_root(gumbel, false), with_root(forced.clone(), false), with_root(forced, true)] {
        let params = SelfPlayParams { search: search.into(), ..params() };
        let alone = SelfPlayParams { game_slots: 1, ..params.clone() };
        assert_eq!(played(&params, 1, 1), played(&params, 3, 1));
        let games = |params: &SelfPlayParams| -> Vec<_> {
            played(params, 2, 1).into_values().flat_map(|shard| shard.games).collect()
        };
        assert_eq!(games(&params), games(&alone));
    }
}

#[test]
fn games_without_noise_at_temperature_zero_are_the_same() {
    let quiet = SelfPlayParams {
        root_noise: None,
        temperature: Schedule::constant(0.0),
        opening_plies: 0,
        games: 4,
        ..params()
    };
    let shard = &played(&quiet, 1, 1)[&0];
    assert!(shard.games.iter().all(|game| game.moves == shard.games[0].moves));
}

struct CollectsSnapshots(Mutex<Vec<GameSnapshot>>);

impl Observer for CollectsSnapshots {
    fn event(&self, _: Event<'_>) {}

    fn on_game(&self, number: u32, snapshot: &dyn Fn() -> GameSnapshot) {
        let snapshot = snapshot();
        assert_eq!(number, snapshot.number);
        self.0.lock().unwrap().push(snapshot);
    }
}

#[test]
fn an_observer_sees_games_in_progress_and_changes_nothing() {
    let params = params();
    let kept = Mutex::new(Vec::new());
    let keep = |_, result: ShardResult| {
        kept.lock().unwrap().push(result.games);
        Ok(())
    };
    let observer = CollectsSnapshots(Mutex::default());
    play(&job(&params), &shards_of(4, 4), 1, &keep, &observer).expect("plays");
    play(&job(&params), &shards_of(4, 4), 1, &keep, &Silent).expect("plays");
    let kept = kept.into_inner().unwrap();
    assert_eq!(kept[0], kept[1]);
    let snapshots = observer.0.into_inner().unwrap();
    assert!(snapshots.len() > 4);
    for snapshot in snapshots {
        let game = kept[0].iter().find(|game| game.game == snapshot.number).expect("a game of the shard");
        assert!(game.start_fen == snapshot.start && game.moves.starts_with(&snapshot.moves), "{snapshot:?}");
    }
}

struct StopsAfter(Mutex<u32>);

impl Observer for StopsAfter {
    fn event(&self, _: Event<'_>) {}

    fn is_cancelled(&self) -> bool {
        let mut left = self.0.lock().unwrap();
        *left = left.saturating_sub(1);
        *left == 0
    }
}

#[test]
fn a_request_to_stop_is_obeyed_between_batches() {
    let ended = play(&job(&params()), &shards_of(12, 5), 1, &|_, _| Ok(()), &StopsAfter(Mutex::new(10)));
    assert!(matches!(ended, Err(SelfPlayError::Cancelled(_))));
}

#[test]
fn the_error_of_a_shard_that_cannot_be_kept_names_it() {
    let ended = play(&job(&params()), &shards_of(5, 5), 1, &|_, _| Err("disk full".into()), &Silent);
    let error = ended.expect_err("keeping fails");
    assert_eq!(error.to_string(), "shard 0 of the self-play games was played but could not be kept");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "disk full");
}

#[test]
fn conflicting_parameters_are_rejected() {
    let group = |json: &str| -> Value { serde_json::from_str(json).unwrap() };
    let errors = |json| read::<SelfPlayParams>("self_play", &group(json)).unwrap_err().to_string();
    assert!(
        errors(r#"{"search": {"simulations": 1}}"#)
            .contains("search.simulations: self-play needs at least 2")
    );
    assert!(
        errors(r#"{"opening_plies": 9, "max_plies": 9}"#)
            .contains("opening_plies: must stay below max_plies")
    );
}

/// A root rule refuses what it does not do. Defaults, and values that ask for none of it, are true of every rule.
#[test]
fn parameters_of_another_root_rule_are_rejected() {
    let problems = |json: &str| {
        let value: Value = serde_json::from_str(json).unwrap();
        let problems = read::<SelfPlayParams>("self_play", &value).err().map(|errors| errors.problems);
        problems.unwrap_or_default().into_iter().map(|problem| problem.path).collect::<Vec<_>>()
    };
    let gumbel = r#""search": {"root": {"rule": "gumbel"}}"#;
    let of_puct = r#""root_noise": {"alpha": 0.5}, "temperature": 0.5, "choice": {"by": "value"}"#;
    assert_eq!(problems(&format!("{{{of_puct}}}")), Vec::<String>::new());
    assert_eq!(problems(&format!("{{{of_puct}, {gumbel}}}")), ["root_noise", "temperature", "choice"]);
    let of_gumbel = r#""gumbel_noise": 0.5, "playout_cap": {"fast_gumbel_noise": 0.5}"#;
    assert_eq!(problems(&format!("{{{of_gumbel}, {gumbel}}}")), Vec::<String>::new());
    assert_eq!(problems(&format!("{{{of_gumbel}}}")), ["gumbel_noise", "playout_cap.fast_gumbel_noise"]);

    let none =
        r#""root_noise": null, "temperature": 0, "gumbel_noise": 0, "playout_cap": {"fast_gumbel_noise": 0}"#;
    let defaults =
        r#""root_noise": {}, "temperature": [[0, 1.0], [30, 0.0]], "gumbel_noise": 1, "choice": {}"#;
    for any in [none, defaults] {
        assert_eq!(problems(&format!("{{{any}}}")), Vec::<String>::new());
        assert_eq!(problems(&format!("{{{any}, {gumbel}}}")), Vec::<String>::new());
    }
    assert_eq!(problems(r#"{"root_noise": {"alpha": 0.5, "total": 10.83}}"#), ["root_noise.alpha"]);
}

#[test]
fn old_names_of_parameters_get_the_new_ones() {
    let renamed = [
        ("seats", "game_slots"),
        ("search.first_play", "fpu"),
        ("search.in_flight", "virtual_loss_mode"),
        ("search.leaves", "leaf_batch"),
        ("search.root.first_play", "fpu"),
        ("search.stop_by_gain", "kld_gain"),
        ("search.stop_when_settled", "smart_pruning"),
    ];
    let given = r#"{"seats": 1, "search": {"first_play": 1, "in_flight": 1, "leaves": 1,
        "root": {"first_play": 1}, "stop_by_gain": 1, "stop_when_settled": 1}}"#;
    let given: Value = serde_json::from_str(given).unwrap();
    let error = read::<SelfPlayParams>("self_play", &given).unwrap_err().to_string();
    for (old, new) in renamed {
        let expected = format!("\n  {old}: unknown parameter; it is called `{new}` now");
        assert!(error.contains(&expected), "{expected} in\n{error}");
    }
}

#[test]
fn the_reference_engine_plays_the_same_games() {
    let games = |engine, rule| {
        let root = RootParams { rule, ..RootParams::default() };
        let search = SearchParams { simulations: 12, engine, root, ..SearchParams::default() };
        let params = SelfPlayParams { games: 3, max_plies: 40, search: search.into(), ..params() };
        played(&params, 1, 7)[&0].games.clone()
    };
    for rule in [RootRule::Puct, RootRule::Gumbel] {
        assert_eq!(games(Engine::Fast, rule), games(Engine::Reference, rule));
    }
}
