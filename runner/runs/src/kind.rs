//! The kinds of steps: their names, and what they store. What a kind does is in `dc0-steps`.

use super::slot::Series;

/// A kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepKind {
    /// Its name in manifests, tables and scripts.
    pub name: &'static str,
    /// What its steps store.
    pub content: StepContent,
}

/// What the files of a step hold, and so what must hold between its tables and its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepContent {
    /// A net, with the curves of its training.
    Network,
    /// Games that nets or alpha-beta have played.
    SelfPlay,
    /// Games from files of others.
    Imported(SourceFormat),
    /// Copies of games of other steps, with new targets.
    GameCopies,
    /// The games of a match.
    Match,
    /// Searched positions.
    Searches,
    /// Answers to puzzles.
    Puzzles,
    /// The predictions of a net for stored positions.
    Predictions,
}

/// The format of the files that games were imported from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// PGN.
    Pgn,
    /// Training data of Leela Chess Zero.
    Lc0,
}

impl StepKind {
    /// A net with random weights.
    pub const NETWORK: Self = Self { name: "network", content: StepContent::Network };
    /// A stored net.
    pub const LOAD_NETWORK: Self = Self { name: "load_network", content: StepContent::Network };
    /// A net enlarged.
    pub const GROW: Self = Self { name: "grow", content: StepContent::Network };
    /// A net trained on games.
    pub const TRAIN: Self = Self { name: "train", content: StepContent::Network };
    /// A net measured on games.
    pub const VALIDATE: Self = Self { name: "validate", content: StepContent::Predictions };
    /// Games of self-play.
    pub const SELF_PLAY: Self = Self { name: "self_play", content: StepContent::SelfPlay };
    /// Games from PGN files.
    pub const IMPORT_PGN: Self =
        Self { name: "import_pgn", content: StepContent::Imported(SourceFormat::Pgn) };
    /// Games from training data of Leela Chess Zero.
    pub const IMPORT_LC0: Self =
        Self { name: "import_lc0", content: StepContent::Imported(SourceFormat::Lc0) };
    /// Games whose positions are searched again.
    pub const REANALYZE: Self = Self { name: "reanalyze", content: StepContent::GameCopies };
    /// A match.
    pub const ARENA: Self = Self { name: "arena", content: StepContent::Match };
    /// Searches of positions.
    pub const SEARCH: Self = Self { name: "search", content: StepContent::Searches };
    /// Puzzles solved by a player.
    pub const PUZZLES: Self = Self { name: "puzzles", content: StepContent::Puzzles };

    /// All kinds.
    pub const ALL: &'static [Self] = &[
        Self::NETWORK,
        Self::LOAD_NETWORK,
        Self::GROW,
        Self::TRAIN,
        Self::VALIDATE,
        Self::SELF_PLAY,
        Self::IMPORT_PGN,
        Self::IMPORT_LC0,
        Self::REANALYZE,
        Self::ARENA,
        Self::SEARCH,
        Self::PUZZLES,
    ];

    /// The kind with this name; `None` if this program does not know it.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|kind| kind.name == name)
    }

    /// The series in which its results are numbered.
    pub fn series(&self) -> Series {
        self.content.series()
    }
}

impl StepContent {
    /// The series in which it is numbered.
    pub fn series(self) -> Series {
        match self {
            Self::Network => Series::Networks,
            Self::SelfPlay | Self::Imported(_) | Self::GameCopies => Series::Iterations,
            Self::Match => Series::Matches,
            Self::Searches => Series::Searches,
            Self::Puzzles => Series::Puzzles,
            Self::Predictions => Series::Validations,
        }
    }

    /// Whether it is games that no other step has.
    pub fn is_new_games(self) -> bool {
        match self {
            Self::SelfPlay | Self::Imported(_) | Self::Match => true,
            Self::GameCopies | Self::Network | Self::Searches | Self::Puzzles | Self::Predictions => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Series, StepKind};

    #[test]
    fn kinds_are_found_by_their_names() {
        for kind in StepKind::ALL {
            assert_eq!(StepKind::named(kind.name), Some(kind), "two kinds have the name {}", kind.name);
        }
        assert_eq!(StepKind::named("distill"), None);
    }

    #[test]
    fn every_series_has_a_kind() {
        let used: BTreeSet<&str> = StepKind::ALL.iter().map(|kind| kind.series().noun()).collect();
        let all: BTreeSet<&str> = Series::ALL.into_iter().map(Series::noun).collect();
        assert_eq!(used, all);
    }

    #[test]
    fn copies_of_games_are_not_new_games() {
        let new = StepKind::ALL.iter().filter(|kind| kind.content.is_new_games()).map(|kind| kind.name);
        assert_eq!(new.collect::<Vec<_>>(), ["self_play", "import_pgn", "import_lc0", "arena"]);
    }
}
