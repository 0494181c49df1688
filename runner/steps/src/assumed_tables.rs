//! The numbers of tables in a dry run.

use crate::assumption::Assumption;
use crate::trace::{Reading, Recorder};

/// What a dry run assumes of tables whose rows come from steps that are not finished.
#[derive(Debug, Clone)]
pub struct AssumedTables {
    pub(crate) assumption: Assumption,
    pub(crate) recorder: Recorder,
}

impl AssumedTables {
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
        self.recorder.read_table(reading);
    }
}
