//! The page of a dataset: `README.md`, with the front matter that dataset hubs read (Hugging Face, "Dataset Cards").

use dc0_core::durable;
use dc0_core::params::Value;
use dc0_process::format::counted;
use dc0_runs::view::RunView;
use dc0_runs::{Folder, Manifest, Record, RunError, SourceFormat, StepContent, StepKind};

/// The tables, each with what one row is. The first is the one that hubs show.
const TABLES: [(&str, &str); 4] = [
    ("positions", "a position with the moves and the values that are trained"),
    ("games", "a game: start, moves, result and what ended it"),
    (
        "headers",
        "what is said of a game besides: players, ratings, dates, clocks, evaluations, file and line",
    ),
    ("rejects", "a broken game that was not imported: file, line and what is wrong"),
];

/// Writes the page, unless there is one: its user may have changed it. Returns lines that report what there is.
pub(super) fn write(folder: &Folder, name: &str, license: &str) -> Result<Vec<String>, RunError> {
    let run = RunView::new(folder.clone());
    let (Some(record), Some(step)) = (run.record()?, run.steps()?.into_iter().next()) else {
        return Ok(Vec::new());
    };
    let kind = StepKind::named(&step.manifest.kind);
    let Some(StepContent::Imported(format)) = kind.map(|kind| kind.content) else {
        return Ok(Vec::new());
    };
    let path = folder.path("README.md");
    let mut lines = Vec::new();
    if !path.exists() {
        let page = page(name, license, &record, &step.manifest, format);
        durable::write(&path, page.as_bytes()).map_err(RunError::io("write", &path))?;
        lines.push(format!("wrote    {}; edit it before you publish the dataset", path.display()));
    }
    let broken = sum(step.manifest.summary.member("rejected"));
    if broken > 0 {
        let root = folder.root().display();
        lines.push(format!(
            "broken   {}: dc0-run sql {root} \"select * from rejects\"",
            counted(broken, "game")
        ));
    }
    Ok(lines)
}

fn sum(counts: Option<&Value>) -> usize {
    let Some(Value::Group(counts)) = counts else { return 0 };
    counts.values().filter_map(Value::as_f64).sum::<f64>() as usize
}

fn figure(summary: &Value, name: &str) -> u64 {
    summary.figure(name).map_or(0, |figure| figure as u64)
}

/// The size of a dataset as hubs sort it.
fn size_category(rows: u64) -> &'static str {
    let categories = [
        (1_000, "n<1K"),
        (10_000, "1K<n<10K"),
        (100_000, "10K<n<100K"),
        (1_000_000, "100K<n<1M"),
        (10_000_000, "1M<n<10M"),
        (100_000_000, "10M<n<100M"),
        (1_000_000_000, "100M<n<1B"),
        (10_000_000_000, "1B<n<10B"),
    ];
    categories.into_iter().find(|(most, _)| rows < *most).map_or("10B<n<100B", |(_, name)| name)
}

fn page(name: &str, license: &str, record: &Record, manifest: &Manifest, format: SourceFormat) -> String {
    let summary = &manifest.summary;
    let content = match format {
        SourceFormat::Pgn => "PGN",
        SourceFormat::Lc0 => "training data of Leela Chess Zero",
    };
    let [games, positions] = ["games", "positions"].map(|name| figure(summary, name));
    let config = |(index, (table, _)): (usize, &(&str, &str))| {
        let default = if index == 0 { "\n  default: true" } else { "" };
        format!("- config_name: {table}{default}\n  data_files: \"{table}/*/*.parquet\"\n")
    };
    let configs: String = TABLES.iter().enumerate().map(config).collect();
    let tables: String = TABLES.iter().map(|(table, row)| format!("| `{table}` | {row} |\n")).collect();
    let source = |input: &dc0_runs::Input| {
        let name = input.name.splitn(3, ' ').nth(2).unwrap_or(&input.name);
        format!("| {} | `{}` |\n", name.replace('|', "\\|"), input.digest)
    };
    let sources: String = manifest.inputs.iter().map(source).collect();
    let options = options(&manifest.params);
    let left = [("rejected", "broken"), ("left_out", "left out by an option")];
    let left = left.map(|(name, what)| {
        let kinds = match summary.member(name) {
            Some(Value::Group(counts)) if !counts.is_empty() => {
                let kinds: Vec<String> =
                    counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
                format!(" ({})", kinds.join(", "))
            }
            _ => String::new(),
        };
        format!("{} {what}{kinds}", sum(summary.member(name)))
    });
    format!(
        "---
license: {license}
pretty_name: {name}
tags:
- chess
size_categories:
- {size}
configs:
{configs}---

# {name}

{games} games of chess with {positions} positions, imported by dc0 {version} from {content}. Of {read} games that were read, {broken} and {left_out}.

| table | a row is |
|---|---|
{tables}
`iteration` and `game` join them. Columns are documented in dc0's `datasets/README.md`.

| file | blake3 |
|---|---|
{sources}
Options: {options}.

    dc0-run sql {name} \"select result, count(*) as games from games group by result\"
    dc0-run verify {name}

```python
import polars

positions = polars.scan_parquet(\"positions/*/*.parquet\", hive_partitioning=True)
```
",
        size = size_category(positions),
        version = record.environment.dc0,
        read = figure(summary, "read"),
        broken = left[0],
        left_out = left[1],
    )
}

fn options(params: &Value) -> String {
    let Value::Group(members) = params else { return String::new() };
    members.iter().map(|(name, value)| format!("`{name}: {value}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::size_category;

    #[test]
    fn sizes_are_those_of_hubs() {
        let found = [0, 999, 1000, 1_620_000, 20_000_000_000].map(size_category);
        assert_eq!(found, ["n<1K", "n<1K", "1K<n<10K", "1M<n<10M", "10B<n<100B"]);
    }
}
