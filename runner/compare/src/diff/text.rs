//! The comparison as plain text.

use similar::TextDiff;

use dc0_core::params::Value;
use dc0_core::text_table::{Align, aligned};

use super::CompareError;
use super::results::{Figure, costs, results};
use super::rows::first_difference;
use super::steps::{Comparison, Pair, Side, Sides};
use dc0_process::format::{amount, counted};
use dc0_runs::Environment;
use dc0_runs::differences::{differences, shown};

/// Lines of context around a change of a script.
const CONTEXT: usize = 2;

/// The whole comparison of two runs.
pub(super) fn page(sides: &Sides<'_>, pairs: &[Pair<'_>]) -> Result<String, CompareError> {
    let mut lines = head(sides);
    lines.extend(section("script", &scripts(sides)));
    lines.extend(section("parameters of the script", &parameters(sides)));
    lines.extend(section("program and machine", &environment(sides)));
    lines.extend(section("steps", &steps(sides, pairs)?));
    lines.extend(section("results (* differs)", &figures(&results(sides, pairs), "*")));
    lines.extend(section("costs", &figures(&costs(sides), "")));
    lines.extend([String::new(), conclusion(pairs)]);
    Ok(lines.join("\n"))
}

/// A section; if it has no lines, its heading says "the same".
fn section(title: &str, lines: &[String]) -> Vec<String> {
    if lines.is_empty() {
        return vec![String::new(), format!("{title}: the same")];
    }
    let heading = [String::new(), format!("{title}:")];
    heading.into_iter().chain(lines.iter().map(|line| format!("  {line}").trim_end().to_owned())).collect()
}

fn head(sides: &Sides<'_>) -> Vec<String> {
    let row = |sign: &str, run: &super::Loaded| {
        let snapshot = &run.snapshot;
        let versions = if snapshot.versions > 1 {
            format!(
                ", opened with {} different scripts or parameters, of which the last is shown",
                snapshot.versions
            )
        } else {
            String::new()
        };
        let text = format!("seed {}, {}{versions}", run.record.seed, counted(run.steps.len(), "step"));
        [sign.to_owned(), run.folder.root().display().to_string(), text]
    };
    aligned(&[row("-", sides.first), row("+", sides.second)], |_| Align::Left)
}

/// The changes of the script and its modules, in the format of `diff -u`.
fn scripts(sides: &Sides<'_>) -> Vec<String> {
    let (first, second) = (&sides.first.snapshot, &sides.second.snapshot);
    let mut lines = changes(
        (&first.script.file, &second.script.file),
        (Some(&first.script.text), Some(&second.script.text)),
    );
    let paths: std::collections::BTreeSet<&String> =
        first.modules.keys().chain(second.modules.keys()).collect();
    for path in paths {
        lines.extend(changes((path, path), (first.modules.get(path), second.modules.get(path))));
    }
    lines
}

fn changes(
    (first_name, second_name): (&str, &str),
    (first, second): (Option<&String>, Option<&String>),
) -> Vec<String> {
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let name = |name: &str, text: Option<&String>| {
        if text.is_some() { name.to_owned() } else { "nothing".to_owned() }
    };
    let (own, other) = (text(first), text(second));
    let names = (name(first_name, first), name(second_name, second));
    let diff = TextDiff::from_lines(&own, &other);
    let shown = diff.unified_diff().context_radius(CONTEXT).header(&names.0, &names.1).to_string();
    shown.lines().map(str::to_owned).collect()
}

fn parameters(sides: &Sides<'_>) -> Vec<String> {
    let rows: Vec<[String; 2]> = differences(&sides.first.snapshot.params, &sides.second.snapshot.params)
        .iter()
        .map(|found| {
            let values = format!("{} -> {}", shown(found.first.as_ref()), shown(found.second.as_ref()));
            [found.name.clone(), values]
        })
        .collect();
    aligned(&rows, |_| Align::Left)
}

fn environment(sides: &Sides<'_>) -> Vec<String> {
    let rows: Vec<[String; 2]> = differences(&environment_of(sides.first), &environment_of(sides.second))
        .iter()
        .map(|found| {
            let values = format!("{} -> {}", plain(found.first.as_ref()), plain(found.second.as_ref()));
            [found.name.clone(), values]
        })
        .collect();
    aligned(&rows, |_| Align::Left)
}

fn plain(value: Option<&Value>) -> String {
    match value {
        Some(Value::Text(text)) => text.clone(),
        other => shown(other),
    }
}

/// Seed, backend, device, … from the run's record, and the versions of its last opening.
pub(super) fn environment_of(run: &super::Loaded) -> Value {
    let Environment { backend, device, precision, pad_to, threads, .. } = &run.record.environment;
    let text = |text: &str| Value::Text(text.to_owned());
    let pairs = [
        ("seed", Value::Int(run.record.seed as i64)),
        ("backend", text(backend)),
        ("device", text(device)),
        ("precision", text(precision)),
        ("pad_to", Value::Int(i64::from(*pad_to))),
        ("threads", Value::Int(i64::from(*threads))),
        ("dc0", text(&run.snapshot.dc0)),
        ("libraries", text(&run.snapshot.libraries)),
    ];
    Value::of(pairs)
}

fn steps(sides: &Sides<'_>, pairs: &[Pair<'_>]) -> Result<Vec<String>, CompareError> {
    let rows: Vec<[String; 3]> = pairs
        .iter()
        .map(|pair| [pair.any().name(), pair.any().manifest.kind.clone(), describe(&pair.comparison)])
        .collect();
    let mut lines = aligned(&rows, |_| Align::Left);
    if let Some(divergence) = divergence(sides, pairs)? {
        lines.extend([String::new(), divergence]);
    }
    Ok(lines)
}

/// The comparison of two steps in one line.
pub fn describe(comparison: &Comparison) -> String {
    match comparison {
        Comparison::Same => "same".to_owned(),
        Comparison::DifferentBytes { files } if files.is_empty() => "same step, different summary".to_owned(),
        Comparison::DifferentBytes { files } => {
            format!("same step, different bytes in {} of its files", files.len())
        }
        Comparison::DifferentStep { reasons } => {
            let texts: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            texts.join("; ")
        }
        Comparison::OnlyIn(Side::First) => "only in -".to_owned(),
        Comparison::OnlyIn(Side::Second) => "only in +".to_owned(),
    }
}

/// Where the runs first diverge, as a sentence.
pub fn divergence(sides: &Sides<'_>, pairs: &[Pair<'_>]) -> Result<Option<String>, CompareError> {
    let Some(pair) = pairs.iter().find(|pair| !pair.is_same()) else { return Ok(None) };
    let name = pair.any().name();
    Ok(Some(match &pair.comparison {
        Comparison::DifferentBytes { files } => {
            let row = first_different_row(sides, pair)?;
            let row = row.map(|row| format!(", first at {row}")).unwrap_or_default();
            let file = files.first().map(|file| format!(" {file}{row}")).unwrap_or_default();
            format!(
                "They diverge at {name}, which is the same step in both but produced different bytes:{file}. \
                 The program, its libraries, the processor or the device made the difference."
            )
        }
        Comparison::OnlyIn(Side::First) => format!("They are the same up to {name}, which only - has."),
        Comparison::OnlyIn(Side::Second) => format!("They are the same up to {name}, which only + has."),
        other => format!("They diverge at {name}: {}.", describe(other)),
    }))
}

/// The first row that differs in the first file that differs.
pub(super) fn first_different_row(
    sides: &Sides<'_>,
    pair: &Pair<'_>,
) -> Result<Option<String>, CompareError> {
    let (Some(first), Some(second), Comparison::DifferentBytes { files }) =
        (pair.first, pair.second, &pair.comparison)
    else {
        return Ok(None);
    };
    let both = first.manifest.files.iter().zip(&second.manifest.files);
    let Some(entries) = both.into_iter().find(|(own, _)| files.first() == Some(&own.path)) else {
        return Ok(None);
    };
    Ok(first_difference((&sides.first.folder, &sides.second.folder), entries)?)
}

/// A line for each number; `mark` follows those that differ.
fn figures(figures: &[Figure], mark: &str) -> Vec<String> {
    let number = |number: Option<f64>| match number {
        None => "-".to_owned(),
        Some(number) if number.fract() == 0.0 && number.abs() < 1e4 => format!("{number}"),
        Some(number) if number.abs() < 100.0 => format!("{number:.4}"),
        Some(number) => amount(number),
    };
    let sign = |figure: &Figure| if figure.first == figure.second { "" } else { mark };
    let row = |figure: &Figure| {
        [figure.name.clone(), number(figure.first), number(figure.second), sign(figure).to_owned()]
    };
    let heading = ["", "-", "+", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(figures.iter().map(row)).collect();
    aligned(&rows, |_| Align::Left)
}

fn conclusion(pairs: &[Pair<'_>]) -> String {
    let same = pairs.iter().filter(|pair| pair.is_same()).count();
    if same == pairs.len() {
        let what = if same == 1 { "the step has".to_owned() } else { format!("all {same} steps have") };
        format!("The results are the same: {what} the same files.")
    } else {
        let steps = counted(pairs.len(), "step");
        format!("The results differ: {same} of {steps} have the same files.")
    }
}
