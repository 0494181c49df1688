//! The step that makes a net with random weights.

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::{NetworkSpec, initial_weights, parameter_count};
use dc0_core::params::{Param, Value};

use super::{StepError, files};
use crate::run::{Product, StepCall, Workplace};

pub(super) fn call(spec: &NetworkSpec) -> StepCall {
    StepCall { kind: "network", version: 1, params: spec.to_value(), inputs: Vec::new() }
}

pub(super) fn body(place: &Workplace, spec: &NetworkSpec) -> Result<Product, StepError> {
    let weights = initial_weights(spec, place.seed);
    let net = Checkpoint { spec: spec.clone(), weights, provenance: files::net_provenance(place, []) };
    Ok(Product { files: files::save(place, &net)?, summary: Value::Group(summary_members(spec).into()) })
}

/// What every net has in its summary.
pub fn summary_members(spec: &NetworkSpec) -> [(String, Value); 1] {
    [("parameters".to_owned(), Value::Int(parameter_count(spec) as i64))]
}
