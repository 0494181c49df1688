//! Runs one script from its file to its exit code.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhai::{AST, Engine, Scope};
use serde_json::json;

use dc0_core::durable;

use crate::args::ScriptArgs;
use crate::compile::compile;
use crate::engine::{EngineHooks, engine};
use crate::failure::Failure;
use crate::host::{self, Session};
use crate::jail::{Jail, read_script};
use crate::limits::{MAX_OPERATIONS, STACK_BYTES};
use crate::names::Names;
use crate::{described, report};
pub use dc0_process::command::Process;
use dc0_process::console::OutputFormat;
use dc0_process::exit::Exit;
use dc0_process::style::{Colours, TermStyle, ascii};
use dc0_runs::ScriptRecord;
use dc0_runs::declared::{Declaration, Declared};
use dc0_runs::overrides::{Override, read_file};
use dc0_runs::sources::Sources;
use dc0_steps::check::Planner;
use dc0_steps::host::Host;
use dc0_steps::table::Table;
use dc0_steps::{RunOptions, Runner};

/// Runs or checks a script, and reports the outcome.
pub fn launch(args: &ScriptArgs, options: &str, process: &Process) -> Exit {
    let sources = Arc::new(Sources::default());
    match run(args, options, process, &sources) {
        Ok(()) => Exit::Done,
        Err(failure) if failure.exit == Exit::Interrupted => {
            let command: Vec<String> = std::env::args().map(|argument| quoted(&argument)).collect();
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

/// An argument of a command line, quoted for a shell.
fn quoted(argument: &str) -> String {
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
    let declaration = Arc::new(Declaration::new(overrides(args, process)?));
    let planner =
        args.run.check.then(|| Arc::new(Planner::new(&name, run_options(args), Arc::clone(&declaration))));
    let runner =
        || runner(args, process, script_record(path, &text), &declaration).with_imports(sources, path);
    let host: Arc<dyn Host> = match &planner {
        Some(planner) => Arc::clone(planner) as Arc<dyn Host>,
        None => Arc::new(runner()),
    };
    let script_run =
        ScriptRun { path, folder: None, text: &text, host, declaration: Arc::clone(&declaration) };
    let table = script_run.run(surroundings(process, sources, args))?;
    match planner {
        Some(planner) if args.run.format == OutputFormat::Json => {
            process.console.result(&planner.plan_json().to_string());
        }
        Some(planner) => process.console.result(&planner.plan()),
        None => table.iter().for_each(|table| process.console.result(&table.to_string())),
    }
    Ok(())
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
    let planner = Planner::new(&path.display().to_string(), run_options(args), Arc::clone(&declaration));
    let host: Arc<dyn Host> = Arc::new(planner);
    let script_run = ScriptRun { path, folder: None, text, host, declaration: Arc::clone(&declaration) };
    match script_run.run(surroundings(process, sources, args)) {
        Err(failure) if !declaration.is_made() => Err(failure),
        _ => Ok(declaration.rows()),
    }
}

/// A script, its host and its parameters.
pub struct ScriptRun<'a> {
    /// The script's file, as the user named it.
    pub path: &'a Path,
    /// The folder that its imports must stay in; the script's own if `None`.
    pub folder: Option<&'a Path>,
    /// Its text, which the sources also have.
    pub text: &'a str,
    /// Does the work.
    pub host: Arc<dyn Host>,
    /// Its parameters.
    pub declaration: Arc<Declaration>,
}

impl ScriptRun<'_> {
    /// Runs the script to its end. Returns the table of iterations, if there is one that was not shown.
    pub fn run(self, surroundings: EngineHooks) -> Result<Option<Table>, Failure> {
        let Self { path, folder, text, host, declaration } = self;
        let sources = Arc::clone(&surroundings.sources);
        let session = Arc::new(Session::new(host, Arc::clone(&declaration)));
        let mut engine = engine(&folder.map_or_else(|| folder_of(path), Path::to_owned), surroundings);
        host::register(&mut engine, &session);
        let jail = Jail::new(&folder_of(path), Arc::clone(&sources));
        let names = session.set_names(Names::new(&engine, host::usages(), Arc::clone(&declaration), sources));
        let source = path.display().to_string();
        evaluate(&engine, names, &source, &compile(&engine, names, &jail, &source, text)?)?;
        if let Some(unused) = declaration.unused() {
            let message = format!("{unused}, but the script never calls params(#{{…}})");
            return Err(Failure::new(Exit::BadInput, message));
        }
        session.check_folder()?;
        Ok(session.unshown_table())
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
    }
}

fn runner(
    args: &ScriptArgs,
    process: &Process,
    script: ScriptRecord,
    declaration: &Arc<Declaration>,
) -> Runner {
    let Process { console, interrupt, log_file } = process.clone();
    Runner::new(run_options(args), script, Arc::clone(declaration), console, interrupt, log_file)
}

fn script_record(path: &Path, text: &str) -> ScriptRecord {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ScriptRecord { file, blake3: durable::digest(text.as_bytes()), text: text.to_owned() }
}

/// The folder from which the script may import.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Where the script's output goes. It is the script's result, except in a check, where numbers are mocked.
fn surroundings(process: &Process, sources: &Arc<Sources>, args: &ScriptArgs) -> EngineHooks {
    let (is_check, is_json) = (args.run.check, args.run.format == OutputFormat::Json);
    let is_silent = args.parameters || args.help;
    let (printing, debugging) = (Arc::clone(&process.console), Arc::clone(&process.console));
    let interrupt = process.interrupt.clone();
    let is_plain = lacks_unicode();
    EngineHooks {
        sources: Arc::clone(sources),
        print: Box::new(move |text| {
            if is_check && is_json {
                printing.note(&json!({ "kind": "print", "message": text }).to_string());
            } else if is_check {
                printing.note(&format!("print: {text}"));
            } else if !is_silent && is_plain {
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

/// Runs a script on a stack that is large enough for its limits.
fn evaluate(engine: &Engine, names: &Names, source: &str, script: &AST) -> Result<(), Failure> {
    let ran = std::thread::scope(|scope| {
        let run = || engine.run_ast_with_scope(&mut Scope::new(), script);
        let thread = std::thread::Builder::new().name("script".to_owned()).stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, run).map(std::thread::ScopedJoinHandle::join)
    });
    match ran {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(error))) => Err(report::from_rhai(&error, source, names)),
        // The panic's own message is on the terminal already.
        Ok(Err(_)) => Err(Failure::new(
            Exit::Failed,
            "dc0-run itself is wrong, not the script; please report the message above",
        )),
        Err(cause) => {
            Err(Failure::new(Exit::Failed, format!("cannot start a thread for the script: {cause}")))
        }
    }
}
