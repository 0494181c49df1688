//! DuckDB as the engine of SQL: its library is loaded at run time, and everything unsafe about that stays in here.

mod api;
mod column_type;
mod connection;
mod error;
mod library;
mod scalar;
mod vector;

pub(crate) use column_type::ColumnType;
pub(crate) use connection::{Connection, Settings, path_text};
pub(crate) use error::{EngineError, ErrorKind};
pub(crate) use library::loaded;
pub use library::{LibraryError, duckdb_version, use_duckdb};
pub(crate) use scalar::{Compute, Function};
