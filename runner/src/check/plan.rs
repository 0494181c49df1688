//! What a script would do, and with which parameters.

use std::fmt::Write;

use dc0_core::params::Value;

use super::{has, standins};
use crate::host::RunInfo;
use crate::progress::amount;
use crate::script::declared::Declared;

/// The size of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) games: u64,
    pub(super) positions: u64,
    pub(super) evaluations: u64,
    pub(super) updates: u64,
}

impl Work {
    fn counts(self) -> [u64; 4] {
        [self.games, self.positions, self.evaluations, self.updates]
    }

    fn add(&mut self, other: Self) {
        self.games += other.games;
        self.positions += other.positions;
        self.evaluations += other.evaluations;
        self.updates += other.updates;
    }
}

/// One parameter of a call.
#[derive(Debug, Clone, PartialEq)]
struct Setting {
    path: String,
    value: Value,
    is_given: bool,
}

/// Calls of one kind with the same parameters.
#[derive(Debug, Clone, PartialEq)]
struct Calls {
    kind: &'static str,
    settings: Vec<Setting>,
    count: u32,
}

/// Everything planned so far.
#[derive(Debug, Default)]
pub(super) struct Plan {
    run: Option<RunInfo>,
    steps: Vec<(String, Work)>,
    calls: Vec<Calls>,
    networks: u32,
    iterations: u32,
    analyses: u32,
}

impl Plan {
    pub(super) fn open(&mut self, info: &RunInfo) {
        self.run = Some(info.clone());
    }

    pub(super) fn next_network(&mut self) -> u32 {
        self.networks += 1;
        self.networks - 1
    }

    pub(super) fn next_iteration(&mut self) -> u32 {
        self.iterations += 1;
        self.iterations - 1
    }

    pub(super) fn next_analysis(&mut self) -> u32 {
        self.analyses += 1;
        self.analyses - 1
    }

    /// Adds a step and gives their number.
    pub(super) fn add(
        &mut self,
        kind: &'static str,
        params: &Value,
        given: &Value,
        what: String,
        work: Work,
    ) -> usize {
        self.steps.push((what, work));
        let mut settings = Vec::new();
        list(params, "", given, &mut settings);
        match self.calls.iter_mut().find(|calls| calls.kind == kind && calls.settings == settings) {
            Some(calls) => calls.count += 1,
            None => self.calls.push(Calls { kind, settings, count: 1 }),
        }
        self.steps.len()
    }

    pub(super) fn render(&self, script: &str, declared: &[Declared]) -> String {
        let mut text = match &self.run {
            Some(run) => format!(
                "{script} would do this in {} (seed {}, device {}):\n",
                run.folder, run.seed, run.device
            ),
            None => format!("{script} opens no run.\n"),
        };
        text.push_str(&self.render_steps());
        if !declared.is_empty() {
            let source = |row: &Declared| if row.is_set { "--set" } else { "script" };
            let rows =
                declared.iter().map(|row| [row.path.clone(), row.value.to_string(), source(row).to_owned()]);
            let _ = write!(text, "\nparameters of the script\n{}", table(&rows.collect::<Vec<_>>()));
        }
        for calls in &self.calls {
            let times = if calls.count == 1 { "once".to_owned() } else { format!("{} times", calls.count) };
            let source = |setting: &Setting| if setting.is_given { "script" } else { "default" };
            let row = |setting: &Setting| {
                [setting.path.clone(), setting.value.to_string(), source(setting).to_owned()]
            };
            let rows: Vec<_> = calls.settings.iter().map(row).collect();
            let _ = write!(text, "\n{} ({times})\n{}", calls.kind, table(&rows));
        }
        text.trim_end().to_owned()
    }

    fn render_steps(&self) -> String {
        let mut total = Work::default();
        let headings = ["", "games", "positions", "evaluations", "updates"].map(str::to_owned);
        let mut rows = vec![headings];
        for (what, work) in &self.steps {
            total.add(*work);
            rows.push(row(what, *work));
        }
        rows.push(row(&format!("{} steps", self.steps.len()), total));
        format!("{}{}\n", table(&rows), standins::ASSUMPTIONS)
    }
}

fn row(what: &str, work: Work) -> [String; 5] {
    let shown = |count: u64| {
        if count == 0 { "-".to_owned() } else { amount(count as f64) }
    };
    let [games, positions, evaluations, updates] = work.counts().map(shown);
    [what.to_owned(), games, positions, evaluations, updates]
}

/// Every leaf of a group of parameters; a table of samples counts as one.
fn list(params: &Value, path: &str, given: &Value, settings: &mut Vec<Setting>) {
    if let Value::Group(members) = params {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            list(member, &path, given, settings);
        }
        return;
    }
    settings.push(Setting { path: path.to_owned(), value: params.clone(), is_given: has(given, path) });
}

/// Rows with columns as wide as their widest cell, the first to the left.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let mut line = format!("  {:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        line + "\n"
    };
    rows.iter().map(line).collect()
}
