//! One script planned within this process, for editors and tests: nothing is computed, written or shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::Surroundings;
use crate::failure::Failure;
use crate::launch::Performance;
use crate::report;
use dc0_runs::declared::Declaration;
use dc0_runs::overrides::Override;
use dc0_runs::sources::Sources;
use dc0_steps::Asking;
use dc0_steps::check::Planner;

/// A script to be planned.
pub struct Rehearsal<'a> {
    /// Its file, which need not be there; imports are looked for beside it.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// What the command line would give.
    pub overrides: Vec<Override>,
    /// Where and how it would run.
    pub asking: Asking,
    /// Operations of the interpreter before the script is stopped.
    pub operations: u64,
    /// Whether the plan is no longer wanted.
    pub is_stopped: Box<dyn Fn() -> bool + Send + Sync>,
}

/// What an editor knows better than the files.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// The folder that imports stay in; that of the script, if none is given.
    pub folder: Option<PathBuf>,
    /// Texts of scripts that go before those of their files.
    pub texts: BTreeMap<PathBuf, String>,
}

/// How it went.
#[derive(Debug)]
pub struct Rehearsed {
    /// The plan as text, or what is wrong.
    pub plan: Result<String, Failure>,
    /// What the script printed.
    pub printed: Vec<String>,
    /// The script's text and those of its imports.
    pub sources: Arc<Sources>,
}

impl Rehearsal<'_> {
    /// Plans the script.
    pub fn run(self) -> Rehearsed {
        self.run_beside(&Beside::default())
    }

    /// Plans the script with texts that are not in their files yet.
    pub fn run_beside(self, beside: &Beside) -> Rehearsed {
        let Self { path, text, overrides, asking, operations, is_stopped } = self;
        let sources = Arc::new(Sources::with_unsaved(&beside.texts));
        let printed = Arc::new(Mutex::new(Vec::new()));
        let name = path.display().to_string();
        sources.keep(&name, text);
        let print = Arc::clone(&printed);
        let surroundings = Surroundings {
            sources: Arc::clone(&sources),
            print: Box::new(move |line| {
                print.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
            }),
            debug: Box::new(|_| {}),
            is_stopped,
            operations,
        };
        let declaration = Arc::new(Declaration::new(overrides));
        let planner = Arc::new(Planner::new(&name, asking, Arc::clone(&declaration)));
        let host = Arc::clone(&planner) as Arc<dyn dc0_steps::host::Host>;
        let folder = beside.folder.as_deref();
        let performed = Performance { path, folder, text, host, declaration }.perform(surroundings);
        let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
        Rehearsed { plan: performed.map(|_| planner.plan()), printed, sources }
    }
}

impl Rehearsed {
    /// What is wrong, as the user reads it.
    pub fn error(&self) -> Option<String> {
        self.plan.as_ref().err().map(|failure| report::render(failure, &self.sources))
    }
}
