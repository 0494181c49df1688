//! ONNX Runtime's shared library: loaded from a path, once per process, and looked at before it is used.

use std::ffi::{CStr, CString, c_char, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::environment::Environment;
use thiserror::Error;

use crate::poison::IgnorePoison;

/// ONNX Runtime, ready for nets. Copies share the one library of the process.
#[derive(Debug, Clone)]
pub struct OnnxLibrary {
    path: PathBuf,
    version: String,
    environment: Environment,
}

/// What a process has loaded: ONNX Runtime itself cannot be loaded twice or unloaded, so no argument can carry this.
static LOADED: Mutex<Option<OnnxLibrary>> = Mutex::new(None);

/// What to do when there is no library to use.
const ADVICE: &str = "`pip install onnxruntime` brings one, `--onnxruntime PATH` says where it is";

/// ONNX Runtime's library cannot be used.
#[derive(Debug, Error)]
pub enum OnnxLibraryError {
    /// There is no such file.
    #[error("{}: no such library of ONNX Runtime; {ADVICE}", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not a shared library for this machine.
    #[error("{}: cannot be loaded as the library of ONNX Runtime ({cause}); {ADVICE}", path.display())]
    NotLoadable {
        /// The path.
        path: PathBuf,
        /// What the loader says.
        cause: String,
    },
    /// A shared library of something else.
    #[error("{}: not the library of ONNX Runtime, it has no `OrtGetApiBase`; {ADVICE}", path.display())]
    NotOnnxRuntime {
        /// The path.
        path: PathBuf,
    },
    /// The library is older than dc0 needs, or of another major version.
    #[error("{}: expected ONNX Runtime 1.{needed} or newer, found {found}; {ADVICE}", path.display())]
    Version {
        /// The path.
        path: PathBuf,
        /// The least minor version.
        needed: u32,
        /// The library's version.
        found: String,
    },
    /// Another library is in use already.
    #[error("{}: cannot be loaded beside {}; a process can use one library of ONNX Runtime", path.display(), loaded.display())]
    Another {
        /// The path.
        path: PathBuf,
        /// The library in use.
        loaded: PathBuf,
    },
    /// The library failed to start.
    #[error("{}: ONNX Runtime {version} does not start: {cause}", path.display())]
    Start {
        /// The path.
        path: PathBuf,
        /// The library's version.
        version: String,
        /// What it says.
        cause: String,
    },
}

impl OnnxLibrary {
    /// The least minor version that can be used: 1.N.
    pub const LEAST_MINOR_VERSION: u32 = ort::MINOR_VERSION;

    /// Loads the library, or gives the one that this process has loaded from there before.
    ///
    /// A name without a folder is looked for where the system looks for libraries.
    pub fn load(path: &Path) -> Result<Self, OnnxLibraryError> {
        let path = located(path)?;
        // A panic while loading leaves `None` behind, which is true.
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

    /// Where the library was found.
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

/// The absolute path, but for a bare name.
fn located(path: &Path) -> Result<PathBuf, OnnxLibraryError> {
    let is_bare = path.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    if is_bare && !path.exists() {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|source| OnnxLibraryError::Missing { path: path.to_owned(), source })
}

/// Asks a library for its version, and whether it offers what dc0 needs, without using anything else of it.
#[allow(unsafe_code, reason = "a library that is not linked has no safe interface")]
fn version_of(path: &Path) -> Result<String, OnnxLibraryError> {
    type GetApiBase = unsafe extern "C" fn() -> *const ort::sys::OrtApiBase;
    let handle = open(path)?;
    let not_onnx_runtime = || OnnxLibraryError::NotOnnxRuntime { path: path.to_owned() };
    // SAFETY: the handle is open and stays so, and the name is a C string.
    let symbol = unsafe { libc::dlsym(handle, c"OrtGetApiBase".as_ptr()) };
    if symbol.is_null() {
        return Err(not_onnx_runtime());
    }
    // SAFETY: every ONNX Runtime exports this function with this type; it gives null or a table of two functions that
    // lives as long as the library.
    let base = unsafe { std::mem::transmute::<*mut c_void, GetApiBase>(symbol)().as_ref() };
    let base = base.ok_or_else(not_onnx_runtime)?;
    // SAFETY: the function gives null or a C string in the library; the text is copied.
    let version = unsafe { (base.GetVersionString)().as_ref().map(|first| CStr::from_ptr(first)) };
    let version = version.ok_or_else(not_onnx_runtime)?.to_string_lossy().into_owned();
    check_version(path, &version)?;
    // SAFETY: the function takes a number and gives null or a table of functions, which is not used here.
    if unsafe { (base.GetApi)(ort::sys::ORT_API_VERSION) }.is_null() {
        let cause = format!("it does not offer version {} of its interface", ort::sys::ORT_API_VERSION);
        return Err(OnnxLibraryError::Start { path: path.to_owned(), version, cause });
    }
    Ok(version)
}

/// Opens a library with its names to itself: libtorch brings some of the same ones.
#[allow(unsafe_code, reason = "loading a library has no safe interface")]
fn open(path: &Path) -> Result<*mut c_void, OnnxLibraryError> {
    let failed = |cause: String| OnnxLibraryError::NotLoadable { path: path.to_owned(), cause };
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| failed("its path has a zero byte".to_owned()))?;
    // SAFETY: the name is a C string. Initialisers of a shared library run, as they do for every library of a program; the handle
    // is never closed.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    if handle.is_null() { Err(failed(loader_message())) } else { Ok(handle) }
}

#[allow(unsafe_code, reason = "the loader's message has no safe interface")]
fn loader_message() -> String {
    // SAFETY: dlerror gives null or a C string that stays valid until this thread's next call of the loader.
    let text: *const c_char = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the loader gives no reason".to_owned();
    }
    // SAFETY: see above; the text is copied.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn check_version(path: &Path, version: &str) -> Result<(), OnnxLibraryError> {
    let mut parts = version.split('.').map(str::parse::<u32>);
    let is_good = matches!((parts.next(), parts.next()), (Some(Ok(1)), Some(Ok(minor))) if minor >= OnnxLibrary::LEAST_MINOR_VERSION);
    if is_good {
        return Ok(());
    }
    let (path, needed) = (path.to_owned(), OnnxLibrary::LEAST_MINOR_VERSION);
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
    fn versions_from_the_least_one_up_are_good() {
        for good in ["1.23.0", "1.31.1", "1.100.0-dev"] {
            assert!(check_version(Path::new("x"), good).is_ok(), "{good}");
        }
        for bad in ["1.16.3", "0.99.0", "2.0.0", "1", "", "one.31"] {
            assert!(
                matches!(check_version(Path::new("x"), bad), Err(OnnxLibraryError::Version { .. })),
                "{bad}"
            );
        }
    }
}
