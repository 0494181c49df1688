//! The steps that make nets without training: random weights, and growth; and a look at a net.

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::graph::Graph;
use dc0_core::network::torch::{InspectParams, Inspection, LayerStatistics, inspect};
use dc0_core::network::{GrowParams, NetworkSpec, grow, initial_weights, parameter_count};
use dc0_core::params::{Param, Value};

use super::{StepError, files};
use crate::handles::Network;
use dc0_runs::{Folder, Input, Product, StepCall, Workplace};

pub(crate) fn call(spec: &NetworkSpec) -> StepCall {
    StepCall { kind: "network", version: 1, params: spec.to_value(), inputs: Vec::new() }
}

pub(super) fn body(place: &Workplace, spec: &NetworkSpec) -> Result<Product, StepError> {
    let weights = initial_weights(spec, place.seed);
    let net = Checkpoint { spec: spec.clone(), weights, provenance: files::net_provenance(place, []) };
    Ok(Product { files: files::save(place, &net)?, summary: Value::Group(summary_members(spec).into()) })
}

pub(crate) fn grow_call(start: &Network, params: &GrowParams) -> StepCall {
    let inputs = vec![Input { name: "start".to_owned(), digest: start.0.digest.clone() }];
    StepCall { kind: "grow", version: 1, params: params.to_value(), inputs }
}

pub(super) fn grow_body(
    place: &Workplace,
    start: &Network,
    params: &GrowParams,
) -> Result<Product, StepError> {
    let net = files::load(&place.folder, start)?;
    let (spec, weights) = grow(&net.spec, &net.weights, params, place.seed)?;
    let provenance = files::net_provenance(place, [("start", start.0.digest.as_str())]);
    let members = summary_members(&spec);
    let grown = Checkpoint { spec, weights, provenance };
    Ok(Product { files: files::save(place, &grown)?, summary: Value::Group(members.into()) })
}

/// Looks at a net of the run.
pub(super) fn inspected(
    folder: &Folder,
    network: &Network,
    params: &InspectParams,
) -> Result<Value, StepError> {
    let net = files::load(folder, network)?;
    let seen = inspect(&net.spec, &net.weights, &params.batch(&net.spec.input()))?;
    Ok(inspection_value(&seen, params.layers))
}

/// What an inspection saw, as scripts see it.
pub fn inspection_value(seen: &Inspection, with_layers: bool) -> Value {
    let mut members = vec![
        ("logit_deviation", Value::Float(seen.logit_deviation)),
        ("value_mean", Value::Float(seen.value_mean)),
        ("value_deviation", Value::Float(seen.value_deviation)),
    ];
    if with_layers {
        let layer = |layer: &LayerStatistics| {
            let numbers = [
                ("mean", layer.mean),
                ("deviation", layer.deviation),
                ("largest", layer.largest),
                ("zeros", layer.zeros),
                ("dead", layer.dead),
            ];
            let name = ("name".to_owned(), Value::Text(layer.name.clone()));
            let numbers = numbers.map(|(name, value)| (name.to_owned(), Value::Float(value)));
            Value::Group(numbers.into_iter().chain([name]).collect())
        };
        members.push(("layers", Value::List(seen.layers.iter().map(layer).collect())));
    }
    Value::Group(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// What every net has in its summary.
pub fn summary_members(spec: &NetworkSpec) -> [(String, Value); 2] {
    let operations = 2 * Graph::new(spec).multiply_adds();
    [
        ("parameters".to_owned(), Value::Int(parameter_count(spec) as i64)),
        ("flops".to_owned(), Value::Int(operations as i64)),
    ]
}
