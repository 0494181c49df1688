//! The table of iterations at the end of a script.

use dc0_core::params::Value;
use dc0_core::text_table::figure;

use super::handles::{Games, MatchResult, Network};

/// One iteration: its games, and what followed from them.
#[derive(Debug, Clone, Default, PartialEq)]
struct Row {
    iteration: u32,
    network: String,
    games: Option<i64>,
    draw_rate: Option<f64>,
    mean_plies: Option<f64>,
    loss: Option<f64>,
    candidate: Option<String>,
    matches: Vec<String>,
    generation: Option<u32>,
}

/// All iterations of a script so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    rows: Vec<Row>,
}

const HEADINGS: [&str; 9] =
    ["iteration", "played by", "games", "drawn", "plies", "trained", "loss", "score", "generation"];

fn number(summary: &Value, name: &str) -> Option<f64> {
    summary.member(name)?.as_f64()
}

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
            network: games.0.network.map_or_else(String::new, |network| format!("{network:04}")),
            games: number(summary, "games").map(|games| games as i64),
            draw_rate: number(summary, "draw_rate"),
            mean_plies: number(summary, "mean_plies"),
            ..Row::default()
        });
    }

    /// Adds a trained net to the latest iteration.
    pub fn trained(&mut self, network: &Network) {
        if let Some(row) = self.rows.last_mut() {
            row.candidate = Some(network.name());
            row.loss = number(&network.0.summary, "loss");
        }
    }

    /// Adds a match to the latest iteration.
    pub fn matched(&mut self, verdict: &MatchResult) {
        if let (Some(row), Some(score)) = (self.rows.last_mut(), number(&verdict.0.summary, "score")) {
            row.matches.push(format!("{score:.3} vs {}", verdict.0.second));
        }
    }

    /// Adds a promotion to the latest iteration.
    pub fn promoted(&mut self, generation: u32) {
        if let Some(row) = self.rows.last_mut() {
            row.generation = Some(generation);
        }
    }
}

/// The most matches of an iteration that its row shows.
const MATCHES: usize = 3;

impl Row {
    /// The scores of the matches; a league has too many for one line.
    fn scores(&self) -> Option<String> {
        let shown = self.matches.iter().take(MATCHES).cloned().collect::<Vec<_>>().join(", ");
        match self.matches.len() {
            0 => None,
            1..=MATCHES => Some(shown),
            all => Some(format!("{shown} and {} more", all - MATCHES)),
        }
    }

    fn cells(&self) -> [String; 9] {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            self.iteration.to_string(),
            self.network.clone(),
            or_dash(self.games.map(|games| games.to_string())),
            or_dash(self.draw_rate.map(|rate| format!("{:.1}%", 100.0 * rate))),
            or_dash(self.mean_plies.map(|plies| format!("{plies:.1}"))),
            or_dash(self.candidate.clone()),
            or_dash(self.loss.map(|loss| figure(loss, 3))),
            or_dash(self.scores()),
            or_dash(self.generation.map(|generation| generation.to_string())),
        ]
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<[String; 9]> =
            std::iter::once(HEADINGS.map(str::to_owned)).chain(self.rows.iter().map(Row::cells)).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
        for (number, line) in lines.iter().enumerate() {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            let end = if number + 1 < lines.len() { "\n" } else { "" };
            write!(f, "{}{end}", cells.collect::<Vec<_>>().join("  "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Table};

    #[test]
    fn a_league_fits_into_one_line() {
        let row = |matches: u32| {
            let matches = (0..matches).map(|number| format!("0.5 vs {number}")).collect();
            Row { matches, ..Row::default() }
        };
        let scores = [0, 3, 5].map(|matches| row(matches).scores());
        let three = "0.5 vs 0, 0.5 vs 1, 0.5 vs 2";
        assert_eq!(scores, [None, Some(three.to_owned()), Some(format!("{three} and 2 more"))]);
    }

    #[test]
    fn columns_fit_their_widest_cell_and_unknown_values_are_dashes() {
        let row = Row { iteration: 12, network: "0003".to_owned(), draw_rate: Some(0.5), ..Row::default() };
        let expected = "iteration  played by  games  drawn  plies  trained  loss  score  generation
       12       0003      -  50.0%      -        -     -      -           -";
        assert_eq!(Table { rows: vec![row] }.to_string(), expected);
    }
}
