//! Doing a run again: the same script with the same values, as far as the original went.

use std::sync::Arc;

use dc0_core::params::Value;

use super::ReproduceArgs;
use super::stage::Stage;
use crate::diff::Loaded;
use dc0_backend::Backend;
use dc0_process::exit::Exit;
use dc0_runs::Edition;
use dc0_runs::declared::Declaration;
use dc0_runs::overrides::{Origin, Override};
use dc0_runs::sources::Sources;
use dc0_script::engine::Surroundings;
use dc0_script::launch::{Performance, Process};
use dc0_script::limits::MAX_OPERATIONS;
use dc0_script::report;
use dc0_steps::{Asking, Runner};

/// How the script ended.
pub(super) enum Outcome {
    /// All steps that there are to do have been done, or as many as the script asks for.
    Complete,
    /// It was stopped or failed before, which has been told.
    Ended(Exit),
}

/// Runs the script.
pub(super) fn play(args: &ReproduceArgs, original: &Loaded, stage: &Stage, process: &Process) -> Outcome {
    let edition = &original.edition;
    let declaration = Arc::new(Declaration::new(overrides(edition)));
    let sources = Arc::new(Sources::default());
    sources.keep(&stage.script.display().to_string(), &edition.script.text);
    let Process { console, interrupt, log_file } = process.clone();
    let asking = asking(args, original, stage);
    let runner =
        Runner::new(asking, edition.script.clone(), Arc::clone(&declaration), (console, interrupt, log_file));
    let host = Arc::new(runner.importing(&sources, &stage.script).again(original.steps.len()));
    let (path, text) = (stage.script.as_path(), edition.script.text.as_str());
    let performance = Performance { path, folder: None, text, host, declaration };
    match performance.perform(surroundings(process, &sources)) {
        Ok(_) => Outcome::Complete,
        // Where the original was stopped, this run is, too; and what a script does behind its last step changes no file.
        Err(failure) if is_complete(original, stage) => {
            if failure.exit != Exit::Interrupted {
                let told = report::render(&failure, &sources);
                process.console.note(&format!("note: behind the last step the script ends with an {told}"));
            }
            Outcome::Complete
        }
        Err(failure) => {
            let stopped = "stopped; everything finished is kept. To go on, give the same command again";
            let is_stopped = failure.exit == Exit::Interrupted;
            let told = if is_stopped { stopped.to_owned() } else { report::render(&failure, &sources) };
            process.console.note(&told);
            Outcome::Ended(failure.exit)
        }
    }
}

/// Whether as many steps are finished as the original has.
fn is_complete(original: &Loaded, stage: &Stage) -> bool {
    let again = Loaded::read(&original.name, stage.folder.clone());
    again.is_ok_and(|again| again.steps.len() >= original.steps.len())
}

/// Everything as the original has it; what plays is fixed by the record that the run begins with.
fn asking(args: &ReproduceArgs, original: &Loaded, stage: &Stage) -> Asking {
    Asking {
        parent: stage.parent.clone(),
        seed: Some(original.record.seed),
        backend: Backend::from_word(&stage.environment.backend),
        onnxruntime: args.onnxruntime.clone(),
        device: Some(stage.environment.device.clone()),
        threads: Some(stage.environment.threads),
        lanes: args.lanes,
    }
}

/// The values that the command line gave. Where they were not kept, all values of the declared parameters are given; a function
/// has no value that could be, and is the script's own.
fn overrides(edition: &Edition) -> Vec<Override> {
    let of = |(path, text): (&String, String)| Override {
        origin: Origin::Set,
        path: path.clone(),
        text,
        file: None,
    };
    if let Some(given) = &edition.given {
        return given.iter().map(|(path, text)| of((path, text.clone()))).collect();
    }
    let Value::Group(declared) = &edition.params else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::Text(text) if text == "function" => None,
        Value::Text(text) => Some(text.clone()),
        other => Some(other.canonical()),
    };
    declared.iter().filter_map(|(path, value)| Some(of((path, text(value)?)))).collect()
}

/// What the script prints is no result here.
fn surroundings(process: &Process, sources: &Arc<Sources>) -> Surroundings {
    let (printing, debugging) = (Arc::clone(&process.console), Arc::clone(&process.console));
    let interrupt = process.interrupt.clone();
    Surroundings {
        sources: Arc::clone(sources),
        print: Box::new(move |text| printing.note(&format!("print: {text}"))),
        debug: Box::new(move |text| debugging.note(text)),
        is_stopped: Box::new(move || interrupt.is_asked()),
        operations: MAX_OPERATIONS,
    }
}
