//! The parameters of runs, and how the runs differ.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, Table};
use crate::report::steps::kinds;

pub(super) const SECTION: Section = Section {
    id: "parameters",
    title: "Parameters",
    about: "The parameters of each run. Highlighted rows differ between the runs.",
    reads: &["record", "steps"],
    no_data: |_| "the runs declare no parameters",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let declared = |run: &ReportRun| flat("", &run.params);
    let resolved = |run: &ReportRun| -> BTreeMap<String, String> {
        let first = |kind: &str| context.steps.iter().find(|step| step.run == run.name && step.kind == kind);
        kinds(&context.steps)
            .into_iter()
            .filter_map(|kind| Some(flat(kind, &first(kind)?.params)))
            .flatten()
            .collect()
    };
    let environment = |run: &ReportRun| run.environment.iter().cloned().collect();
    let mut parts = Vec::new();
    parts.extend(table(context, "Declared by the script", &declared).map(Part::Table));
    parts.extend(table(context, "Environment", &environment).map(Part::Table));
    if context.runs.len() > 1 {
        parts.push(differences(context));
    } else {
        let title = "Resolved parameters of the first step of each kind";
        parts.extend(table(context, title, &resolved).map(Part::Table));
    }
    let scripts = context.runs.iter().filter(|run| !run.script.is_empty());
    parts.extend(scripts.map(|run| Part::Folded(format!("Script of {}", run.name), run.script.clone())));
    Ok(parts)
}

fn table(
    context: &Context<'_>,
    title: &str,
    parameters: &dyn Fn(&ReportRun) -> BTreeMap<String, String>,
) -> Option<Table> {
    let values: Vec<BTreeMap<String, String>> = context.runs.iter().map(parameters).collect();
    let names: BTreeSet<&String> = values.iter().flat_map(BTreeMap::keys).collect();
    let row = |name: &&String| {
        let cell =
            |values: &BTreeMap<String, String>| values.get(*name).cloned().unwrap_or_else(|| "–".to_owned());
        let cells: Vec<String> = values.iter().map(cell).collect();
        let differs = cells.windows(2).any(|pair| pair[0] != pair[1]);
        (differs, [(*name).clone()].into_iter().chain(cells).collect::<Vec<_>>())
    };
    let rows: Vec<(bool, Vec<String>)> = names.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        head: head(context),
        rows,
        text_columns: 1 + context.runs.len(),
    })
}

fn head(context: &Context<'_>) -> Vec<String> {
    ["parameter".to_owned()].into_iter().chain(context.runs.iter().map(|run| run.name.clone())).collect()
}

/// The resolved parameters in which the runs' steps differ. Steps of a kind are compared in order: the first ones of all runs, the
/// second ones, and so on as far as all runs have them.
fn differences(context: &Context<'_>) -> Part {
    let rows: Vec<(bool, Vec<String>)> = kinds(&context.steps)
        .into_iter()
        .flat_map(|kind| differences_of(kind, &settings(context, kind)))
        .collect();
    if rows.is_empty() {
        return Part::Text("The resolved parameters of corresponding steps do not differ.".to_owned());
    }
    let left_out = rows.len().saturating_sub(DIFFERENCES);
    let more = if left_out > 0 { format!("; {left_out} more are not shown") } else { String::new() };
    let title = format!("Resolved parameters that differ{more}");
    let rows = rows.into_iter().take(DIFFERENCES).collect();
    Part::Table(Table { title, head: head(context), rows, text_columns: 1 + context.runs.len() })
}

/// The most differences that are shown. Chosen.
const DIFFERENCES: usize = 200;

/// For each run, the parameters of all steps of a kind.
fn settings(context: &Context<'_>, kind: &str) -> Vec<Vec<BTreeMap<String, String>>> {
    let of_run = |run: &ReportRun| {
        let steps = context.steps.iter().filter(|step| step.run == run.name && step.kind == kind);
        steps.map(|step| flat(kind, &step.params)).collect()
    };
    context.runs.iter().map(of_run).collect()
}

/// A row for each step at which a parameter starts to differ, differs in another way, or is equal again.
fn differences_of(kind: &str, runs: &[Vec<BTreeMap<String, String>>]) -> Vec<(bool, Vec<String>)> {
    let count = runs.iter().map(Vec::len).min().unwrap_or(0);
    let mut rows = Vec::new();
    let mut shown: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for index in 0..count {
        let names: BTreeSet<&String> = runs.iter().flat_map(|steps| steps[index].keys()).collect();
        for name in names {
            let cell = |steps: &Vec<BTreeMap<String, String>>| {
                steps[index].get(name).cloned().unwrap_or_else(|| "–".to_owned())
            };
            let cells: Vec<String> = runs.iter().map(cell).collect();
            let differs = cells.windows(2).any(|pair| pair[0] != pair[1]);
            let is_known = shown.get(name).map_or(!differs, |known| *known == cells);
            if !is_known {
                let from =
                    if index == 0 { String::new() } else { format!(", from {kind} step {} on", index + 1) };
                rows.push((differs, [format!("{name}{from}")].into_iter().chain(cells.clone()).collect()));
                shown.insert(name, cells);
            }
        }
    }
    rows
}

/// Flattens nested groups: names joined by dots, values as text.
fn flat(path: &str, value: &Value) -> BTreeMap<String, String> {
    let Value::Group(members) = value else {
        let text = if let Value::Text(text) = value { text.clone() } else { value.to_string() };
        return BTreeMap::from([(path.to_owned(), text)]);
    };
    let member = |(name, value): (&String, &Value)| {
        flat(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, value)
    };
    members.iter().flat_map(member).collect()
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::{differences_of, flat};

    #[test]
    fn differences_of_later_steps_have_the_steps_number() {
        let step = |rate: i64| flat("train", &Value::Group([("rate".to_owned(), Value::Int(rate))].into()));
        let runs =
            [vec![step(1), step(2), step(2), step(3)], vec![step(1), step(5), step(5), step(3), step(9)]];
        let rows = differences_of("train", &runs);
        let expected = [
            (true, ["train.rate, from train step 2 on", "2", "5"]),
            (false, ["train.rate, from train step 4 on", "3", "3"]),
        ];
        assert_eq!(rows, expected.map(|(differs, cells)| (differs, cells.map(str::to_owned).to_vec())));
    }

    #[test]
    fn nested_groups_are_flattened() {
        let inner = Value::Group([("b".to_owned(), Value::Int(3)), ("c".to_owned(), Value::None)].into());
        let value =
            Value::Group([("a".to_owned(), inner), ("t".to_owned(), Value::Text("x".to_owned()))].into());
        let flat: Vec<(String, String)> = flat("", &value).into_iter().collect();
        let expected =
            [("a.b", "3"), ("a.c", "()"), ("t", "x")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(flat, expected);
        assert!(super::flat("", &Value::group()).is_empty());
    }
}
