//! Searching stored games again.

use super::{hashed, params, played};
use crate::board::{Game, Position};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::event::Silent;
use crate::network::fake::Hashed;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::params::Schedule;
use crate::rng::Seed;
use crate::search::{RootParams, RootRule, SearchParams};
use crate::selfplay::{
    GameRow, MakeEvaluator, PlayoutCap, PositionRow, ReanalysisJob, ReanalysisParams, Reanalyzed,
    ReanalyzedPositions, SelfPlayError, SelfPlayParams, ShardResult,
};

fn again(shard: &ShardResult, params: &ReanalysisParams, make_evaluator: &MakeEvaluator<'_>) -> Reanalyzed {
    let job = ReanalysisJob { params, seed: Seed { run: 1, step: 9 }, make_evaluator, tables: None };
    let mut evaluator = job.evaluator().expect("a fake");
    job.shard(shard.games.clone(), shard.positions.clone(), &mut evaluator, &Silent)
        .expect("fakes do not fail")
}

fn other_net() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 2)))
}

#[test]
fn the_same_net_and_search_give_the_rows_of_self_play_without_noise() {
    for rule in [RootRule::Puct, RootRule::Gumbel] {
        let search = SearchParams {
            simulations: 12,
            root: RootParams { rule, ..RootParams::default() },
            ..SearchParams::default()
        };
        let noiseless = SelfPlayParams {
            search: search.clone().into(),
            root_noise: None,
            gumbel_noise: Schedule::constant(0.0),
            ..params()
        };
        for shard in played(&noiseless, 1, 1).values() {
            for game_slots in [2, 64] {
                let params =
                    ReanalysisParams { search: search.clone(), game_slots, ..ReanalysisParams::default() };
                let found = again(shard, &params, &hashed);
                assert_eq!((&found.shard.games, &found.shard.positions), (&shard.games, &shard.positions));
                assert_eq!(found.searched as usize, shard.positions.len());
                let (stats, before) = (&found.shard.stats, &shard.stats);
                assert_eq!((stats.positions, stats.evaluations), (before.positions, before.evaluations));
                // The fake has no cache, so each round of the games that are searched at once is a batch.
                assert!(stats.batches > 0 && stats.evaluations <= stats.batches * u64::from(game_slots));
            }
        }
    }
}

#[test]
fn a_cache_changes_no_target_and_what_it_answers_is_no_batch() {
    let shard = &played(&params(), 1, 1)[&0];
    let search = SearchParams { simulations: 12, ..SearchParams::default() };
    let uncached = ReanalysisParams { search, ..ReanalysisParams::default() };
    let without = again(shard, &uncached, &other_net).shard;
    // Each game twice. One after another, so that a batch is a row.
    let mut twice = shard.clone();
    twice.games.extend(shard.games.iter().map(|row| GameRow { game: row.game + 1000, ..row.clone() }));
    let again_rows = shard.positions.iter().map(|row| PositionRow { game: row.game + 1000, ..row.clone() });
    twice.positions.extend(again_rows);
    let cached = ReanalysisParams { cache: 100_000, game_slots: 1, ..uncached };
    let ShardResult { positions, stats, .. } = again(&twice, &cached, &other_net).shard;
    assert_eq!(positions[..shard.positions.len()], without.positions);
    assert_eq!(stats.evaluations, 2 * without.stats.evaluations);
    assert!(stats.cache_hits >= without.stats.evaluations, "{stats:?}");
    assert_eq!(stats.batches, stats.evaluations - stats.cache_hits);
}

#[test]
fn one_simulation_gives_the_answers_of_the_net() {
    let cap = PlayoutCap { fast_share: 0.5, fast_simulations: 4, ..PlayoutCap::default() };
    let shard = &played(&SelfPlayParams { playout_cap: Some(cap), ..params() }, 1, 1)[&0];
    let search = SearchParams { simulations: 1, ..SearchParams::default() };
    let params =
        ReanalysisParams { search, positions: ReanalyzedPositions::All, ..ReanalysisParams::default() };
    let found = again(shard, &params, &other_net);
    assert_eq!(found.searched as usize, shard.positions.len());
    assert!(shard.positions.iter().any(|row| !row.full));
    let mut net = other_net().expect("a fake");
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    for row in &found.shard.positions {
        assert!(row.full);
        assert_eq!((row.simulations, row.visits.iter().sum::<u32>()), (1, 0));
        let position = Position::from_fen(&row.fen).expect("stored");
        batch.clear();
        batch.push(net.encoding(), &Game::from_position(position.clone()));
        net.evaluate(&batch, &mut answers).expect("fakes do not fail");
        let (value, draw) = (answers.wdl[0].value(), answers.wdl[0].draw);
        assert_eq!((row.root_q, row.root_d, row.net_q, row.net_d), (value, draw, value, draw));
        for (mv, share) in position.legal_moves().iter().zip(&answers.policy) {
            let stored = row.moves.binary_search(&mv.packed()).map_or(0, |slot| row.target[slot]);
            assert!((f64::from(stored) / 65535.0 - f64::from(*share)).abs() < 1e-5, "{mv}");
        }
    }
}

#[test]
fn only_chosen_positions_with_a_policy_target_change() {
    let cap = PlayoutCap { fast_share: 0.5, fast_simulations: 4, ..PlayoutCap::default() };
    let shard = &played(&SelfPlayParams { playout_cap: Some(cap), ..params() }, 1, 1)[&0];
    let full = shard.positions.iter().filter(|row| row.full).count();
    let search = SearchParams { simulations: 8, ..SearchParams::default() };
    for share in [0.0, 0.5, 1.0] {
        let params = ReanalysisParams { search: search.clone(), share, ..ReanalysisParams::default() };
        let found = again(shard, &params, &other_net);
        assert_eq!(found.shard.games, shard.games);
        let mut changed = 0;
        for (before, after) in shard.positions.iter().zip(&found.shard.positions) {
            let played = |row: &PositionRow| (row.game, row.ply, row.fen.clone(), row.played, row.result);
            assert_eq!(played(before), played(after));
            assert!(before == after || (before.full && after.full && after.simulations <= 8));
            changed += u64::from(before != after);
        }
        assert_eq!(found.searched, changed, "another net gives other targets");
        let expected = share * full as f64;
        assert!((changed as f64 - expected).abs() <= 3.0 * (full as f64 * share * (1.0 - share)).sqrt());
    }
}

#[test]
fn positions_without_their_game_are_an_error() {
    let shard = &played(&params(), 1, 1)[&0];
    let params = ReanalysisParams::default();
    let job = ReanalysisJob {
        params: &params,
        seed: Seed { run: 1, step: 9 },
        make_evaluator: &hashed,
        tables: None,
    };
    for missing in 0..shard.games.len() {
        let mut games = shard.games.clone();
        let game = games.remove(missing).game;
        let found = job.shard(games, shard.positions.clone(), &mut hashed().expect("a fake"), &Silent);
        assert!(matches!(found, Err(SelfPlayError::Stray { game: stray, .. }) if stray == game), "{found:?}");
    }
}
