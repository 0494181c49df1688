//! Finds and loads DuckDB's library, once for the whole process.

use std::error::Error;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use thiserror::Error;

use super::api::Api;

/// The library's file name; without a folder, the system's loader searches for it in the folders that the build names and in the
/// system's.
const NAME: &str = if cfg!(target_os = "macos") { "libduckdb.dylib" } else { "libduckdb.so" };

/// The library that was named.
static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// Why SQL is not available.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LibraryError {
    /// There is no library where the build and the system have theirs.
    #[error(
        "SQL needs DuckDB's library, which cannot be loaded ({cause}); `cargo xtask setup` fetches it into the checkout, and \
         DC0_DUCKDB names one that is elsewhere"
    )]
    Missing { cause: String },
    /// The library that was named cannot be used; no other is tried.
    #[error("DC0_DUCKDB is {}, which cannot be used as DuckDB's library: {cause}", path.display())]
    Named { path: PathBuf, cause: String },
}

/// Names the library to load, or its folder, before the first query; later calls change nothing.
pub fn use_duckdb(path: PathBuf) {
    // The first name counts.
    let _ = NAMED.set(path);
}

/// The version of the library, such as `v1.5.6`; it is loaded for that.
#[allow(unsafe_code, reason = "a library that is not linked has no safe interface")]
pub fn duckdb_version() -> Result<String, LibraryError> {
    let api = loaded()?;
    // SAFETY: the function returns a C text in the library.
    Ok(unsafe { CStr::from_ptr((api.library_version)()) }.to_string_lossy().into_owned())
}

/// The library's functions.
pub(crate) fn loaded() -> Result<&'static Api, LibraryError> {
    static LOADED: OnceLock<Result<Api, LibraryError>> = OnceLock::new();
    LOADED.get_or_init(|| load(NAMED.get().map(PathBuf::as_path))).as_ref().map_err(Clone::clone)
}

fn load(named: Option<&Path>) -> Result<Api, LibraryError> {
    match named {
        Some(path) => {
            let file = if path.is_dir() { path.join(NAME) } else { path.to_owned() };
            let named = |cause| LibraryError::Named { path: path.to_owned(), cause: said(&cause) };
            Api::load(&file).map_err(named)
        }
        None => Api::load(Path::new(NAME)).map_err(|cause| LibraryError::Missing { cause: said(&cause) }),
    }
}

/// What the loader says; the error itself says only what was tried.
fn said(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::{LibraryError, load};

    #[test]
    fn a_named_library_that_is_wrong_is_an_error_and_no_other_is_tried() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [folder.path().to_owned(), folder.path().join("libduckdb.so")] {
            let error = load(Some(&path)).err().expect("there is no library");
            assert!(matches!(&error, LibraryError::Named { path: named, .. } if *named == path), "{error}");
        }
        let file = folder.path().join("text.so");
        std::fs::write(&file, "no library").expect("writes");
        assert!(load(Some(&file)).is_err());
    }
}
