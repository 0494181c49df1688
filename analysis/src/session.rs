//! The database in which queries run. A query is stored as a view, and its rows are computed when they are requested.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dc0_core::params::Value;
use dc0_core::store::{FileEntry, StoreError, verify_file};

use crate::duckdb::{Connection, Settings};
use crate::error::AnalysisError;
use crate::functions;

/// How queries are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// On all cores. Floating-point sums may differ in the last digit between machines.
    Fast,
    /// On one thread, so that a query returns the same result on every machine, and training keeps its cores.
    Exact,
}

/// A database in memory, opened by the first query. Frames can be joined if they were read in the same one.
pub struct Session {
    settings: Settings,
    connection: OnceLock<Connection>,
    /// Names given so far.
    names: AtomicU64,
    /// Files that are what they were when they were stored.
    verified: Mutex<BTreeSet<PathBuf>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Session {
    /// A database that can read the files below some folders.
    pub fn new(work: Work, folders: &[PathBuf]) -> Self {
        let threads = (work == Work::Exact).then_some(1);
        let folders =
            folders.iter().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone())).collect();
        Self {
            settings: Settings { threads, memory: None, folders },
            connection: OnceLock::new(),
            names: AtomicU64::new(0),
            verified: Mutex::default(),
        }
    }

    /// The connection, opened when it is first used.
    pub(crate) fn connection(&self) -> Result<&Connection, AnalysisError> {
        if self.connection.get().is_none() {
            let opened = Connection::open(&self.settings, functions::all())?;
            // If another thread was faster, its connection is used.
            let _ = self.connection.set(opened);
        }
        self.connection.get().ok_or_else(|| AnalysisError::Failed { message: "no connection".to_owned() })
    }

    /// Compares a file with its digest, once.
    pub(crate) fn verify(&self, folder: &Path, entry: &FileEntry) -> Result<(), StoreError> {
        let file = folder.join(&entry.path);
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if !verified().contains(&file) {
            verify_file(folder, entry)?;
            verified().insert(file);
        }
        Ok(())
    }

    fn new_name(&self, kind: &str) -> String {
        format!("dc0_{kind}_{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// Stores a table of rows; columns have names and SQL types.
    pub(crate) fn table(
        self: &Arc<Self>,
        columns: &[(String, String)],
        rows: Vec<Vec<Value>>,
    ) -> Result<Arc<Stored>, AnalysisError> {
        let table = Stored { session: Arc::clone(self), kind: "TABLE", name: self.new_name("table") };
        self.connection()?.create_table(&table.name, columns, rows)?;
        Ok(Arc::new(table))
    }

    /// Stores a SELECT as a view; it is checked but not run.
    pub(crate) fn view(self: &Arc<Self>, select: &str) -> Result<Arc<Stored>, AnalysisError> {
        let view = Stored { session: Arc::clone(self), kind: "VIEW", name: self.new_name("view") };
        self.connection()?.execute(&format!("CREATE VIEW {} AS {select}", view.name))?;
        Ok(Arc::new(view))
    }
}

/// A view or table of the database, removed when nothing uses it any longer.
#[derive(Debug)]
pub(crate) struct Stored {
    session: Arc<Session>,
    kind: &'static str,
    /// Its name in SQL.
    pub(crate) name: String,
}

impl Drop for Stored {
    fn drop(&mut self) {
        if let Some(connection) = self.session.connection.get() {
            // One that stays is never named again.
            let _ = connection.execute(&format!("DROP {} IF EXISTS {}", self.kind, self.name));
        }
    }
}
