//! The step that trains a net on a window of games.

use std::collections::BTreeMap;

use dc0_core::event::Observer;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Param, Value};
use dc0_core::store::{FileEntry, GameRow, PositionRow, read_entry, write_table};
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{self, TrainJob, TrainParams, TrainSummary, Trained};

use super::{Shop, StepError, files};
use crate::handles::{Network, Window};
use dc0_runs::{Begun, Folder, Input, Product, StepCall, Workplace};

/// The state between updates.
const STATE: &str = "training.state";

/// The games and the positions of one shard; the name says which, whatever the iteration's number.
struct StoredPart {
    name: String,
    games: FileEntry,
    positions: FileEntry,
}

/// The tables are part of what is read: another set of files in the same folder makes another step.
pub(crate) fn call(start: &Network, window: &Window, params: &TrainParams) -> Result<StepCall, StepError> {
    let mut inputs = vec![Input { name: "start".to_owned(), digest: start.0.digest.clone() }];
    for part in parts(window) {
        for (kind, entry) in [("games", &part.games), ("positions", &part.positions)] {
            inputs.push(Input { name: format!("{kind} {}", part.name), digest: entry.blake3.clone() });
        }
    }
    if let Some(tables) = params.open_tablebases()? {
        inputs.push(Input { name: "tablebases".to_owned(), digest: tables.digest() });
    }
    Ok(StepCall { kind: "train", version: 2, params: params.to_value(), inputs })
}

/// The window's shards, the oldest first; each games file is followed by its positions file.
fn parts(window: &Window) -> Vec<StoredPart> {
    let stem = |path: &str| path.rsplit('/').next().unwrap_or(path).trim_end_matches(".parquet").to_owned();
    let files = window.0.iter().flat_map(|games| games.0.files.chunks_exact(2));
    let part = |pair: &[FileEntry]| StoredPart {
        name: stem(&pair[0].path),
        games: pair[0].clone(),
        positions: pair[1].clone(),
    };
    files.map(part).collect()
}

/// What a kill left of such a step; a state that cannot be read is for the step itself to complain of.
pub(crate) fn begun(place: &Workplace, params: &TrainParams) -> Begun {
    let parts = trainer::updates_done(&place.scratch(STATE)).unwrap_or(0);
    Begun { parts, of: params.updates, unit: "updates", amount: parts.into() }
}

pub(super) fn body(
    place: &Workplace,
    shop: &Shop,
    (start, window): (&Network, &Window),
    params: &TrainParams,
) -> Result<Product, StepError> {
    let net = files::load(&place.folder, start)?;
    let progress = shop.progress(
        place,
        &format!("training from {}", start.name()),
        ("updates", 0, params.updates.into()),
    );
    let samples = samples(&place.folder, &net, window, params, &progress)?;
    let job = TrainJob {
        params,
        start: &net,
        samples: &samples,
        seed: place.seed,
        threads: shop.threads,
        device: shop.evaluators.first_device(),
        state_path: &place.scratch(STATE),
    };
    let trained = trainer::train(job, &progress)?;
    shop.close(&progress);
    store(place, start, &net, trained)
}

fn samples(
    folder: &Folder,
    net: &Checkpoint,
    window: &Window,
    params: &TrainParams,
    observer: &dyn Observer,
) -> Result<Samples, StepError> {
    let mut samples = Samples::new(net.spec.input(), params)?;
    for part in parts(window) {
        observer.check()?;
        let games: Vec<GameRow> = read_entry(folder.root(), &part.games)?;
        let positions: Vec<PositionRow> = read_entry(folder.root(), &part.positions)?;
        samples.add(Part { name: &part.name, games: &games, positions: &positions })?;
    }
    Ok(samples)
}

fn store(
    place: &Workplace,
    start: &Network,
    net: &Checkpoint,
    trained: Trained,
) -> Result<Product, StepError> {
    let from = [("start", start.0.digest.as_str())];
    let provenance = files::net_provenance(place, from);
    let mut entries =
        files::save(place, &Checkpoint { spec: net.spec.clone(), weights: trained.weights, provenance })?;
    let root = place.folder.root();
    let path = |folder| place.slot.path(folder, ".parquet");
    let provenance = files::provenance(place, from);
    entries.push(write_table(root, &path("training"), &trained.curve, &provenance)?);
    entries.push(write_table(root, &path("validation"), &trained.validation, &provenance)?);
    let mut summary = summary_value(&trained.summary);
    summary.extend(super::network::summary_members(&net.spec));
    Ok(Product { files: entries, summary: Value::Group(summary) })
}

/// A training in a few numbers, as scripts see them; () for the validation where no games were held out.
pub fn summary_value(summary: &TrainSummary) -> BTreeMap<String, Value> {
    let count = |count: u64| Value::Int(count as i64);
    let (last, validation) = (summary.last, summary.validation);
    let held_out = |value: Option<f64>| value.map_or(Value::None, Value::Float);
    let fields = [
        ("updates", count(summary.updates.into())),
        ("samples_seen", count(summary.samples_seen)),
        ("training_samples", count(summary.training_samples)),
        ("validation_samples", count(summary.validation_samples)),
        ("training_games", count(summary.training_games.into())),
        ("validation_games", count(summary.validation_games.into())),
        ("loss", Value::Float(last.loss)),
        ("policy_loss", Value::Float(last.policy_loss)),
        ("value_loss", Value::Float(last.value_loss)),
        ("moves_left_loss", Value::Float(last.moves_left_loss)),
        ("policy_accuracy", Value::Float(last.policy_accuracy)),
        ("policy_entropy", Value::Float(last.policy_entropy)),
        ("gradient_norm", Value::Float(last.gradient_norm)),
        ("validation_loss", held_out(validation.map(|row| row.loss))),
        ("validation_policy_loss", held_out(validation.map(|row| row.policy_loss))),
        ("validation_value_loss", held_out(validation.map(|row| row.value_loss))),
        ("validation_moves_left_loss", held_out(validation.map(|row| row.moves_left_loss))),
        ("validation_policy_accuracy", held_out(validation.map(|row| row.policy_accuracy))),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use dc0_core::network::NetworkSpec;

    use super::*;
    use crate::handles::NetworkFields;
    use dc0_runs::Identity;

    fn identity(tables: Option<&Path>) -> Result<Identity, StepError> {
        let (digest, file) = ("ab".repeat(32), "networks/0000.safetensors".to_owned());
        let (spec, summary) = (NetworkSpec::default(), Value::group());
        let fields = NetworkFields { run: "run".into(), number: 0, digest, spec, file, summary };
        let tablebases = tables.map(|folder| folder.display().to_string());
        let params = TrainParams { tablebases, ..TrainParams::default() };
        let call = call(&Network(Arc::new(fields)), &Window(Arc::default()), &params)?;
        Ok(Identity::new(&call, 1, 0))
    }

    #[test]
    fn another_set_of_tablebases_is_another_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let add = |name| fs::write(folder.path().join(name), [0; 80]).expect("a file");
        add("KQvK.rtbw");
        let few = identity(Some(folder.path())).expect("a table");
        assert_eq!(identity(Some(folder.path())).expect("a table"), few);
        add("KQvK.rtbz");
        assert_ne!(identity(Some(folder.path())).expect("tables"), few);
        assert_ne!(identity(None).expect("no tables"), few);
    }

    #[test]
    fn tablebases_that_are_not_there_stop_the_step_before_it_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = identity(Some(folder.path())).expect_err("no tables");
        assert!(matches!(error, StepError::Tablebase(_)), "{error}");
    }
}
