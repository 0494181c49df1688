//! `dc0-run analysis`: an analysis server for programs, after KataGo's analysis engine. Queries and answers are JSON lines on stdin
//! and stdout; many positions are searched at once, and their leaves share batches.
//!
//! Three kinds of threads: the reader turns lines into jobs, which wait in the queue; lanes search them, each with a copy of the
//! net; the main thread waits for the end. docs/guides/analysis.md says what users see.

mod action;
mod answer;
mod args;
mod error;
mod job;
mod lane;
mod query;
mod queue;
mod reader;
mod refusal;
mod server;

use std::io;
use std::sync::Arc;

use dc0_core::network::FixedSize;
use dc0_core::network::torch::Precision;
use dc0_core::params::{Value, read};
use dc0_core::search::{Requirement, unmet};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::interrupt::on_stop_signal;

use crate::hash_cache::HashCache;
use crate::score::{ScoreFit, ScoreParams};
use dc0_backend::{Backend, BackendRequest, Evaluators, Workload, cores, is_by_rows, lanes_on};
use dc0_runs::net::{Named, named, shipped};
use error::AnalysisError;
use queue::{End, Queue};
use reader::Context;
use server::{Server, serve};

pub use args::AnalysisArgs;
pub use query::QueryParams;

impl Command for AnalysisArgs {
    const NAME: &'static str = "analysis";
    const ABOUT: &'static str = "Analyse many positions at once for another program: queries and answers are JSON lines on stdin and stdout";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.show_warnings()?;
        Ok(run(self, program)?)
    }
}

fn run(args: &AnalysisArgs, program: &Program) -> Result<Exit, AnalysisError> {
    let server = server(args)?;
    let queue = Arc::new(Queue::new(server.lanes));
    let stopped = Arc::clone(&queue);
    on_stop_signal(move || {
        if !stopped.end(End::Interrupted) {
            std::process::exit(Exit::Interrupted as i32);
        }
    })?;
    program.console.note(&format!("{}; queries are read from stdin", server.context.about()));
    serve(io::BufReader::new(io::stdin()), Box::new(io::stdout()), server, &queue)
}

/// The server that the command line asks for.
fn server(args: &AnalysisArgs) -> Result<Server, AnalysisError> {
    let search = group(&args.search);
    let defaults: QueryParams = read("analysis", &Value::of([("search", search.clone())]))?;
    let score: ScoreParams = read("score", &group(&args.score))?;
    let name = args.net.net.as_deref();
    let Named { net, file, .. } = match name {
        Some(name) => named(name)?,
        None => shipped()?,
    };
    if let Some(Requirement { member, lacks }) = unmet(&defaults.search, &net.spec) {
        return Err(AnalysisError::Unmet { member, lacks });
    }
    let request = BackendRequest {
        backend: args.net.backend.unwrap_or(Backend::Torch),
        device: args.net.device.as_deref().unwrap_or("auto"),
        precision: Precision::Auto,
        onnxruntime: args.net.onnxruntime.as_deref(),
    };
    let work = Workload { spec: net.spec.clone(), rows: args.batch_size };
    let evaluators = Evaluators::new(&request.resolve(Some(&work))?, args.net.onnxruntime.as_deref())?;
    let lanes = args.lanes.unwrap_or_else(|| {
        if is_by_rows(&net.spec) { cores() } else { lanes_on(&evaluators.device_names()) }
    });
    let context = Context {
        network: name.map_or_else(|| file.display().to_string(), ToOwned::to_owned),
        backend: evaluators.describe_for(&net.spec),
        lanes,
        rows: args.batch_size,
        search,
        net: net.spec.clone(),
    };
    let fit = score.applied_to(ScoreFit::of_net(&net));
    let (rows, cache) = (args.batch_size, HashCache::new(args.hash, lanes));
    let make = move || {
        let mut evaluator = evaluators.make(&net)?;
        // Rows that are computed one by one do not depend on the others.
        if !is_by_rows(&net.spec) {
            evaluator = Box::new(FixedSize::new(evaluator, rows as usize));
        }
        Ok(cache.with(evaluator))
    };
    Ok(Server { context, lanes, rows, fit, make: Arc::new(make) })
}

fn group(given: &[(String, String)]) -> Value {
    let mut group = Value::group();
    for (name, value) in given {
        group.put(name, Value::from_argument(value));
    }
    group
}

#[cfg(test)]
mod tests;
