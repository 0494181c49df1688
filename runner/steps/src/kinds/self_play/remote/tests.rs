//! Forged shards of self-play.

use dc0_core::board::{Game, Move};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::event::Silent;
use dc0_core::network::Evaluator;
use dc0_core::network::fake::Uniform;
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{Openings, SelfPlayJob, SelfPlayParams, Shard, ShardResult, play_shard};
use dc0_core::store::Provenance;

use super::Expected;
use crate::executor::{Reply, ReplyTable};

const SHARD: Shard = Shard { index: 1, first_game: 2, games: 2 };
const SEED: Seed = Seed { run: 1, step: 2 };
const NET: &str = "0123456789abcdef";

fn params() -> SelfPlayParams {
    let search = SearchParams { simulations: 8, ..SearchParams::default() };
    SelfPlayParams {
        games: 4,
        shard_games: 2,
        max_plies: 20,
        opening_plies: 4,
        search: search.into(),
        ..SelfPlayParams::default()
    }
}

/// The shard, played with this seed.
fn played(seed: Seed) -> ShardResult {
    let params = params();
    let make_evaluator = || unreachable!("it is given");
    let job = SelfPlayJob::new(&params, seed, NET, &make_evaluator);
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut evaluators: [Box<dyn Evaluator>; 1] = [Box::new(Uniform::new(encoding))];
    play_shard(&job, SHARD, &mut evaluators, &Silent).expect("plays")
}

fn reply(found: &ShardResult) -> Reply {
    let none = Provenance::new();
    let games = ReplyTable::of(&found.games, &none).expect("sound rows");
    let positions = ReplyTable::of(&found.positions, &none).expect("sound rows");
    Reply { tables: vec![games, positions], figures: serde_json::to_value(&found.stats).expect("figures") }
}

fn read(reply: Reply) -> Result<ShardResult, String> {
    let (params, openings) = (params(), Openings::default());
    Expected { params: &params, seed: SEED, network: NET, openings: &openings }.read(SHARD, reply)
}

/// What is said of a shard that was changed.
fn fault(change: impl FnOnce(&mut ShardResult)) -> String {
    let mut found = played(SEED);
    change(&mut found);
    read(reply(&found)).expect_err("is forged")
}

#[test]
fn a_shard_as_it_was_played_is_accepted() {
    let found = played(SEED);
    assert_eq!(read(reply(&found)), Ok(found));
}

#[test]
fn forged_games_are_refused_with_the_reason() {
    let illegal = |found: &mut ShardResult| {
        let last = found.games[0].moves.len() - 1;
        found.games[0].moves[last] = Move::from_uci("a1h8").expect("a move").packed();
    };
    assert!(fault(illegal).contains("not legal"));
    let error = read(reply(&played(Seed { run: 1, step: 3 }))).expect_err("another seed");
    assert!(error.contains("its opening is not the one that the seed gives it"), "{error}");
    assert!(fault(|found| found.games[1].network = "other".to_owned()).contains("the net other played it"));
    assert!(fault(|found| found.games[1].game = 3 + 2).contains("its games are not those numbered 2..4"));
    assert!(fault(|found| found.positions[0].visits[0] += 1000).contains("`visits` sum to"));
    let halved = |found: &mut ShardResult| found.positions[1].target.iter_mut().for_each(|share| *share /= 2);
    assert!(fault(halved).contains("the shares of `target` sum to"));
    assert!(fault(|found| found.positions[0].fen = Game::initial().position().fen()).contains("`fen` is"));
    assert!(fault(|found| drop(found.positions.pop())).contains("positions are stored"));
    let stray = fault(|found| found.positions[0].game = 1);
    assert!(stray.contains("positions of game 1, which it does not have"), "{stray}");
}

#[test]
fn figures_must_be_those_of_the_rows() {
    assert!(fault(|found| found.stats.draws += 1).contains("its figures are"));
    assert!(fault(|found| found.stats.entropy_sum += 1.0).contains("its figures are"));
    assert!(fault(|found| found.stats.cache_hits = found.stats.evaluations + 1).contains("its figures are"));
    assert!(fault(|found| found.stats.resignations_tested = 99).contains("its figures are"));
}

#[test]
fn other_tables_are_refused() {
    let sound = reply(&played(SEED));
    let mut one = sound.clone();
    one.tables.pop();
    assert!(read(one).expect_err("one table").contains("its tables are"));
    let mut exchanged = sound.clone();
    exchanged.tables.swap(0, 1);
    assert!(read(exchanged).is_err());
    let mut noise = sound.clone();
    noise.tables[0].content = b"PAR1 and so on".to_vec();
    assert!(read(noise).is_err());
    let mut cut = sound;
    cut.tables[1].content.truncate(100);
    assert!(read(cut).is_err());
}
