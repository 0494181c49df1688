//! Windows: which games of a run or dataset a training takes.

use dc0_core::{param_enum, params};

use crate::handles::{Games, Made, Window};

params! {
    /// A window that grows with the run, but more slowly: with `N` positions so far it holds
    /// `first · (1 + slope · ((N / first)^exponent − 1) / exponent)` of them, or all up to `first` (Wu 2020, appendix C, whose values the
    /// defaults are).
    pub struct GrowingWindow {
        /// Positions up to which the window holds everything.
        first: u32 = 250_000, in 1..=1_000_000_000;
        /// How the window's growth falls behind the run's; 1 grows in proportion.
        exponent: f64 = 0.75, in 0.01..=1.0;
        /// How fast the window grows at `first`, in positions for each position played.
        slope: f64 = 0.4, in 0.0..=1.0;
    }
}

param_enum! {
    /// Whether copies of games, with targets of later searches, are in a window.
    pub enum CopiesInWindow {
        /// The window has games as they were played or imported.
        None = "none",
        /// Copies count like the games that they were made of, which they double.
        Also = "also",
        /// The window has copies alone.
        Only = "only",
    }
}

params! {
    /// Which games to train on: whole iterations, the latest ones. Iterations are games that were played or imported.
    pub struct WindowParams {
        /// Number of iterations; fewer if the run has fewer.
        iterations: u32 = 4, in 1..=1_000_000;
        /// Instead of `iterations`: as many as have at least this many games together.
        games: Option<u32> = None, in 1..=1_000_000_000;
        /// Instead of `iterations`: as many as have at least this many positions together.
        positions: Option<u32> = None, in 1..=1_000_000_000;
        /// Instead of `iterations`: as many as have at least the positions of a window that grows with the run.
        growing: Option<GrowingWindow> = None;
        /// The last iteration that counts, by its number, which must be one of those there; () for the latest.
        last: Option<u32> = None;
        /// Only iterations that this net played count, by its number; () for those of every net, and imported ones.
        network: Option<u32> = None;
        /// Whether the copies of games that `reanalyze` made count as iterations too.
        copies: CopiesInWindow = CopiesInWindow::None;
    }
    check |params| {
        let set = [params.games.is_some(), params.positions.is_some(), params.growing.is_some()];
        let is_ambiguous = set.iter().filter(|is_set| **is_set).count() > 1;
        let message = "give only one of games, positions and growing".to_owned();
        is_ambiguous.then_some(("games", message)).into_iter().collect()
    };
    unused |params| {
        let instead = [
            ("games", params.games.is_some()),
            ("positions", params.positions.is_some()),
            ("growing", params.growing.is_some()),
        ];
        let given = instead.into_iter().find(|(_, is_given)| *is_given);
        let message = |name| format!("has no effect beside {name}, which decides alone; leave one of them out");
        given.map(|(name, _)| ("iterations", message(name))).into_iter().collect()
    };
}

impl GrowingWindow {
    /// The positions of the window when the run has this many.
    fn positions(&self, played: f64) -> f64 {
        let first = f64::from(self.first);
        let growth = ((played / first).max(1.0).powf(self.exponent) - 1.0) / self.exponent;
        first * (1.0 + self.slope * growth)
    }
}

impl WindowParams {
    /// The window of a run or dataset that has these games, the oldest first. The error says why it would be empty.
    pub fn of<'a>(&self, all: impl Iterator<Item = &'a Games>) -> Result<Window, String> {
        let counts = |games: &&Games| {
            let is_early = self.last.is_none_or(|last| games.0.iteration <= last);
            let is_of_network = self.network.is_none_or(|network| games.network() == Some(network));
            let is_copy = matches!(games.0.made, Made::Copied(_));
            let is_of_kind = match self.copies {
                CopiesInWindow::None => !is_copy,
                CopiesInWindow::Also => true,
                CopiesInWindow::Only => is_copy,
            };
            is_early && is_of_network && is_of_kind
        };
        let all: Vec<&Games> = all.collect();
        let newest = all.iter().map(|games| games.0.iteration).max();
        if let Some((last, _)) = self.last.zip(newest).filter(|(last, newest)| last > newest) {
            return Err(format!("last: there is no iteration {last}; there are {}", listed(&all)));
        }
        let counted: Vec<&Games> = all.iter().copied().filter(counts).collect();
        if counted.is_empty() {
            return Err(format!("no iteration fits last, network and copies; there are {}", listed(&all)));
        }
        let figure = |games: &Games, name| games.0.summary.figure(name).unwrap_or(0.0);
        let latest_first = counted.iter().rev();
        let reach =
            self.reach(latest_first.map(|games| (figure(games, "games"), figure(games, "positions"))));
        Ok(counted[counted.len() - reach..].iter().copied().cloned().collect())
    }

    /// How many of the iterations the window has, the latest; `figures` gives each iteration's games and positions, the latest first,
    /// and is read as far as it matters.
    fn reach(&self, figures: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> usize {
        match (self.games, self.positions, &self.growing) {
            (Some(games), ..) => until(figures.map(|(games, _)| games), games.into()),
            (_, Some(most), _) => until(figures.map(|(_, positions)| positions), most.into()),
            (.., Some(growing)) => {
                let positions = figures.map(|(_, positions)| positions);
                let played = positions.clone().sum();
                until(positions, growing.positions(played))
            }
            _ => figures.len().min(self.iterations as usize),
        }
    }
}

/// The most iterations that an error lists.
const LISTED: usize = 8;

/// The latest iterations and who made them, for an error.
fn listed(all: &[&Games]) -> String {
    let text = |games: &&&Games| {
        let net = games.network().map_or_else(|| "an unknown net".to_owned(), |net| format!("net {net}"));
        let made = match games.0.made {
            Made::Imported => "imported".to_owned(),
            Made::Played(_) => format!("played by {net}"),
            Made::Copied(_) => format!("copied by {net}"),
        };
        format!("{} {made}", games.0.iteration)
    };
    let mut latest: Vec<String> = all.iter().rev().take(LISTED).map(|games| text(&games)).collect();
    latest.reverse();
    let before = if all.len() > LISTED { "…, " } else { "" };
    format!("{before}{}", latest.join(", "))
}

/// How many of these amounts together reach `needed`; all of them if they do not.
fn until(amounts: impl Iterator<Item = f64>, needed: f64) -> usize {
    let mut held = 0.0;
    let is_short = |amount: &f64| {
        let goes_on = held < needed;
        held += amount;
        goes_on
    };
    amounts.take_while(is_short).count()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dc0_core::params::Value;

    use super::{CopiesInWindow, GrowingWindow, WindowParams};
    use crate::handles::{Games, GamesFields, Made};

    /// Five iterations of 10 games and 1,000 positions.
    const FIGURES: [(f64, f64); 5] = [(10.0, 1000.0); 5];

    fn reach(params: &WindowParams) -> usize {
        params.reach(FIGURES.into_iter())
    }

    /// Games of 1,000 positions: imported, played by two nets, and copied.
    fn run() -> Vec<Games> {
        let games = |(iteration, made)| {
            let figures = [("games", Value::Int(10)), ("positions", Value::Int(1000))];
            let summary = Value::of(figures);
            Games(Arc::new(GamesFields {
                run: "run".into(),
                is_loaded: false,
                iteration,
                made,
                step: String::new(),
                files: Vec::new(),
                summary: summary.into(),
            }))
        };
        let played = |network| Made::Played(Some(network));
        let made = [Made::Imported, played(0), played(1), Made::Copied(Some(1)), played(1)];
        (0..).zip(made).map(games).collect()
    }

    /// The iterations of a window, by their numbers.
    fn of(params: &WindowParams) -> Result<Vec<u32>, String> {
        params.of(run().iter()).map(|window| window.games().map(|games| games.0.iteration).collect())
    }

    #[test]
    fn copies_are_in_a_window_only_if_it_asks_for_them() {
        let base = WindowParams::default;
        let growing = GrowingWindow { first: 1000, exponent: 0.5, slope: 0.5 };
        assert_eq!(of(&base()).unwrap(), [0, 1, 2, 4]);
        assert_eq!(of(&WindowParams { iterations: 2, ..base() }).unwrap(), [2, 4]);
        assert_eq!(of(&WindowParams { positions: Some(1500), ..base() }).unwrap(), [2, 4]);
        // 2,000 of 4,000 positions; copies would make it 2,236 of 5,000, and three iterations.
        assert_eq!(of(&WindowParams { growing: Some(growing), ..base() }).unwrap(), [2, 4]);
        let copies = |copies| WindowParams { copies, iterations: 3, ..base() };
        assert_eq!(of(&copies(CopiesInWindow::Also)).unwrap(), [2, 3, 4]);
        assert_eq!(of(&copies(CopiesInWindow::Only)).unwrap(), [3]);
    }

    #[test]
    fn a_window_can_end_early_and_be_of_one_net() {
        let base = WindowParams::default;
        assert_eq!(of(&WindowParams { last: Some(2), ..base() }).unwrap(), [0, 1, 2]);
        assert_eq!(of(&WindowParams { network: Some(1), ..base() }).unwrap(), [2, 4]);
        assert_eq!(of(&WindowParams { network: Some(1), last: Some(2), ..base() }).unwrap(), [2]);
        assert_eq!(of(&WindowParams { last: Some(4), iterations: 1, ..base() }).unwrap(), [4]);
        let problem = of(&WindowParams { last: Some(5), ..base() }).unwrap_err();
        assert!(problem.starts_with("last: there is no iteration 5; there are 0 imported, 1 "), "{problem}");
        let problem = of(&WindowParams { network: Some(7), ..base() }).unwrap_err();
        assert_eq!(
            problem,
            "no iteration fits last, network and copies; there are 0 imported, 1 played by net 0, 2 played by net 1, 3 copied by net 1, \
             4 played by net 1"
        );
    }

    #[test]
    fn games_of_a_net_whose_step_is_gone_are_not_called_imported() {
        let mut run = run();
        let unknown = GamesFields { iteration: 5, made: Made::Played(None), ..(*run[0].0).clone() };
        run.push(Games(Arc::new(unknown)));
        let problem = WindowParams { last: Some(9), ..WindowParams::default() }.of(run.iter()).unwrap_err();
        assert!(problem.ends_with(", 4 played by net 1, 5 played by an unknown net"), "{problem}");
    }

    #[test]
    fn a_window_reaches_back_until_it_has_enough() {
        let base = WindowParams::default;
        assert_eq!(reach(&base()), 4);
        assert_eq!(reach(&WindowParams { iterations: 9, ..base() }), 5);
        assert_eq!(reach(&WindowParams { games: Some(20), ..base() }), 2);
        assert_eq!(reach(&WindowParams { games: Some(21), ..base() }), 3);
        assert_eq!(reach(&WindowParams { positions: Some(1), ..base() }), 1);
        assert_eq!(reach(&WindowParams { positions: Some(9000), ..base() }), 5);
        assert_eq!(base().reach([].into_iter()), 0);
    }

    #[test]
    fn a_growing_window_is_that_of_the_paper() {
        let growing = GrowingWindow::default();
        // All positions up to 250,000; then with N = 4 million, 250,000 · (1 + 0.4 · (16^0.75 − 1) / 0.75).
        assert_eq!(growing.positions(1000.0), 250_000.0);
        assert_eq!(growing.positions(250_000.0), 250_000.0);
        assert!((growing.positions(4e6) - 250_000.0 * (1.0 + 0.4 * 7.0 / 0.75)).abs() < 1.0);
        let slow = GrowingWindow { first: 1000, exponent: 0.5, slope: 0.5 };
        // 1,000 · (1 + 0.5 · (√5 − 1) / 0.5) = 2,236 of 5,000.
        assert_eq!(reach(&WindowParams { growing: Some(slow), ..WindowParams::default() }), 3);
    }
}
