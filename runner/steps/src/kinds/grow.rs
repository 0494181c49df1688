//! The step that grows a net into a larger one.

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::{GrowParams, NetworkSpec, grow, parameter_count};
use dc0_core::params::{Problem, Value};
use dc0_runs::{Input, Manifest, Product, RunError, StepKind, StepWorkspace};

use super::network;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::Estimate;
use crate::files;
use crate::handles::Network;
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

/// The net that grows.
pub(crate) struct Growth {
    start: Network,
}

impl Growth {
    fn target(&self, params: &GrowParams) -> Result<NetworkSpec, StepError> {
        Ok(params.target(&self.start.0.spec)?)
    }

    /// The spec of the grown net; that of the start if it cannot grow so, which the step itself rejects.
    fn planned_spec(&self, params: &GrowParams) -> NetworkSpec {
        params.target(&self.start.0.spec).unwrap_or_else(|_| self.start.0.spec.clone())
    }
}

impl Step for Growth {
    const KIND: &'static StepKind = &StepKind::GROW;
    const VERSION: u32 = 2;
    const USAGES: &'static [Usage] = &[
        Usage {
            name: "grow",
            form: "run.grow(network, #{…})",
            returns: "a net",
            meaning: "A step: grows a net into a larger one that gives the same outputs.",
            example: "let larger = run.grow(net, #{ blocks: 2 });",
        },
        Usage {
            name: "inspect",
            form: "run.inspect(network, #{…})",
            returns: "a map",
            meaning: "Statistics of the outputs of a net's layers and heads.",
            example: "let inside = run.inspect(net); print(inside.logit_deviation);",
        },
    ];
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[ArgumentKind::Network]];

    type Params = GrowParams;

    fn from_arguments(arguments: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        match <[Argument; 1]>::try_from(arguments) {
            Ok([Argument::Network(start)]) => Ok(Self { start }),
            _ => Err(no_matching_form()),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        Ok(Self { start: past.read(manifest, "start")?.clone() })
    }

    fn check_new(&self, params: &GrowParams) -> Result<(), StepError> {
        params.new_target(&self.start.0.spec)?;
        Ok(())
    }

    fn inputs(&self, _: &GrowParams) -> Result<Vec<Input>, StepError> {
        Ok(vec![Input { name: "start".to_owned(), digest: self.start.0.digest.clone() }])
    }

    fn run(
        &self,
        params: &GrowParams,
        workspace: &StepWorkspace,
        _: &StepContext,
    ) -> Result<Product, StepError> {
        let net = files::load(&workspace.folder, &self.start)?;
        let (spec, weights) = grow(&net.spec, &net.weights, params, workspace.seed)?;
        let provenance = files::net_provenance(workspace, [("start", self.start.0.digest.as_str())]);
        let summary = network::summary(&spec);
        let grown = Checkpoint { spec, weights, provenance };
        Ok(Product { files: files::save(workspace, &grown)?, summary })
    }

    fn result(&self, params: &GrowParams, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(network::network(self.target(params)?, output))
    }

    fn figures(summary: &Value) -> String {
        network::figures(summary, "grown")
    }

    fn planned(&self, params: &GrowParams, number: u32) -> Result<String, StepError> {
        let grown = network::described(&self.target(params)?);
        Ok(format!("network {number:04}: {} grows to {grown}", self.start.name()))
    }

    fn memory(&self, params: &GrowParams, _: Machine) -> Memory {
        let parameters = |spec: &NetworkSpec| parameter_count(spec) as f64;
        Memory::of_new(parameters(&self.planned_spec(params)), parameters(&self.start.0.spec))
    }

    fn estimate(&self, params: &GrowParams, _: u64, _: Option<&Value>, _: u32) -> Estimate {
        network::estimate(&self.planned_spec(params))
    }

    fn mock_result(&self, params: &GrowParams, number: u32, _: u32, _: Assumption) -> MockResult {
        network::mock_result(network::summary(&self.planned_spec(params)), number)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dc0_core::network::AuxiliaryHeadsSpec;

    use super::*;
    use crate::handles::NetworkFields;

    #[test]
    fn a_finished_step_that_names_a_head_of_its_net_has_a_result() {
        let heads = AuxiliaryHeadsSpec { reply: true, ..AuxiliaryHeadsSpec::default() };
        let spec = NetworkSpec { auxiliary_heads: Some(heads.clone()), ..NetworkSpec::default() };
        let fields = NetworkFields {
            run: "run".into(),
            number: 0,
            digest: "ab".repeat(32),
            spec,
            file: "networks/0000.safetensors".to_owned(),
            training_state: None,
            summary: Value::group().into(),
        };
        let step = Growth { start: Network(Arc::new(fields)) };
        let params =
            GrowParams { auxiliary_heads: Some(heads.clone()), blocks: Some(8), ..GrowParams::default() };
        let output = StepOutput {
            run: "run".into(),
            number: 1,
            step: "0123".to_owned(),
            files: Vec::new(),
            summary: Value::group().into(),
        };
        let StepResult::Network(grown) = step.result(&params, output).expect("a net") else {
            panic!("a net")
        };
        assert_eq!((grown.0.spec.tower.blocks, &grown.0.spec.auxiliary_heads), (8, &Some(heads)));
        assert!(step.planned(&params, 1).is_ok());
    }
}
