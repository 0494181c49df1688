//! Players by name, with their results and joint ratings.

use std::collections::BTreeMap;

use thiserror::Error;

use super::pairing::MayMeet;
use super::results::{PairResult, Tally};
use super::{Estimate, Rating, Ratings, fit};

/// A player of a rating.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Its name.
    pub player: String,
    /// All its games.
    pub tally: Tally,
    /// Its rating; `None` if no chain of games connects it to the rated players.
    pub rating: Option<Rating>,
    /// Whether its rating is a given one.
    pub is_anchor: bool,
}

/// A joint rating of named players.
#[derive(Debug, Clone)]
pub struct Standings {
    /// In the order in which they were given.
    pub players: Vec<Standing>,
    /// White's advantage in Elo; `None` before the first game.
    pub white_advantage: Option<Estimate>,
    /// How often equal players draw, in (0, 1), White's advantage apart; `None` before the first game.
    pub draw_rate: Option<Estimate>,
    /// The players that chains of games connect, by name; the rated ones first. There is one group if all can be compared.
    pub groups: Vec<Vec<String>>,
    ratings: Ratings,
}

/// Why players cannot be rated.
#[derive(Debug, Clone, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RatingError {
    #[error("the player {name} is listed twice: give each player a name of its own")]
    Twice { name: String },
    /// A result or an anchor is of nobody.
    #[error("{what} names the player {name}, which is not among the players: {}", .players.join(", "))]
    Unknown { what: &'static str, name: String, players: Vec<String> },
    #[error("the anchor {name} has the rating {elo}, expected Elo from −10000 to 10000")]
    Anchor { name: String, elo: f64 },
    #[error(
        "the players are {} groups that no game connects: {}. Ratings compare players of one group: play games between the groups, \
         or give an anchor in each",
        .groups.len(), .groups.iter().map(|group| group.join(", ")).collect::<Vec<_>>().join("; ")
    )]
    Disconnected { groups: Vec<Vec<String>> },
}

/// The largest rating of an anchor; beyond it, expected scores are 0 and 1.
const MOST_ELO: f64 = 10_000.0;

impl Standings {
    /// Rates players by their results. `anchors` keep their ratings, in Elo; without any, the mean of the rated players is 0.
    pub fn new(
        players: &[String],
        results: &[PairResult<String>],
        anchors: &BTreeMap<String, f64>,
    ) -> Result<Self, RatingError> {
        let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, player) in players.iter().enumerate() {
            if indices.insert(player, index).is_some() {
                return Err(RatingError::Twice { name: player.clone() });
            }
        }
        let index = |what: &'static str, name: &String| {
            let unknown = || RatingError::Unknown { what, name: name.clone(), players: players.to_vec() };
            indices.get(name.as_str()).copied().ok_or_else(unknown)
        };
        let mut known = BTreeMap::new();
        for (name, elo) in anchors {
            if !elo.is_finite() || elo.abs() > MOST_ELO {
                return Err(RatingError::Anchor { name: name.clone(), elo: *elo });
            }
            known.insert(index("an anchor", name)?, *elo);
        }
        let mut tallies = vec![Tally::default(); players.len()];
        let mut numbered = Vec::new();
        for result in results {
            let (first, second) = (index("a result", &result.first)?, index("a result", &result.second)?);
            tallies[first] = tallies[first] + result.tally();
            tallies[second] = tallies[second] + result.tally().mirrored();
            numbered.push(PairResult { first, second, white: result.white, black: result.black });
        }
        let ratings = fit(players.len(), &numbered, &known);
        let standing = |(index, player): (usize, &String)| Standing {
            player: player.clone(),
            tally: tallies[index],
            rating: ratings.players[index],
            is_anchor: known.contains_key(&index),
        };
        let named = |group: &Vec<usize>| group.iter().map(|index| players[*index].clone()).collect();
        Ok(Self {
            players: players.iter().enumerate().map(standing).collect(),
            white_advantage: ratings.white_advantage,
            draw_rate: ratings.draw_rate,
            groups: ratings.groups.iter().map(named).collect(),
            ratings,
        })
    }

    /// An error that names the groups if some players cannot be compared.
    pub fn connected(&self) -> Result<(), RatingError> {
        if self.groups.len() <= 1 {
            return Ok(());
        }
        Err(RatingError::Disconnected { groups: self.groups.clone() })
    }

    /// The width of the widest 95 % interval, in Elo; `None` while some player has no rating.
    pub fn widest(&self) -> Option<f64> {
        self.ratings.widest()
    }

    /// The two players whose next games teach most, by their indices; see [`Ratings::next_pair`].
    pub fn next_pair(&self, games: u32, may_meet: MayMeet<'_>) -> Option<[usize; 2]> {
        self.ratings.next_pair(games, may_meet)
    }
}
