//! The step that makes a net with random weights, and functions shared by all steps that make nets.

use std::path::Path;
use std::sync::Arc;

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::graph::Graph;
use dc0_core::network::{NetworkSpec, initial_weights, parameter_count};
use dc0_core::params::{Problem, Value};
use dc0_process::format::amount;
use dc0_runs::{Input, Manifest, Product, RunError, StepKind, StepWorkspace};

use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{Estimate, Work, weight_bytes};
use crate::files;
use crate::handles::{Network, NetworkFields};
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::speeds::ShardCost;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult};
use crate::usage::Usage;

/// Has no arguments: a net with random weights reads nothing.
pub(crate) struct NewNetwork;

impl Step for NewNetwork {
    const KIND: &'static StepKind = &StepKind::NETWORK;
    const VERSION: u32 = 1;
    const USAGES: &'static [Usage] = &[Usage {
        name: "network",
        form: "run.network(#{…})",
        returns: "a net",
        meaning: "A step: makes a net with random weights.",
        example: "let net = run.network(#{ tower: #{ blocks: 1, filters: 16 } });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[]];
    const NEEDS_MAP: bool = false;

    type Params = NetworkSpec;

    fn from_arguments(_: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        Ok(Self)
    }

    fn from_manifest(_: &Manifest, _: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self)
    }

    fn inputs(&self, _: &NetworkSpec) -> Result<Vec<Input>, StepError> {
        Ok(Vec::new())
    }

    fn run(
        &self,
        spec: &NetworkSpec,
        workspace: &StepWorkspace,
        _: &StepContext,
    ) -> Result<Product, StepError> {
        let weights = initial_weights(spec, workspace.seed);
        let net =
            Checkpoint { spec: spec.clone(), weights, provenance: files::net_provenance(workspace, []) };
        Ok(Product { files: files::save(workspace, &net)?, summary: summary(spec) })
    }

    fn result(&self, spec: &NetworkSpec, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(network(spec.clone(), output))
    }

    fn figures(summary: &Value) -> String {
        figures(summary, "random weights")
    }

    fn planned(&self, spec: &NetworkSpec, number: u32) -> Result<String, StepError> {
        Ok(format!("network {number:04}: {}", described(spec)))
    }

    fn memory(&self, spec: &NetworkSpec, _: Machine) -> Memory {
        Memory::of_new(parameter_count(spec) as f64, 0.0)
    }

    fn estimate(&self, spec: &NetworkSpec, _: u64, _: Option<&Value>, _: u32) -> Estimate {
        estimate(spec)
    }

    fn mock_result(&self, spec: &NetworkSpec, number: u32, _: u32, _: Assumption) -> MockResult {
        mock_result(summary(spec), number)
    }
}

/// The net that a step has made; the first of its files has the weights.
pub(crate) fn network(spec: NetworkSpec, output: StepOutput) -> StepResult {
    let StepOutput { run, number, summary, files, .. } = output;
    let training_state =
        files.iter().find(|entry| Path::new(&entry.path).starts_with(files::TRAINING_STATES)).cloned();
    let (digest, file) =
        files.into_iter().next().map(|weights| (weights.blake3, weights.path)).unwrap_or_default();
    let fields = NetworkFields { run, number, digest, spec, file, training_state, summary };
    StepResult::Network(Network(Arc::new(fields)))
}

/// The figures of a net made without training; `weights` says which weights it has.
pub(crate) fn figures(summary: &Value, weights: &str) -> String {
    let parameters = summary.figure("parameters").unwrap_or(f64::NAN);
    format!("{} parameters, {weights}", amount(parameters))
}

/// A net's size and cost as text.
pub(crate) fn described(spec: &NetworkSpec) -> String {
    let (tower, giga) = (&spec.tower, 2.0 * Graph::new(spec).multiply_adds() as f64 / 1e9);
    let (kind, parameters) = (tower.kind.name(), amount(parameter_count(spec) as f64));
    format!("{} {kind}, {parameters} parameters, {giga:.3} GFLOP an evaluation", tower.size())
}

/// The estimate of a net made without training: only its files are written.
pub(crate) fn estimate(spec: &NetworkSpec) -> Estimate {
    let work = Work { bytes: weight_bytes(spec), ..Work::default() };
    Estimate { work, pace: ShardCost::default() }
}

/// The mock result of a step that makes a net.
pub(crate) fn mock_result(summary: Value, number: u32) -> MockResult {
    MockResult { summary, files: vec![format!("networks/{number:04}.safetensors")] }
}

/// The summary of a net made without training.
pub(crate) fn summary(spec: &NetworkSpec) -> Value {
    Value::Group(summary_members(spec).into())
}

/// The members that every net has in its summary.
pub fn summary_members(spec: &NetworkSpec) -> [(String, Value); 2] {
    let operations = 2 * Graph::new(spec).multiply_adds();
    [
        ("parameters".to_owned(), Value::Int(parameter_count(spec) as i64)),
        ("flops".to_owned(), Value::Int(operations as i64)),
    ]
}
