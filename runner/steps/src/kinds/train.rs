//! The step that trains a net on a window of games.

use std::collections::BTreeMap;

use dc0_core::event::{Event, Observer};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::Device;
use dc0_core::network::torch::runtime::cpu_has_bf16;
use dc0_core::network::{AuxiliaryHeadsSpec, NetworkSpec, Precision, layout};
use dc0_core::params::{Problem, Value};
use dc0_core::store::{
    FileEntry, GameRow, PositionRow, ShardFiles, TrainingRow, ValidationRow, read_entry, verify_file,
    write_table,
};
use dc0_core::text_table;
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{
    self, CarriedState, OptimizerStart, TrainJob, TrainParams, TrainPrecision, TrainSummary, Trained,
};
use dc0_process::format::counted;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, StepKind, StepWorkspace};

use super::network;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{Estimate, TABLE_BYTES, Work, flops, weight_bytes};
use crate::files;
use crate::handles::{Network, Source, Window};
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::speeds::ShardCost;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

/// The file of the training state between updates, in the working folder of its step.
pub const STATE: &str = "training.state";

/// Parameters that the script gave for heads or a batch norm that the net does not have; `None` if there are none. A weight of 0 asks for
/// nothing, as the defaults of batch norm do.
fn unserved(params: &TrainParams, given: &Value, net: &NetworkSpec) -> Option<String> {
    let AuxiliaryHeadsSpec { soft_policy, reply, material } = net.auxiliary_heads.clone().unwrap_or_default();
    let soft_policy_params = ["soft_policy_weight", "soft_policy_temperature"];
    let default = TrainParams::default();
    let changes_batch_norm =
        params.batch_norm != default.batch_norm || params.batch_norm_momentum != default.batch_norm_momentum;
    let has_batch_norm = layout(net).iter().any(|tensor| tensor.role.is_batch_norm());
    let parts = [
        (
            "moves_left_head",
            net.moves_left_head.is_some(),
            params.moves_left_weight.max() > 0.0,
            &["moves_left_weight"][..],
        ),
        (
            "auxiliary head soft_policy",
            soft_policy,
            params.soft_policy_weight.max() > 0.0,
            &soft_policy_params,
        ),
        ("auxiliary head reply", reply, params.reply_weight.max() > 0.0, &["reply_weight"]),
        (
            "auxiliary head material",
            material,
            params.material_weight.max() > 0.0,
            &["material_weight", "material_plies"],
        ),
        ("batch norm", has_batch_norm, changes_batch_norm, &["batch_norm", "batch_norm_momentum"]),
    ];
    let problem = |(part, has, is_used, members): &(&str, bool, bool, &[&str])| {
        let given = members.iter().copied().filter(|member| given.member(member).is_some());
        let given: Vec<&str> = given.collect();
        let is_unserved = !has && *is_used && !given.is_empty();
        is_unserved
            .then(|| format!("{}: this net has no {part}, so that would have no effect", given.join(", ")))
    };
    let problems: Vec<String> = parts.iter().filter_map(problem).collect();
    (!problems.is_empty())
        .then(|| format!("{}; leave it out, or give a net that has it", problems.join("; ")))
}

/// The net to train, and the games to train it on.
pub(crate) struct Training {
    start: Network,
    window: Window,
}

impl Step for Training {
    const KIND: &'static StepKind = &StepKind::TRAIN;
    const VERSION: u32 = 10;
    const USAGES: &'static [Usage] = &[Usage {
        name: "train",
        form: "run.train(network, window, #{…})",
        returns: "the trained net",
        meaning: "A step: trains a net on the games of a window, of an iteration or import, or of a dataset; `a + b` are the games of \
            two of them, and `a * 0.5` takes each of them half as often as those of others.",
        example: "let trained = run.train(net, window, #{ updates: 10, learning_rate: |update| 0.002 });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[ArgumentKind::Network, ArgumentKind::Window]];

    type Params = TrainParams;

    fn schedules() -> Option<(&'static str, u32)> {
        Some(("updates", TrainParams::default().updates))
    }

    fn from_arguments(arguments: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        match <[Argument; 2]>::try_from(arguments) {
            Ok([Argument::Network(start), Argument::Window(window)]) => Ok(Self { start, window }),
            _ => Err(no_matching_form()),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self { start: past.read(manifest, "start")?.clone(), window: Window::default() })
    }

    fn conflict(&self, params: &TrainParams, given: &Value) -> Option<String> {
        let sources = &*self.window.0;
        if !sources.is_empty() && sources.iter().all(|source| source.weight == 0.0) {
            let advice = "leave out `* 0`, or add games with a weight above 0";
            return Some(format!("all games have the weight 0, so there is nothing to train on; {advice}"));
        }
        unserved(params, given, &self.start.0.spec)
    }

    /// The digest of the tablebases is an input: another set of files in the same folder makes a different step.
    fn inputs(&self, params: &TrainParams) -> Result<Vec<Input>, StepError> {
        let mut inputs = vec![Input { name: "start".to_owned(), digest: self.start.0.digest.clone() }];
        if let Some(state) = self.carried_state(params) {
            inputs.push(Input { name: "training state".to_owned(), digest: state.blake3.clone() });
        }
        for source in &*self.window.0 {
            for part in ShardFiles::of_iteration(&source.games.0.files) {
                for (kind, entry) in [("games", part.games), ("positions", part.positions)] {
                    let name = format!("{kind} {}", source.label(part.name()));
                    inputs.push(Input { name, digest: entry.blake3.clone() });
                }
            }
        }
        inputs.extend(params.open_tablebases()?.as_ref().map(files::tablebases_input));
        Ok(inputs)
    }

    fn run(
        &self,
        params: &TrainParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let net = files::load(&workspace.folder, &self.start)?;
        let params = &in_precision_of_run(params, context.evaluators.precision());
        let label = format!("training from {}", self.start.name());
        let amount = Amount { unit: "updates", done: 0, total: params.updates.into() };
        let progress = context.progress(workspace, &label, amount);
        let device = context.evaluators.first_device();
        if params.precision == TrainPrecision::BFloat16 && device == Device::Cpu && !cpu_has_bf16() {
            let text = format!(
                "{label}: this processor has no instructions for bf16, with which training takes many times as long as in f32; leave \
                 out `precision`, which then is what suits the machine"
            );
            progress.event(Event::Warning(&text));
        }
        let samples = samples(workspace, &net, &self.window, params, &progress)?;
        let state_path = workspace.scratch(STATE);
        let carried = self.carried_state(params).map(|entry| (workspace.folder.path(&entry.path), entry));
        if let Some((_, entry)) = &carried {
            verify_file(workspace.folder.root(), entry)?;
        }
        let job = TrainJob {
            params,
            start: &net,
            samples: &samples,
            seed: workspace.seed,
            threads: context.threads,
            device,
            carried: carried.as_ref().map(|(path, entry)| CarriedState { path, blake3: &entry.blake3 }),
            state_path: &state_path,
        };
        let trained = trainer::train(job, &progress)?;
        context.close(&progress);
        let mut product = store(workspace, &self.start, &net, trained)?;
        if params.keep_state {
            product.files.push(files::keep_training_state(workspace, &state_path)?);
        }
        Ok(product)
    }

    fn result(&self, _: &TrainParams, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(network::network(self.start.0.spec.clone(), output))
    }

    fn figures(summary: &Value) -> String {
        let figure = |name| summary.figure(name).unwrap_or(f64::NAN);
        let updates = counted(figure("updates") as usize, "update");
        // What no position teaches has no loss.
        let shown = |loss: f64| if loss.is_nan() { "-".to_owned() } else { text_table::figure(loss, 3) };
        let [loss, policy, value] = ["loss", "policy_loss", "value_loss"].map(|name| shown(figure(name)));
        format!("{updates}, loss {loss} (policy {policy}, value {value})")
    }

    fn planned(&self, _: &TrainParams, number: u32) -> Result<String, StepError> {
        let (start, games) = (self.start.name(), counted(self.window.sum("games") as usize, "game"));
        Ok(format!("network {number:04}: trained from {start} on {games}"))
    }

    /// A state that cannot be read is reported by the step itself.
    fn begun(&self, params: &TrainParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        let parts = trainer::updates_done(&workspace.scratch(STATE)).unwrap_or(0);
        Ok(PartialProgress { parts, total: params.updates, unit: "updates", amount: parts.into() })
    }

    fn memory(&self, params: &TrainParams, machine: Machine) -> Memory {
        Memory::of_training(&self.start, params, machine)
    }

    /// A sample's backward pass costs twice its forward pass. The whole window is read, and held-out positions are evaluated before
    /// the first update, at every checkpoint and after the last.
    fn estimate(&self, params: &TrainParams, done: u64, _: Option<&Value>, _: u32) -> Estimate {
        let left = files::left(params.updates, done);
        let updates = u64::from(left);
        let samples = updates * u64::from(params.batch);
        let flops_per_sample = flops(&self.start);
        let flops = 3.0 * samples as f64 * flops_per_sample;
        let nets = if params.keep_state { 4.0 } else { 1.0 };
        let bytes = nets * weight_bytes(&self.start.0.spec) + 2.0 * TABLE_BYTES;
        let positions = self.window.sum("positions") as f64;
        let held_out = (positions * params.validation_fraction).min(f64::from(params.validation_samples));
        let validations = 1.0 + f64::from(left.div_ceil(params.checkpoint_every));
        let pace = ShardCost {
            shards: 0,
            batches: updates as f64,
            items: samples as f64 + held_out * validations / 3.0,
            flops: flops + held_out * validations * flops_per_sample,
            read: positions,
        };
        Estimate { work: Work { updates, samples, flops, bytes, ..Work::default() }, pace }
    }

    fn mock_result(&self, params: &TrainParams, number: u32, _: u32, assumption: Assumption) -> MockResult {
        network::mock_result(assumed(params, &self.window, &self.start.0.spec, assumption), number)
    }

    fn spent(&self, _: &TrainParams, summary: &Value) -> Spent {
        let figure = |name| summary.figure(name).unwrap_or(0.0);
        let flops = 3.0 * figure("samples_seen") * figure("flops");
        Spent { updates: figure("updates"), flops, ..Spent::default() }
    }
}

impl Training {
    /// The state that the training goes on from.
    fn carried_state(&self, params: &TrainParams) -> Option<&FileEntry> {
        let is_carried = params.optimizer.state == OptimizerStart::Carried;
        self.start.0.training_state.as_ref().filter(|_| is_carried)
    }
}

/// The parameters with the precision that `auto` stands for.
fn in_precision_of_run(params: &TrainParams, evaluation: Precision) -> TrainParams {
    let precision = match (params.precision, evaluation) {
        (TrainPrecision::Auto, Precision::Bf16) => TrainPrecision::BFloat16,
        (TrainPrecision::Auto, _) => TrainPrecision::Float32,
        (chosen, _) => chosen,
    };
    TrainParams { precision, ..params.clone() }
}

fn samples(
    workspace: &StepWorkspace,
    net: &Checkpoint,
    window: &Window,
    params: &TrainParams,
    observer: &dyn Observer,
) -> Result<Samples, StepError> {
    let mut samples = Samples::new(net.spec.input(), params)?.with_seed(workspace.seed);
    for (source, Source { games, weight }) in (0..).zip(&*window.0) {
        let root = games.root(workspace.folder.root());
        for part in ShardFiles::of_iteration(&games.0.files) {
            observer.check()?;
            let games: Vec<GameRow> = read_entry(root, part.games)?;
            let positions: Vec<PositionRow> = read_entry(root, part.positions)?;
            let name = part.name();
            samples.add(Part { name, source, weight: *weight, games: &games, positions: &positions })?;
        }
    }
    Ok(samples.finish())
}

fn store(
    workspace: &StepWorkspace,
    start: &Network,
    net: &Checkpoint,
    trained: Trained,
) -> Result<Product, StepError> {
    let from = [("start", start.0.digest.as_str())];
    let provenance = files::net_provenance(workspace, from);
    let mut entries =
        files::save(workspace, &Checkpoint { spec: net.spec.clone(), weights: trained.weights, provenance })?;
    let root = workspace.folder.root();
    let path = |folder| workspace.slot.path(folder, ".parquet");
    let provenance = files::provenance(workspace, from);
    entries.push(write_table(root, &path("training"), &trained.curve, &provenance)?);
    entries.push(write_table(root, &path("validation"), &trained.validation, &provenance)?);
    let mut summary = summary_value(&trained.summary);
    summary.extend(network::summary_members(&net.spec));
    Ok(Product { files: entries, summary: Value::Group(summary) })
}

/// The summary of a training for scripts. Losses and scores that are not numbers, since nothing was measured, are (); so are the
/// validation's figures if no games were held out.
fn summary_value(summary: &TrainSummary) -> BTreeMap<String, Value> {
    let count = |count: u64| Value::Int(count as i64);
    let known = |value: f64| if value.is_nan() { Value::None } else { Value::Float(value) };
    let counts = [
        ("updates", count(summary.updates.into())),
        ("samples_seen", count(summary.samples_seen)),
        ("optimizer_updates", count(summary.optimizer_updates)),
        ("training_samples", count(summary.training_samples)),
        ("validation_samples", count(summary.validation_samples)),
        ("training_games", count(summary.training_games.into())),
        ("validation_games", count(summary.validation_games.into())),
        ("reuse", Value::Float(summary.samples_seen as f64 / summary.training_samples.max(1) as f64)),
    ];
    let mut members: BTreeMap<String, Value> = counts.map(|(name, value)| (name.to_owned(), value)).into();
    // The learning rate is a parameter.
    let found = summary.last.figures().into_iter().filter(|(name, _)| *name != "learning_rate");
    members.extend(found.map(|(name, value)| (name.to_owned(), known(value))));
    let held_out = summary.validation.unwrap_or_else(|| ValidationRow::from_numbers([f64::NAN; 14]));
    members.extend(held_out.figures().map(|(name, value)| (format!("validation_{name}"), known(value))));
    members
}

/// The mock summary: a training as it might end.
fn assumed(params: &TrainParams, window: &Window, spec: &NetworkSpec, assumption: Assumption) -> Value {
    let [policy_loss, value_loss] = assumption.pick([[2.2, 0.8], [0.04, 0.01], [7.0, 1.0]]);
    let loss = policy_loss + value_loss;
    let [policy_accuracy, policy_entropy] = assumption.pick([[0.4, 1.5], [0.99, 0.05], [0.01, 3.0]]);
    let [brier, calibration_error] = assumption.pick([[0.5, 0.05], [0.02, 0.0], [1.2, 0.4]]);
    let [weight_norm, batch_norm_gap] = assumption.pick([[20.0, 0.0], [5.0, -0.1], [500.0, 1.0]]);
    let has = |head: fn(&AuxiliaryHeadsSpec) -> bool| spec.auxiliary_heads.as_ref().is_some_and(head);
    let loss_of = |has_head: bool, loss: f64| if has_head { loss } else { f64::NAN };
    let moves_left_loss = loss_of(spec.moves_left_head.is_some(), 0.0);
    let soft_policy_loss = loss_of(has(|heads| heads.soft_policy), policy_loss);
    let reply_loss = loss_of(has(|heads| heads.reply), policy_loss);
    let material_loss = loss_of(has(|heads| heads.material), value_loss);
    let update = params.updates;
    let last = TrainingRow {
        update,
        learning_rate: params.learning_rate.at(update - 1),
        loss,
        policy_loss,
        value_loss,
        moves_left_loss,
        policy_accuracy,
        policy_entropy,
        gradient_norm: 1.0,
        soft_policy_loss,
        reply_loss,
        material_loss,
        policy_top_three: policy_accuracy,
        brier,
        weight_norm,
    };
    let held_out = |count: i64| (count as f64 * params.validation_fraction) as u64;
    let (games, positions) = (window.sum("games"), window.sum("positions"));
    let validation = ValidationRow {
        update,
        loss,
        policy_loss,
        value_loss,
        moves_left_loss,
        policy_accuracy,
        policy_entropy,
        soft_policy_loss,
        reply_loss,
        material_loss,
        policy_top_three: policy_accuracy,
        brier,
        calibration_error,
        batch_norm_gap,
    };
    let summary = TrainSummary {
        updates: update,
        optimizer_updates: update.into(),
        samples_seen: u64::from(update) * u64::from(params.batch),
        training_samples: (window.weighted_sum("positions") * (1.0 - params.validation_fraction)) as u64
            * params.mirror.images(),
        validation_samples: held_out(positions),
        training_games: (games as u64 - held_out(games)) as u32,
        validation_games: held_out(games) as u32,
        last,
        validation: (held_out(games) > 0).then_some(validation),
    };
    let mut members = summary_value(&summary);
    members.extend(network::summary_members(spec));
    Value::Group(members)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use dc0_core::network::{NetworkSpec, Tower, TowerSpec};

    use super::*;
    use crate::handles::NetworkFields;
    use dc0_core::params::{Param, read};
    use dc0_runs::{Identity, StepCall};

    fn identity(tables: Option<&Path>) -> Result<Identity, StepError> {
        let (digest, file) = ("ab".repeat(32), "networks/0000.safetensors".to_owned());
        let (spec, summary) = (NetworkSpec::default(), Value::group().into());
        let fields =
            NetworkFields { run: "run".into(), number: 0, digest, spec, file, training_state: None, summary };
        let tablebases = tables.map(|folder| folder.display().to_string());
        let params = TrainParams { tablebases, ..TrainParams::default() };
        let training = Training { start: Network(Arc::new(fields)), window: Window::default() };
        let inputs = training.inputs(&params)?;
        let (kind, version) = (Training::KIND.name, Training::VERSION);
        Ok(Identity::new(&StepCall { kind, version, params: params.to_value(), inputs }, 1, 0))
    }

    #[test]
    fn what_is_not_measured_is_no_figure_of_the_summary() {
        let last =
            TrainingRow { policy_loss: f64::NAN, value_loss: 0.25, loss: 0.25, ..TrainingRow::default() };
        let summary = TrainSummary {
            updates: 10,
            samples_seen: 10,
            training_samples: 1,
            validation_samples: 0,
            training_games: 1,
            validation_games: 0,
            optimizer_updates: 10,
            last,
            validation: None,
        };
        let summary = Value::Group(summary_value(&summary));
        assert_eq!(summary.member("policy_loss"), Some(&Value::None));
        assert_eq!(Training::figures(&summary), "10 updates, loss 0.250 (policy -, value 0.250)");
    }

    #[test]
    fn parameters_of_batch_norm_need_a_net_that_has_it() {
        let parsed = |text: &str| -> (TrainParams, Value) {
            let given: Value = serde_json::from_str(text).expect("JSON");
            (read("train", &given).expect("parameters"), given)
        };
        let (params, given) = parsed(r#"{"batch_norm_momentum": 0.2}"#);
        let net = |kind| NetworkSpec {
            tower: TowerSpec { kind, filters: 64, ..TowerSpec::default() },
            ..NetworkSpec::default()
        };
        assert_eq!(unserved(&params, &given, &net(Tower::SeResnet)), None);
        let problem = unserved(&params, &given, &net(Tower::Nnue)).expect("no batch norm");
        assert!(problem.starts_with("batch_norm_momentum: this net has no batch norm, so"), "{problem}");
        let (params, given) = parsed(r#"{"batch_norm": "batch", "batch_norm_momentum": 0.1}"#);
        assert_eq!(unserved(&params, &given, &net(Tower::Nnue)), None, "the defaults");
    }

    #[test]
    fn another_set_of_tablebases_makes_a_different_step() {
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
    fn missing_tablebases_are_an_error_before_the_step_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = identity(Some(folder.path())).expect_err("no tables");
        assert!(matches!(error, StepError::Tablebase(_)), "{error}");
    }
}
