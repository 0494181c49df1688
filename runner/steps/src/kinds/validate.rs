//! The step that measures a net on stored games, and stores what it predicts of each position.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::params::{Problem, Value};
use dc0_core::rng::Seed;
use dc0_core::selfplay::{Shard, lanes};
use dc0_core::store::{GameRow, PositionRow, read_entry, write_table};
use dc0_core::text_table;
use dc0_core::trainer::{PredictionSums, ValidateParams, Validated, ValidationGames, ValidationJob};
use dc0_process::format::counted;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace};
use serde::{Deserialize, Serialize};

use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{Estimate, ShardPlan, TABLE_BYTES, Work, flops, number};
use crate::files;
use crate::handles::{Network, StoredShard, Validation, ValidationFields, Window, short_digest};
use crate::memory::{Machine, Memory};
use crate::metered::only_metered;
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

/// Bytes of a prediction's row.
const ROW_BYTES: f64 = 55.0;

/// The net that is measured, and the games that it is measured on.
pub(crate) struct NetworkValidation {
    network: Network,
    window: Window,
}

/// A shard's part of the summary.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    games: u64,
    sums: PredictionSums,
}

impl Step for NetworkValidation {
    const KIND: &'static StepKind = &StepKind::VALIDATE;
    const VERSION: u32 = 3;
    const USAGES: &'static [Usage] = &[Usage {
        name: "validate",
        form: "run.validate(network, window, #{…})",
        returns: "a validation",
        meaning: "A step: measures a net on the games of a window without training it, as it plays, and stores what it predicts of each \
            position. With `held_out` only on games that a training holds out.",
        example: "let validation = run.validate(trained, games, #{ positions: \"all\" });\nprint(validation.value_loss);",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[ArgumentKind::Network, ArgumentKind::Window]];
    const NEEDS_MAP: bool = false;

    type Params = ValidateParams;

    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String> {
        match <[Argument; 2]>::try_from(arguments) {
            Ok([Argument::Network(network), Argument::Window(window)]) => {
                window.refuse_weights(problems);
                Ok(Self { network, window })
            }
            _ => Err(no_matching_form()),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self { network: past.read(manifest, "network")?.clone(), window: Window::default() })
    }

    /// The digest of the tablebases is an input: another set of files in the same folder makes a different step. So is the number of each
    /// iteration, which the rows have.
    fn inputs(&self, params: &ValidateParams) -> Result<Vec<Input>, StepError> {
        let mut inputs = vec![Input { name: "network".to_owned(), digest: self.network.0.digest.clone() }];
        for StoredShard { games, files, .. } in self.window.stored() {
            let name = format!("iteration={:04}/{}", games.0.iteration, files.name());
            for (kind, entry) in [("games", files.games), ("positions", files.positions)] {
                inputs.push(Input { name: format!("{kind} {name}"), digest: entry.blake3.clone() });
            }
        }
        inputs.extend(params.training().open_tablebases()?.as_ref().map(files::tablebases_input));
        Ok(inputs)
    }

    fn run(
        &self,
        params: &ValidateParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let net = files::load(&workspace.folder, &self.network)?;
        let all = self.window.shards();
        let shards = Shards::<Part>::find(workspace, all.clone())?;
        let done = shards.finished.keys().map(|index| u64::from(all[*index as usize].games)).sum();
        let amount = Amount { unit: "games", done, total: self.games().into() };
        let progress = context.progress(workspace, &format!("validation of {}", self.network.name()), amount);
        let tables = params.training().open_tablebases()?;
        let job = ValidationJob {
            params,
            // So that nets of a run are measured on the same positions.
            seed: Seed { step: 0, ..workspace.seed },
            value_head: net.spec.value_head.kind,
            tables: tables.as_ref(),
        };
        let measure = |evaluator: &mut Box<dyn Evaluator>, shard: Shard| {
            self.measure(job, workspace.folder.root(), shard, &mut **evaluator, &progress)
        };
        let keep = |shard: Shard, found: Validated| {
            self.keep(workspace, shard, &found).map(|()| ControlFlow::Continue(()))
        };
        workspace.meter.set_lanes(context.lanes);
        let worker = || Ok::<_, StepError>(only_metered(&context.evaluators, &net, &workspace.meter)?);
        lanes::run(&shards.rest, context.lanes, &worker, &measure, &keep)?;
        context.close(&progress);
        let product = product(workspace, shards.count)?;
        if number(&product.summary, "positions") == 0 {
            log::warn!(
                "validation of {}: of {} no position was measured; give more games, a larger held_out or share, or set positions to \"all\" \
                 if their searches were no policy targets",
                self.network.name(),
                counted(self.games() as usize, "game")
            );
        }
        Ok(product)
    }

    fn result(&self, _: &ValidateParams, output: StepOutput) -> Result<StepResult, StepError> {
        let StepOutput { number, summary, .. } = output;
        Ok(StepResult::Validation(Validation(Arc::new(ValidationFields { number, summary }))))
    }

    fn players(&self) -> String {
        format!("of {}", self.network.name())
    }

    fn figures(summary: &Value) -> String {
        let shown = |name| {
            let figure = summary.figure(name);
            figure.map_or_else(|| "-".to_owned(), |figure| text_table::figure(figure, 3))
        };
        let positions = counted(number(summary, "positions") as usize, "position");
        let [policy, value, accuracy] = ["policy_loss", "value_loss", "policy_accuracy"].map(shown);
        format!("{positions}, policy loss {policy}, value loss {value}, policy accuracy {accuracy}")
    }

    fn planned(&self, params: &ValidateParams, number: u32) -> Result<String, StepError> {
        let (net, games) = (self.network.name(), counted(self.games() as usize, "game"));
        let which = if params.held_out.is_some() { "those held out of " } else { "" };
        Ok(format!("validation {number:04}: {net} measured on {which}{games}"))
    }

    fn begun(&self, _: &ValidateParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        Ok(Shards::<Part>::find(workspace, self.window.shards())?.progress(|part| part.sums.positions))
    }

    fn memory(&self, _: &ValidateParams, machine: Machine) -> Memory {
        Memory::of_inference(&[&self.network], self.window.shards().len() as u32, machine)
    }

    fn estimate(&self, params: &ValidateParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        let all = self.positions(params);
        let positions = all.saturating_sub(done);
        let shards = self.window.shards().len();
        let flops = positions as f64 * flops(&self.network);
        let shard = (all as u32).div_ceil(shards.max(1) as u32).max(1);
        let plan = ShardPlan { count: positions as u32, shard, game_slots: params.batch, lanes };
        let pace = plan.pace(1.0, 1.0, positions as f64, flops);
        let bytes = positions as f64 * ROW_BYTES + shards as f64 * TABLE_BYTES;
        Estimate { work: Work { positions, evaluations: positions, flops, bytes, ..Work::default() }, pace }
    }

    fn mock_result(&self, params: &ValidateParams, _: u32, _: u32, assumption: Assumption) -> MockResult {
        MockResult { summary: self.assumed(params, assumption), files: vec!["predictions".to_owned()] }
    }

    fn spent(&self, _: &ValidateParams, summary: &Value) -> Spent {
        let evaluations = number(summary, "positions") as f64;
        Spent { evaluations, flops: evaluations * flops(&self.network), ..Spent::default() }
    }
}

impl NetworkValidation {
    fn games(&self) -> u32 {
        self.window.sum("games") as u32
    }

    /// The positions to measure, if those of the parameters are as many as there are on average.
    fn positions(&self, params: &ValidateParams) -> u64 {
        let share = params.share * params.held_out.unwrap_or(1.0);
        (self.window.sum("positions") as f64 * share) as u64
    }

    fn measure(
        &self,
        job: ValidationJob<'_>,
        own: &Path,
        shard: Shard,
        evaluator: &mut dyn Evaluator,
        observer: &dyn Observer,
    ) -> Result<Validated, StepError> {
        let stored = self.window.stored_shard(shard);
        let root = stored.games.root(own);
        let games: Vec<GameRow> = read_entry(root, stored.files.games)?;
        let positions: Vec<PositionRow> = read_entry(root, stored.files.positions)?;
        let of = ValidationGames {
            source: stored.source,
            iteration: stored.games.0.iteration,
            name: stored.files.name(),
            games: &games,
            positions: &positions,
        };
        Ok(job.shard(of, evaluator, observer)?)
    }

    fn keep(&self, workspace: &StepWorkspace, shard: Shard, found: &Validated) -> Result<(), StepError> {
        let (network, number) = (short_digest(&self.network.0.digest), shard.index.to_string());
        let games = self.window.stored_shard(shard).files.name();
        let more = [("network", network), ("shard", number.as_str()), ("games", games)];
        let provenance = files::provenance(workspace, more);
        let path = workspace.part("predictions", shard.index);
        let files = vec![write_table(workspace.folder.root(), &path, &found.rows, &provenance)?];
        let mut sums = PredictionSums::default();
        found.rows.iter().for_each(|row| sums.add(row));
        let part = Part { games: found.games, sums };
        Ok(workspace.keep_shard(shard.index, &ShardNote { files, part })?)
    }

    /// The mock summary: a net as it might be.
    fn assumed(&self, params: &ValidateParams, assumption: Assumption) -> Value {
        let [policy, value] = assumption.pick([[2.2, 0.8], [0.04, 0.01], [7.0, 1.0]]);
        let [accuracy, entropy] = assumption.pick([[0.4, 1.5], [0.99, 0.03], [0.01, 3.0]]);
        let [brier, calibration_error] = assumption.pick([[0.5, 0.05], [0.02, 0.0], [1.2, 0.4]]);
        let has_moves_left = self.network.0.spec.moves_left_head.is_some();
        let count = |count: u64| Value::Int(count as i64);
        Value::of([
            ("games", count((f64::from(self.games()) * params.held_out.unwrap_or(1.0)) as u64)),
            ("positions", count(self.positions(params))),
            ("scored_positions", count(self.positions(params))),
            ("policy_loss", Value::Float(policy)),
            ("policy_entropy", Value::Float(entropy)),
            ("policy_accuracy", Value::Float(accuracy)),
            ("policy_top_three", Value::Float(accuracy)),
            ("value_loss", Value::Float(value)),
            ("moves_left_loss", if has_moves_left { Value::Float(value) } else { Value::None }),
            ("brier", Value::Float(brier)),
            ("calibration_error", Value::Float(calibration_error)),
        ])
    }
}

/// Merges the shards in order from their notes, so that the result does not depend on when they were done.
fn product(workspace: &StepWorkspace, shards: u32) -> Result<Product, StepError> {
    let (mut whole, mut entries) = (Part::default(), Vec::new());
    for note in workspace.all_shards::<Part>(shards)? {
        entries.extend(note.files);
        whole.games += note.part.games;
        whole.sums.merge(&note.part.sums);
    }
    let mut summary = whole.sums.to_value();
    summary.put("games", Value::Int(whole.games as i64));
    Ok(Product { files: entries, summary })
}
