//! The step that takes a stored net into the run.

use std::sync::Arc;

use dc0_core::network::NetworkSpec;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::parameter_count;
use dc0_core::params;
use dc0_core::params::{Problem, Value};
use dc0_runs::net::{named_in, shipped};
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

params! {
    /// A stored net needs no parameters.
    pub struct LoadNetworkParams {}
}

/// The stored net.
pub(crate) enum LoadNetwork {
    /// A net from elsewhere, with blake3 of its weights' file.
    Stored { net: Arc<Checkpoint>, digest: String },
    /// A net of any run of the script.
    OfRun(Network),
}

impl Step for LoadNetwork {
    const KIND: &'static StepKind = &StepKind::LOAD_NETWORK;
    const VERSION: u32 = 1;
    const USAGES: &'static [Usage] = &[Usage {
        name: "load_network",
        form: "run.load_network(name) or run.load_network(network)",
        returns: "a net",
        meaning: "A step: takes a copy of a stored net into the run: `NET.safetensors`, `RUN` (its last generation), `RUN:GENERATION`, \
            or a shipped one, `shipped:az_nnue` or `shipped:az_small`; \"\" and `shipped` are the one that plays by default. Or a copy of a net of another \
            run that the script has opened.",
        example: "let shipped = run.load_network(\"\");",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] =
        &[&[ArgumentKind::StoredNetwork], &[ArgumentKind::Network]];
    const NEEDS_MAP: bool = false;
    const COPIES_NETWORKS: bool = true;

    type Params = LoadNetworkParams;

    fn from_arguments(arguments: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        let (runs, name) = match arguments.as_slice() {
            [Argument::StoredNetwork { runs, name }] => (runs, name),
            [Argument::Network(network)] => return Ok(Self::OfRun(network.clone())),
            _ => return Err(no_matching_form()),
        };
        let found = if name.is_empty() { shipped() } else { named_in(runs, name) };
        let found = found.map_err(|cause| cause.to_string())?;
        Ok(Self::Stored { net: found.net, digest: found.digest })
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        let loaded = past.weights(manifest)?;
        Ok(Self::Stored { net: Arc::new(loaded.checkpoint), digest: loaded.digest })
    }

    fn inputs(&self, _: &LoadNetworkParams) -> Result<Vec<Input>, StepError> {
        Ok(vec![Input { name: "net".to_owned(), digest: self.digest().to_owned() }])
    }

    fn run(
        &self,
        _: &LoadNetworkParams,
        workspace: &StepWorkspace,
        _: &StepContext,
    ) -> Result<Product, StepError> {
        let files = match self {
            Self::Stored { net, .. } => files::save(workspace, net)?,
            Self::OfRun(network) => files::save(workspace, &files::load(&network.folder(), network)?)?,
        };
        Ok(Product { files, summary: network::summary(self.spec()) })
    }

    fn result(&self, _: &LoadNetworkParams, output: StepOutput) -> Result<StepResult, StepError> {
        Ok(network::network(self.spec().clone(), output))
    }

    fn figures(summary: &Value) -> String {
        network::figures(summary, "stored weights")
    }

    fn planned(&self, _: &LoadNetworkParams, number: u32) -> Result<String, StepError> {
        Ok(format!("network {number:04}: {}", network::described(self.spec())))
    }

    fn memory(&self, _: &LoadNetworkParams, _: Machine) -> Memory {
        Memory::of_new(parameter_count(self.spec()) as f64, 0.0)
    }

    fn estimate(&self, _: &LoadNetworkParams, _: u64, _: Option<&Value>, _: u32) -> Estimate {
        network::estimate(self.spec())
    }

    fn mock_result(&self, _: &LoadNetworkParams, number: u32, _: u32, _: Assumption) -> MockResult {
        network::mock_result(network::summary(self.spec()), number)
    }
}

impl LoadNetwork {
    fn spec(&self) -> &NetworkSpec {
        match self {
            Self::Stored { net, .. } => &net.spec,
            Self::OfRun(network) => &network.0.spec,
        }
    }

    fn digest(&self) -> &str {
        match self {
            Self::Stored { digest, .. } => digest,
            Self::OfRun(network) => &network.0.digest,
        }
    }
}
