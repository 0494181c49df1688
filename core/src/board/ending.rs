//! How games of matches end: by the rules, by adjudication, or by a fault of a player.

use super::Reason;
use crate::param_enum;

param_enum! {
    /// Why a game was ended before the rules did.
    pub enum Adjudication {
        /// A player resigned.
        Resignation = "resignation",
        /// The players agreed that the game is level.
        AgreedDraw = "agreed_draw",
        /// Tablebases know the result.
        Tablebase = "tablebase",
    }
}

param_enum! {
    /// Why a player lost a game that was not over.
    pub enum Fault {
        /// Its move is not legal, or is none.
        IllegalMove = "illegal_move",
        /// It answered after its time.
        Time = "time",
        /// It ended, or could not be started.
        Crash = "crash",
        /// It did not answer.
        Stall = "stall",
        /// It resigned by itself.
        Resigned = "resigned",
    }
}

/// Why a game of a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The rules ended it, or its largest allowed length.
    Rules(Reason),
    /// It was ended before, by a criterion of the match.
    Adjudicated(Adjudication),
    /// The player to move lost by a fault.
    Forfeit(Fault),
}

impl Ending {
    /// The ending with this stored name.
    pub fn from_name(word: &str) -> Option<Self> {
        let adjudicated = || Adjudication::from_name(word).map(Self::Adjudicated);
        let forfeit = || Fault::from_name(word).map(Self::Forfeit);
        Reason::from_name(word).map(Self::Rules).or_else(adjudicated).or_else(forfeit)
    }

    /// The name that tables store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules(reason) => reason.name(),
            Self::Adjudicated(adjudication) => adjudication.name(),
            Self::Forfeit(fault) => fault.name(),
        }
    }

    /// Whether the game was cut off at its largest allowed length, so that nobody knows how it would have ended.
    pub fn is_cut_off(self) -> bool {
        self == Self::Rules(Reason::PlyCap)
    }

    /// Whether the rules of chess ended the game.
    pub fn is_played_out(self) -> bool {
        matches!(self, Self::Rules(_)) && !self.is_cut_off()
    }

    /// The value of PGN's tag `Termination` (Edwards 1994, section 9.8.1).
    pub fn termination(self) -> &'static str {
        match self {
            Self::Rules(Reason::PlyCap)
            | Self::Adjudicated(Adjudication::AgreedDraw | Adjudication::Tablebase) => "adjudication",
            Self::Rules(_)
            | Self::Adjudicated(Adjudication::Resignation)
            | Self::Forfeit(Fault::Resigned) => "normal",
            Self::Forfeit(Fault::IllegalMove) => "rules infraction",
            Self::Forfeit(Fault::Time) => "time forfeit",
            Self::Forfeit(Fault::Crash | Fault::Stall) => "abandoned",
        }
    }
}

impl From<Reason> for Ending {
    fn from(reason: Reason) -> Self {
        Self::Rules(reason)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Adjudication, Ending, Fault, Reason};

    #[test]
    fn names_are_unique_and_read_back() {
        let names = [Reason::NAMES, Adjudication::NAMES, Fault::NAMES].concat();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in names {
            assert_eq!(Ending::from_name(name).map(Ending::name), Some(name));
        }
        assert_eq!(Ending::from_name("boredom"), None);
    }

    #[test]
    fn games_are_played_out_cut_off_or_ended_otherwise() {
        let of = |ending: Ending| (ending.is_played_out(), ending.is_cut_off());
        for reason in Reason::NAMES.iter().filter_map(|name| Reason::from_name(name)) {
            let is_cap = reason == Reason::PlyCap;
            assert_eq!(of(reason.into()), (!is_cap, is_cap), "{reason:?}");
        }
        assert_eq!(of(Ending::Adjudicated(Adjudication::Resignation)), (false, false));
        assert_eq!(of(Ending::Forfeit(Fault::Time)), (false, false));
    }
}
