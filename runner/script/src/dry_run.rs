//! A dry run of one script within this process, for editors and tests: nothing is computed, written or shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::failure::Failure;
use crate::plans::{Planned, Plans, ScriptToPlan};
use crate::report;
use dc0_runs::overrides::Override;
use dc0_runs::sources::Sources;
use dc0_steps::RunOptions;

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
    /// The plan, or the error.
    pub plan: Result<Plans, Failure>,
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
        sources.keep(&path.display().to_string(), text);
        let script = ScriptToPlan {
            path,
            folder: editor.folder.as_deref(),
            text,
            overrides,
            options,
            sources: Arc::clone(&sources),
            operations,
            is_stopped: is_stopped.into(),
        };
        let Planned { printed, plans } = script.plan();
        let printed = printed.into_iter().filter(|printed| !printed.is_debug);
        DryRunOutcome { plan: plans, printed: printed.map(|printed| printed.line).collect(), sources }
    }
}

impl DryRunOutcome {
    /// The error as the user reads it.
    pub fn error(&self) -> Option<String> {
        self.plan.as_ref().err().map(|failure| report::render(failure, &self.sources))
    }
}
