//! The numbers of tables in a dry run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::assumption::Assumption;
use crate::trace::{Reading, Recorder};

/// What a dry run assumes of the tables of queries whose rows come from steps that are not finished.
#[derive(Debug, Clone)]
pub struct AssumedTables {
    assumption: Assumption,
    recorder: Recorder,
    /// One, or several that are joined; each is shared by all frames that come from it.
    queries: Vec<Arc<Query>>,
}

/// A query that the recorder has counted.
#[derive(Debug)]
struct Query {
    /// The script's steps before it.
    after: usize,
    /// Whether it counts as one that is read.
    is_read: AtomicBool,
}

impl AssumedTables {
    /// Those of another query.
    pub(crate) fn new(assumption: Assumption, recorder: Recorder) -> Self {
        let query = Query { after: recorder.query_table(), is_read: AtomicBool::new(false) };
        Self { assumption, recorder, queries: vec![Arc::new(query)] }
    }

    /// Those of both queries.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        let is_new = |query: &&Arc<Query>| !self.queries.iter().any(|own| Arc::ptr_eq(own, query));
        let more: Vec<Arc<Query>> = other.queries.iter().filter(is_new).map(Arc::clone).collect();
        self.queries.extend(more);
        self
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
        for query in &self.queries {
            if !query.is_read.swap(true, Ordering::Relaxed) {
                self.recorder.read_query(query.after);
            }
        }
        self.recorder.read(reading);
    }
}

#[cfg(test)]
mod tests {
    use super::{AssumedTables, Assumption, Reading, Recorder};

    #[test]
    fn a_reading_counts_the_queries_that_it_reads_and_no_others() {
        let recorder = Recorder::default();
        let query = || AssumedTables::new(Assumption::Even, recorder.clone());
        let read = |tables: &AssumedTables| {
            let reading = Reading { figure: "rows".to_owned(), source: "x.rhai".to_owned(), point: None };
            tables.note_reading(reading);
            recorder.table_queries()
        };
        let early = query();
        recorder.did_step("a step".to_owned());
        let later = query();
        assert_eq!(read(&early), (1, 1), "a step lies between, and the later query is not read");
        let both = query().joined(&later).joined(&later);
        assert_eq!(recorder.table_queries(), (1, 2));
        assert_eq!(read(&both), (3, 0));
        assert_eq!(read(&later), (3, 0), "each counts once");
    }
}
