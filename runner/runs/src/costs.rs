//! `costs.parquet`: the cost of each finished step, one row per step. It is derived from the journal and the manifests and
//! rewritten as a whole each time, so reopening the run repairs whatever a kill left behind.

use dc0_core::params::Value;
use dc0_core::store::{WideColumn, WideKind, write_wide};

use super::error::RunError;
use super::figures::Figures;
use super::folder::Folder;
use super::kind::StepKind;
use super::ledger::{Cost, Ledger};
use super::manifest::Manifest;
use super::record::Record;
use super::workers::{WorkerShares, listed};

/// The version of the columns and their meaning.
const VERSION: u32 = 1;

/// A finished step with its cost.
struct Row<'a> {
    order: u32,
    manifest: &'a Manifest,
    record: &'a Record,
    cost: Cost,
    workers: WorkerShares,
}

/// Writes the table of a run's finished steps, given with their positions in the script.
pub(super) fn write(
    folder: &Folder,
    record: &Record,
    steps: &[(u32, &Manifest)],
    ledger: &Ledger,
) -> Result<(), RunError> {
    let cost = |manifest: &Manifest| ledger.cost(manifest.identity().short()).cloned().unwrap_or_default();
    let rows: Vec<Row<'_>> = steps
        .iter()
        .map(|&(order, manifest)| {
            let workers = ledger.workers(manifest.identity().short());
            Row { order, manifest, record, cost: cost(manifest), workers }
        })
        .collect();
    write_wide(folder.root(), Folder::COSTS, "costs", VERSION, &columns(&rows), &record.of_costs())?;
    Ok(())
}

/// The cell of a row in a column.
type Cell = fn(&Row<'_>) -> Value;

const COLUMNS: [(&str, WideKind, Cell); 34] = [
    ("step", WideKind::Int, |row| count(u64::from(row.order))),
    ("identity", WideKind::Text, |row| Value::from(row.manifest.identity().short())),
    ("kind", WideKind::Text, |row| Value::from(&row.manifest.kind)),
    ("number", WideKind::Int, |row| row.number().map_or(Value::None, count)),
    ("taken_from", WideKind::Text, |row| Value::from(row.cost.from.as_deref().unwrap_or_default())),
    ("attempts", WideKind::Int, |row| known(row.is_timed(), || count(row.cost.attempts.into()))),
    ("seconds", WideKind::Float, |row| known(row.is_timed(), || Value::Float(row.cost.secs))),
    ("waited", WideKind::Float, |row| known(row.is_timed(), || Value::Float(row.cost.waited))),
    ("cpu_seconds", WideKind::Float, |row| row.measured(|figures| Value::Float(figures.cpu_secs))),
    ("device", WideKind::Text, |row| Value::from(&row.record.environment.device)),
    ("backend", WideKind::Text, |row| Value::from(&row.record.environment.backend)),
    ("precision", WideKind::Text, |row| Value::from(&row.record.environment.precision)),
    ("lanes", WideKind::Int, |row| {
        // Workers come and go.
        row.playing(|figures| known(row.workers.is_empty(), || count(figures.lanes.into())))
    }),
    ("threads", WideKind::Int, |row| {
        known(row.is_training(), || count(row.record.environment.threads.into()))
    }),
    ("games", WideKind::Int, |row| row.result("games")),
    ("positions", WideKind::Int, |row| row.result("positions")),
    ("simulations", WideKind::Int, |row| row.result("simulations")),
    ("evaluations", WideKind::Int, evaluations),
    ("evaluations_per_second", WideKind::Float, |row| row.rate(&evaluations(row))),
    ("cache_hits", WideKind::Int, |row| {
        row.playing(|figures| count(figures.evaluations.saturating_sub(figures.nets.rows)))
    }),
    ("mean_batch", WideKind::Float, |row| {
        row.playing(|Figures { nets, .. }| ratio(nets.rows as f64, nets.batches as f64))
    }),
    ("largest_batch", WideKind::Int, |row| row.playing(|figures| count(figures.nets.largest_batch))),
    ("batch_fill", WideKind::Float, |row| {
        row.playing(|Figures { nets, .. }| {
            ratio(nets.rows as f64, nets.batches as f64 * nets.largest_batch as f64)
        })
    }),
    ("net_idle", WideKind::Float, |row| row.playing(|figures| idle(&figures))),
    ("updates", WideKind::Int, |row| row.result("updates")),
    ("samples", WideKind::Int, samples),
    ("samples_per_second", WideKind::Float, |row| row.rate(&samples(row))),
    ("flops", WideKind::Float, flops),
    ("peak_memory", WideKind::Int, |row| row.measured(|figures| count(figures.peak_memory))),
    ("workers", WideKind::Int, |row| row.by_workers(|workers| count(workers.len() as u64))),
    ("worker_shards", WideKind::Int, |row| {
        row.by_workers(|workers| count(workers.values().map(|worker| worker.shards).sum()))
    }),
    ("worker_seconds", WideKind::Float, |row| {
        row.by_workers(|workers| Value::Float(workers.values().map(|worker| worker.secs).sum()))
    }),
    ("done_by", WideKind::Text, |row| row.by_workers(listed)),
    ("bytes", WideKind::Int, |row| count(row.manifest.files.iter().map(|entry| entry.bytes).sum())),
];

fn columns(rows: &[Row<'_>]) -> Vec<WideColumn> {
    let column = |(name, if_empty, cell): (&str, WideKind, Cell)| WideColumn {
        name: name.to_owned(),
        cells: rows.iter().map(cell).collect(),
        if_empty,
    };
    COLUMNS.into_iter().map(column).collect()
}

fn count(count: u64) -> Value {
    Value::Int(count as i64)
}

fn known(is_known: bool, value: impl FnOnce() -> Value) -> Value {
    if is_known { value() } else { Value::None }
}

fn ratio(amount: f64, per: f64) -> Value {
    known(per > 0.0, || Value::Float(amount / per))
}

/// Share of the lanes' time that was not spent waiting for nets.
fn idle(figures: &Figures) -> Value {
    known(figures.lane_secs > 0.0, || {
        Value::Float((1.0 - figures.nets.net_secs / figures.lane_secs).max(0.0))
    })
}

impl Row<'_> {
    fn number(&self) -> Option<u64> {
        Some(self.manifest.slot()?.number.into())
    }

    fn is_timed(&self) -> bool {
        self.cost.attempts > 0
    }

    fn is_training(&self) -> bool {
        self.manifest.kind == StepKind::TRAIN.name
    }

    /// A number from the step's result; empty if it has none of this name.
    fn result(&self, name: &str) -> Value {
        match self.manifest.summary.member(name) {
            Some(number @ (Value::Int(_) | Value::Float(_))) => number.clone(),
            _ => Value::None,
        }
    }

    fn measured(&self, cell: impl FnOnce(Figures) -> Value) -> Value {
        self.cost.figures.map_or(Value::None, cell)
    }

    /// A figure of nets, which only steps have in which they play; with those of workers, whose lanes have their nets as long as
    /// their shards take.
    fn playing(&self, cell: impl FnOnce(Figures) -> Value) -> Value {
        let mut all = self.cost.figures;
        for worker in self.workers.values() {
            // A part would be taken for the whole.
            all = all.zip(worker.nets).map(|(all, nets)| Figures {
                nets: all.nets.plus(nets),
                lane_secs: all.lane_secs + worker.secs,
                ..all
            });
        }
        all.filter(|all| all.nets.batches > 0).map_or(Value::None, cell)
    }

    /// A figure that only steps have of which workers on other machines did a part.
    fn by_workers(&self, cell: impl FnOnce(&WorkerShares) -> Value) -> Value {
        known(!self.workers.is_empty(), || cell(&self.workers))
    }

    fn rate(&self, work: &Value) -> Value {
        work.as_f64().map_or(Value::None, |work| ratio(work, self.cost.secs))
    }
}

/// All evaluations requested, including those repeated after a kill; for an unmeasured step, those of its result.
fn evaluations(row: &Row<'_>) -> Value {
    match row.cost.figures {
        Some(figures) => {
            let all = figures.evaluations.max(figures.nets.rows);
            known(all > 0, || count(all))
        }
        None => row.result("evaluations"),
    }
}

fn samples(row: &Row<'_>) -> Value {
    match row.cost.figures {
        Some(figures) => known(row.is_training(), || count(figures.samples)),
        None => row.result("samples_seen"),
    }
}

/// The backward pass of a sample costs twice its forward pass.
fn flops(row: &Row<'_>) -> Value {
    if !row.is_training() {
        return row.playing(|figures| Value::Float(figures.nets.flops));
    }
    let all = samples(row).as_f64().zip(row.result("flops").as_f64());
    all.map_or(Value::None, |(samples, flops)| Value::Float(3.0 * samples * flops))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use dc0_core::params::Value;
    use dc0_core::store::FileEntry;

    use super::{COLUMNS, Row};
    use crate::{Cost, WorkerShare};
    use crate::{Environment, Figures, Manifest, NetFigures, Record, ScriptRecord};

    #[test]
    fn the_schema_page_names_every_column() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/README.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let section = page.split("### `costs`").nth(1).expect("a section on costs");
        for (name, ..) in COLUMNS {
            assert!(section.contains(&format!("`{name}`")), "{name}");
        }
    }

    fn record() -> Record {
        let text = String::new;
        let script = ScriptRecord { file: text(), blake3: text(), text: text() };
        let (backend, device, precision) = ("torch".to_owned(), "cpu".to_owned(), "f32".to_owned());
        let (dc0, libraries) = (text(), text());
        let environment = Environment { backend, device, precision, pad_to: 1, threads: 3, dc0, libraries };
        let (modules, params, given) = (BTreeMap::new(), Value::group(), None);
        Record { version: 1, name: text(), script, modules, params, given, seed: 1, environment, fork: None }
    }

    fn manifest(kind: &str, file: &str, summary: &[(&str, i64)]) -> Manifest {
        let number = |&(name, number): &(&str, i64)| (name.to_owned(), Value::Int(number));
        let file = FileEntry { path: file.to_owned(), rows: 0, bytes: 40, blake3: String::new() };
        Manifest {
            version: 1,
            step: "ab".repeat(32),
            kind: kind.to_owned(),
            kind_version: 1,
            params: Value::group(),
            inputs: Vec::new(),
            seed: 1,
            files: vec![file.clone(), file],
            summary: Value::Group(summary.iter().map(number).collect()),
        }
    }

    /// The non-empty cells of a row.
    fn cells(manifest: &Manifest, cost: Cost) -> BTreeMap<&'static str, Value> {
        let shares = super::WorkerShares::new();
        let row = Row { order: 7, manifest, record: &record(), cost, workers: shares };
        COLUMNS
            .into_iter()
            .map(|(name, _, cell)| (name, cell(&row)))
            .filter(|(_, cell)| *cell != Value::None)
            .collect()
    }

    #[test]
    fn self_play_has_figures_of_nets_and_training_figures_of_samples() {
        let figures = Figures {
            lanes: 2,
            evaluations: 100,
            nets: NetFigures { rows: 80, batches: 10, largest_batch: 16, net_secs: 3.0, flops: 5e9 },
            lane_secs: 4.0,
            samples: 0,
            ..Figures::default()
        };
        let cost = |figures| Cost { attempts: 2, secs: 4.0, waited: 1.5, figures: Some(figures), from: None };
        let played = manifest("self_play", "games/iteration=0003/x", &[("games", 6), ("evaluations", 90)]);
        let played = cells(&played, cost(figures));
        let expected = [
            ("step", Value::Int(7)),
            ("number", Value::Int(3)),
            ("attempts", Value::Int(2)),
            ("seconds", Value::Float(4.0)),
            ("waited", Value::Float(1.5)),
            ("games", Value::Int(6)),
            ("evaluations", Value::Int(100)),
            ("evaluations_per_second", Value::Float(25.0)),
            ("cache_hits", Value::Int(20)),
            ("mean_batch", Value::Float(8.0)),
            ("batch_fill", Value::Float(0.5)),
            ("net_idle", Value::Float(0.25)),
            ("flops", Value::Float(5e9)),
            ("bytes", Value::Int(80)),
        ];
        for (name, value) in expected {
            assert_eq!(played[name], value, "{name}");
        }
        assert!(["threads", "updates", "samples"].iter().all(|name| !played.contains_key(name)));
        let summary = [("updates", 5), ("samples_seen", 40), ("flops", 1000)];
        let trained = manifest("train", "networks/0001.safetensors", &summary);
        let trained = cells(&trained, cost(Figures { samples: 60, ..Figures::default() }));
        assert_eq!(
            (&trained["samples"], &trained["samples_per_second"]),
            (&Value::Int(60), &Value::Float(15.0))
        );
        assert_eq!((&trained["flops"], &trained["threads"]), (&Value::Float(180_000.0), &Value::Int(3)));
        assert!(["lanes", "evaluations", "net_idle"].iter().all(|name| !trained.contains_key(name)));
    }

    #[test]
    fn what_workers_did_is_counted_and_listed() {
        let nets =
            |rows, largest_batch| NetFigures { rows, batches: 5, largest_batch, net_secs: 0.5, flops: 2e9 };
        let share =
            |shards, secs, nets| WorkerShare { platform: "x".to_owned(), shards, secs, nets: Some(nets) };
        let workers = |last| {
            [
                ("one".to_owned(), share(2, 3.0, nets(40, 16))),
                ("two".to_owned(), WorkerShare { nets: last, ..share(1, 0.5, nets(0, 0)) }),
            ]
            .into()
        };
        let played = manifest("self_play", "games/iteration=0003/x", &[("games", 6)]);
        // Of 100 evaluations this process has made 20 itself, and the nets of all 70.
        let figures =
            Some(Figures { evaluations: 100, nets: nets(20, 4), lane_secs: 0.5, ..Figures::default() });
        let cost = || Cost { attempts: 1, secs: 4.0, figures, ..Cost::default() };
        let record = record();
        let cell_of =
            |row: &Row<'_>, name| COLUMNS.iter().find(|(known, ..)| *known == name).expect("a column").2(row);
        let row = Row {
            order: 7,
            manifest: &played,
            record: &record,
            cost: cost(),
            workers: workers(Some(nets(10, 8))),
        };
        let cell = |name| cell_of(&row, name);
        let sums = ["workers", "worker_shards", "worker_seconds"].map(cell);
        assert_eq!(sums, [Value::Int(2), Value::Int(3), Value::Float(3.5)]);
        let all = ["evaluations", "evaluations_per_second"].map(cell);
        assert_eq!(all, [Value::Int(100), Value::Float(25.0)]);
        assert_eq!(
            ["cache_hits", "largest_batch", "lanes"].map(cell),
            [Value::Int(30), Value::Int(16), Value::None]
        );
        let [float, fill, idle, flops] = ["mean_batch", "batch_fill", "net_idle", "flops"].map(cell);
        assert_eq!((float, fill), (Value::Float(70.0 / 15.0), Value::Float(70.0 / (15.0 * 16.0))));
        assert_eq!((idle, flops), (Value::Float(1.0 - 1.5 / 4.0), Value::Float(6e9)));
        let unmeasured =
            Row { order: 7, manifest: &played, record: &record, cost: cost(), workers: workers(None) };
        let of_nets = ["cache_hits", "mean_batch", "largest_batch", "batch_fill", "net_idle", "flops"];
        assert!(of_nets.into_iter().all(|name| cell_of(&unmeasured, name) == Value::None), "a part of them");
        let Value::List(done_by) = cell("done_by") else { panic!("a list") };
        assert_eq!(done_by[1].member("worker"), Some(&Value::Text("two".to_owned())));
    }

    #[test]
    fn unmeasured_cells_are_empty_or_from_the_result() {
        let played = manifest("self_play", "games/iteration=0003/x", &[("games", 6), ("evaluations", 90)]);
        let from = Some("x".to_owned());
        let old = cells(&played, Cost { attempts: 1, secs: 3.0, waited: 3.0, figures: None, from });
        assert_eq!(
            (&old["evaluations"], &old["evaluations_per_second"]),
            (&Value::Int(90), &Value::Float(30.0))
        );
        assert_eq!(old["taken_from"], Value::Text("x".to_owned()));
        assert!(["cpu_seconds", "mean_batch", "flops"].iter().all(|name| !old.contains_key(name)));
        let unknown = cells(&played, Cost::default());
        assert!(!unknown.contains_key("seconds") && unknown["taken_from"] == Value::Text(String::new()));
    }
}
