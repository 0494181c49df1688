//! The database in which queries run. A query is stored as a view, and its rows are computed when they are requested.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::store::{FileEntry, StoreError, verify_file};

use crate::duckdb::{Connection, Settings, loaded, path_text};
use crate::error::AnalysisError;
use crate::functions;
use crate::source::Damage;

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
    /// What is left out because it is missing or damaged, by its path; `None` if a damaged file is an error.
    left_out: Option<Mutex<BTreeMap<PathBuf, Damage>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Session {
    /// A database that can read the files below some folders, and what links there lead to.
    pub fn new(work: Work, folders: &[PathBuf]) -> Self {
        let threads = (work == Work::Exact).then_some(1);
        let whole = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let linked = folders.iter().flat_map(|folder| linked_folders(folder, LINK_DEPTH));
        let folders = folders.iter().map(whole).chain(linked).collect();
        Self {
            settings: Settings { threads, memory: None, folders },
            connection: OnceLock::new(),
            names: AtomicU64::new(0),
            verified: Mutex::default(),
            left_out: None,
        }
    }

    /// As [`new`](Self::new), but files that cannot be read are left out and listed.
    pub(crate) fn of_readable(work: Work, folders: &[PathBuf]) -> Self {
        Self { left_out: Some(Mutex::default()), ..Self::new(work, folders) }
    }

    /// The connection, opened when it is first used.
    pub(crate) fn connection(&self) -> Result<&Connection, AnalysisError> {
        if self.connection.get().is_none() {
            let opened = Connection::open(loaded()?, &self.settings, functions::all())?;
            // If another thread was faster, its connection is used.
            let _ = self.connection.set(opened);
        }
        self.connection.get().ok_or_else(|| AnalysisError::Failed { message: "no connection".to_owned() })
    }

    /// Compares a file with its digest, once.
    pub(crate) fn verify(&self, folder: &Path, entry: &FileEntry) -> Result<(), StoreError> {
        let file = folder.join(&entry.path);
        let verified = || self.verified.lock().ignore_poison();
        if !verified().contains(&file) {
            verify_file(folder, entry)?;
            verified().insert(file);
        }
        Ok(())
    }

    /// Whether a file of a table is to be read. The error of one that is not is returned, or kept among those that are left out.
    pub(crate) fn admits(
        &self,
        run: &str,
        table: &'static str,
        file: &Path,
        check: impl FnOnce() -> Result<(), AnalysisError>,
    ) -> Result<bool, AnalysisError> {
        let Some(left_out) = &self.left_out else { return check().map(|()| true) };
        let left_out = || left_out.lock().ignore_poison();
        if left_out().contains_key(file) {
            return Ok(false);
        }
        match check() {
            Ok(()) => Ok(true),
            Err(error @ (AnalysisError::Store(_) | AnalysisError::Failed { .. })) => {
                let message = explained(file, &error);
                let fault =
                    Damage { run: run.to_owned(), affects: vec![table], path: file.to_owned(), message };
                left_out().insert(file.to_owned(), fault);
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    /// What was left out so far, in the order of the files' paths.
    pub(crate) fn left_out(&self) -> Vec<Damage> {
        let left_out = self.left_out.as_ref().map(|left_out| left_out.lock().ignore_poison());
        left_out.map_or_else(Vec::new, |left_out| left_out.values().cloned().collect())
    }

    /// Reads a whole file whose digest is not known. It must be one that was read before.
    pub(crate) fn decode(&self, file: &Path) -> Result<(), AnalysisError> {
        if self.left_out.is_none() || self.verified.lock().ignore_poison().contains(file) {
            return Ok(());
        }
        let path = path_text(&file.canonicalize().unwrap_or_else(|_| file.to_owned()))?;
        let select = format!(
            "SELECT max(hash(t))::VARCHAR AS h FROM read_parquet({path}, hive_partitioning = false) AS t"
        );
        let read = self.connection()?.rows(&select);
        read.map_err(|error| StoreError::Damaged { file: file.to_owned(), cause: error.message })?;
        self.verified.lock().ignore_poison().insert(file.to_owned());
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

/// The error of a file in one line, with what heals it.
fn explained(file: &Path, error: &AnalysisError) -> String {
    match error {
        AnalysisError::Store(StoreError::Changed { faults }) if faults.len() == 1 => {
            format!(
                "{}; delete what is left of it and give the run's command again, which does its step again",
                faults[0]
            )
        }
        error => {
            let cause =
                std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let text = format!("{error}{cause}");
            let name = file.display().to_string();
            if text.contains(&name) { text } else { format!("{name}: {text}") }
        }
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

/// How far below a folder links are looked for: among other runs, a run has tables, and these have iterations with their parts.
const LINK_DEPTH: u32 = 4;

/// The folders that links below a folder lead to, or into: DuckDB looks at where a file really is.
fn linked_folders(folder: &Path, depth: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => {
            let target = entry.path().canonicalize().ok();
            let folder = target.and_then(|target| {
                if target.is_dir() { Some(target) } else { target.parent().map(Path::to_owned) }
            });
            folder.into_iter().collect()
        }
        Ok(kind) if kind.is_dir() && depth > 1 => linked_folders(&entry.path(), depth - 1),
        _ => Vec::new(),
    };
    entries.flat_map(folders).collect()
}
