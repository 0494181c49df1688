//! A plan as text and as JSON.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::super::alternatives::{self, Alternative};
use super::{Calls, OpenedRun, Plan, PlanRow, Setting, SweepPlan};
use crate::assumption::Assumption;
use crate::estimate::Work;
use crate::host::RunInfo;
use dc0_core::text_table::{Align, aligned};
use dc0_process::format::{amount, counted, duration};
use dc0_runs::PartialProgress;
use dc0_runs::declared::Declared;

const HEADINGS: [&str; 8] = ["", "games", "positions", "evaluations", "updates", "FLOP", "disk", "time"];

/// Shortest waiting time that gets a row, in seconds.
const MIN_WAITING: f64 = 0.5;
/// Failed trials of a sweep that are listed.
const MOST_FAILED: usize = 10;

/// The note of plans without times.
const NO_SPEEDS: &str =
    "no times: this machine has not been measured yet; `dc0-run bench calibrate` does it in half a minute";

/// The note of plans without times whose budgets are times.
const TYPICAL_SPEEDS: &str =
    "budgets in seconds are planned with the speeds of a typical machine with two cores";

/// The trials of a sweep that would fail, each with the reason.
fn failed(sweep: &SweepPlan) -> String {
    let count = sweep.failed.len();
    let lines = sweep.failed.iter().take(MOST_FAILED);
    let lines =
        lines.map(|(trial, because)| format!("  trial {trial}: {}\n", because.replace('\n', "\n    ")));
    let more =
        if count > MOST_FAILED { format!("  and {} more\n", count - MOST_FAILED) } else { String::new() };
    match count {
        0 => String::new(),
        count => format!("{} would fail:\n{}{more}", counted(count, "trial"), lines.collect::<String>()),
    }
}

fn failures(sweep: &SweepPlan) -> Vec<Json> {
    sweep.failed.iter().map(|(trial, because)| json!({ "trial": trial, "because": because })).collect()
}

impl Plan {
    pub(in super::super) fn render(
        &self,
        script: &str,
        declared: &[Declared],
        (assumption, alternatives): (Assumption, &[Alternative]),
    ) -> String {
        let described = |RunInfo { folder, seed, device, .. }: &RunInfo| {
            format!("{folder} (seed {seed}, device {device})")
        };
        let mut text = match self.runs.as_slice() {
            [run] => format!("{script} would do this in {}:\n", described(&run.info)),
            [] if self.sweeps.is_empty() => format!("{script} opens no run.\n"),
            runs => {
                let lines =
                    runs.iter().map(|run| format!("run {}: {}\n", run.info.name, described(&run.info)));
                format!("{script} would do this:\n{}", lines.collect::<String>())
            }
        };
        for sweep in &self.sweeps {
            text.push_str(&self.line(sweep));
            text.push_str(&failed(sweep));
        }
        text.push_str(&self.render_steps(assumption));
        text.push_str(&alternatives::render(alternatives));
        if !declared.is_empty() {
            let rows =
                declared.iter().map(|row| [row.path.clone(), row.value.shortened(), source(row).to_owned()]);
            let _ = write!(text, "\nparameters of the script\n{}", table(&rows.collect::<Vec<_>>()));
        }
        for calls in &self.calls {
            let times = if calls.count == 1 { "once".to_owned() } else { format!("{} times", calls.count) };
            let row = |setting: &Setting| {
                [setting.path.clone(), setting.value.shortened(), setting.source().to_owned()]
            };
            let rows: Vec<_> = calls.settings.iter().map(row).collect();
            let _ = write!(text, "\n{} ({times})\n{}", calls.kind, table(&rows));
        }
        text.trim_end().to_owned()
    }

    fn line(&self, sweep: &SweepPlan) -> String {
        let SweepPlan { name, trials, replicates, sampler, pruner, begun, .. } = sweep;
        let (requested, distinct) = (self.requested, self.seen.len());
        format!(
            "sweep {name}: {} of {} ({sampler}, pruner {pruner}); {} would begin or go on; \
             {distinct} of {} differ, and equal ones are done once\n",
            counted(*trials as usize, "trial"),
            counted(*replicates as usize, "run"),
            counted(begun.len(), "run"),
            counted(requested, "step")
        )
    }

    fn render_steps(&self, assumption: Assumption) -> String {
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        rows.extend(self.rows.iter().map(|row| self.row(row)));
        rows.extend(self.sweeps.iter().filter_map(|sweep| self.waiting_row(sweep)));
        let (left, seconds, done) = self.left();
        let steps = self.seen.len();
        let steps = counted(steps, "step");
        let title = match done {
            0 => steps,
            done => format!("{steps}, {done} of them done; left to do"),
        };
        rows.push(self.cells(&title, left, seconds, false));
        let missing = match (&self.speeds, self.sweeps.iter().any(|sweep| sweep.has_seconds)) {
            (Some(_), _) => String::new(),
            (None, false) => format!("{NO_SPEEDS}\n"),
            (None, true) => format!("{NO_SPEEDS}\n{TYPICAL_SPEEDS}\n"),
        };
        format!("{}{}\n{missing}", table(&rows), assumption.whole())
    }

    fn row(&self, row: &PlanRow) -> [String; 8] {
        let title = match &row.run {
            Some(run) if self.runs.len() > 1 => format!("{run}: {}", row.title()),
            _ => row.title(),
        };
        self.cells(&title, row.work, row.left_seconds, row.done == row.count)
    }

    /// The row of time in which trials wait for each other or no trial is left, unless it is short.
    fn waiting_row(&self, sweep: &SweepPlan) -> Option<[String; 8]> {
        let (waiting, description) =
            (sweep.waiting(), format!("sweep {}: waiting for other trials", sweep.name));
        (waiting >= MIN_WAITING).then(|| self.cells(&description, Work::default(), waiting, false))
    }

    fn cells(&self, description: &str, work: Work, seconds: f64, is_done: bool) -> [String; 8] {
        let shown = |count: f64| if count == 0.0 { "-".to_owned() } else { amount(count) };
        let time = match (is_done, &self.speeds) {
            (true, _) => "done".to_owned(),
            (false, Some(_)) if seconds > 0.0 => duration(Duration::from_secs_f64(seconds)),
            (false, _) => "-".to_owned(),
        };
        let [games, positions, evaluations, updates] =
            [work.games, work.positions, work.evaluations, work.updates].map(|count| shown(count as f64));
        [
            description.to_owned(),
            games,
            positions,
            evaluations,
            updates,
            shown(work.flops),
            shown(work.bytes) + "B",
            time,
        ]
        .map(|cell| if cell == "-B" { "-".to_owned() } else { cell })
    }

    /// The work that is left, its time including that of the process itself, and the number of finished steps.
    pub(super) fn left(&self) -> (Work, f64, u32) {
        let mut left = Work::default();
        self.rows.iter().for_each(|row| left.add(row.left));
        let start = self.speeds.as_ref().map_or(0.0, |speeds| speeds.start);
        let step_seconds: f64 = self.rows.iter().map(|row| row.left_seconds).sum();
        let waiting: f64 = self.sweeps.iter().map(SweepPlan::waiting).sum();
        (left, start + step_seconds + waiting, self.rows.iter().map(|row| row.done).sum())
    }

    /// The plan for programs; `docs/guides/scripts.md` describes it.
    pub(in super::super) fn to_json(
        &self,
        script: &str,
        declared: &[Declared],
        (assumption, alternatives): (Assumption, &[Alternative]),
    ) -> Json {
        let (left, seconds, done) = self.left();
        let run = |OpenedRun { info: RunInfo { name, folder, seed, device }, .. }: &OpenedRun| json!({ "name": name, "folder": folder, "seed": seed, "device": device });
        let sweep = |sweep: &SweepPlan| {
            let waiting = self.speeds.as_ref().map(|_| sweep.waiting());
            json!({ "name": sweep.name, "waiting": waiting, "trials": sweep.trials, "replicates": sweep.replicates,
                "sampler": sweep.sampler, "pruner": sweep.pruner, "runs": sweep.begun.len(), "failed": failures(sweep) })
        };
        let parameter =
            |row: &Declared| json!({ "name": row.path, "value": row.value, "source": source(row) });
        json!({
            "kind": "plan",
            "script": script,
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
            "sweeps": self.sweeps.iter().map(sweep).collect::<Vec<_>>(),
            "steps": self.rows.iter().map(|row| self.step_json(row)).collect::<Vec<_>>(),
            "distinct": self.seen.len(),
            "asked": self.requested,
            "done": done,
            "left": work_json(left),
            "seconds": self.speeds.as_ref().map(|_| seconds),
            "parameters": declared.iter().map(parameter).collect::<Vec<_>>(),
            "calls": self.calls.iter().map(Calls::to_json).collect::<Vec<_>>(),
            "assumption": assumption.name(),
            "assumed": assumption.whole(),
            "alternatives": alternatives.iter().map(Alternative::to_json).collect::<Vec<_>>(),
        })
    }

    fn step_json(&self, row: &PlanRow) -> Json {
        let mut step = work_json(row.work);
        step["kind"] = row.kind.into();
        step["run"] = json!(row.run);
        step["what"] = row.description.as_str().into();
        step["count"] = row.count.into();
        step["done"] = row.done.into();
        step["begun"] = row.begun.into();
        let parts =
            |begun: PartialProgress| json!({ "done": begun.parts, "of": begun.total, "unit": begun.unit });
        step["parts"] = json!(row.parts.filter(|_| row.count == 1).map(parts));
        step["seconds"] = json!(self.speeds.as_ref().map(|_| row.left_seconds));
        step
    }
}

fn work_json(work: Work) -> Json {
    json!({ "games": work.games, "positions": work.positions, "evaluations": work.evaluations,
        "updates": work.updates, "samples": work.samples, "flops": work.flops, "bytes": work.bytes })
}

impl PlanRow {
    /// The title of the row, with what is done: `match: 0001 vs 0000 (3 of 8 shards done)`, `sweep s: arena (16 steps, 5 done)`.
    fn title(&self) -> String {
        let Self { description, count, done, begun, parts, .. } = self;
        match parts {
            Some(PartialProgress { parts, total, unit, .. }) if *count == 1 => {
                return format!("{description} ({parts} of {total} {unit} done)");
            }
            _ if *count == 1 => return description.clone(),
            _ => {}
        }
        let mut title = format!("{description} ({count} steps");
        for (number, state) in [(*done, "done"), (*begun, "begun")] {
            if number > 0 && number < *count {
                let _ = write!(title, ", {number} {state}");
            }
        }
        title + ")"
    }
}

impl Calls {
    fn to_json(&self) -> Json {
        let setting = |setting: &Setting| json!({ "name": setting.path, "value": setting.value, "source": setting.source() });
        json!({ "kind": self.kind, "count": self.count,
            "parameters": self.settings.iter().map(setting).collect::<Vec<_>>() })
    }
}

impl Setting {
    fn source(&self) -> &'static str {
        if self.is_given { "script" } else { "default" }
    }
}

fn source(row: &Declared) -> &'static str {
    row.origin.name()
}

/// Aligned rows, the first column to the left and the others to the right.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let lines = aligned(rows, |column| if column == 0 { Align::Left } else { Align::Right });
    lines.into_iter().map(|line| format!("  {line}\n")).collect()
}
