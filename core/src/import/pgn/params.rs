//! What is taken of the games of PGN files.

use crate::board::{Fault, PgnTags, ScoreView};
use crate::{param_enum, params};

param_enum! {
    /// How evaluations in comments become values.
    pub enum EvalFormula {
        /// Lichess's winning chances, fitted to games of players: P(win) − P(loss) = 2 / (1 + exp(−0.00368208 · centipawns)) − 1
        /// (lichess.org/page/accuracy). A mate is a sure win.
        Lichess = "lichess",
        /// Not at all: values are the games' results.
        Ignore = "ignore",
    }
}

params! {
    /// An import of games from PGN files. Without options every game of standard chess that has a result is taken.
    pub struct PgnParams {
        /// The least rating that both players have by `WhiteElo` and `BlackElo`; leaves out games without ratings. () for any.
        min_elo: Option<u32> = None, in 0..=10_000;
        /// The largest rating that both players have; leaves out games without ratings. () for any.
        max_elo: Option<u32> = None, in 0..=10_000;
        /// The least time for a player's first 40 moves by `TimeControl`, in seconds: base and 40 increments, as Lichess sorts its
        /// games (bullet below 180, blitz below 480). Leaves out games whose control is not known. () for any.
        min_time: Option<u32> = None, in 0..=1_000_000;
        /// Leaves out games whose `Termination` says that a player ran out of time, left or broke the rules.
        normal_only: bool = false;
        /// The least plies of a game; 1 leaves out those without moves.
        min_plies: u32 = 1, in 0..=10_000;
        /// Plies at the start of each game that are not trained on, as they come from books. They have no row in `positions`.
        skip_plies: u32 = 0, in 0..=10_000;
        /// The most games that are taken, the first ones; () for all.
        max_games: Option<u32> = None, in 1..=4_000_000_000i64;
        /// Whether moves are policy targets; if not, only results are trained.
        policy_targets: bool = true;
        /// How evaluations in comments (`[%eval 0.25]`, `+0.25/12`) become `root_q` and `root_d`. Without one they are the game's result.
        evals: EvalFormula = EvalFormula::Lichess;
        /// Whose the scores are that comments begin with (`+0.25/12`): of the player that moved, as cutechess, fastchess and dc0 write
        /// them, or White's. `[%eval …]` is always White's, and a score in a game that dc0 wrote always the mover's.
        scores: ScoreView = ScoreView::Mover;
        /// P(draw) of a position whose evaluation is level. With the formula's P(win) − P(loss) it fixes win, draw and loss, by the
        /// model of Davidson 1970 (On extending the Bradley-Terry model to accommodate ties).
        level_draws: f64 = 0.3, in 0.0..=0.99;
        /// Games in a shard, the unit that is stored and resumed; about 30 kB of memory each. It has fewer where most games are left out.
        shard_games: u32 = 4096, in 1..=1_000_000;
    }
    check |params| {
        let mut problems = Vec::new();
        if let (Some(min), Some(max)) = (params.min_elo, params.max_elo)
            && min > max
        {
            problems.push(("max_elo", format!("must not be below min_elo = {min}, got {max}")));
        }
        problems
    };
}

impl PgnParams {
    /// The option that leaves out a game with these tags, if any does.
    pub(super) fn excludes(&self, tags: &PgnTags) -> Option<&'static str> {
        let elos = ["WhiteElo", "BlackElo"].map(|name| elo(tags.get(name)));
        let all = |fits: &dyn Fn(u32) -> bool| elos.iter().all(|elo| elo.is_some_and(fits));
        if self.min_elo.is_some_and(|least| !all(&|elo| elo >= least)) {
            return Some("min_elo");
        }
        if self.max_elo.is_some_and(|most| !all(&|elo| elo <= most)) {
            return Some("max_elo");
        }
        let time = || time_of(tags.get("TimeControl"));
        if self.min_time.is_some_and(|least| time().is_none_or(|time| time < f64::from(least))) {
            return Some("min_time");
        }
        (self.normal_only && fault_of(tags.get("Termination")).is_some()).then_some("normal_only")
    }
}

/// The fault that ended a game by the tag `Termination`, if it names one: in the standard's words (Edwards 1994, section 9.8.1), or
/// as Lichess, chess.com and cutechess write them.
pub(super) fn fault_of(termination: &str) -> Option<Fault> {
    const FAULTS: [(&str, Fault); 14] = [
        ("time forfeit", Fault::Time),
        ("on time", Fault::Time),
        ("timeout", Fault::Time),
        ("rules infraction", Fault::IllegalMove),
        ("illegal move", Fault::IllegalMove),
        ("abandon", Fault::Stall),
        ("abandoned", Fault::Stall),
        ("abandonment", Fault::Stall),
        ("stalled", Fault::Stall),
        ("disconnect", Fault::Stall),
        ("disconnects", Fault::Stall),
        ("disconnected", Fault::Stall),
        ("disconnection", Fault::Stall),
        ("unterminated", Fault::Stall),
    ];
    // Whole words, as the names of players are in such texts, too; those may have `-` and `_`.
    let is_between = |letter: char| !letter.is_alphanumeric() && !"-_".contains(letter);
    let text = termination.to_ascii_lowercase();
    let words: Vec<&str> = text.split(is_between).filter(|word| !word.is_empty()).collect();
    let words = format!(" {} ", words.join(" "));
    FAULTS.into_iter().find(|(phrase, _)| words.contains(&format!(" {phrase} "))).map(|(_, fault)| fault)
}

/// A rating; `None` if it is not known.
pub(super) fn elo(text: &str) -> Option<u32> {
    text.parse().ok().filter(|elo| (1..=10_000).contains(elo))
}

/// Seconds for the first 40 moves by the tag `TimeControl` (Edwards 1994, section 9.6.1); `None` if it is not known.
fn time_of(control: &str) -> Option<f64> {
    if control == "-" {
        return Some(f64::INFINITY);
    }
    let first = control.split(':').next()?;
    let (first, moves) = match first.split_once('/') {
        Some((moves, rest)) => (rest, moves.parse::<f64>().ok()?),
        None => (first, 40.0),
    };
    let (base, increment) = first.split_once('+').unwrap_or((first, "0"));
    let base = base.trim_start_matches('*').parse::<f64>().ok()?;
    let periods = if moves > 0.0 { (40.0 / moves).max(1.0) } else { 1.0 };
    Some(base * periods + 40.0 * increment.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{elo, fault_of, time_of};
    use crate::board::Fault;

    #[test]
    fn time_controls_are_sorted_as_lichess_does() {
        for (control, seconds) in [
            ("60+0", Some(60.0)),
            ("180+2", Some(260.0)),
            ("600", Some(600.0)),
            ("40/7200:3600", Some(7200.0)),
            ("1/86400", Some(40.0 * 86400.0)),
            ("*30", Some(30.0)),
            ("?", None),
            ("", None),
            ("bullet", None),
        ] {
            assert_eq!(time_of(control), seconds, "{control}");
        }
        assert_eq!(time_of("-"), Some(f64::INFINITY));
    }

    #[test]
    fn faults_are_named_by_whole_words() {
        for (termination, fault) in [
            ("Normal", None),
            ("Time forfeit", Some(Fault::Time)),
            ("ann won on time", Some(Fault::Time)),
            ("Game drawn by timeout vs insufficient material", Some(Fault::Time)),
            ("ann won - game abandoned", Some(Fault::Stall)),
            ("Bob forfeits by disconnection.", Some(Fault::Stall)),
            ("rules infraction", Some(Fault::IllegalMove)),
            ("abandonedship won by checkmate", None),
            ("on-time won by resignation", None),
            ("simon timer won by resignation", None),
        ] {
            assert_eq!(fault_of(termination), fault, "{termination}");
        }
    }

    #[test]
    fn ratings_that_are_not_known_are_none() {
        assert_eq!(
            ["2100", "0", "", "?", "-", "unrated", "99999"].map(elo),
            [Some(2100), None, None, None, None, None, None]
        );
    }
}
