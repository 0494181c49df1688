//! Runs one script from its file to its exit code.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use dc0_core::durable;
use dc0_fleet::{FleetOptions, NatsFleet, redacted};

use crate::args::ScriptArgs;
use crate::engine::EngineHooks;
use crate::failure::Failure;
use crate::jail::read_script;
use crate::limits::MAX_OPERATIONS;
use crate::plans::{Planned, Printed, ScriptToPlan};
use crate::script_run::ScriptRun;
use crate::{described, report};
pub use dc0_process::command::Process;
use dc0_process::console::OutputFormat;
use dc0_process::exit::Exit;
use dc0_process::format::counted;
use dc0_process::style::{Colours, TermStyle, ascii};
use dc0_runs::ScriptRecord;
use dc0_runs::declared::{Declaration, Declared};
use dc0_runs::overrides::{Override, read_file};
use dc0_runs::sources::Sources;
use dc0_runs::sweep::alone::SweepPart;
use dc0_steps::check::Planner;
use dc0_steps::host::Host;
use dc0_steps::{Assumption, RunOptions, Runner};

/// Runs or checks a script, and reports the outcome.
pub fn launch(args: &ScriptArgs, options: &str, process: &Process) -> Exit {
    let sources = Arc::new(Sources::default());
    match run(args, options, process, &sources) {
        Ok(()) => Exit::Done,
        Err(failure) if failure.exit == Exit::Interrupted => {
            let command: Vec<String> = std::env::args().map(|argument| quoted(&shown(&argument))).collect();
            let message = "stopped; everything finished is kept. To continue, give the same command again:";
            process.console.note(&format!(
                "{message}
  {}",
                command.join(" ")
            ));
            Exit::Interrupted
        }
        Err(failure) => {
            log::debug!("{failure:?}");
            let shown = match args.run.format {
                OutputFormat::Text => report::render(&failure, &sources),
                OutputFormat::Json => report::render_json(&failure, &sources),
            };
            process.console.note(&shown);
            failure.exit
        }
    }
}

/// An argument of a command line without the credentials of a broker or a bucket.
fn shown(argument: &str) -> String {
    if argument.contains("://") { redacted(argument) } else { argument.to_owned() }
}

/// An argument of a command line, quoted for a shell.
pub fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

fn run(args: &ScriptArgs, options: &str, process: &Process, sources: &Arc<Sources>) -> Result<(), Failure> {
    let path = args.script.as_deref().unwrap_or(Path::new(""));
    let read = || read_script(path).map_err(|error| Failure::from(&error));
    let text = args.text.clone().map_or_else(|| process.interrupt.while_waiting(read), Ok)?;
    let name = path.display().to_string();
    sources.keep(&name, &text);
    if args.parameters || args.help {
        let declared = declared(args, process, sources, path, &text)?;
        let shown = if args.help {
            described::help(&name, &text, &declared, options)
        } else {
            described::described(&name, &text, &declared)
        };
        process.console.result(&shown);
        return Ok(());
    }
    if args.run.check {
        return check(args, process, sources, path, &text);
    }
    if args.is_planned_first {
        // Programs start once, in the run.
        let options = RunOptions { starts_programs: false, ..run_options(args) };
        planned(args, process, sources, path, &text, options)?.plans?;
    }
    let declaration = Arc::new(Declaration::new(overrides(args, process)?));
    let host = runner(args, process, script_record(path, &text), &declaration)?.with_imports(sources, path);
    let (host, text) = (Arc::new(host), text.as_str());
    let script_run = ScriptRun { path, folder: None, text, host: Arc::<Runner>::clone(&host), declaration };
    let tables = script_run.run(surroundings(process, sources, args))?;
    host.check_part().map_err(|error| Failure::from(&error))?;
    for (run, table) in tables {
        let title = run.map(|name| format!("{name}\n")).unwrap_or_default();
        process.console.result(&format!("{title}{table}"));
    }
    Ok(())
}

/// Shows what the script would do; an error if trials of a sweep would fail. What it prints goes to stderr, since it is made of mocked
/// results.
fn check(
    args: &ScriptArgs,
    process: &Process,
    sources: &Arc<Sources>,
    path: &Path,
    text: &str,
) -> Result<(), Failure> {
    let Planned { printed, plans, .. } = planned(args, process, sources, path, text, run_options(args))?;
    let is_json = args.run.format == OutputFormat::Json;
    for Printed { line, is_debug } in &printed {
        process.console.note(&match (is_debug, is_json) {
            (true, true) => json!({ "kind": "debug", "message": line }).to_string(),
            (true, false) => line.clone(),
            (false, true) => json!({ "kind": "print", "message": line }).to_string(),
            (false, false) => format!("print: {line}"),
        });
    }
    let plans = plans?;
    process.console.result(&if is_json { plans.json().to_string() } else { plans.text() });
    match plans.failing_trials() {
        0 => Ok(()),
        count => {
            let message = format!("{} would fail; the plan says why", counted(count, "trial"));
            Err(Failure::new(Exit::Failed, message))
        }
    }
}

fn planned(
    args: &ScriptArgs,
    process: &Process,
    sources: &Arc<Sources>,
    path: &Path,
    text: &str,
    options: RunOptions,
) -> Result<Planned, Failure> {
    let interrupt = process.interrupt.clone();
    let script = ScriptToPlan {
        overrides: overrides(args, process)?,
        sources: Arc::clone(sources),
        is_stopped: Arc::new(move || interrupt.is_requested()),
        ..ScriptToPlan::new(path, text, options)
    };
    Ok(script.plan())
}

/// The parameters that a script declares; it runs only up to the declaration.
fn declared(
    args: &ScriptArgs,
    process: &Process,
    sources: &Arc<Sources>,
    path: &Path,
    text: &str,
) -> Result<Vec<Declared>, Failure> {
    let declaration = Arc::new(Declaration::listing(overrides(args, process)?));
    let name = path.display().to_string();
    let planner = Planner::new(&name, run_options(args), Arc::clone(&declaration), Assumption::Even);
    let host: Arc<dyn Host> = Arc::new(planner);
    let script_run = ScriptRun { path, folder: None, text, host, declaration: Arc::clone(&declaration) };
    match script_run.run(surroundings(process, sources, args)) {
        Err(failure) if !declaration.is_made() => Err(failure),
        _ => Ok(declaration.rows()),
    }
}

/// The command line's values of the script's parameters: first those of files, then those of `--set`, which win.
fn overrides(args: &ScriptArgs, process: &Process) -> Result<Vec<Override>, Failure> {
    let mut overrides = Vec::new();
    for file in &args.params {
        let read = || read_file(file).map_err(|error| Failure::from(&error));
        overrides.extend(process.interrupt.while_waiting(read)?);
    }
    overrides.extend_from_slice(&args.overrides);
    Ok(overrides)
}

fn run_options(args: &ScriptArgs) -> RunOptions {
    RunOptions {
        parent: args.run.out.clone(),
        seed: args.run.seed,
        backend: args.run.backend,
        onnxruntime: args.run.onnxruntime.clone(),
        device: args.run.device.clone(),
        threads: args.run.threads,
        lanes: args.run.lanes,
        fleet: None,
        part: if args.trials.is_empty() { args.part.clone() } else { SweepPart::Trials(args.trials.clone()) },
        starts_programs: true,
    }
}

fn runner(
    args: &ScriptArgs,
    process: &Process,
    script: ScriptRecord,
    declaration: &Arc<Declaration>,
) -> Result<Runner, Failure> {
    let Process { console, interrupt, log_file } = process.clone();
    let mut options = run_options(args);
    if let Some(url) = &args.run.workers {
        let options_of_fleet = FleetOptions {
            kinds: args.run.worker_kinds,
            recheck: args.run.recheck,
            recheck_lanes: args.run.recheck_lanes,
            artefacts: args.run.artefacts.as_deref(),
        };
        let fleet = NatsFleet::connect(url, &args.run.broker, options_of_fleet, &console);
        options.fleet = Some(Arc::new(fleet.map_err(|error| Failure::from(&error))?));
    }
    Ok(Runner::new(options, script, Arc::clone(declaration), console, interrupt, log_file))
}

fn script_record(path: &Path, text: &str) -> ScriptRecord {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ScriptRecord { file, blake3: durable::digest(text.as_bytes()), text: text.to_owned() }
}

/// Where the script's output goes. It is the script's result.
fn surroundings(process: &Process, sources: &Arc<Sources>, args: &ScriptArgs) -> EngineHooks {
    let is_silent = args.parameters || args.help;
    let (printing, debugging) = (Arc::clone(&process.console), Arc::clone(&process.console));
    let interrupt = process.interrupt.clone();
    let is_plain = lacks_unicode();
    EngineHooks {
        sources: Arc::clone(sources),
        print: Box::new(move |text| {
            if !is_silent && is_plain {
                printing.result(&ascii(text));
            } else if !is_silent {
                printing.result(text);
            }
        }),
        debug: Box::new(move |text| debugging.note(text)),
        is_stopped: Box::new(move || interrupt.is_requested()),
        operations: MAX_OPERATIONS,
    }
}

/// Whether stdout is a terminal that shows no Unicode.
fn lacks_unicode() -> bool {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !TermStyle::new(false, Colours::Never, true, &variable).is_unicode
}
