//! The leaderboard of a sweep: its trials, the best first.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result as Written};

use dc0_core::params::Value;
use dc0_core::text_table::{Align, aligned, figure};
use dc0_process::format::counted;

use super::events::{Measured, Spent, Spread};
use super::importance::importances;
use super::observation::{Direction, TrialState};
use super::params::SweepParams;
use super::pruner::PrunerKind;
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
    /// Of a complete trial but the best: its value less the best one's. Trials with the same replicates are compared replicate by replicate.
    pub difference: Option<Measured>,
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
    /// The importance of each parameter, the largest first; empty while too few trials are complete, and if the best are as all are.
    pub importances: Vec<(String, f64)>,
    /// What its reader may not expect, each a line: trials beyond the number requested, or a halving that none of them passes.
    pub remarks: Vec<String>,
}

impl Board {
    /// Builds the leaderboard of all trials.
    pub fn new(params: &SweepParams, trials: &Trials) -> Self {
        let is_stale = |trial: &Trial| trial.state(&params.space, params.replicates) == TrialState::Stale;
        let current = trials.iter().filter(|(_, trial)| !is_stale(trial));
        let results: Vec<Vec<Measured>> = current.map(|(_, trial)| trial.results()).collect();
        let spread = Spread::pooled(results.iter().map(Vec::as_slice));
        let row = |(number, trial): (u32, &Trial)| Row::new(params, number, trial, spread);
        let mut rows: Vec<Row> = trials.iter().map(row).collect();
        let direction = params.direction;
        rows.sort_by(|a, b| a.compared(b, direction));
        let compared = rows.iter().filter(|row| row.state == TrialState::Complete);
        let compared: Vec<&Trial> = compared.filter_map(|row| trials.get(row.trial)).collect();
        // Trials that differ equally in every replicate leave nothing, which is no proof that other seeds would.
        let blocked = blocked(&compared).filter(|spread| spread.deviation > 0.0);
        add_differences(&mut rows, trials, blocked.or(spread));
        let complete = rows.iter().filter(|row| row.state == TrialState::Complete);
        let valued: Vec<(&Point, f64)> =
            complete.filter_map(|row| Some((&row.point, row.result?.value))).collect();
        let importances = importances(&params.space, direction, &valued);
        let (name, objective) = (params.name.clone(), params.objective.clone());
        let remarks =
            [surplus(params, trials), standstill(params, trials, &rows), played_out(params, trials, &rows)];
        let remarks = remarks.into_iter().flatten().collect();
        Self { name, objective, direction, rows, importances, remarks }
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
        Self {
            trial: number,
            state: trial.state(&params.space, params.replicates),
            point: trial.point.clone(),
            result: trial.result(spread),
            difference: None,
            replicates: trial.valued() as u32,
            at: trial.reports().last_at(),
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
        let [value, low, high] = cells(self.result);
        let [difference, difference_low, difference_high] = cells(self.difference);
        let fields = [
            ("trial", Value::Int(self.trial.into())),
            ("state", Value::Text(self.state.name().to_owned())),
            ("params", Value::Group(self.point.clone())),
            ("value", value),
            ("low", low),
            ("high", high),
            ("difference", difference),
            ("difference_low", difference_low),
            ("difference_high", difference_high),
            ("replicates", Value::Int(self.replicates.into())),
        ];
        Value::of(fields)
    }
}

/// A value and the ends of its interval as scripts and tables have them: each empty if there is none.
pub(super) fn cells(measured: Option<Measured>) -> [Value; 3] {
    let ends = measured.and_then(Measured::interval);
    let all = [measured.map(|measured| measured.value), ends.map(|(low, _)| low), ends.map(|(_, high)| high)];
    all.map(|number| number.map_or(Value::None, Value::Float))
}

/// The spread of differences between trials, if all have the same replicates.
fn blocked(compared: &[&Trial]) -> Option<Spread> {
    let (first, others) = compared.split_first()?;
    let are_paired = others.iter().all(|other| other.complete_replicates().eq(first.complete_replicates()));
    let results: Vec<Vec<Measured>> = compared.iter().map(|trial| trial.results()).collect();
    Spread::blocked(&results).filter(|_| are_paired)
}

/// Compares complete trials with the first one, the best.
fn add_differences(rows: &mut [Row], trials: &Trials, spread: Option<Spread>) {
    let complete = rows.iter().take_while(|row| row.state == TrialState::Complete).count();
    let results: BTreeMap<u32, Vec<Measured>> =
        trials.iter().map(|(number, trial)| (number, trial.results())).collect();
    let Some((best, others)) = rows[..complete].split_first_mut() else { return };
    for row in others {
        row.difference = Measured::difference(&results[&row.trial], &results[&best.trial], spread);
    }
}

/// That a sweep has more trials than requested, since none is removed.
fn surplus(params: &SweepParams, trials: &Trials) -> Option<String> {
    let (started, requested) = (trials.next_number(), params.trials);
    (started > requested).then(|| {
        format!(
            "trials: {requested} are requested, and {started} were started before; all of them are kept and compared"
        )
    })
}

/// Why no trial of a successive halving is complete, if those that wait are too few for one to go on.
fn standstill(params: &SweepParams, trials: &Trials, rows: &[Row]) -> Option<String> {
    let pruner = &params.pruner;
    let is_stuck = pruner.kind == PrunerKind::Asha
        && rows.iter().any(|row| row.state == TrialState::Paused)
        && !rows
            .iter()
            .any(|row| matches!(row.state, TrialState::Complete | TrialState::Running | TrialState::Killed));
    if !is_stuck {
        return None;
    }
    let on = |rung: u32| {
        trials.iter().filter(|(_, trial)| trial.reports().last_at().is_some_and(|at| at >= rung)).count()
    };
    let rungs = (0..).map_while(|index| pruner.rung(index)).map(|rung| (rung, on(rung)));
    let (rung, count) = rungs.take_while(|(_, count)| *count > 0).last()?;
    let reduction = pruner.reduction;
    let last = if rung > pruner.least {
        format!(", or set pruner.most to {rung}, so that the best of the rung before run to their end")
    } else {
        String::new()
    };
    (count < reduction as usize).then(|| {
        let count = counted(count, "trial");
        format!(
            "{count} reached report {rung}, where one of every {reduction} goes on: raise trials or lower pruner.reduction{last}"
        )
    })
}

/// That trials of a successive halving wait at the last report that complete ones made, after which they may have nothing left to do.
fn played_out(params: &SweepParams, trials: &Trials, rows: &[Row]) -> Option<String> {
    let pruner = &params.pruner;
    let in_state = |state: TrialState| {
        rows.iter().filter(move |row| row.state == state).filter_map(|row| trials.get(row.trial))
    };
    let last = in_state(TrialState::Complete).filter_map(|trial| trial.reports().last_at()).max()?;
    let rung = (0..).map_while(|index| pruner.rung(index)).take_while(|rung| *rung <= last).last()?;
    let goes_on = in_state(TrialState::Complete).any(|trial| trial.reports().goes_on_from(rung));
    let waiting =
        in_state(TrialState::Paused).filter(|trial| trial.reports().reaching(rung).is_some()).count();
    if pruner.kind != PrunerKind::Asha || goes_on || waiting == 0 {
        return None;
    }
    let (count, verb) = (counted(waiting, "trial"), if waiting == 1 { "waits" } else { "wait" });
    let remedy = if rung > pruner.least {
        format!("set pruner.most to {rung}, so that trials promoted to it run to their end")
    } else {
        "report earlier, or leave the pruner out".to_owned()
    };
    Some(format!(
        "{count} {verb} at report {last}, the last that complete trials made; if nothing follows it, {remedy}"
    ))
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
    let value = figure(measured.value, 4);
    match measured.interval() {
        Some((low, high)) => format!("{value} [{}, {}]", figure(low, 4), figure(high, 4)),
        None => value,
    }
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
        let value = |measured: Option<Measured>| measured.map_or_else(|| "-".to_owned(), shown);
        let differs = self.rows.iter().filter_map(|row| row.difference).any(|one| one.interval().is_some());
        let cells = |row: &Row| {
            let mut cells = vec![format!("{:04}", row.trial), row.state.name().to_owned(), value(row.result)];
            cells.extend(differs.then(|| value(row.difference)));
            cells.push(label(&row.point));
            cells
        };
        let mut head = vec!["trial", "state", self.objective.as_str()];
        head.extend(differs.then_some("to the best"));
        head.push("parameters");
        let head = head.into_iter().map(str::to_owned).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(self.rows.iter().take(SHOWN).map(cells)).collect();
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
        for remark in &self.remarks {
            writeln!(f, "{remark}")?;
        }
        match self.snippet() {
            Some(snippet) => write!(f, "best: {snippet}"),
            None => write!(f, "no trial is complete"),
        }
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::Board;
    use crate::sweep::events::{Ending, Event, Measured, Replicate};
    use crate::sweep::fixtures::{ended, params, reported, started, suggested};
    use crate::sweep::pruner::Reported;
    use crate::sweep::trials::Trials;

    /// Trials that have reported at each of these numbers, and ended there.
    fn ended_at(at: &[(u32, Ending)]) -> Trials {
        ended_after(at.iter().map(|(at, ending)| ((1..=*at).collect(), *ending)))
    }

    /// Trials with reports at these progresses.
    fn ended_after(all: impl IntoIterator<Item = (Vec<u32>, Ending)>) -> Trials {
        let trial = |(trial, (at, ending)): (u32, (Vec<u32>, Ending))| {
            let reports = at.into_iter().map(|at| reported((trial, 0), at, 0.5));
            let begun = [suggested(trial), started((trial, 0))].into_iter();
            begun.chain(reports).chain([ended((trial, 0), ending, 0.5)]).collect::<Vec<_>>()
        };
        let events: Vec<Event> = (0..).zip(all).flat_map(trial).collect();
        Trials::from_events(&events)
    }

    fn paused(at: &[u32]) -> Trials {
        ended_at(&at.iter().map(|at| (*at, Ending::Paused)).collect::<Vec<_>>())
    }

    /// Complete trials with these values of their replicates.
    fn complete(all: &[&[f64]]) -> Trials {
        let trial = |(trial, values): (u32, &&[f64])| {
            let end = |(replicate, value): (u32, &f64)| ended((trial, replicate), Ending::Complete, *value);
            std::iter::once(suggested(trial)).chain((0..).zip(*values).map(end)).collect::<Vec<_>>()
        };
        Trials::from_events(&(0..).zip(all).flat_map(trial).collect::<Vec<_>>())
    }

    fn ends(more: &str, at: &[u32]) -> String {
        let shown = Board::new(&params(more), &paused(at)).to_string();
        shown.lines().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_halving_that_nobody_passes_says_why() {
        let asha = r#", "trials": 2, "pruner": {"kind": "asha", "reduction": 3}"#;
        assert_eq!(
            ends(asha, &[1, 1]),
            "2 trials reached report 1, where one of every 3 goes on: raise trials or lower pruner.reduction\nno trial is complete"
        );
        let asha = r#", "trials": 4, "pruner": {"kind": "asha", "reduction": 3}"#;
        let ended = ends(asha, &[1, 3, 1, 1]);
        let expected = "1 trial reached report 3, where one of every 3 goes on: raise trials or lower pruner.reduction, or set \
            pruner.most to 3, so that the best of the rung before run to their end\nno trial is complete";
        assert_eq!(ended, expected);
    }

    #[test]
    fn trials_that_wait_at_the_last_report_of_complete_ones_are_mentioned() {
        let remarks = |most: &str, at: &[(u32, Ending)]| {
            let asha = format!(r#", "trials": 4, "pruner": {{"kind": "asha"{most}}}"#);
            Board::new(&params(&asha), &ended_at(at)).remarks
        };
        let (paused, complete) = (Ending::Paused, Ending::Complete);
        assert_eq!(
            remarks("", &[(3, complete), (3, paused), (1, paused), (3, paused)]),
            [
                "2 trials wait at report 3, the last that complete trials made; if nothing follows it, set pruner.most to 3, so that \
                trials promoted to it run to their end"
            ]
        );
        let asha = params(r#", "trials": 2, "pruner": {"kind": "asha", "least": 1000, "reduction": 2}"#);
        let ended = ended_after([(vec![1031, 2041], complete), (vec![1012, 2021], paused)]);
        assert!(Board::new(&asha, &ended).remarks[0].starts_with("1 trial waits at report 2041"));
        // Complete trials went on beyond the report at which others wait.
        assert_eq!(remarks("", &[(4, complete), (3, paused), (3, paused)]), [""; 0]);
        assert_eq!(
            remarks(r#", "most": 3"#, &[(1, complete), (1, paused)]),
            [
                "1 trial waits at report 1, the last that complete trials made; if nothing follows it, report earlier, or leave \
                the pruner out"
            ]
        );
    }

    #[test]
    fn values_without_an_error_have_no_interval() {
        let board = Board::new(&params(""), &complete(&[&[0.5], &[0.4]]));
        let Value::Group(row) = board.rows[1].to_value() else { panic!("a row is a group") };
        let empty = ["low", "high", "difference_low", "difference_high"].map(|name| row[name] == Value::None);
        assert_eq!(empty, [true; 4]);
        assert!((row["difference"].as_f64().expect("a number") + 0.1).abs() < 1e-12);
        assert_eq!(row["value"], Value::Float(0.4));
    }

    #[test]
    fn reports_of_pruned_replicates_are_no_final_values() {
        let report = |replicate, at, value| Event::Reported {
            replicate: Replicate { trial: 1, replicate },
            report: Reported { at, value, low: value - 1.0, high: value + 1.0 },
        };
        let trials = Trials::from_events(&[
            suggested(0),
            ended((0, 0), Ending::Complete, 100.0),
            ended((0, 1), Ending::Complete, 100.0),
            suggested(1),
            report(0, 1, 3.0),
            report(0, 2, 60.0),
            ended((1, 0), Ending::Complete, 103.0),
            report(1, 1, -50.0),
            ended((1, 1), Ending::Pruned, -50.0),
        ]);
        let board = Board::new(&params(r#", "replicates": 2"#), &trials);
        let result = |index: usize| board.rows[index].result.expect("has a value");
        // Both replicates of trial 0 are equal, and nothing is known of others that ran to their end. Trial 1 was pruned at its first report.
        assert_eq!(result(0), Measured::exact(100.0));
        let half = 0.5 * 2.0_f64.sqrt();
        assert_eq!(result(1), Measured { value: -23.5, low: -23.5 - half, high: -23.5 + half });
        assert_eq!(board.rows[1].replicates, 2);
    }

    #[test]
    fn a_held_back_trial_has_the_mean_of_replicates_that_report_at_different_progress() {
        let trials = |ending| {
            let value = |(replicate, reports): (u32, [(u32, f64); 2])| {
                let end = ended((0, replicate), ending, reports[1].1);
                reports.map(|(at, value)| reported((0, replicate), at, value)).into_iter().chain([end])
            };
            let replicates = (0..).zip([[(1040, 1.0), (2040, 2.0)], [(1010, 3.0), (2010, 4.0)]]);
            let events = std::iter::once(suggested(0)).chain(replicates.flat_map(value));
            Trials::from_events(&events.collect::<Vec<_>>())
        };
        let value = |ending| Board::new(&params(r#", "replicates": 2"#), &trials(ending)).rows[0].result;
        // Both wait at their first report from the rung 2000 on.
        assert_eq!(value(Ending::Paused), Some(Measured::exact(3.0)));
        // At 2010 the first replicate stood where it was at 1040.
        assert_eq!(value(Ending::Pruned), Some(Measured::exact(2.5)));
    }

    #[test]
    fn complete_trials_are_compared_with_the_best() {
        let two = params(r#", "replicates": 2"#);
        let mut board = Board::new(&two, &complete(&[&[0.5, 0.6], &[0.8, 0.9], &[0.7, 0.9]]));
        // The trials and the replicates leave ±1/60 for the first two and ∓1/30 for the third: squares of 1/300 with 2 degrees of freedom.
        let half = 4.302_652_730 * (1.0_f64 / 600.0).sqrt();
        for (row, value) in board.rows[1..].iter().zip([-0.05, -0.3]) {
            let found = row.difference.expect("complete");
            assert!((found.value - value).abs() < 1e-12 && (found.high - value - half).abs() < 1e-9);
            assert!((found.low - value + half).abs() < 1e-9);
        }
        assert_eq!(board.rows[0].difference, None);
        // The intervals of trials 0 and 1 overlap, and their difference is clear.
        let ends = [0, 2].map(|row: usize| board.rows[row].result.expect("complete"));
        assert!(ends[0].low < ends[1].high && board.rows[2].difference.expect("complete").high < 0.0);
        let shown = board.to_string();
        assert!(shown.contains("to the best") && shown.contains("-0.0500 [-0.2257, 0.1257]"), "{shown}");
        for row in &mut board.rows {
            row.difference = None;
        }
        assert!(!board.to_string().contains("to the best"));
        // Of a trial with a third replicate the pooled deviation √0.0075 counts, with 4 degrees of freedom.
        let board = Board::new(&two, &complete(&[&[0.5, 0.6, 0.55], &[0.8, 0.9], &[0.7, 0.9]]));
        let found = board.rows[1].difference.expect("complete");
        assert!((found.high + 0.05 - 2.776_445_105 * 0.0075_f64.sqrt()).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn trials_that_differ_equally_in_every_replicate_are_compared_by_the_pooled_spread() {
        let two = params(r#", "replicates": 2"#);
        for (other, difference) in [(&[0.5, 0.6], 0.0), (&[0.25, 0.35], -0.25)] {
            let board = Board::new(&two, &complete(&[&[0.5, 0.6], &[0.5, 0.6], other]));
            let found = board.rows[2].difference.expect("complete");
            // Three trials with squares of 0.005 and one degree of freedom each.
            let half = 3.182_446_305 * 0.005_f64.sqrt();
            assert!((found.value - difference).abs() < 1e-12, "{found:?}");
            assert!((found.high - difference - half).abs() < 1e-9, "{found:?}");
            assert!(board.to_string().contains("to the best"));
        }
        // Replicates that agree exactly have no interval by either spread.
        let board = Board::new(&two, &complete(&[&[0.5, 0.5], &[0.25, 0.25], &[0.25, 0.25]]));
        assert!(board.rows[1].difference.expect("complete").interval().is_none());
    }

    #[test]
    fn trials_beyond_those_requested_are_mentioned() {
        let ended = ends(r#", "trials": 1"#, &[1, 1, 1]);
        let expected =
            "trials: 1 are requested, and 3 were started before; all of them are kept and compared";
        assert!(ended.starts_with(expected), "{ended}");
        assert!(!ends(r#", "trials": 3"#, &[1, 1, 1]).contains("requested"));
    }
}
