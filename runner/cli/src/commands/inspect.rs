//! `dc0-run inspect`: shows a stored net, layer by layer, or an ONNX file.

mod onnx;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::graph::{Graph, Layer, Shape};
use dc0_core::network::torch::{self, InspectParams, Inspection, LayerStatistics, TorchError};
use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::params::{Param, Value};
use thiserror::Error;

use clap::Args;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::net::{NetError, named};
use dc0_steps::inspection_value;
use dc0_steps::kinds::summary_members;

/// What `inspect` shows.
#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// A weights file with its description beside it; a run, for its last generation or the one after a colon; or an
    /// ONNX file of dc0, for its description and whether ONNX Runtime can load it.
    #[arg(value_name = "NET.safetensors|NET.onnx|RUN[:GENERATION]")]
    pub net: String,
    /// For an ONNX file: ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Number of positions to evaluate: the ends of random games, always the same [default: 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub positions: Option<u32>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Error)]
enum InspectError {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Torch(#[from] TorchError),
    #[error(transparent)]
    Onnx(#[from] onnx::OnnxFileError),
    #[error(
        "--positions: an ONNX file is tried on the initial position only; leave it out, or inspect the net that was exported"
    )]
    Positions,
    #[error("--onnxruntime: it is for ONNX files, and a stored net is inspected with libtorch; leave it out")]
    OnnxRuntime,
}

impl Fault for InspectError {
    fn exit(&self) -> Exit {
        match self {
            Self::Net(cause) => cause.exit(),
            Self::Torch(_) => Exit::Failed,
            Self::Onnx(cause) => cause.exit(),
            Self::Positions | Self::OnnxRuntime => Exit::BadInput,
        }
    }
}

impl Command for InspectArgs {
    const NAME: &'static str = "inspect";
    const ABOUT: &'static str =
        "Show a net's layers: their sizes, their cost and statistics of their outputs";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.show_warnings()?;
        program.console.result(&shown(self)?);
        Ok(Exit::Done)
    }
}

fn shown(args: &InspectArgs) -> Result<String, InspectError> {
    let file = Path::new(&args.net);
    if file.extension().is_some_and(|extension| extension == "onnx") {
        if args.positions.is_some() {
            return Err(InspectError::Positions);
        }
        return Ok(onnx::shown(file, args)?);
    }
    if args.onnxruntime.is_some() {
        return Err(InspectError::OnnxRuntime);
    }
    let (net, inspection) = inspect(args)?;
    Ok(if args.json { json(&net, &inspection) } else { table(&net.spec, &inspection).join("\n") })
}

fn inspect(args: &InspectArgs) -> Result<(Arc<Checkpoint>, Inspection), InspectError> {
    let net = named(&args.net)?.net;
    let default = InspectParams::default();
    let params = InspectParams { positions: args.positions.unwrap_or(default.positions), ..default };
    let inspection = torch::inspect(&net.spec, &net.weights, &params.batch(&net.spec.input()))?;
    Ok((net, inspection))
}

fn json(net: &Checkpoint, inspection: &Inspection) -> String {
    let mut members = vec![
        ("spec".to_owned(), net.spec.to_value()),
        ("provenance".to_owned(), net.provenance.clone()),
        ("inspection".to_owned(), inspection_value(inspection, true)),
    ];
    members.extend(summary_members(&net.spec));
    let value = Value::Group(members.into_iter().collect());
    serde_json::to_string_pretty(&value).expect("a value tree has text keys only")
}

fn table(spec: &NetworkSpec, inspection: &Inspection) -> Vec<String> {
    let graph = Graph::of_training(spec);
    let mut lines = vec![
        format!(
            "{} parameters, {:.3} GFLOP an evaluation",
            parameter_count(spec),
            2.0 * Graph::new(spec).multiply_adds() as f64 / 1e9
        ),
        format!(
            "logits of legal moves deviate by {:.3}; values have mean {:.3} and deviate by {:.3}",
            inspection.logit_deviation, inspection.value_mean, inspection.value_deviation
        ),
        String::new(),
        format!(
            "{:<24}  {:>10}  {:>10}  {:>8}  {:>8}  {:>8}  {:>8}  {:>6}  {:>6}",
            "layer", "output", "parameters", "MFLOP", "mean", "deviates", "largest", "zeros", "dead"
        ),
    ];
    lines.extend(
        graph.layers.iter().zip(&inspection.layers).map(|(layer, statistics)| row(layer, statistics)),
    );
    lines
}

fn row(layer: &Layer, statistics: &LayerStatistics) -> String {
    let output = match layer.output {
        Shape::Board(channels) => format!("{channels}×8×8"),
        Shape::Flat(width) => width.to_string(),
    };
    format!(
        "{:<24}  {output:>10}  {:>10}  {:>8.2}  {:>8.3}  {:>8.3}  {:>8.2}  {:>5.1}%  {:>5.1}%",
        layer.name,
        layer.parameter_count(),
        2.0 * layer.op.multiply_adds() as f64 / 1e6,
        statistics.mean,
        statistics.deviation,
        statistics.largest,
        100.0 * statistics.zeros,
        100.0 * statistics.dead
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{InspectArgs, InspectError, shown};

    #[test]
    fn options_of_the_other_kind_of_file_are_refused() {
        let onnxruntime = Some(PathBuf::from("/nowhere"));
        let args = InspectArgs { net: "net.onnx".to_owned(), onnxruntime, positions: Some(5), json: true };
        assert!(matches!(shown(&args), Err(InspectError::Positions)));
        let args = InspectArgs { net: "shipped:az_small".to_owned(), ..args };
        assert!(matches!(shown(&args), Err(InspectError::OnnxRuntime)));
    }
}
