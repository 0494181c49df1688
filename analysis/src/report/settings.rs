//! Parameters of runs, and in what the runs differ.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use super::section::{Part, Section, Table};
use super::{Context, ReportRun};

/// Kinds of steps whose full parameters are compared.
const KINDS: [&str; 5] = ["network", "self_play", "train", "arena", "search"];

pub(super) fn section(context: &Context<'_>) -> Section {
    let declared = |run: &ReportRun| flat("", &run.params);
    let resolved = |run: &ReportRun| -> BTreeMap<String, String> {
        let first =
            |kind: &&str| context.steps.iter().find(|step| step.run == run.name && step.kind == **kind);
        KINDS.iter().filter_map(|kind| Some(flat(kind, &first(kind)?.params))).flatten().collect()
    };
    let environment = |run: &ReportRun| run.environment.iter().cloned().collect();
    let mut parts = Vec::new();
    parts.extend(table(context, "Declared by the script", &declared, Rows::All).map(Part::Table));
    parts.extend(table(context, "Environment", &environment, Rows::All).map(Part::Table));
    if context.runs.len() > 1 {
        let title = "Resolved parameters that differ, of the first step of each kind";
        match table(context, title, &resolved, Rows::Different) {
            Some(table) => parts.push(Part::Table(table)),
            None => parts
                .push(Part::Text("No resolved parameter of the first step of each kind differs.".to_owned())),
        }
    } else {
        let title = "Resolved parameters, of the first step of each kind";
        parts.extend(table(context, title, &resolved, Rows::All).map(Part::Table));
    }
    let scripts = context.runs.iter().filter(|run| !run.script.is_empty());
    parts.extend(scripts.map(|run| Part::Folded(format!("Script of {}", run.name), run.script.clone())));
    let about = "What was asked for. Rows that stand out differ between the runs.";
    Section::new("parameters", "Parameters", about, parts, "the runs declare none")
}

/// Which rows a table shows.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    All,
    Different,
}

fn table(
    context: &Context<'_>,
    title: &str,
    of: &dyn Fn(&ReportRun) -> BTreeMap<String, String>,
    rows: Rows,
) -> Option<Table> {
    let values: Vec<BTreeMap<String, String>> = context.runs.iter().map(of).collect();
    let names: BTreeSet<&String> = values.iter().flat_map(BTreeMap::keys).collect();
    let row = |name: &&String| {
        let cell =
            |values: &BTreeMap<String, String>| values.get(*name).cloned().unwrap_or_else(|| "–".to_owned());
        let cells: Vec<String> = values.iter().map(cell).collect();
        let differs = cells.windows(2).any(|pair| pair[0] != pair[1]);
        (differs, [(*name).clone()].into_iter().chain(cells).collect::<Vec<_>>())
    };
    let rows: Vec<(bool, Vec<String>)> =
        names.iter().map(row).filter(|(differs, _)| *differs || rows == Rows::All).collect();
    let head =
        ["parameter".to_owned()].into_iter().chain(context.runs.iter().map(|run| run.name.clone())).collect();
    (!rows.is_empty()).then(|| Table { title: title.to_owned(), head, rows, words: 1 })
}

/// Names with dots, and values as text.
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

    use super::flat;

    #[test]
    fn groups_become_names_with_dots() {
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
