//! A database in memory that reads the files of some folders, and nothing else.

#![allow(unsafe_code, reason = "a library that is not linked has no safe interface")]

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard};

use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use polars::prelude::{Column, DataFrame, PlSmallStr, Series};

use super::api::{Api, Handle, RawResult, SUCCESS};
use super::column_type::ColumnType;
use super::error::EngineError;
use super::scalar::{self, Function};
use super::vector::Vector;
use crate::quoting::{identifier, text};

/// How a database computes.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The number of threads; `None` for all cores.
    pub(crate) threads: Option<usize>,
    /// The most memory for a statement, in DuckDB's words; `None` for half of DuckDB's own limit, which is 80 % of the memory of the
    /// machine or container: the result is copied once.
    pub(crate) memory: Option<String>,
    /// The folders whose files can be read.
    pub(crate) folders: Vec<PathBuf>,
}

/// A connection to a database in memory.
pub(crate) struct Connection {
    api: &'static Api,
    handles: Mutex<Handles>,
}

struct Handles {
    database: Handle,
    connection: Handle,
}

// SAFETY: DuckDB's handles may be used on any thread, by one at a time, which the mutex around them sees to.
unsafe impl Send for Handles {}

impl Connection {
    /// Opens a database with dc0's functions.
    pub(crate) fn open(
        api: &'static Api,
        settings: &Settings,
        functions: &'static [Function],
    ) -> Result<Self, EngineError> {
        let database = open_database(api)?;
        let mut handles = Handles { database, connection: null_mut() };
        // SAFETY: the database is open, and the pointer is to a handle of ours.
        let connected = unsafe { (api.connect)(database, &raw mut handles.connection) } == SUCCESS;
        let opened = Self { api, handles: Mutex::new(handles) };
        if !connected {
            return Err(EngineError::other("DuckDB cannot open a connection"));
        }
        scalar::register(api, opened.lock().connection, functions)?;
        opened.configure(settings)?;
        Ok(opened)
    }

    fn configure(&self, settings: &Settings) -> Result<(), EngineError> {
        let folders = settings.folders.iter().map(|folder| path_text(folder));
        let folders = folders.collect::<Result<Vec<String>, _>>()?.join(", ");
        if let Some(threads) = settings.threads {
            self.execute(&format!("SET threads = {threads}"))?;
        }
        let memory = match &settings.memory {
            Some(memory) => memory.clone(),
            None => halved(&self.text("SELECT current_setting('memory_limit')")?)?,
        };
        // A query that needs more memory fails rather than filling a disk.
        self.execute(&format!(
            "SET memory_limit = '{memory}'; SET temp_directory = ''; SET allowed_directories = [{folders}]; \
             SET enable_external_access = false; SET errors_as_json = true; SET lock_configuration = true"
        ))
    }

    fn lock(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().ignore_poison()
    }

    /// Runs statements whose results do not matter.
    pub(crate) fn execute(&self, statements: &str) -> Result<(), EngineError> {
        let statements = c_text(statements)?;
        let handles = self.lock();
        let mut result = RawResult::EMPTY;
        // SAFETY: the connection is open, the text ends with a zero byte, and the result is destroyed below.
        let state = unsafe { (self.api.query)(handles.connection, statements.as_ptr(), &raw mut result) };
        self.finish(state, result).map(drop)
    }

    /// The number of statements in a text.
    pub(crate) fn count_statements(&self, statements: &str) -> Result<u64, EngineError> {
        let statements = c_text(statements)?;
        let handles = self.lock();
        let mut extracted = null_mut();
        // SAFETY: the connection is open, the text ends with a zero byte; what is extracted is destroyed below, after its message
        // is copied.
        unsafe {
            let count =
                (self.api.extract_statements)(handles.connection, statements.as_ptr(), &raw mut extracted);
            let error = copied((self.api.extract_statements_error)(extracted));
            (self.api.destroy_extracted)(&raw mut extracted);
            match error {
                Some(message) if count == 0 => Err(EngineError::parse(&message)),
                _ => Ok(count),
            }
        }
    }

    /// The columns that a statement returns, without running it.
    pub(crate) fn columns(&self, statement: &str) -> Result<Vec<(String, ColumnType)>, EngineError> {
        let handles = self.lock();
        let prepared = self.prepare(&handles, statement)?;
        Ok(prepared.columns())
    }

    /// The rows that a statement returns. Every column must have one of the types that [`ColumnType`] reads without a cast.
    pub(crate) fn rows(&self, statement: &str) -> Result<DataFrame, EngineError> {
        let handles = self.lock();
        let prepared = self.prepare(&handles, statement)?;
        let columns = prepared.columns();
        let mut result = RawResult::EMPTY;
        // SAFETY: the statement is prepared; the result is destroyed with `Executed`.
        let state = unsafe { (self.api.execute_prepared)(prepared.handle, &raw mut result) };
        let executed = self.finish(state, result)?;
        let empty = |(name, kind): &(String, ColumnType)| Series::new_empty(name.into(), &kind.dtype());
        let mut filled: Vec<Series> = columns.iter().map(empty).collect();
        let mut height = 0;
        while let Some(chunk) = executed.next_chunk() {
            let rows = chunk.len();
            height += rows;
            for (index, (series, (name, kind))) in filled.iter_mut().zip(&columns).enumerate() {
                let vector = chunk.vector(index as u64);
                series.append(&vector.series(PlSmallStr::from(name), kind, rows)?)?;
            }
        }
        // Each cell is found at once in one chunk, not by a search through all of them.
        let columns = filled.iter().map(|series| Column::from(series.rechunk())).collect();
        Ok(DataFrame::new(height, columns)?)
    }

    /// The single text that a statement returns.
    pub(crate) fn text(&self, statement: &str) -> Result<String, EngineError> {
        let rows = self.rows(statement)?;
        let column = rows.columns().first().and_then(|column| column.str().ok());
        Ok(column.and_then(|column| column.get(0)).unwrap_or_default().to_owned())
    }

    /// Creates a table of rows; columns have names and SQL types.
    pub(crate) fn create_table(
        &self,
        name: &str,
        columns: &[(String, String)],
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) -> Result<(), EngineError> {
        let typed = columns.iter().map(|(name, kind)| format!("{} {kind}", identifier(name)));
        let typed = typed.collect::<Vec<_>>().join(", ");
        self.execute(&format!("CREATE TABLE {} ({typed})", identifier(name)))?;
        let name = c_text(name)?;
        let handles = self.lock();
        let mut appender = null_mut();
        // SAFETY: the connection is open, the name ends with a zero byte; the appender is destroyed below, after its message is copied.
        unsafe {
            let created =
                (self.api.appender_create)(handles.connection, null(), name.as_ptr(), &raw mut appender);
            let is_appended = created == SUCCESS && rows.into_iter().all(|row| self.append(appender, &row));
            let message = copied((self.api.appender_error)(appender));
            let is_stored = (self.api.appender_destroy)(&raw mut appender) == SUCCESS;
            if is_appended && is_stored {
                Ok(())
            } else {
                Err(EngineError::other(&message.unwrap_or_default()))
            }
        }
    }

    /// Appends a row. The appender must be open.
    unsafe fn append(&self, appender: Handle, row: &[Value]) -> bool {
        let cell = |value: &Value| unsafe {
            match value {
                Value::Int(number) => (self.api.append_int64)(appender, *number),
                Value::Float(number) => (self.api.append_double)(appender, *number),
                Value::Text(text) => {
                    (self.api.append_varchar_length)(appender, text.as_ptr().cast(), text.len() as u64)
                }
                _ => (self.api.append_null)(appender),
            }
        };
        row.iter().all(|value| cell(value) == SUCCESS)
            && unsafe { (self.api.appender_end_row)(appender) } == SUCCESS
    }

    fn prepare(&self, handles: &Handles, statement: &str) -> Result<Prepared<'_>, EngineError> {
        let statement = c_text(statement)?;
        let mut prepared = Prepared { api: self.api, handle: null_mut() };
        // SAFETY: the connection is open, the text ends with a zero byte; `Prepared` destroys what is prepared.
        unsafe {
            let state = (self.api.prepare)(handles.connection, statement.as_ptr(), &raw mut prepared.handle);
            if state == SUCCESS {
                return Ok(prepared);
            }
            let message = copied((self.api.prepare_error)(prepared.handle)).unwrap_or_default();
            Err(EngineError::parse(&message))
        }
    }

    /// What a call left in `result`, or its error.
    fn finish(&self, state: i32, result: RawResult) -> Result<Executed<'_>, EngineError> {
        let mut executed = Executed { api: self.api, result };
        if state == SUCCESS {
            return Ok(executed);
        }
        // SAFETY: the result was filled by a call; the message is copied before the result is destroyed.
        let message = unsafe { copied((self.api.result_error)(&raw mut executed.result)) };
        Err(EngineError::parse(&message.unwrap_or_default()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut handles = self.lock();
        let Handles { database, connection } = &mut *handles;
        // SAFETY: both were opened by us and are closed once; closing a null handle does nothing.
        unsafe {
            (self.api.disconnect)(connection);
            (self.api.close)(database);
        }
    }
}

fn open_database(api: &Api) -> Result<Handle, EngineError> {
    let (mut config, mut database, mut message) = (null_mut(), null_mut(), null_mut());
    // SAFETY: the pointers are to handles of ours; a null path is a database in memory; the message is freed after it is copied.
    unsafe {
        (api.create_config)(&raw mut config);
        // Nothing is fetched or loaded while a statement runs.
        for name in [c"autoinstall_known_extensions", c"autoload_known_extensions"] {
            (api.set_config)(config, name.as_ptr(), c"false".as_ptr());
        }
        let state = (api.open_ext)(null(), &raw mut database, config, &raw mut message);
        (api.destroy_config)(&raw mut config);
        if state == SUCCESS {
            return Ok(database);
        }
        let error = EngineError::other(&copied(message).unwrap_or_default());
        (api.free)(message.cast());
        Err(error)
    }
}

/// Half of a limit such as `18.8 GiB`.
fn halved(limit: &str) -> Result<String, EngineError> {
    let halved = limit.split_once(' ').and_then(|(number, unit)| {
        let number: f64 = number.parse().ok()?;
        Some(format!("{:.1} {unit}", number / 2.0))
    });
    halved.ok_or_else(|| EngineError::other(&format!("DuckDB's memory limit is \"{limit}\"")))
}

/// A path as an SQL text.
pub(crate) fn path_text(path: &Path) -> Result<String, EngineError> {
    path.to_str().map(text).ok_or_else(|| {
        EngineError::other(&format!("the path {} is not UTF-8, which SQL needs", path.display()))
    })
}

fn c_text(text: &str) -> Result<CString, EngineError> {
    CString::new(text).map_err(|_| EngineError::syntax("a statement cannot hold a zero byte"))
}

/// A copy of a C text; `None` if there is none.
unsafe fn copied(text: *const c_char) -> Option<String> {
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A prepared statement.
struct Prepared<'a> {
    api: &'a Api,
    handle: Handle,
}

impl Prepared<'_> {
    fn columns(&self) -> Vec<(String, ColumnType)> {
        // SAFETY: the statement is prepared, and the indices are below its number of columns; names are freed after they are
        // copied, and types are destroyed after they are read.
        unsafe {
            let column = |index| {
                let name = (self.api.prepared_statement_column_name)(self.handle, index);
                let copy = copied(name).unwrap_or_default();
                (self.api.free)(name.cast());
                let kind = (self.api.prepared_statement_column_logical_type)(self.handle, index);
                (copy, ColumnType::read(self.api, kind))
            };
            (0..(self.api.prepared_statement_column_count)(self.handle)).map(column).collect()
        }
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is ours, and null handles are allowed.
        unsafe { (self.api.destroy_prepare)(&raw mut self.handle) }
    }
}

/// The result of a statement.
struct Executed<'a> {
    api: &'a Api,
    result: RawResult,
}

impl Executed<'_> {
    fn next_chunk(&self) -> Option<Chunk<'_>> {
        // SAFETY: the result is that of a successful call; `Chunk` destroys the chunk.
        let handle = unsafe { (self.api.fetch_chunk)(self.result) };
        (!handle.is_null()).then_some(Chunk { api: self.api, handle })
    }
}

impl Drop for Executed<'_> {
    fn drop(&mut self) {
        // SAFETY: the result is ours and is destroyed once.
        unsafe { (self.api.destroy_result)(&raw mut self.result) }
    }
}

/// Some rows of a result.
struct Chunk<'a> {
    api: &'a Api,
    handle: Handle,
}

impl Chunk<'_> {
    fn len(&self) -> usize {
        // SAFETY: the chunk is alive.
        unsafe { (self.api.data_chunk_get_size)(self.handle) as usize }
    }

    fn vector(&self, index: u64) -> Vector<'_> {
        // SAFETY: the chunk is alive and outlives the vector; the index is below its number of columns.
        unsafe { Vector::new(self.api, (self.api.data_chunk_get_vector)(self.handle, index)) }
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        // SAFETY: the chunk is ours and is destroyed once.
        unsafe { (self.api.destroy_data_chunk)(&raw mut self.handle) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Connection, Settings, halved};
    use crate::duckdb::{ErrorKind, loaded};

    fn open() -> Connection {
        let settings = Settings { threads: Some(1), memory: Some("64 MiB".to_owned()), folders: Vec::new() };
        let api = loaded().expect("DuckDB's library");
        Connection::open(api, &settings, &[]).expect("a database")
    }

    #[test]
    fn half_of_a_limit_keeps_its_unit() {
        assert_eq!(halved("18.8 GiB").expect("a limit"), "9.4 GiB");
        assert!(halved("much").is_err());
    }

    #[test]
    fn a_statement_that_needs_too_much_memory_is_an_error() {
        let connection = open();
        let error = connection.rows("SELECT list(range) AS l FROM range(30000000)").expect_err("too much");
        assert_eq!(error.kind, ErrorKind::Memory, "{error:?}");
        assert_eq!(connection.text("SELECT 'still there'").expect("an answer"), "still there");
    }

    #[test]
    fn a_long_column_is_a_single_chunk() {
        let rows = open().rows("SELECT range AS n, [range] AS l FROM range(10000)").expect("rows");
        let chunks = rows.columns().iter().map(|column| column.as_materialized_series().n_chunks());
        assert_eq!(chunks.collect::<Vec<_>>(), [1, 1]);
        assert_eq!(rows.height(), 10_000);
    }

    #[test]
    fn values_of_all_types_are_read() {
        let rows = open()
            .rows(
                "SELECT * FROM (VALUES (true, 1::BIGINT, 0.5::FLOAT, 2.5::DOUBLE, 'a text of more than 12 bytes', \
                 [1::BIGINT, NULL], [['x'], []]), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)) AS t(a, b, c, d, e, f, g)",
            )
            .expect("rows");
        let cells = |row: usize| -> Vec<String> {
            rows.columns().iter().map(|column| column.get(row).expect("a row").to_string()).collect()
        };
        assert_eq!(
            cells(0),
            ["true", "1", "0.5", "2.5", "\"a text of more than 12 bytes\"", "[1, null]", "[[\"x\"], []]"]
        );
        assert_eq!(cells(1), ["null"; 7]);
        let none = open().rows("SELECT 1::BIGINT AS a, []::DOUBLE[] AS b WHERE false").expect("rows");
        assert_eq!((none.height(), none.width()), (0, 2));
    }
}
