//! Every kind of exploration changes the games of self-play, except where a rule turns it off.

use super::{params, played, search};
use crate::params::Schedule;
use crate::search::{RootNoise, RootParams, RootRule, SearchParams};
use crate::selfplay::{GameRow, PlayoutCap, PositionRow, SelfPlayParams};

/// Parameters without any exploration: every game is the same.
fn quiet() -> SelfPlayParams {
    SelfPlayParams {
        games: 4,
        shard_games: 4,
        root_noise: None,
        gumbel_noise: Schedule::constant(0.0),
        temperature: Schedule::constant(0.0),
        opening_plies: 0,
        max_plies: 40,
        ..params()
    }
}

fn rows(params: &SelfPlayParams) -> (Vec<GameRow>, Vec<PositionRow>) {
    let shard = &played(params, 1, 1)[&0];
    (shard.games.clone(), shard.positions.clone())
}

fn games(params: &SelfPlayParams) -> Vec<Vec<u16>> {
    rows(params).0.into_iter().map(|game| game.moves).collect()
}

/// Compares games without and with a kind of exploration that each game draws for itself.
#[track_caller]
fn check_varies(quiet: &SelfPlayParams, exploring: &SelfPlayParams) {
    let quiet = games(quiet);
    assert!(quiet.iter().all(|game| *game == quiet[0]), "without it all games are the same");
    let exploring = games(exploring);
    assert!(exploring.iter().any(|game| *game != exploring[0]), "each game draws its own");
    assert_ne!(quiet[0], exploring[0]);
}

fn with_root(root: RootParams) -> SelfPlayParams {
    SelfPlayParams { search: SearchParams { root, ..search() }.into(), ..quiet() }
}

#[test]
fn root_noise_changes_games() {
    check_varies(&quiet(), &SelfPlayParams { root_noise: Some(RootNoise::default()), ..quiet() });
}

#[test]
fn temperature_changes_games_at_its_plies_only() {
    check_varies(&quiet(), &SelfPlayParams { temperature: Schedule::constant(1.0), ..quiet() });
    let late = Schedule::from_points(vec![(0, 0.0), (19, 0.0), (20, 1.0)]).expect("rising");
    let (quiet, late) = (games(&quiet()), games(&SelfPlayParams { temperature: late, ..quiet() }));
    assert!(late.iter().all(|game| game[..20] == quiet[0][..20]), "the temperature is 0 at first");
    assert!(late.iter().any(|game| game[20..] != quiet[0][20..]), "then it is not");
}

#[test]
fn gumbel_noise_changes_games() {
    let quiet = with_root(RootParams { rule: RootRule::Gumbel, considered: 4, ..RootParams::default() });
    check_varies(&quiet, &SelfPlayParams { gumbel_noise: Schedule::constant(1.0), ..quiet.clone() });
}

/// The visits of the first searched position, which do not depend on later moves.
fn first_visits(params: &SelfPlayParams) -> Vec<u32> {
    rows(params).1[0].visits.clone()
}

#[test]
fn forced_playouts_change_the_visits_of_full_searches() {
    let forced = with_root(RootParams { forced_playouts: 20.0, ..RootParams::default() });
    assert_ne!(first_visits(&quiet()), first_visits(&forced));
}

#[test]
fn fast_searches_have_neither_noise_nor_forced_playouts() {
    let capped = |params| SelfPlayParams {
        playout_cap: Some(PlayoutCap { fast_share: 1.0, fast_simulations: 11, ..PlayoutCap::default() }),
        ..params
    };
    let forced = with_root(RootParams { forced_playouts: 20.0, ..RootParams::default() });
    let noisy = SelfPlayParams { root_noise: Some(RootNoise::default()), ..forced };
    let visits = |params| rows(&capped(params)).1.into_iter().map(|row| row.visits).collect::<Vec<_>>();
    assert_eq!(visits(quiet()), visits(noisy));
}

#[test]
fn fast_searches_have_their_own_share_of_the_gumbel_noise() {
    let root = with_root(RootParams { rule: RootRule::Gumbel, considered: 4, ..RootParams::default() });
    let full = |noise| games(&SelfPlayParams { gumbel_noise: Schedule::constant(noise), ..root.clone() });
    let fast = |share| {
        let fast_simulations = search().simulations;
        let cap = PlayoutCap { fast_share: 1.0, fast_simulations, fast_gumbel_noise: share };
        let noise = Schedule::constant(1.0);
        games(&SelfPlayParams { gumbel_noise: noise, playout_cap: Some(cap), ..root.clone() })
    };
    for share in [0.0, 0.5, 1.0] {
        assert_eq!(fast(share), full(share), "{share}");
    }
    assert_ne!(full(0.5), full(1.0));
}
