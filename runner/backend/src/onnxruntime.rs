//! Finds ONNX Runtime's library: given, named by the environment, or found in a Python package or the system.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fmt, fs, thread};

use dc0_core::network::onnx::{OnnxLibrary, OnnxLibraryError};
use thiserror::Error;

use dc0_process::clock::Stopwatch;

/// The folder of a checkout that set-up fetches the library into.
const FOLDER: &str = ".onnxruntime";

/// Variables that name the library or its folder; the first that is set counts.
const VARIABLES: [&str; 2] = ["DC0_ONNXRUNTIME", "ORT_DYLIB_PATH"];
/// Names for the system's loader.
const SYSTEM_NAMES: &[&str] = if cfg!(target_os = "macos") {
    &["libonnxruntime.dylib"]
} else {
    &["libonnxruntime.so.1", "libonnxruntime.so"]
};
/// How long a Python may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Prints the folder of the package without importing it.
const FIND_PACKAGE: &str = "import importlib.util as u; s = u.find_spec('onnxruntime'); \
    print(s.submodule_search_locations[0] if s else '')";

/// Why there is no usable library.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OnnxRuntimeError {
    /// The given library cannot be used; no other is tried.
    #[error("{by} is {}, which cannot be used: {source}", path.display())]
    Given {
        /// The option or variable that gives it.
        by: &'static str,
        path: PathBuf,
        source: OnnxLibraryError,
    },
    #[error(
        "{by} is {}, a folder without ONNX Runtime's library; \
         give the library itself, or the folder of the Python package onnxruntime",
        path.display()
    )]
    Empty {
        /// The option or variable that gives it.
        by: &'static str,
        path: PathBuf,
    },
    #[error(
        "no ONNX Runtime found; `pip install onnxruntime` brings one, `--onnxruntime PATH` says where it is{}",
        lines(tried)
    )]
    Nowhere {
        /// Where it was searched for, and what was found there.
        tried: Vec<Attempt>,
    },
}

/// A failed search.
#[derive(Debug)]
pub struct Attempt {
    location: String,
    found: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.found)
    }
}

fn lines(tried: &[Attempt]) -> String {
    tried.iter().map(|attempt| format!("\n  {attempt}")).collect()
}

/// Loads ONNX Runtime: the library that `given` or the environment names; else the first found with Python, in the checkout or
/// in the system.
pub fn load(given: Option<&Path>) -> Result<OnnxLibrary, OnnxRuntimeError> {
    if let Some(path) = given {
        return load_given("--onnxruntime", path);
    }
    for variable in VARIABLES {
        if let Some(path) = env::var_os(variable).filter(|path| !path.is_empty()) {
            return load_given(variable, Path::new(&path));
        }
    }
    let mut tried = Vec::new();
    for (location, found) in candidates() {
        let problem = match found {
            Ok(path) => match OnnxLibrary::load(&path) {
                Ok(library) => return Ok(library),
                Err(problem) => problem.to_string(),
            },
            Err(problem) => problem,
        };
        tried.push(Attempt { location, found: problem });
    }
    Err(OnnxRuntimeError::Nowhere { tried })
}

fn load_given(by: &'static str, path: &Path) -> Result<OnnxLibrary, OnnxRuntimeError> {
    let given = path.to_owned();
    let file = if path.is_dir() { library_in(path) } else { Some(given.clone()) };
    let file = file.ok_or_else(|| OnnxRuntimeError::Empty { by, path: given.clone() })?;
    OnnxLibrary::load(&file).map_err(|source| OnnxRuntimeError::Given { by, path: given, source })
}

/// Where to search, in order; each with a library, or why there is none.
fn candidates() -> impl Iterator<Item = (String, Result<PathBuf, String>)> {
    let set_up = || (format!("the checkout's {FOLDER}"), library_of_checkout());
    let python = || ("python3".to_owned(), library_of_python(Path::new("python3")));
    let system = SYSTEM_NAMES.iter().map(|name| ((*name).to_owned(), Ok(PathBuf::from(name))));
    std::iter::once_with(set_up).chain(std::iter::once_with(python)).chain(system)
}

/// The library that set-up fetched, if the program lies in its checkout, or was packed together with its libraries.
fn library_of_checkout() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|cause| cause.to_string())?;
    let beside = program.parent().map(|folder| folder.join("lib"));
    let folders = program.ancestors().skip(1).take(4).map(|folder| folder.join(FOLDER)).chain(beside);
    let mut libraries = folders.filter_map(|folder| library_in(&folder));
    libraries.next().ok_or_else(|| "set-up has fetched none (`cargo xtask setup`)".to_owned())
}

/// The library in the package `onnxruntime` of a Python.
pub fn library_of_python(python: &Path) -> Result<PathBuf, String> {
    let package = package_folder(python, TIMEOUT)?;
    if package.is_empty() {
        return Err("it has no package onnxruntime".to_owned());
    }
    let package = PathBuf::from(package);
    library_in(&package).ok_or_else(|| format!("{} holds no library", package.display()))
}

/// The folder of a Python's package `onnxruntime`; empty if it has none.
fn package_folder(python: &Path, timeout: Duration) -> Result<OsString, String> {
    let failed = |cause: std::io::Error| format!("{} cannot be run: {cause}", python.display());
    let mut command = Command::new(python);
    command.args(["-c", FIND_PACKAGE]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let started = Stopwatch::start();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if started.elapsed() < timeout => thread::sleep(Duration::from_millis(10)),
            None => {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Err(format!("{} did not answer within {timeout:?}", python.display()));
            }
        }
    };
    let mut answer = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut answer).map_err(failed)?;
    }
    if status.success() {
        Ok(answer.trim().into())
    } else {
        Err(format!("{} ended with {status}", python.display()))
    }
}

/// The library in a folder, or in the folders of the Python package below it; the newest by the version in its name.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let folders = [folder.to_owned(), folder.join("capi"), folder.join("onnxruntime/capi")];
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let libraries = files.map(|entry| entry.path()).filter(|path| is_library(path));
    libraries.max_by_key(|path| (version_in_name(path), path.clone()))
}

/// The numbers of `libonnxruntime.so.1.30.0`; none for `libonnxruntime.so`.
fn version_in_name(path: &Path) -> Vec<u32> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// `libonnxruntime.so.1.30.0` and `libonnxruntime.1.30.0.dylib`, but not `libonnxruntime_providers_shared.so`.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let rest = name.strip_prefix("libonnxruntime.");
    rest.is_some_and(|rest| rest == "so" || rest.starts_with("so.") || rest.ends_with("dylib"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::{OnnxRuntimeError, is_library, library_in, library_of_python, load, package_folder};

    #[test]
    fn the_library_is_recognised_by_its_name() {
        for name in ["libonnxruntime.so", "libonnxruntime.so.1.31.1", "libonnxruntime.1.31.1.dylib"] {
            assert!(is_library(Path::new(name)), "{name}");
        }
        for name in ["libonnxruntime_providers_shared.so", "onnxruntime.so", "libonnxruntime.a"] {
            assert!(!is_library(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn the_library_is_found_in_its_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let capi = folder.path().join("onnxruntime/capi");
        std::fs::create_dir_all(&capi).expect("a folder");
        assert_eq!(library_in(folder.path()), None);
        let library = capi.join("libonnxruntime.so.1.31.1");
        std::fs::write(&library, "").expect("writes");
        std::fs::write(capi.join("libonnxruntime_providers_shared.so"), "").expect("writes");
        for path in [folder.path().to_owned(), folder.path().join("onnxruntime"), capi] {
            assert_eq!(library_in(&path), Some(library.clone()), "{}", path.display());
        }
    }

    #[test]
    fn the_newest_library_of_a_folder_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut newest = PathBuf::new();
        for name in ["libonnxruntime.so", "libonnxruntime.so.1.9.0", "libonnxruntime.so.1.31.1"] {
            newest = folder.path().join(name);
            std::fs::write(&newest, "").expect("writes");
            assert_eq!(library_in(folder.path()), Some(newest.clone()));
        }
        std::fs::write(folder.path().join("libonnxruntime.so.1.30.2"), "").expect("writes");
        assert_eq!(library_in(folder.path()), Some(newest));
    }

    #[test]
    fn a_given_library_that_is_wrong_is_an_error_and_no_other_is_tried() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = load(Some(folder.path())).expect_err("nothing there");
        assert!(matches!(empty, OnnxRuntimeError::Empty { .. }), "{empty}");
        let missing = load(Some(&folder.path().join("lib.so"))).expect_err("nothing there");
        assert!(matches!(missing, OnnxRuntimeError::Given { .. }), "{missing}");
        assert!(missing.to_string().contains("no such library of ONNX Runtime"), "{missing}");
    }

    /// A shell script in place of Python.
    fn python(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("python3");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("writes");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("may run");
        path
    }

    #[test]
    fn a_python_that_cannot_name_the_package_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = |text: &str| library_of_python(&python(folder.path(), text)).expect_err("no library");
        assert_eq!(error("echo"), "it has no package onnxruntime");
        assert!(error("echo /nowhere").contains("/nowhere holds no library"));
        assert!(error("exit 3").contains("ended with"));
        assert!(library_of_python(Path::new("no-such-python")).is_err());
        let slow = python(folder.path(), "exec sleep 60");
        let late = package_folder(&slow, Duration::from_millis(50)).expect_err("no answer");
        assert!(late.ends_with("did not answer within 50ms"), "{late}");
    }
}
