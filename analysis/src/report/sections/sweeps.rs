//! Sweeps: the leaderboard of trials, parameter importance, parallel coordinates, and a slice for each parameter.

use dc0_core::params::Value;
use dc0_core::text_table::figure;

use crate::charts::{Axis, Chart, Ink, Marks, ParallelLine, Point, Series, SeriesStyle, short};
use crate::error::AnalysisError;
use crate::quoting::text;
use crate::report::context::Context;
use crate::report::inputs::ReportSweep;
use crate::report::parameter_axis::{axis, position, value_text};
use crate::report::section::{Part, Section, Table, drawn};

/// The most trials that the leaderboard shows.
const SHOWN: usize = 30;
/// The relative difference up to which values are equal: means of equal scores may differ by rounding. Chosen.
const ROUNDING: f64 = 1e-13;
const PREFIX: &str = "param_";
/// The most important parameters, of which each two have a chart.
const PAIRED: usize = 3;
const NO_IMPORTANCES: &str = "The importance of the parameters is computed from eight complete trials on, \
    if the best quarter of them differs from all.";

/// A sweep's trials, the best first.
struct Trials {
    parameters: Vec<String>,
    rows: Vec<Trial>,
}

struct Trial {
    number: u32,
    state: String,
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    /// Its value less the best one's, with the ends of the interval.
    difference: Option<[f64; 3]>,
    games: Option<f64>,
    evaluations: Option<f64>,
    point: Vec<Value>,
}

pub(super) const SECTION: Section = Section {
    id: "sweep",
    title: "Sweep",
    about: "The trials of a sweep, with 95 % intervals over replicates, and the importance of each parameter.",
    reads: &["sweep", "trials"],
    no_data: |context| if context.sweeps.is_empty() { "no sweep was given" } else { "no trial is finished" },
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    for (index, sweep) in context.sweeps.iter().enumerate() {
        let trials = trials(context, sweep)?;
        if trials.rows.is_empty() {
            continue;
        }
        parts.push(Part::Heading(sweep.name.clone()));
        parts.push(Part::Text(summary(sweep, &trials)));
        parts.push(Part::Table(leaderboard(sweep, &trials)));
        parts.extend(failures(sweep).map(Part::Table));
        if sweep.importances.is_empty() {
            parts.push(Part::Text(NO_IMPORTANCES.to_owned()));
        }
        parts.extend(drawn(history(sweep, index, &trials)));
        parts.extend(drawn(importance(sweep, index)));
        parts.extend(drawn(parallel(sweep, index, &trials)));
        parts.extend(pairs(sweep, index, &trials).into_iter().filter_map(drawn));
        let slices = (0..trials.parameters.len()).map(|parameter| slice(sweep, index, &trials, parameter));
        parts.extend(slices.filter_map(drawn));
    }
    Ok(parts)
}

fn trials(context: &Context<'_>, sweep: &ReportSweep) -> Result<Trials, AnalysisError> {
    let answer =
        context.database.fetch(&format!("select * from trials where run = {}", text(&sweep.name)))?;
    let parameters = answer.columns_with_prefix(PREFIX);
    let columns = parameters.iter().map(|name| answer.values(name)).collect::<Result<Vec<_>, _>>()?;
    let (numbers, states, values) =
        (answer.numbers("trial")?, answer.texts("state")?, answer.options("value")?);
    let (lows, highs) = (answer.options("low")?, answer.options("high")?);
    // Older tables have no differences.
    let column = |name| answer.options_or_none(name);
    let (differences, least, most) =
        (column("difference")?, column("difference_low")?, column("difference_high")?);
    let difference =
        |row: usize| Some([differences[row]?, least[row]?, most[row]?]).filter(|[_, low, high]| low < high);
    let (games, evaluations) = (answer.options("games")?, answer.options("evaluations")?);
    let row = |row: usize| Trial {
        number: numbers[row] as u32,
        state: states[row].clone(),
        value: values[row],
        interval: lows[row].zip(highs[row]).filter(|(low, high)| low < high),
        difference: difference(row),
        games: games[row],
        evaluations: evaluations[row],
        point: columns.iter().map(|column| number_or_text(&column[row])).collect(),
    };
    let mut rows: Vec<Trial> = (0..answer.len()).map(row).collect();
    let gain = |trial: &Trial| {
        trial.value.map_or(f64::NEG_INFINITY, |value| if sweep.maximize { value } else { -value })
    };
    // As in the printed leaderboard.
    let rank = |trial: &Trial| match trial.state.as_str() {
        "complete" => 0,
        "paused" => 1,
        "pruned" => 2,
        "running" | "killed" => 3,
        "failed" => 4,
        _ => 5,
    };
    rows.sort_by(|a, b| {
        rank(a).cmp(&rank(b)).then_with(|| gain(b).total_cmp(&gain(a))).then(a.number.cmp(&b.number))
    });
    let parameters = parameters.iter().map(|name| name[PREFIX.len()..].to_owned()).collect();
    Ok(Trials { parameters, rows })
}

/// The value of a parameter's cell; columns that mix numbers and text are stored as text.
fn number_or_text(cell: &Value) -> Value {
    match cell {
        Value::Text(text) => {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.map_or_else(|| cell.clone(), Value::Float)
        }
        other => other.clone(),
    }
}

impl Trial {
    fn ties(&self, other: &Self) -> bool {
        let both = self.value.zip(other.value);
        both.is_some_and(|(one, other)| (one - other).abs() <= ROUNDING * one.abs().max(other.abs()))
    }
}

impl Trials {
    fn complete(&self) -> impl Iterator<Item = &Trial> {
        self.rows.iter().filter(|trial| trial.state == "complete" && trial.value.is_some())
    }

    /// The complete trials, each with its quarter, 0 for the best. Trials of equal value are in the quarter of the first of them.
    fn quarters(&self) -> Vec<(usize, &Trial)> {
        let complete: Vec<&Trial> = self.complete().collect();
        let rank = |trial: &Trial| complete.iter().take_while(|better| !trial.ties(better)).count();
        complete.iter().map(|trial| (QUARTERS.len() * rank(trial) / complete.len(), *trial)).collect()
    }

    /// The index of a parameter.
    fn index(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|known| known == name)
    }

    fn axis(&self, sweep: &ReportSweep, parameter: usize) -> Axis {
        let name = &self.parameters[parameter];
        let values = self.complete().map(|trial| &trial.point[parameter]);
        axis(name, &values.collect::<Vec<_>>(), sweep.logarithmic.contains(name))
    }
}

fn number(value: f64) -> String {
    figure(value, 4).replace('-', "−")
}

fn with_interval(value: f64, (low, high): (f64, f64)) -> String {
    format!("{} [{}, {}]", number(value), number(low), number(high))
}

fn value_and_interval(trial: &Trial) -> String {
    let value =
        trial.value.map(|value| trial.interval.map_or(number(value), |ends| with_interval(value, ends)));
    value.unwrap_or_else(|| "–".to_owned())
}

fn summary(sweep: &ReportSweep, trials: &Trials) -> String {
    let complete = trials.complete().count();
    let aim = if sweep.maximize { "maximised" } else { "minimised" };
    let count = trials.rows.len();
    let noun = if count == 1 { "trial" } else { "trials" };
    let counts = format!("{count} {noun}, {complete} complete; {} is {aim}.", sweep.objective);
    let Some(best) = trials.complete().next() else { return counts };
    let point: Vec<String> = trials
        .parameters
        .iter()
        .zip(&best.point)
        .map(|(name, value)| format!("{name} = {}", value_text(value)))
        .collect();
    // Without an interval only an equal value is known to be as good.
    let is_open = |trial: &&Trial| match trial.difference {
        Some([_, low, high]) => low <= 0.0 && high >= 0.0,
        None => trial.number != best.number && trial.ties(best),
    };
    let doubt = match trials.complete().filter(is_open).count() {
        0 => String::new(),
        1 => " Its difference to one other trial is 0, or has an interval that contains 0; that one may be as good."
            .to_owned(),
        more => format!(
            " Its differences to {more} other trials are 0, or have intervals that contain 0; they may be as good."
        ),
    };
    let has_intervals = complete == 1 || trials.rows.iter().any(|trial| trial.difference.is_some());
    let unknown = if has_intervals { "" } else { " How far chance alone makes trials differ is not known." };
    let value = value_and_interval(best);
    format!(
        "{counts} The best is trial {:04} with {value}: {}.{doubt}{unknown}",
        best.number,
        point.join(", ")
    )
}

fn leaderboard(sweep: &ReportSweep, trials: &Trials) -> Table {
    let differs = trials.rows.iter().any(|trial| trial.difference.is_some());
    let head = ["trial", "state", &sweep.objective].into_iter().chain(differs.then_some("to the best"));
    let head = head.map(str::to_owned).chain(trials.parameters.iter().cloned());
    let head = head.chain(["games", "evaluations"].map(str::to_owned));
    let row = |trial: &Trial| {
        let difference = || match trial.difference {
            Some([value, low, high]) => with_interval(value, (low, high)),
            None => "–".to_owned(),
        };
        let cells = [format!("{:04}", trial.number), trial.state.clone(), value_and_interval(trial)];
        let cells = cells.into_iter().chain(differs.then(difference));
        let cost = [trial.games, trial.evaluations].map(|cost| cost.map_or_else(|| "–".to_owned(), short));
        (false, cells.chain(trial.point.iter().map(value_text)).chain(cost).collect())
    };
    let rows = trials.rows.iter().take(SHOWN).map(row).collect();
    let more = trials.rows.len().saturating_sub(SHOWN);
    let title = if more > 0 {
        format!("Leaderboard; {more} more trials are not shown")
    } else {
        "Leaderboard".to_owned()
    };
    Table { title, head: head.collect(), rows, text_columns: 2 }
}

/// Why trials failed.
fn failures(sweep: &ReportSweep) -> Option<Table> {
    let row = |(trial, cause): &(u32, String)| (false, vec![format!("{trial:04}"), cause.clone()]);
    let rows: Vec<_> = sweep.failures.iter().take(SHOWN).map(row).collect();
    let title = match sweep.failures.len() {
        0..=SHOWN => "Failed trials".to_owned(),
        all => format!("Failed trials; {} more are not shown", all - SHOWN),
    };
    let head = ["trial", "why it failed"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then_some(Table { title, head, rows, text_columns: 2 })
}

/// The values of the trials in their order, and the best one so far.
fn history(sweep: &ReportSweep, index: usize, trials: &Trials) -> Chart {
    let mut complete: Vec<&Trial> = trials.complete().collect();
    complete.sort_by_key(|trial| trial.number);
    let mut best: Option<f64> = None;
    let (mut points, mut bests) = (Vec::new(), Vec::new());
    for (trial, value) in complete.into_iter().filter_map(|trial| Some((trial, trial.value?))) {
        let better = |best: f64| if sweep.maximize { best.max(value) } else { best.min(value) };
        let so_far = best.map_or(value, better);
        let x = f64::from(trial.number);
        // A step, not a slope.
        bests.extend(best.filter(|before| *before != so_far).map(|before| Point::new(x, before)));
        best = Some(so_far);
        points.push(Point { x, y: value, interval: trial.interval });
        bests.push(Point::new(x, so_far));
    }
    let series = |name: &str, ink, style, points| Series {
        name: name.to_owned(),
        ink: Ink::Series(ink),
        style,
        points,
    };
    Chart {
        name: format!("history-{index}"),
        title: "History".to_owned(),
        caption: "The complete trials in their order, and the best value so far.".to_owned(),
        x: Axis::integer("trial"),
        y: Axis::plain(&sweep.objective),
        marks: Marks::Series(vec![
            series("trial", 0, SeriesStyle::Markers, points),
            series("best so far", 1, SeriesStyle::Line, bests),
        ]),
        references: Vec::new(),
    }
}

/// A chart for each two of the most important parameters: where in their plane the good trials are. The second one has numbers only.
fn pairs(sweep: &ReportSweep, index: usize, trials: &Trials) -> Vec<Chart> {
    let ranked = sweep.importances.iter().filter_map(|(name, _)| trials.index(name));
    let important: Vec<usize> = ranked.take(PAIRED).collect();
    let mut charts = Vec::new();
    for (rank, first) in important.iter().enumerate() {
        for second in &important[rank + 1..] {
            let has_numbers = |parameter: &usize| trials.axis(sweep, *parameter).labels.is_empty();
            let (x, y) = if has_numbers(second) { (*first, *second) } else { (*second, *first) };
            if has_numbers(&y) {
                charts.push(pair(sweep, index, trials, (x, y)));
            }
        }
    }
    charts
}

/// The quarters of the complete trials. The best comes last, so that its marks are above the others.
const QUARTERS: [&str; 4] = ["worst quarter", "third", "second", "best quarter"];

fn pair(sweep: &ReportSweep, index: usize, trials: &Trials, (first, second): (usize, usize)) -> Chart {
    let (x, y) = (trials.axis(sweep, first), trials.axis(sweep, second));
    let quarters = trials.quarters();
    let quarter = |(number, name): (usize, &&str)| {
        let from_best = QUARTERS.len() - 1 - number;
        let of_quarter = quarters.iter().filter(|(quarter, _)| *quarter == from_best);
        let point = |(_, trial): &(usize, &Trial)| {
            Some(Point::new(position(&x, &trial.point[first])?, position(&y, &trial.point[second])?))
        };
        let mut points: Vec<Point> = of_quarter.filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let (name, ink) = ((*name).to_owned(), Ink::Series(from_best));
        Series { name, ink, style: SeriesStyle::Markers, points }
    };
    Chart {
        name: format!("pair-{index}-{first}-{second}"),
        title: format!("{} and {}", trials.parameters[first], trials.parameters[second]),
        caption: format!(
            "The complete trials in the plane of two important parameters, by the rank of their {}.",
            sweep.objective
        ),
        marks: Marks::Series(QUARTERS.iter().enumerate().map(quarter).collect()),
        x,
        y,
        references: Vec::new(),
    }
}

fn importance(sweep: &ReportSweep, index: usize) -> Chart {
    Chart {
        name: format!("importance-{index}"),
        title: "Parameter importance".to_owned(),
        caption: "How much the distribution of the best quarter of the trials, with all that tie with it, differs from that of all \
            trials in each parameter, as shares (PED-ANOVA, Watanabe et al. 2023)."
            .to_owned(),
        x: Axis::plain("parameter"),
        y: Axis { to: None, ..Axis::share("importance") },
        marks: Marks::Bars(sweep.importances.clone()),
        references: Vec::new(),
    }
}

fn slice(sweep: &ReportSweep, index: usize, trials: &Trials, parameter: usize) -> Chart {
    let axis = trials.axis(sweep, parameter);
    let point = |trial: &Trial| {
        let x = position(&axis, &trial.point[parameter])?;
        Some(Point { x, y: trial.value?, interval: trial.interval })
    };
    let name = &trials.parameters[parameter];
    Chart {
        name: format!("slice-{index}-{parameter}"),
        title: format!("{} by {name}", sweep.objective),
        caption: "All complete trials, regardless of their other parameters.".to_owned(),
        y: Axis::plain(&sweep.objective),
        marks: Marks::Series(vec![Series {
            name: "trial".to_owned(),
            ink: Ink::Series(0),
            style: SeriesStyle::Markers,
            points: trials.complete().filter_map(point).collect(),
        }]),
        x: axis,
        references: Vec::new(),
    }
}

fn parallel(sweep: &ReportSweep, index: usize, trials: &Trials) -> Chart {
    let axes: Vec<Axis> =
        (0..trials.parameters.len()).map(|parameter| trials.axis(sweep, parameter)).collect();
    let line = |(quarter, trial): (usize, &Trial)| {
        let positions: Option<Vec<f64>> =
            axes.iter().zip(&trial.point).map(|(axis, value)| position(axis, value)).collect();
        let values = positions?.into_iter().chain(trial.value).collect();
        let labels = trial.point.iter().map(value_text).chain([value_and_interval(trial)]).collect();
        Some(ParallelLine { name: format!("{:04}", trial.number), values, labels, best: quarter == 0 })
    };
    let lines: Vec<ParallelLine> = trials.quarters().into_iter().filter_map(line).collect();
    Chart {
        name: format!("parallel-{index}"),
        title: "Parallel coordinates".to_owned(),
        caption: "One line per complete trial; the best quarter, with all that tie with it, is highlighted."
            .to_owned(),
        x: Axis::plain("trial"),
        y: Axis::plain(&sweep.objective),
        marks: Marks::Parallel {
            axes: axes.into_iter().chain([Axis::plain(&sweep.objective)]).collect(),
            lines: if trials.parameters.len() > 1 { lines } else { Vec::new() },
        },
        references: Vec::new(),
    }
}
