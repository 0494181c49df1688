//! Runs the text of one script with a host.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhai::{AST, Engine, Scope};

use crate::compile::compile;
use crate::engine::{EngineHooks, engine};
use crate::failure::Failure;
use crate::host::{self, PartDone, Session};
use crate::jail::Jail;
use crate::limits::STACK_BYTES;
use crate::names::Names;
use crate::report;
use dc0_process::exit::Exit;
use dc0_runs::declared::Declaration;
use dc0_steps::host::Host;
use dc0_steps::table::Table;

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
    /// Runs the script to its end. Returns the tables of iterations that were not shown, with the names of their runs if there are several.
    pub fn run(self, surroundings: EngineHooks) -> Result<Vec<(Option<String>, Table)>, Failure> {
        let Self { path, folder, text, host, declaration } = self;
        let sources = Arc::clone(&surroundings.sources);
        let session = Arc::new(Session::new(host, Arc::clone(&declaration)));
        let mut engine = engine(&folder.map_or_else(|| folder_of(path), Path::to_owned), surroundings);
        host::register(&mut engine, &session);
        let jail = Jail::new(&folder_of(path), Arc::clone(&sources));
        let names = session.set_names(Names::new(&engine, host::usages(), Arc::clone(&declaration), sources));
        let source = path.display().to_string();
        let script = compile(&engine, names, &jail, &source, text)?;
        evaluate(&engine, names, &source, &script)
            .and_then(|()| session.await_rest())
            .inspect_err(|_| session.stop())?;
        if let Some(unused) = declaration.unused() {
            let message = format!("{unused}, but the script never calls params(#{{…}})");
            return Err(Failure::new(Exit::BadInput, message));
        }
        session.check_folders()?;
        session.complete()?;
        Ok(session.unshown_tables())
    }
}

/// The folder from which the script may import.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
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
        Ok(Ok(Err(error))) if PartDone::is_it(&error) => Ok(()),
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
