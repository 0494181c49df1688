//! Slots: the numbered places of steps' files, such as an iteration, a net or a match. If the script changes, another step may
//! take over a slot; the files there are then moved aside, not deleted.

/// A numbered series of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// `games/iteration=0003/…`, `positions/iteration=0003/…`; imports also have `headers` and `rejects`.
    Iterations,
    /// `networks/0003.…`, `training/0003.…`, `training_states/0003.…`.
    Networks,
    /// `matches/0003-….`.
    Matches,
    /// `searches/analysis=0003/…`, `trees/analysis=0003/…`.
    Searches,
    /// `puzzles/suite=0003/…`, `answers/suite=0003/…`.
    Puzzles,
    /// `predictions/validation=0003/…`.
    Validations,
}

/// One number of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The series.
    pub series: Series,
    /// The number, from 0.
    pub number: u32,
}

impl Series {
    /// All series.
    pub(super) const ALL: [Self; 6] =
        [Self::Iterations, Self::Networks, Self::Matches, Self::Searches, Self::Puzzles, Self::Validations];

    /// The folders that belong to the series.
    pub fn folders(self) -> &'static [&'static str] {
        match self {
            Self::Iterations => &["games", "positions", "headers", "rejects"],
            Self::Networks => &["networks", "training", "validation", "training_states"],
            Self::Matches => &["matches"],
            Self::Searches => &["searches", "trees"],
            Self::Puzzles => &["puzzles", "answers"],
            Self::Validations => &["predictions"],
        }
    }

    /// The noun for one of its slots.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Iterations => "iteration",
            Self::Networks => "network",
            Self::Matches => "match",
            Self::Searches => "analysis",
            Self::Puzzles => "suite",
            Self::Validations => "validation",
        }
    }

    /// The text before the number in file names.
    fn prefix(self) -> &'static str {
        match self {
            Self::Iterations => "iteration=",
            Self::Networks | Self::Matches => "",
            Self::Searches => "analysis=",
            Self::Puzzles => "suite=",
            Self::Validations => "validation=",
        }
    }
}

/// The next number of each series.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    iterations: u32,
    networks: u32,
    matches: u32,
    searches: u32,
    puzzles: u32,
    validations: u32,
}

impl Numbers {
    /// Takes the next slot of a series.
    pub fn next(&mut self, series: Series) -> Slot {
        let count = match series {
            Series::Iterations => &mut self.iterations,
            Series::Networks => &mut self.networks,
            Series::Matches => &mut self.matches,
            Series::Searches => &mut self.searches,
            Series::Puzzles => &mut self.puzzles,
            Series::Validations => &mut self.validations,
        };
        *count += 1;
        Slot { series, number: *count - 1 }
    }
}

impl Slot {
    /// The number as file names have it; it sorts as text up to 9999.
    pub fn label(self) -> String {
        format!("{:04}", self.number)
    }

    /// The name in messages: `iteration 0003`.
    pub fn name(self) -> String {
        format!("{} {}", self.series.noun(), self.label())
    }

    /// The path, relative to the run, of something in one of the series' folders; `rest` follows the number.
    pub fn path(self, folder: &str, rest: &str) -> String {
        debug_assert!(self.series.folders().contains(&folder), "{folder} belongs to another series");
        format!("{folder}/{}{}{rest}", self.series.prefix(), self.label())
    }

    /// Splits a path into its slot, its folder and what follows the number; `None` if it lies in no slot.
    pub fn parse(path: &str) -> Option<(Self, &str, &str)> {
        let (folder, name) = path.split_once('/')?;
        let series = Series::ALL.into_iter().find(|series| series.folders().contains(&folder))?;
        let name = name.strip_prefix(series.prefix())?;
        let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = name[..digits].parse().ok()?;
        Some((Self { series, number }, folder, &name[digits..]))
    }

    /// A path with the number 0 instead of its own, so that it is the same in every slot; paths outside all slots are unchanged.
    pub(super) fn without_number(path: &str) -> String {
        match Self::parse(path) {
            Some((slot, folder, rest)) => Self { number: 0, ..slot }.path(folder, rest),
            None => path.to_owned(),
        }
    }

    /// The same path in this slot; paths outside the series are unchanged.
    pub fn adopt(self, path: &str) -> String {
        match Self::parse(path) {
            Some((slot, folder, rest)) if slot.series == self.series => self.path(folder, rest),
            _ => path.to_owned(),
        }
    }

    /// Whether a path lies in this slot.
    pub fn holds(self, path: &str) -> bool {
        Self::parse(path).is_some_and(|(slot, _, _)| slot == self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Series, Slot};

    #[test]
    fn paths_are_assigned_to_slots_and_moved_between_them() {
        let third = Slot { series: Series::Iterations, number: 3 };
        let path = third.path("games", "/part-0a.parquet");
        assert_eq!(path, "games/iteration=0003/part-0a.parquet");
        assert!(third.holds(&path));
        let other = Slot { series: Series::Iterations, number: 12_345 };
        assert_eq!(other.adopt(&path), "games/iteration=12345/part-0a.parquet");
        assert!(other.holds(&other.adopt(&path)));
        assert_eq!(other.adopt("networks/0003.json"), "networks/0003.json");
        assert_eq!(Slot::parse("run.json"), None);
        assert_eq!(Slot::parse("networks/latest.json"), None);
    }
}
