//! What a net's layers and heads put out, as scripts see it.

use dc0_core::network::NetworkSpec;
use dc0_core::network::graph::{Graph, Layer};
use dc0_core::network::torch::{InspectParams, Inspection, LayerStatistics, inspect};
use dc0_core::params::Value;
use dc0_runs::Folder;

use crate::error::StepError;
use crate::files;
use crate::handles::Network;

/// Looks at a net of the run.
pub(crate) fn inspected(
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

/// What a healthy net's layers say, for plans.
pub(crate) fn assumed(spec: &NetworkSpec, params: &InspectParams) -> Value {
    let layer = |layer: Layer| LayerStatistics {
        name: layer.name,
        mean: 0.0,
        deviation: 1.0,
        largest: 5.0,
        zeros: 0.0,
        dead: 0.0,
    };
    let layers = Graph::new(spec).layers.into_iter().map(layer).collect();
    let seen = Inspection { logit_deviation: 1.0, value_mean: 0.0, value_deviation: 0.3, layers };
    inspection_value(&seen, params.layers)
}
