//! Repeats a run: the same script with the same values, as far as the original got.

use std::sync::Arc;

use dc0_core::params::Value;

use super::ReproduceArgs;
use super::stage::Stage;
use crate::diff::Loaded;
use dc0_backend::Backend;
use dc0_process::exit::Exit;
use dc0_runs::ScriptSnapshot;
use dc0_runs::declared::Declaration;
use dc0_runs::overrides::{Origin, Override};
use dc0_runs::sources::Sources;
use dc0_runs::sweep::alone::SweepPart;
use dc0_script::engine::EngineHooks;
use dc0_script::launch::Process;
use dc0_script::limits::MAX_OPERATIONS;
use dc0_script::report;
use dc0_script::script_run::ScriptRun;
use dc0_steps::{RunOptions, Runner};

/// How the script ended.
pub(super) enum Outcome {
    /// All steps of the original are done, or all that the script calls.
    Complete,
    /// It was stopped or failed earlier; the user has been notified.
    Ended(Exit),
}

/// Runs the script.
pub(super) fn play(args: &ReproduceArgs, original: &Loaded, stage: &Stage, process: &Process) -> Outcome {
    let snapshot = &original.snapshot;
    let declaration = Arc::new(Declaration::new(overrides(snapshot)));
    let sources = Arc::new(Sources::default());
    sources.keep(&stage.script.display().to_string(), &snapshot.script.text);
    let Process { console, interrupt, log_file } = process.clone();
    let options = run_options(args, original, stage);
    let runner =
        Runner::new(options, snapshot.script.clone(), Arc::clone(&declaration), console, interrupt, log_file);
    let steps = original.steps.len().saturating_sub(steps_of_fork(original));
    let runner = runner.with_imports(&sources, &stage.script);
    let host = Arc::new(runner.redoing(original.folder.clone(), steps));
    let (path, text) = (stage.script.as_path(), snapshot.script.text.as_str());
    let script_run = ScriptRun { path, folder: None, text, host, declaration };
    match script_run.run(surroundings(process, &sources)) {
        Ok(_) => Outcome::Complete,
        // If the original was stopped, so is this run; and what a script does after its last step changes no file.
        Err(failure) if is_complete(original, stage) => {
            if failure.exit != Exit::Interrupted {
                let error = report::render(&failure, &sources);
                process.console.note(&format!("note: after the last step the script ends with an {error}"));
            }
            Outcome::Complete
        }
        Err(failure) => {
            let stopped = "stopped; everything finished is kept. To go on, give the same command again";
            let is_stopped = failure.exit == Exit::Interrupted;
            let message = if is_stopped { stopped.to_owned() } else { report::render(&failure, &sources) };
            process.console.note(&message);
            Outcome::Ended(failure.exit)
        }
    }
}

/// The number of steps that a run began with as a fork; the script of another run called them.
pub(super) fn steps_of_fork(run: &Loaded) -> usize {
    run.record.fork.as_ref().map_or(0, |fork| fork.steps.len())
}

/// Whether as many steps are finished as the original has.
fn is_complete(original: &Loaded, stage: &Stage) -> bool {
    let reproduction = Loaded::read(&original.name, stage.folder.clone());
    reproduction.is_ok_and(|run| run.steps.len() >= original.steps.len())
}

/// The options of the original; its record decides what evaluates nets.
fn run_options(args: &ReproduceArgs, original: &Loaded, stage: &Stage) -> RunOptions {
    RunOptions {
        parent: stage.parent.clone(),
        seed: Some(original.record.seed),
        backend: Backend::from_name(&stage.environment.backend),
        onnxruntime: args.onnxruntime.clone(),
        device: Some(stage.environment.device.clone()),
        threads: Some(stage.environment.threads),
        lanes: args.lanes,
        fleet: None,
        part: SweepPart::Whole,
        starts_programs: true,
    }
}

/// The values given on the command line. If they were not stored, all values of the declared parameters are given, except
/// functions, which have no value to give.
fn overrides(snapshot: &ScriptSnapshot) -> Vec<Override> {
    let given = |(path, text): (&String, String)| Override {
        origin: Origin::Set,
        path: path.clone(),
        text,
        file: None,
    };
    if let Some(values) = &snapshot.given {
        return values.iter().map(|(path, text)| given((path, text.clone()))).collect();
    }
    let Value::Group(declared) = &snapshot.params else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::Text(text) if text == "function" => None,
        Value::Text(text) => Some(text.clone()),
        other => Some(other.canonical()),
    };
    declared.iter().filter_map(|(path, value)| Some(given((path, text(value)?)))).collect()
}

/// The script's output goes to stderr, since it is not a result here.
fn surroundings(process: &Process, sources: &Arc<Sources>) -> EngineHooks {
    let (printing, debugging) = (Arc::clone(&process.console), Arc::clone(&process.console));
    let interrupt = process.interrupt.clone();
    EngineHooks {
        sources: Arc::clone(sources),
        print: Box::new(move |text| printing.note(&format!("print: {text}"))),
        debug: Box::new(move |text| debugging.note(text)),
        is_stopped: Box::new(move || interrupt.is_requested()),
        operations: MAX_OPERATIONS,
    }
}
