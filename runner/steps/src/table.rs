//! The table of iterations at the end of a script.

use dc0_core::text_table::{Align, aligned, figure};

use super::handles::{Games, MatchResult, Network};
use super::summary::cut_off;

/// One iteration: its games, and what followed from them.
#[derive(Debug, Clone, Default, PartialEq)]
struct Row {
    iteration: u32,
    player: String,
    games: Option<f64>,
    /// Games that are stored as draws.
    draws: Option<f64>,
    /// Those of them that the ply cap cut off.
    cut_off: f64,
    mean_plies: Option<f64>,
    trained: Vec<Trained>,
    matches: Vec<Match>,
    promoted: Vec<Promoted>,
}

#[derive(Debug, Clone, PartialEq)]
struct Trained {
    network: String,
    loss: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Match {
    first: String,
    second: String,
    score: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct Promoted {
    network: String,
    generation: u32,
}

/// All iterations of a script so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    rows: Vec<Row>,
}

const HEADINGS: [&str; 10] = [
    "iteration",
    "played by",
    "games",
    "drawn",
    "cut off",
    "plies",
    "trained",
    "loss",
    "score",
    "generation",
];

/// The column that is left out where no game was cut off.
const CUT_OFF: usize = 4;

impl Table {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds an iteration.
    pub fn played(&mut self, games: &Games) {
        let summary = &games.0.summary;
        self.rows.push(Row {
            iteration: games.0.iteration,
            player: games.network().map_or_else(String::new, |network| format!("{network:04}")),
            games: summary.figure("games"),
            draws: summary.figure("draws"),
            cut_off: cut_off(summary, "reasons"),
            mean_plies: summary.figure("mean_plies"),
            ..Row::default()
        });
    }

    /// Adds a trained net to the latest iteration.
    pub fn trained(&mut self, network: &Network) {
        if let Some(row) = self.rows.last_mut() {
            row.trained.push(Trained { network: network.name(), loss: network.0.summary.figure("loss") });
        }
    }

    /// Adds a match to the latest iteration.
    pub fn matched(&mut self, verdict: &MatchResult) {
        if let (Some(row), Some(score)) = (self.rows.last_mut(), verdict.0.summary.figure("score")) {
            let (first, second) = (verdict.0.first.clone(), verdict.0.second.clone());
            row.matches.push(Match { first, second, score });
        }
    }

    /// Adds a promotion to the latest iteration.
    pub fn promoted(&mut self, network: &Network, generation: u32) {
        if let Some(row) = self.rows.last_mut() {
            row.promoted.push(Promoted { network: network.name(), generation });
        }
    }
}

/// The most nets, matches and promotions of an iteration that its row shows; a league has too many for one line.
const SHOWN: usize = 3;

/// The first of some texts, and how many more there are.
fn listed<T>(all: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    let shown = all.iter().take(SHOWN).map(text).collect::<Vec<_>>().join(", ");
    match all.len() {
        0 => None,
        1..=SHOWN => Some(shown),
        all => Some(format!("{shown} and {} more", all - SHOWN)),
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

impl Row {
    /// The net whose scores and generations have no name: the trained one, or without a training the one that played; `None` where
    /// several were trained.
    fn network(&self) -> Option<&str> {
        match &*self.trained {
            [] => Some(&self.player),
            [trained] => Some(&trained.network),
            _ => None,
        }
    }

    fn score(&self, played: &Match) -> String {
        let Match { first, second, score } = played;
        let is_own = self.network().is_some_and(|network| network == first);
        let name = if is_own { String::new() } else { format!("{first}: ") };
        format!("{name}{score:.3} vs {second}")
    }

    fn generation(&self, promoted: &Promoted) -> String {
        let Promoted { network, generation } = promoted;
        let is_own = self.network().is_some_and(|own| own == network);
        if is_own { generation.to_string() } else { format!("{generation} ({network})") }
    }

    fn cells(&self) -> [String; HEADINGS.len()] {
        let share = |count: f64| self.games.map(|games| format!("{:.1}%", 100.0 * count / games));
        [
            self.iteration.to_string(),
            self.player.clone(),
            or_dash(self.games.map(|games| games.to_string())),
            or_dash(self.draws.and_then(|draws| share(draws - self.cut_off))),
            or_dash(share(self.cut_off)),
            or_dash(self.mean_plies.map(|plies| format!("{plies:.1}"))),
            or_dash(listed(&self.trained, |trained| trained.network.clone())),
            or_dash(listed(&self.trained, |trained| or_dash(trained.loss.map(|loss| figure(loss, 3))))),
            or_dash(listed(&self.matches, |played| self.score(played))),
            or_dash(listed(&self.promoted, |promoted| self.generation(promoted))),
        ]
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let any_cut_off = self.rows.iter().any(|row| row.cut_off > 0.0);
        let mut lines: Vec<Vec<String>> = vec![HEADINGS.map(str::to_owned).into()];
        lines.extend(self.rows.iter().map(|row| row.cells().into()));
        if !any_cut_off {
            for line in &mut lines {
                line.remove(CUT_OFF);
            }
        }
        f.write_str(&aligned(&lines, |_| Align::Right).join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Match, Promoted, Row, Table, Trained};

    fn played(first: &str, score: f64, second: &str) -> Match {
        Match { first: first.to_owned(), second: second.to_owned(), score }
    }

    fn trained(network: &str, loss: f64) -> Trained {
        Trained { network: network.to_owned(), loss: Some(loss) }
    }

    #[test]
    fn a_league_fits_into_one_line() {
        let cell = |matches: usize| {
            let rivals = ["0000", "0001", "0002", "greedy", "random"];
            let matches = rivals.iter().take(matches).map(|rival| played("0003", 0.5, rival)).collect();
            let row = Row { trained: vec![trained("0003", 1.0)], matches, ..Row::default() };
            row.cells()[8].clone()
        };
        let three = "0.500 vs 0000, 0.500 vs 0001, 0.500 vs 0002";
        assert_eq!([0, 3, 5].map(cell), ["-".to_owned(), three.to_owned(), format!("{three} and 2 more")]);
    }

    #[test]
    fn scores_of_others_than_the_net_of_the_row_have_a_name() {
        let scores = |trained: Vec<Trained>| {
            let matches = vec![
                played("0002", 0.25, "greedy"),
                played("greedy", 0.75, "0001"),
                played("0001", 0.5, "0000"),
            ];
            Row { player: "0001".to_owned(), trained, matches, ..Row::default() }.cells()[8].clone()
        };
        let of_second = "0.250 vs greedy, greedy: 0.750 vs 0001, 0001: 0.500 vs 0000";
        assert_eq!(scores(vec![trained("0002", 1.0)]), of_second);
        let of_player = "0002: 0.250 vs greedy, greedy: 0.750 vs 0001, 0.500 vs 0000";
        assert_eq!(scores(Vec::new()), of_player);
        assert_eq!(scores(vec![trained("0001", 1.0), trained("0002", 2.0)]), format!("0002: {of_second}"));
    }

    #[test]
    fn generations_of_others_than_the_net_of_the_row_have_a_name() {
        let generations = |trained: Vec<Trained>| {
            let promoted = |network: &str, generation| Promoted { network: network.to_owned(), generation };
            let promoted = vec![promoted("0001", 1), promoted("0002", 2)];
            Row { trained, promoted, ..Row::default() }.cells()[9].clone()
        };
        assert_eq!(generations(vec![trained("0002", 1.0)]), "1 (0001), 2");
        assert_eq!(generations(vec![trained("0001", 1.0), trained("0002", 1.0)]), "1 (0001), 2 (0002)");
    }

    #[test]
    fn every_training_of_an_iteration_is_listed() {
        let row = Row { trained: vec![trained("0001", 4.25), trained("0002", 4.5)], ..Row::default() };
        assert_eq!(row.cells()[6..8], ["0001, 0002", "4.250, 4.500"]);
    }

    #[test]
    fn games_that_were_cut_off_have_a_column_of_their_own() {
        let row = |iteration, cut_off| Row {
            iteration,
            player: "0000".to_owned(),
            games: Some(8.0),
            draws: Some(6.0),
            cut_off,
            ..Row::default()
        };
        let expected = "iteration  played by  games  drawn  cut off  plies  trained  loss  score  generation
        0       0000      8   0.0%    75.0%      -        -     -      -           -
        1       0000      8  75.0%     0.0%      -        -     -      -           -";
        assert_eq!(Table { rows: vec![row(0, 6.0), row(1, 0.0)] }.to_string(), expected);
    }

    #[test]
    fn columns_fit_their_widest_cell_and_unknown_values_are_dashes() {
        let row = Row { iteration: 12, player: "0003".to_owned(), ..Row::default() };
        let expected = "iteration  played by  games  drawn  plies  trained  loss  score  generation
       12       0003      -      -      -        -     -      -           -";
        assert_eq!(Table { rows: vec![row] }.to_string(), expected);
    }
}
