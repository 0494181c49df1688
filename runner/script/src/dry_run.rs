//! A dry run of one script within this process, for editors and tests: nothing is computed, written or shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::EngineHooks;
use crate::failure::Failure;
use crate::launch::ScriptRun;
use crate::report;
use dc0_runs::declared::Declaration;
use dc0_runs::overrides::Override;
use dc0_runs::sources::Sources;
use dc0_steps::RunOptions;
use dc0_steps::check::Planner;

/// A script to plan.
pub struct DryRun<'a> {
    /// Its file, which need not exist; imports are relative to it.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The values that the command line would set.
    pub overrides: Vec<Override>,
    /// Where and how it would run.
    pub options: RunOptions,
    /// Most operations of the interpreter before the script is stopped.
    pub operations: u64,
    /// Whether the plan is no longer wanted.
    pub is_stopped: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Unsaved texts and the workspace folder of an editor.
#[derive(Debug, Clone, Default)]
pub struct EditorState {
    /// The folder that imports must stay in; the script's own if `None`.
    pub folder: Option<PathBuf>,
    /// Texts of scripts that replace those of their files.
    pub texts: BTreeMap<PathBuf, String>,
}

/// The outcome of a dry run.
#[derive(Debug)]
pub struct DryRunOutcome {
    /// The plan as text, or the error.
    pub plan: Result<String, Failure>,
    /// What the script printed.
    pub printed: Vec<String>,
    /// The script's text and those of its imports.
    pub sources: Arc<Sources>,
}

impl DryRun<'_> {
    /// Plans the script.
    pub fn run(self) -> DryRunOutcome {
        self.run_with(&EditorState::default())
    }

    /// Plans the script with the unsaved texts of an editor.
    pub fn run_with(self, editor: &EditorState) -> DryRunOutcome {
        let Self { path, text, overrides, options, operations, is_stopped } = self;
        let sources = Arc::new(Sources::with_unsaved(&editor.texts));
        let printed = Arc::new(Mutex::new(Vec::new()));
        let name = path.display().to_string();
        sources.keep(&name, text);
        let print = Arc::clone(&printed);
        let surroundings = EngineHooks {
            sources: Arc::clone(&sources),
            print: Box::new(move |line| {
                print.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
            }),
            debug: Box::new(|_| {}),
            is_stopped,
            operations,
        };
        let declaration = Arc::new(Declaration::new(overrides));
        let planner = Arc::new(Planner::new(&name, options, Arc::clone(&declaration)));
        let host = Arc::clone(&planner) as Arc<dyn dc0_steps::host::Host>;
        let folder = editor.folder.as_deref();
        let ran = ScriptRun { path, folder, text, host, declaration }.run(surroundings);
        let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
        DryRunOutcome { plan: ran.map(|_| planner.plan()), printed, sources }
    }
}

impl DryRunOutcome {
    /// The error as the user reads it.
    pub fn error(&self) -> Option<String> {
        self.plan.as_ref().err().map(|failure| report::render(failure, &self.sources))
    }
}
