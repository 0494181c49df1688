//! ONNX Runtime's shared library: loaded from a path, once per process, and checked before use.

use std::error::Error as _;
use std::ffi::CStr;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use ort::environment::Environment;
use thiserror::Error;

use crate::poison::IgnorePoison;

/// ONNX Runtime, loaded and started. Clones share the process's only library.
#[derive(Debug, Clone)]
pub struct OnnxLibrary {
    path: PathBuf,
    version: String,
    environment: Environment,
}

/// The loaded library. A global, because a process can load ONNX Runtime only once and never unload it.
static LOADED: Mutex<Option<OnnxLibrary>> = Mutex::new(None);

/// What to do if there is no usable library.
const ADVICE: &str = "`pip install onnxruntime` brings one, `--onnxruntime PATH` says where it is";

/// ONNX Runtime's library cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OnnxLibraryError {
    #[error("{}: no such library of ONNX Runtime; {ADVICE}", path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("{}: cannot be loaded as the library of ONNX Runtime ({cause}); {ADVICE}", path.display())]
    NotLoadable { path: PathBuf, cause: String },
    #[error("{}: not the library of ONNX Runtime, it has no `OrtGetApiBase`; {ADVICE}", path.display())]
    NotOnnxRuntime { path: PathBuf },
    /// The library is too old or has another major version.
    #[error("{}: expected ONNX Runtime 1.{needed} or newer, found {found}; {ADVICE}", path.display())]
    Version {
        path: PathBuf,
        /// The minimum minor version.
        needed: u32,
        found: String,
    },
    #[error("{}: cannot be loaded beside {}; a process can use one library of ONNX Runtime", path.display(), loaded.display())]
    Another { path: PathBuf, loaded: PathBuf },
    #[error("{}: ONNX Runtime {version} does not start: {cause}", path.display())]
    Start { path: PathBuf, version: String, cause: String },
}

impl OnnxLibrary {
    /// The minimum minor version: 1.N.
    pub const MIN_MINOR_VERSION: u32 = ort::MINOR_VERSION;

    /// Loads the library, or returns the one that this process has already loaded from this path.
    ///
    /// A name without a folder is searched for on the system's library path.
    pub fn load(path: &Path) -> Result<Self, OnnxLibraryError> {
        let path = locate(path)?;
        // A panic while loading leaves `None`, which is correct.
        let mut loaded = LOADED.lock().ignore_poison();
        if let Some(library) = &*loaded {
            return if library.path == path {
                Ok(library.clone())
            } else {
                Err(OnnxLibraryError::Another { path, loaded: library.path.clone() })
            };
        }
        let version = version_of(&path)?;
        let environment = start(&path, &version)?;
        Ok(loaded.insert(Self { path, version, environment }).clone())
    }

    /// The path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version, such as 1.30.0.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// The absolute path, except for a bare name that the system's loader must find.
fn locate(path: &Path) -> Result<PathBuf, OnnxLibraryError> {
    let is_bare = path.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    if is_bare && !path.exists() {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|source| OnnxLibraryError::Missing { path: path.to_owned(), source })
}

/// The version of a library, after checking that it offers the API that dc0 needs. Nothing else of the library is used.
#[allow(unsafe_code, reason = "a library that is not linked has no safe interface")]
fn version_of(path: &Path) -> Result<String, OnnxLibraryError> {
    type GetApiBase = unsafe extern "C" fn() -> *const ort::sys::OrtApiBase;
    let failed = |error: libloading::Error| {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        OnnxLibraryError::NotLoadable { path: path.to_owned(), cause }
    };
    // Its symbols are local, because libtorch exports some of the same ones.
    // SAFETY: initialisers of a shared library run, as they do for every library of a program.
    let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) }.map_err(failed)?;
    let not_onnx_runtime = || OnnxLibraryError::NotOnnxRuntime { path: path.to_owned() };
    // SAFETY: every ONNX Runtime exports this function with this type; it returns null or a table of two functions that
    // lives as long as the library.
    let base = unsafe {
        let symbol = library.get::<Option<GetApiBase>>(c"OrtGetApiBase").ok();
        symbol.and_then(|get| ((*get)?)().as_ref())
    };
    // What it returned is used as long as the program runs.
    mem::forget(library);
    let base = base.ok_or_else(not_onnx_runtime)?;
    // SAFETY: the function returns null or a C string in the library; the text is copied.
    let version = unsafe { (base.GetVersionString)().as_ref().map(|first| CStr::from_ptr(first)) };
    let version = version.ok_or_else(not_onnx_runtime)?.to_string_lossy().into_owned();
    check_version(path, &version)?;
    // SAFETY: the function takes a number and returns null or a table of functions, which is not used here.
    if unsafe { (base.GetApi)(ort::sys::ORT_API_VERSION) }.is_null() {
        let cause = format!("it does not offer version {} of its interface", ort::sys::ORT_API_VERSION);
        return Err(OnnxLibraryError::Start { path: path.to_owned(), version, cause });
    }
    Ok(version)
}

fn check_version(path: &Path, version: &str) -> Result<(), OnnxLibraryError> {
    let mut parts = version.split('.').map(str::parse::<u32>);
    let is_supported = matches!((parts.next(), parts.next()), (Some(Ok(1)), Some(Ok(minor))) if minor >= OnnxLibrary::MIN_MINOR_VERSION);
    if is_supported {
        return Ok(());
    }
    let (path, needed) = (path.to_owned(), OnnxLibrary::MIN_MINOR_VERSION);
    Err(OnnxLibraryError::Version { path, needed, found: version.to_owned() })
}

fn start(path: &Path, version: &str) -> Result<Environment, OnnxLibraryError> {
    let failed =
        |cause: String| OnnxLibraryError::Start { path: path.to_owned(), version: version.to_owned(), cause };
    let builder = ort::init_from(path).map_err(|cause| failed(cause.to_string()))?;
    builder.with_name("dc0").with_telemetry(false).build().map_err(|cause| failed(cause.to_string()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{OnnxLibraryError, check_version};

    #[test]
    fn versions_from_the_minimum_up_are_accepted() {
        for accepted in ["1.23.0", "1.31.1", "1.100.0-dev"] {
            assert!(check_version(Path::new("x"), accepted).is_ok(), "{accepted}");
        }
        for rejected in ["1.16.3", "0.99.0", "2.0.0", "1", "", "one.31"] {
            assert!(
                matches!(check_version(Path::new("x"), rejected), Err(OnnxLibraryError::Version { .. })),
                "{rejected}"
            );
        }
    }
}
