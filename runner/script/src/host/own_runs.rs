//! The runs that a script has opened itself, which it opens again whenever it goes on.

use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;

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
}
