//! All games between two players, as clusters of games that are not independent.

use std::collections::BTreeMap;

use super::PairResult;
use super::results::Tally;

/// Extra games of each player, spread over its opponents as its games are. So two players that met only each other have one.
const VIRTUAL_GAMES: f64 = 0.5;

/// What one player did with one colour in a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    pub(super) games: f64,
    pub(super) points: f64,
    pub(super) draws: f64,
}

/// Clusters with equal results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cluster {
    /// The first player's games with White.
    pub(super) white: Side,
    /// The first player's games with Black.
    pub(super) black: Side,
    /// How many clusters had this result.
    pub(super) count: f64,
}

/// All games of two players.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meeting {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) clusters: Vec<Cluster>,
    /// Number of virtual games.
    virtual_games: f64,
}

/// A meeting for every two players that met.
pub(super) fn meetings(results: &[PairResult]) -> Vec<Meeting> {
    let mut met: BTreeMap<(usize, usize), BTreeMap<(Tally, Tally), u32>> = BTreeMap::new();
    for result in results.iter().filter(|result| result.games() > 0 && result.first != result.second) {
        let result = if result.first < result.second { *result } else { result.mirrored() };
        let outcomes = met.entry((result.first, result.second)).or_default();
        *outcomes.entry((result.white, result.black)).or_default() += 1;
    }
    let cluster = |((white, black), count): ((Tally, Tally), u32)| Cluster {
        white: Side::of(white),
        black: Side::of(black),
        count: f64::from(count),
    };
    let mut games: BTreeMap<usize, f64> = BTreeMap::new();
    for ((first, second), outcomes) in &met {
        let played: u32 =
            outcomes.iter().map(|((white, black), count)| (white.games() + black.games()) * count).sum();
        for player in [first, second] {
            *games.entry(*player).or_default() += f64::from(played);
        }
    }
    let meeting = |((first, second), outcomes): (_, BTreeMap<_, _>)| {
        let clusters: Vec<Cluster> = outcomes.into_iter().map(cluster).collect();
        let played: f64 = clusters.iter().map(|c| c.count * (c.white.games + c.black.games)).sum();
        let virtual_games = VIRTUAL_GAMES * (played / games[&first] + played / games[&second]);
        Meeting { first, second, clusters, virtual_games }
    };
    met.into_iter().map(meeting).collect()
}

impl Meeting {
    /// The virtual games, which the likelihood sees as drawn: half of them are won and half are lost, each half with either colour. So
    /// they have the variance of decided games.
    pub(super) fn virtual_clusters(&self) -> [Cluster; 2] {
        [1.0, 0.0].map(|score| {
            let side = Side { games: 0.5, points: 0.5 * score, draws: 0.0 };
            Cluster { white: side, black: side, count: 0.5 * self.virtual_games }
        })
    }
}

impl Side {
    fn of(tally: Tally) -> Self {
        Self { games: f64::from(tally.games()), points: tally.points(), draws: f64::from(tally.draws) }
    }
}
