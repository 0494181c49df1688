//! Statistics of the outputs of a net's layers and heads, for scripts.

use dc0_core::network::NetworkSpec;
use dc0_core::network::graph::{Graph, Layer};
use dc0_core::network::torch::{InspectParams, Inspection, LayerStatistics, inspect};
use dc0_core::params::Value;
use dc0_runs::Folder;

use crate::error::StepError;
use crate::files;
use crate::handles::Network;

/// Inspects a net of the run.
pub(crate) fn inspect_network(
    folder: &Folder,
    network: &Network,
    params: &InspectParams,
) -> Result<Value, StepError> {
    let net = files::load(folder, network)?;
    let inspection = inspect(&net.spec, &net.weights, &params.batch(&net.spec.input()))?;
    Ok(inspection_value(&inspection, params.layers))
}

/// An inspection as a value for scripts.
pub fn inspection_value(inspection: &Inspection, with_layers: bool) -> Value {
    let mut members = vec![
        ("logit_deviation", Value::Float(inspection.logit_deviation)),
        ("value_mean", Value::Float(inspection.value_mean)),
        ("value_deviation", Value::Float(inspection.value_deviation)),
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
        members.push(("layers", Value::List(inspection.layers.iter().map(layer).collect())));
    }
    Value::Group(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The mock inspection for plans: that of a healthy net.
pub(crate) fn assumed(spec: &NetworkSpec, params: &InspectParams) -> Value {
    let layer = |layer: Layer| LayerStatistics {
        name: layer.name,
        mean: 0.0,
        deviation: 1.0,
        largest: 5.0,
        zeros: 0.0,
        dead: 0.0,
    };
    let layers = Graph::of_training(spec).layers.into_iter().map(layer).collect();
    let inspection = Inspection { logit_deviation: 1.0, value_mean: 0.0, value_deviation: 0.3, layers };
    inspection_value(&inspection, params.layers)
}
