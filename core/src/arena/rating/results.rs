//! Results of games, as a fit reads them.

/// Wins, draws and losses of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Tally {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

/// The games of two players from one opening, usually two with colours exchanged. Games of one result share what the opening does to
/// them; those of different results are independent.
///
/// `P` is how players are named: by their index for [`super::fit`], by a name for [`super::Standings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairResult<P = usize> {
    /// The first player.
    pub first: P,
    /// The second player.
    pub second: P,
    /// The first player's results with White.
    pub white: Tally,
    /// The first player's results with Black.
    pub black: Tally,
}

impl Tally {
    /// Number of games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Wins and half the draws.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + 0.5 * f64::from(self.draws)
    }

    /// Points per game, in [0, 1]; `None` without a game.
    pub fn score(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / f64::from(self.games()))
    }

    /// The same games, from the other side.
    pub fn mirrored(&self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    /// Counts one more game, by its points: 1, ½ or 0.
    pub fn count(&mut self, points: f64) {
        let result = match points {
            points if points > 0.75 => &mut self.wins,
            points if points < 0.25 => &mut self.losses,
            _ => &mut self.draws,
        };
        *result += 1;
    }
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), std::ops::Add::add)
    }
}

impl<P> PairResult<P> {
    /// Number of games.
    pub fn games(&self) -> u32 {
        self.white.games() + self.black.games()
    }

    /// All games of the first player.
    pub fn tally(&self) -> Tally {
        self.white + self.black
    }

    /// The same games, with the players exchanged.
    pub(super) fn mirrored(self) -> Self {
        let (white, black) = (self.black.mirrored(), self.white.mirrored());
        Self { first: self.second, second: self.first, white, black }
    }
}
