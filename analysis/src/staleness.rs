//! How old the nets were that played the games of each training: the table `staleness`, computed from the run's steps and promotions.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use crate::computed_tables::{ColumnDef, cells, names};
use crate::source::{RunSource, StepRow};

/// The name of the table.
pub(crate) const STALENESS: &str = "staleness";

const COLUMNS: [ColumnDef<Row>; 9] = [
    ("network", "u32", |row| row.network.into()),
    ("iteration", "u32", |row| row.iteration.into()),
    ("games", "i64", |row| row.games.clone()),
    ("positions", "i64", |row| row.positions.clone()),
    ("player", "u32", |row| row.player.into()),
    ("generation", "u32", |row| row.generation.into()),
    ("newest", "u32", |row| row.newest.into()),
    ("generations_behind", "i64", |row| {
        let behind = row.generation.zip(row.newest).map(|(own, newest)| i64::from(newest) - i64::from(own));
        behind.into()
    }),
    ("updates_behind", "i64", |row| row.updates_behind.into()),
];

/// The games of one iteration in the window of one training.
struct Row {
    /// The number of the net that was trained.
    network: Option<u32>,
    iteration: Option<u32>,
    games: Value,
    positions: Value,
    /// The number of the net that played.
    player: Option<u32>,
    /// The last generation that this net had become before the training.
    generation: Option<u32>,
    /// The last generation before the training.
    newest: Option<u32>,
    updates_behind: Option<i64>,
}

fn figure(step: &StepRow, name: &str) -> Value {
    step.summary.member(name).cloned().unwrap_or(Value::None)
}

/// The names and types of the table's own columns.
pub(crate) fn columns() -> Vec<(&'static str, &'static str)> {
    names(&COLUMNS).collect()
}

/// The rows of a run, by training and iteration. Games of other runs and of datasets are left out: their nets are not the run's.
pub(crate) fn rows(run: &RunSource) -> Vec<Vec<Value>> {
    let nets = Nets::of(run);
    let mut rows = Vec::new();
    for training in run.steps.iter().filter(|step| step.kind == "train") {
        let window: BTreeSet<&str> = training.inputs.iter().filter_map(|(name, _)| step_of(name)).collect();
        let games = run.steps.iter().filter(|step| window.contains(step.identity.as_str()));
        rows.extend(games.map(|games| nets.row(run, training, games)));
    }
    rows.iter().map(|row| cells(&COLUMNS, row).collect()).collect()
}

/// The step that stored a shard of games, from the shard's name among the inputs of a training: `games part-0a1b2c3d-00000`.
pub(crate) fn step_of(input: &str) -> Option<&str> {
    input.strip_prefix("games part-")?.get(..8)
}

/// The nets of a run, by their digests.
struct Nets {
    numbers: BTreeMap<String, u32>,
    /// Updates of a net and of those that it was trained from.
    updates: BTreeMap<String, i64>,
}

impl Nets {
    fn of(run: &RunSource) -> Self {
        let (mut numbers, mut updates) = (BTreeMap::new(), BTreeMap::<String, i64>::new());
        for step in run.steps.iter().filter(|step| step.makes_net()) {
            let (Some(net), Some(number)) = (&step.network, step.number) else { continue };
            let before = step.input("start").and_then(|start| updates.get(start)).copied().unwrap_or(0);
            let own = figure(step, "updates").as_f64().unwrap_or(0.0) as i64;
            // Equal nets of several steps are one, which counts as the first of them.
            numbers.entry(net.clone()).or_insert(number);
            updates.entry(net.clone()).or_insert(before + own);
        }
        Self { numbers, updates }
    }

    fn row(&self, run: &RunSource, training: &StepRow, games: &StepRow) -> Row {
        let player = games.network.as_ref();
        let before = || {
            run.promotions
                .iter()
                .filter(|promoted| promoted.steps.is_some_and(|steps| steps <= training.step))
        };
        let is_player = |network: &str| player.is_some_and(|player| player == network);
        let updates = |net: Option<&str>| self.updates.get(net?).copied();
        let start = updates(training.input("start"));
        Row {
            network: training.number,
            iteration: games.number,
            games: figure(games, "games"),
            positions: figure(games, "positions"),
            player: player.and_then(|net| self.numbers.get(net)).copied(),
            generation: before()
                .filter(|promoted| is_player(&promoted.network))
                .map(|promoted| promoted.generation)
                .next_back(),
            newest: before().map(|promoted| promoted.generation).next_back(),
            updates_behind: start
                .zip(updates(player.map(String::as_str)))
                .map(|(start, played)| start - played),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, rows};
    use crate::source::{Promotion, RunSource, StepRow};
    use dc0_core::params::Value;

    fn step(
        step: u32,
        kind: &str,
        number: u32,
        net: &str,
        figures: &[(&str, i64)],
        inputs: &[(&str, &str)],
    ) -> StepRow {
        let figures = figures.iter().map(|(name, figure)| ((*name).to_owned(), Value::Int(*figure)));
        StepRow {
            step,
            kind: kind.to_owned(),
            series: Some(if kind == "self_play" { "iteration" } else { "network" }.to_owned()),
            number: Some(number),
            identity: format!("{step:08}"),
            network: Some(net.to_owned()),
            seconds: None,
            bytes: 0,
            summary: Value::Group(figures.collect()),
            params: Value::group(),
            inputs: inputs.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect(),
        }
    }

    #[test]
    fn games_are_as_stale_as_the_nets_that_played_them() {
        let trained = [("updates", 20)];
        let played = [("games", 4), ("positions", 40)];
        let steps = vec![
            step(0, "network", 0, "a", &[], &[]),
            step(1, "self_play", 0, "a", &played, &[]),
            step(2, "train", 1, "b", &trained, &[("start", "a"), ("games part-00000001-00000", "x")]),
            // The first net played this beside the first training.
            step(3, "self_play", 1, "a", &played, &[]),
            step(
                4,
                "train",
                2,
                "c",
                &trained,
                &[
                    ("start", "b"),
                    ("games part-00000001-00000", "x"),
                    ("positions part-00000001-00000", "x"),
                    ("games part-00000003-00000 × 0.5", "y"),
                    ("games part-00000003-00001 × 0.5", "y"),
                    ("games part-99999999-00000", "of a dataset"),
                ],
            ),
        ];
        let promotion = |generation, network: &str, steps| Promotion {
            generation,
            network: network.to_owned(),
            steps: Some(steps),
        };
        let promotions = vec![promotion(0, "a", 1), promotion(1, "b", 3), promotion(2, "c", 5)];
        let run = RunSource { steps, promotions, ..RunSource::from_folder("x", "x") };
        let rows: Vec<Vec<Option<i64>>> = rows(&run)
            .into_iter()
            .map(|row| row.into_iter().map(|cell| cell.as_f64().map(|number| number as i64)).collect())
            .collect();
        assert_eq!(COLUMNS.map(|(name, ..)| name)[..2], ["network", "iteration"]);
        let row = |network, iteration, newest, behind, updates| {
            [network, iteration, 4, 40, 0, 0, newest, behind, updates].map(Some).to_vec()
        };
        assert_eq!(rows, [row(1, 0, 0, 0, 0), row(2, 0, 1, 1, 20), row(2, 1, 1, 1, 20)]);
    }
}
