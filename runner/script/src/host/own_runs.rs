//! The runs that a script has opened itself, which it opens again whenever it goes on.

use std::path::Path;
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;
use dc0_runs::net::run_folder_in;

/// The folders of the runs that a script has opened itself.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnRuns(Arc<Mutex<Vec<String>>>);

impl OwnRuns {
    pub(super) fn add(&self, folder: &str) {
        self.0.lock().ignore_poison().push(folder.to_owned());
    }

    pub(super) fn has(&self, folder: &str) -> bool {
        self.0.lock().ignore_poison().iter().any(|own| own == folder)
    }

    /// Whether the name of a net, `RUN` or `RUN:GENERATION`, is that of such a run, where `runs` is the folder of runs. Its last net is
    /// another one each time the script goes on.
    pub(super) fn has_net(&self, runs: &Path, name: &str) -> bool {
        let run = name.rsplit_once(':').map_or(name, |(run, _)| run);
        let Some(folder) = run_folder_in(runs, run) else { return false };
        let is_it = |own: &String| Path::new(own).canonicalize().is_ok_and(|own| own == folder.root());
        self.0.lock().ignore_poison().iter().any(is_it)
    }
}
