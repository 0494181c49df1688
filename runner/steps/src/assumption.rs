//! What a check assumes of results that are not known yet. A script may steer by them, so it is planned under each assumption.

/// An assumption about all results of the steps that are not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Matches end even, and losses stay where they are.
    Even,
    /// The first player of a match wins, and nets learn well.
    FirstWins,
    /// The first player of a match loses, and nets learn badly.
    FirstLoses,
}

impl Assumption {
    /// All of them, in the order of preference for a plan.
    pub const ALL: [Self; 3] = [Self::Even, Self::FirstWins, Self::FirstLoses];

    /// One of three values, in the order of [`ALL`](Self::ALL).
    pub fn pick<T>(self, [even, wins, loses]: [T; 3]) -> T {
        match self {
            Self::Even => even,
            Self::FirstWins => wins,
            Self::FirstLoses => loses,
        }
    }

    /// The name for programs.
    pub fn name(self) -> &'static str {
        self.pick(["even", "first wins", "first loses"])
    }

    /// The assumption in words.
    pub fn words(self) -> &'static str {
        self.pick([
            "matches end even",
            "the first player wins, losses fall",
            "the first player loses, losses rise",
        ])
    }

    /// Numbers of tables that are not known.
    pub(crate) fn table_number(self) -> i64 {
        self.pick([0, 1, 1_000_000])
    }

    /// The assumption in words, for a script that also reads tables.
    pub(crate) fn words_with_tables(self) -> String {
        format!("{}, tables hold {}", self.words(), self.table_number())
    }

    /// Everything that a plan under this assumption assumes, as the last line of its table.
    pub fn whole(self) -> &'static str {
        self.pick([
            "assumed: games of 150 plies (or max_plies), 30% of them drawn, every simulation evaluates, matches end even, a table has one row of zeros",
            "assumed: games of 150 plies (or max_plies), 10% of them drawn, every simulation evaluates, the first player wins 9 of 10 points of a match, losses fall to 0.05, every searched position is solved, a table has one row of ones",
            "assumed: games of 150 plies (or max_plies), 60% of them drawn, every simulation evaluates, the first player loses 9 of 10 points of a match, losses rise to 8, a table has one row of millions",
        ])
    }
}
