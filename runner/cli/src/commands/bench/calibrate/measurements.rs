//! Derives the machine's speed from finished runs.

use std::collections::BTreeMap;
use std::path::Path;

use dc0_runs::view::finished_steps;
use dc0_runs::{Folder, History, JournalEvent, Manifest, StepKind};
use dc0_steps::speeds::{Costs, Measured, Speeds};

/// The steps of a run, in order.
pub(super) struct Observed(Vec<Step>);

/// A finished step.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    /// The last note before it.
    label: String,
    kind: String,
    seconds: f64,
    /// Evaluations or samples.
    items: f64,
    /// Positions played.
    positions: f64,
    /// Floating-point operations of one evaluation by its input net.
    flops: f64,
}

impl Observed {
    /// Reads a run in a folder.
    pub(super) fn read(parent: &Path, name: &str) -> Result<Self, String> {
        let folder = Folder::of_run(parent, name).map_err(|error| error.to_string())?;
        let history = History::read(&folder).map_err(|error| error.to_string())?;
        let finished = finished_steps(&folder).map_err(|error| error.to_string())?;
        let steps: BTreeMap<&str, &Manifest> =
            finished.iter().map(|(identity, step)| (identity.short(), step)).collect();
        let net_flops: BTreeMap<&str, f64> = finished
            .values()
            .filter_map(|step| Some((step.weights()?.blake3.as_str(), number(step, "flops"))))
            .collect();
        let (mut label, mut observed) = (String::new(), Vec::new());
        for entry in history.entries() {
            match (entry.event(), entry.text("text"), entry.step()) {
                (Some(JournalEvent::Note), Some(text), _) => text.clone_into(&mut label),
                (Some(JournalEvent::Finished), _, Some(step)) => {
                    let Some(manifest) = steps.get(step) else { continue };
                    let flops =
                        manifest.inputs.first().and_then(|input| net_flops.get(input.digest.as_str()));
                    let items = number(manifest, "evaluations").max(number(manifest, "samples_seen"));
                    observed.push(Step {
                        label: label.clone(),
                        kind: manifest.kind.clone(),
                        seconds: entry.secs(),
                        items,
                        positions: number(manifest, "positions"),
                        flops: flops.copied().unwrap_or(0.0),
                    });
                }
                _ => {}
            }
        }
        Ok(Self(observed))
    }

    /// The fastest step of a kind after a note.
    fn best(&self, label: &str, kind: &str) -> Result<&Step, String> {
        let matching = self.0.iter().filter(|step| step.label == label && step.kind == kind);
        let best = matching.min_by(|one, other| one.seconds.total_cmp(&other.seconds));
        best.ok_or_else(|| format!("no {kind} was measured for \"{label}\""))
    }

    /// Seconds of the fastest step of each kind after a note.
    fn steps(&self, label: &str) -> BTreeMap<String, f64> {
        let mut steps: BTreeMap<String, f64> = BTreeMap::new();
        for step in self.0.iter().filter(|step| step.label == label) {
            let best = steps.entry(step.kind.clone()).or_insert(step.seconds);
            *best = best.min(step.seconds);
        }
        steps
    }

    fn seconds(&self) -> f64 {
        self.0.iter().map(|step| step.seconds).sum()
    }
}

fn number(manifest: &Manifest, name: &str) -> f64 {
    manifest.summary.figure(name).unwrap_or(0.0)
}

/// The speeds that follow from new processes, each with its seconds, and a warm one with `lanes` lanes.
pub(super) fn speeds(cold: &[(f64, Observed)], warm: &Observed, lanes: u32) -> Result<Speeds, String> {
    let step = warm.steps("tiny");
    let fixed = |kind: &str| step.get(kind).copied().unwrap_or(0.0);
    let mut first = step.clone();
    for (kind, extra) in &mut first {
        let all = cold.iter().filter_map(|(_, cold)| cold.best("", kind).ok());
        let fastest = all.map(|step| step.seconds).fold(f64::INFINITY, f64::min);
        *extra = if fastest.is_finite() { (fastest - *extra).max(0.0) } else { 0.0 };
    }
    let start =
        cold.iter().map(|(all, steps)| (all - steps.seconds()).max(0.0)).fold(f64::INFINITY, f64::min);
    let (self_play, train) = (StepKind::SELF_PLAY.name, StepKind::TRAIN.name);
    let eight = warm.best("shards", self_play)?.seconds;
    let shard = ((eight - fixed(self_play)) / 7.0).max(0.0);
    let positions = warm.best("unread", self_play)?.positions;
    let read = (warm.best("read", train)?.seconds - fixed(train)).max(0.0) / positions.max(1.0);
    let measured = |label: &str, kind: &str, rows: f64| -> Result<Measured, String> {
        let found = warm.best(label, kind)?;
        let work = (found.seconds - fixed(kind)).max(0.0);
        let is_training = kind == train;
        let lanes = if is_training { 1.0 } else { f64::from(lanes) };
        let flops = if is_training { 3.0 * found.flops } else { found.flops };
        Ok(Measured { flops, rows, seconds: work * lanes / found.items.max(1.0) })
    };
    let costs = |kind, large, small| -> Result<Costs, String> {
        Ok(Costs::of([
            measured("dc0-2x32 in large batches", kind, large)?,
            measured("dc0-2x32 in small batches", kind, small)?,
            measured("dc0-4x64 in large batches", kind, large)?,
        ]))
    };
    let (playing, training) = (costs(self_play, 32.0, 2.0)?, costs(train, 128.0, 8.0)?);
    Ok(Speeds { start, step, first, shard, read, playing, training })
}

#[cfg(test)]
mod tests {
    use super::{Observed, Step, speeds};
    use dc0_steps::speeds::ShardCost;

    fn step(label: &str, kind: &str, seconds: f64, (items, positions, flops): (f64, f64, f64)) -> Step {
        Step { label: label.to_owned(), kind: kind.to_owned(), seconds, items, positions, flops }
    }

    /// A machine with known costs: 0.1 s a step, 0.2 s more for the first, 1 ms a batch, 10 µs a row, 1 ps an operation.
    fn machine() -> (Vec<(f64, Observed)>, Observed) {
        let nothing = (0.0, 0.0, 0.0);
        let cold = [("self_play", 0.3), ("train", 0.3)].map(|(kind, secs)| step("", kind, secs, nothing));
        let mut warm = vec![
            step("tiny", "self_play", 0.15, nothing),
            step("tiny", "self_play", 0.1, nothing),
            step("tiny", "train", 0.1, nothing),
            step("shards", "self_play", 0.1 + 7.0 * 0.02, nothing),
            step("unread", "self_play", 1.0, (0.0, 1000.0, 0.0)),
            step("read", "train", 0.1 + 0.05, nothing),
        ];
        let labels = [
            ("dc0-2x32 in large batches", 32.0, 128.0, 1e6),
            ("dc0-2x32 in small batches", 2.0, 8.0, 1e6),
            ("dc0-4x64 in large batches", 32.0, 128.0, 1e7),
        ];
        for (label, rows, batch, flops) in labels {
            let each = |rows: f64, flops: f64| 1e-3 / rows + 1e-5 + flops * 1e-12;
            let playing = 0.1 + 1000.0 / 2.0 * each(rows, flops);
            warm.push(step(label, "self_play", playing, (1000.0, 0.0, flops)));
            warm.push(step(label, "train", 0.1 + 1000.0 * each(batch, 3.0 * flops), (1000.0, 0.0, flops)));
        }
        (vec![(1.4, Observed(cold.to_vec())), (1.1, Observed(cold.to_vec()))], Observed(warm))
    }

    #[test]
    fn costs_are_recovered_from_measured_times() {
        let (cold, warm) = machine();
        let found = speeds(&cold, &warm, 2).expect("everything was measured");
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        near(found.start, 0.5);
        near(found.step["self_play"], 0.1);
        near(found.first["train"], 0.2);
        near(found.shard, 0.02);
        near(found.read, 5e-5);
        for costs in [found.playing, found.training] {
            near(costs.batch, 1e-3);
            near(costs.item, 1e-5);
            near(costs.flop * 1e12, 1.0);
        }
        // A lane that plays 100 batches of 10 rows: 0.1 of the step, 0.1 of batches, 0.01 of rows, 0.001 of arithmetic.
        let pace = ShardCost { shards: 1, batches: 100.0, items: 1000.0, flops: 1e9, read: 0.0 };
        near(found.seconds("self_play", &pace), 0.211);
    }

    #[test]
    fn a_missing_measurement_is_named() {
        let (cold, mut warm) = machine();
        warm.0.retain(|step| step.label != "shards");
        let error = speeds(&cold, &warm, 2).expect_err("something is missing");
        assert_eq!(error, "no self_play was measured for \"shards\"");
    }
}
