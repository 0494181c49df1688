//! Names of games on the command line.

use std::str::FromStr;

use thiserror::Error;

use dc0_runs::{Series, Slot};

/// A game of self-play or of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameName {
    /// Its iteration or match.
    pub slot: Slot,
    /// Its number within the iteration or match.
    pub game: u32,
}

/// A malformed name of a game.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected ITERATION:GAME such as 3:17, or match:MATCH:GAME such as match:2:5, got \"{given}\"")]
pub struct GameNameError {
    given: String,
}

impl FromStr for GameName {
    type Err = GameNameError;

    fn from_str(given: &str) -> Result<Self, GameNameError> {
        let (series, rest) = match given.strip_prefix("match:") {
            Some(rest) => (Series::Matches, rest),
            None => (Series::Iterations, given),
        };
        let numbers = rest.split_once(':').and_then(|(step, game)| {
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            (is_number(step) && is_number(game)).then_some((step.parse().ok()?, game.parse().ok()?))
        });
        let (number, game) = numbers.ok_or_else(|| GameNameError { given: given.to_owned() })?;
        Ok(Self { slot: Slot { series, number }, game })
    }
}

#[cfg(test)]
mod tests {
    use super::{GameName, Series, Slot};

    #[test]
    fn games_of_iterations_and_matches_have_names() {
        let name = |series, number, game| Ok(GameName { slot: Slot { series, number }, game });
        assert_eq!("3:17".parse(), name(Series::Iterations, 3, 17));
        assert_eq!("match:0002:5".parse(), name(Series::Matches, 2, 5));
        for wrong in ["", "3", "3:", ":3", "3:x", "-1:2", "+1:2", "match:3", "match:1:2:3", "99999999999:1"] {
            let error = wrong.parse::<GameName>().expect_err(wrong).to_string();
            assert!(error.ends_with(&format!("got \"{wrong}\"")), "{error}");
        }
    }
}
