//! The leaderboard of a sweep: its trials, the best first.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result as Written};

use dc0_core::params::Value;
use dc0_core::text_table::{Align, aligned};
use dc0_process::format::counted;

use super::events::{Measured, Spent, Spread};
use super::importance::importances;
use super::observation::{Direction, TrialState};
use super::params::SweepParams;
use super::space::{Point, label};
use super::trials::{Trial, Trials};

/// The summary of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number.
    pub trial: u32,
    /// Its state.
    pub state: TrialState,
    /// Its point.
    pub point: Point,
    /// Its value; the last report if the trial ended early.
    pub result: Option<Measured>,
    /// Replicates that have a value.
    pub replicates: u32,
    /// The progress at the last report.
    pub at: Option<u32>,
    /// The cost of all its replicates.
    pub spent: Spent,
    /// Why it failed.
    pub because: Option<String>,
}

/// All trials, the best first: complete ones by value, then the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// The sweep's name.
    pub name: String,
    /// The name of the values.
    pub objective: String,
    /// Whether larger or smaller values are better.
    pub direction: Direction,
    /// One row per trial.
    pub rows: Vec<Row>,
    /// The importance of each parameter, the largest first; empty while too few trials are complete.
    pub importances: Vec<(String, f64)>,
}

impl Board {
    /// Builds the leaderboard of all trials.
    pub fn new(params: &SweepParams, trials: &Trials) -> Self {
        let results: Vec<Vec<Measured>> = trials.iter().map(|(_, trial)| trial.results()).collect();
        let spread = Spread::pooled(results.iter().map(Vec::as_slice));
        let row = |(number, trial): (u32, &Trial)| Row::new(params, number, trial, spread);
        let mut rows: Vec<Row> = trials.iter().map(row).collect();
        let direction = params.direction;
        rows.sort_by(|a, b| a.compared(b, direction));
        let complete = rows.iter().filter(|row| row.state == TrialState::Complete);
        let valued: Vec<(&Point, f64)> =
            complete.filter_map(|row| Some((&row.point, row.result?.value))).collect();
        let importances = importances(&params.space, direction, &valued);
        let (name, objective) = (params.name.clone(), params.objective.clone());
        Self { name, objective, direction, rows, importances }
    }

    /// The best complete trial.
    pub fn best(&self) -> Option<&Row> {
        self.rows.first().filter(|row| row.state == TrialState::Complete)
    }

    /// The number of trials in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.rows.iter().filter(|row| row.state == state).count()
    }

    /// The rows in the order of trial numbers.
    pub fn by_number(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.trial);
        rows
    }

    /// One line about a trial that has just ended or paused; `is_ranked` says whether it is compared with the others.
    pub fn line(&self, trial: u32, is_ranked: bool) -> Option<String> {
        let row = self.rows.iter().find(|row| row.trial == trial)?;
        let result =
            row.result.map_or_else(String::new, |result| format!(", {} {}", self.objective, shown(result)));
        let standing = match self.best().filter(|_| is_ranked) {
            Some(best) if best.trial == trial => ", the best so far".to_owned(),
            Some(best) => {
                let value = best.result.map_or_else(String::new, shown);
                format!("; best is {:04} with {value}", best.trial)
            }
            None => String::new(),
        };
        let because = row.because.as_deref().map(|cause| format!(": {cause}")).unwrap_or_default();
        let (label, state) = (label(&row.point), row.state.name());
        Some(format!("trial {trial:04}  {label}  {state}{result}{standing}{because}"))
    }

    /// The best point as a map for scripts.
    pub fn snippet(&self) -> Option<String> {
        let members = |row: &Row| {
            row.point.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
        };
        self.best().map(|row| format!("#{{ {} }}", members(row)))
    }
}

impl Row {
    fn new(params: &SweepParams, number: u32, trial: &Trial, spread: Option<Spread>) -> Self {
        let results = trial.results();
        Self {
            trial: number,
            state: trial.state(&params.space, params.replicates),
            point: trial.point.clone(),
            result: Measured::mean(&results, spread),
            replicates: results.len() as u32,
            at: trial.reports().last().map(|report| report.at),
            spent: trial.spent(),
            because: trial.because().map(ToOwned::to_owned),
        }
    }

    fn compared(&self, other: &Self, direction: Direction) -> Ordering {
        let value = |row: &Self| row.result.map_or(f64::NEG_INFINITY, |result| direction.gain(result.value));
        let by_value = || value(other).total_cmp(&value(self));
        rank(self.state).cmp(&rank(other.state)).then_with(by_value).then(self.trial.cmp(&other.trial))
    }

    /// The row as scripts see it.
    pub fn to_value(&self) -> Value {
        let number = |number: Option<f64>| number.map_or(Value::None, Value::Float);
        let fields = [
            ("trial", Value::Int(self.trial.into())),
            ("state", Value::Text(self.state.name().to_owned())),
            ("params", Value::Group(self.point.clone())),
            ("value", number(self.result.map(|result| result.value))),
            ("low", number(self.result.map(|result| result.low))),
            ("high", number(self.result.map(|result| result.high))),
            ("replicates", Value::Int(self.replicates.into())),
        ];
        Value::Group(
            fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<BTreeMap<_, _>>(),
        )
    }
}

/// The order of states in the table, complete trials first.
fn rank(state: TrialState) -> u32 {
    match state {
        TrialState::Complete => 0,
        TrialState::Paused => 1,
        TrialState::Pruned => 2,
        TrialState::Running | TrialState::Killed => 3,
        TrialState::Failed => 4,
        TrialState::Stale => 5,
    }
}

/// A value with its interval, if it has one.
fn shown(measured: Measured) -> String {
    let Measured { value, low, high } = measured;
    if low < high { format!("{value:.4} [{low:.4}, {high:.4}]") } else { format!("{value:.4}") }
}

/// The most trials that the table shows.
const SHOWN: usize = 20;

impl Display for Board {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        let usual = [TrialState::Complete, TrialState::Pruned, TrialState::Failed].map(|state| (state, true));
        let rare = [TrialState::Paused, TrialState::Killed, TrialState::Stale].map(|state| (state, false));
        let counts = usual.into_iter().chain(rare).map(|(state, always)| (state, self.count(state), always));
        let counts: Vec<String> = counts
            .filter(|(_, count, always)| *always || *count > 0)
            .map(|(state, count, _)| format!("{count} {}", state.name()))
            .collect();
        writeln!(
            f,
            "sweep {}: {}, {}; {} {}",
            self.name,
            counted(self.rows.len(), "trial"),
            counts.join(", "),
            if self.direction == Direction::Maximize { "maximizing" } else { "minimizing" },
            self.objective,
        )?;
        let cells = |row: &Row| {
            let result = row.result.map_or_else(|| "-".to_owned(), shown);
            [format!("{:04}", row.trial), row.state.name().to_owned(), result, label(&row.point)]
        };
        let head = ["trial", "state", self.objective.as_str(), "parameters"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head).chain(self.rows.iter().take(SHOWN).map(cells)).collect();
        for line in aligned(&rows, |_| Align::Left) {
            writeln!(f, "{line}")?;
        }
        if self.rows.len() > SHOWN {
            writeln!(f, "and {} more", self.rows.len() - SHOWN)?;
        }
        if !self.importances.is_empty() {
            let share = |(name, share): &(String, f64)| format!("{name} {:.0}%", 100.0 * share);
            writeln!(f, "importance: {}", self.importances.iter().map(share).collect::<Vec<_>>().join(", "))?;
        }
        match self.snippet() {
            Some(snippet) => write!(f, "best: {snippet}"),
            None => write!(f, "no trial is complete"),
        }
    }
}
