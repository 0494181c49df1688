//! The numbers of tables in a dry run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::assumption::Assumption;
use crate::trace::{Reading, Recorder};

/// What a dry run assumes of the tables of a query whose rows come from steps that are not finished.
#[derive(Debug, Clone)]
pub struct AssumedTables {
    assumption: Assumption,
    recorder: Recorder,
    /// Whether the query counts as one that is read; shared by all frames that come from it.
    is_read: Arc<AtomicBool>,
}

impl AssumedTables {
    /// Those of a query that the recorder has counted.
    pub(crate) fn new(assumption: Assumption, recorder: Recorder) -> Self {
        Self { assumption, recorder, is_read: Arc::default() }
    }

    /// Every number whose value is not known: less than most thresholds of scripts, or more.
    pub fn number(&self) -> i64 {
        self.assumption.table_number()
    }

    /// Every truth value that is not known.
    pub fn flag(&self) -> bool {
        self.number() > 0
    }

    /// Records that the script reads what is assumed.
    pub fn note_reading(&self, reading: Reading) {
        if !self.is_read.swap(true, Ordering::Relaxed) {
            self.recorder.read_query();
        }
        self.recorder.read(reading);
    }
}
