//! `import` for scripts: only files at or below the folder of the script that was started.
//!
//! Rhai's own file resolver accepts absolute paths and `..`. Here a path is relative to the importing file, and must lie in the
//! folder after every `..` and symbolic link is resolved.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::params::nearest;
use dc0_core::poison::IgnorePoison as _;
use rhai::{Engine, EvalAltResult, Module, ModuleResolver, Position, Scope, Shared};
use thiserror::Error;

use super::failure::Failure;
use super::limits::{MAX_SCRIPT_BYTES, MAX_SCRIPT_LINES};
use super::location::ScriptLocation;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::sources::{Sources, normalised};

/// Why a script file cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LoadError {
    #[error("import \"{path}\": absolute paths are not allowed; give a path relative to this file")]
    Absolute { path: String },
    #[error(
        "import \"{path}\": leads out of {folder}, and only files at or below the script's folder can be imported"
    )]
    Outside { path: String, folder: String },
    #[error("import \"{path}\": this file is being imported already ({chain}); let both import a third file")]
    Circular {
        path: String,
        /// The files being imported, the outermost first.
        chain: String,
    },
    #[error("import \"{path}\": there is no {named}{hint}")]
    Missing {
        path: String,
        named: String,
        /// A suggestion, if a file of a similar name exists.
        hint: String,
    },
    #[error("import \"{path}\": {} is not a regular file; a pipe would block and can be read only once", .named.display())]
    NoFile { path: String, named: PathBuf },
    #[error("{} has at least {bytes} bytes; a script has at most {MAX_SCRIPT_BYTES}", .path.display())]
    TooLarge { path: PathBuf, bytes: u64 },
    #[error("{} has {lines} lines; a script has at most {MAX_SCRIPT_LINES}", .path.display())]
    TooLong { path: PathBuf, lines: usize },
    #[error("cannot read the script {}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
}

impl Fault for LoadError {
    fn exit(&self) -> Exit {
        Exit::BadInput
    }
}

/// Reads a script file, which may be a pipe. The byte-order mark that some editors write first is no part of the script.
pub fn read_script(path: &Path) -> Result<String, LoadError> {
    let unreadable = |cause| LoadError::Unreadable { path: path.to_owned(), cause };
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    if bytes > MAX_SCRIPT_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned(), bytes });
    }
    // The size of a pipe is not known before.
    let mut text = String::new();
    let bytes = file.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text).map_err(unreadable)? as u64;
    if bytes > MAX_SCRIPT_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned(), bytes });
    }
    let lines = text.lines().count();
    if lines > MAX_SCRIPT_LINES {
        return Err(LoadError::TooLong { path: path.to_owned(), lines });
    }
    Ok(text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text))
}

/// Resolves imports within one folder, and compiles each module once.
pub struct Jail {
    folder: PathBuf,
    sources: Arc<Sources>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    modules: BTreeMap<PathBuf, Shared<Module>>,
    /// Files that are being imported, the outermost first.
    open: Vec<Found>,
}

/// A file that may be imported, and its name in errors.
#[derive(Clone)]
struct Found {
    file: PathBuf,
    name: String,
}

/// The file that an import names, from the folder of the script that imports it: `.rhai` need not be written.
pub fn script_file(path: &str) -> PathBuf {
    PathBuf::from(format!("{}.rhai", path.strip_suffix(".rhai").unwrap_or(path)))
}

impl Jail {
    /// Imports stay within `folder`; texts are kept in `sources`.
    pub fn new(folder: &Path, sources: Arc<Sources>) -> Self {
        Self { folder: folder.to_owned(), sources, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    fn find(&self, importer: Option<&str>, path: &str) -> Result<Found, LoadError> {
        let relative = Path::new(path);
        if relative.is_absolute() || relative.components().any(|part| matches!(part, Component::Prefix(_))) {
            return Err(LoadError::Absolute { path: path.to_owned() });
        }
        // A script named without a folder lies in the folder itself.
        let parent = importer.and_then(|importer| Path::new(importer).parent());
        let beside = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(&self.folder);
        let named = normalised(&beside.join(script_file(path)));
        let outside =
            || LoadError::Outside { path: path.to_owned(), folder: self.folder.display().to_string() };
        let unreadable = |cause| LoadError::Unreadable { path: named.clone(), cause };
        let root = self.folder.canonicalize().map_err(unreadable)?;
        // Checked before the file is touched, so that scripts cannot even probe for files outside.
        if !normalised(&beside.canonicalize().map_err(unreadable)?.join(relative)).starts_with(&root) {
            return Err(outside());
        }
        let file = named.canonicalize().map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => missing(path, &named),
            _ => unreadable(cause),
        })?;
        if !file.starts_with(&root) {
            return Err(outside());
        }
        if !file.metadata().map_err(unreadable)?.is_file() {
            return Err(LoadError::NoFile { path: path.to_owned(), named });
        }
        Ok(Found { file, name: named.display().to_string() })
    }

    /// Finds and reads the file that an import leads to, and keeps its text. Returns the file's name and text.
    pub fn read(&self, importer: &str, path: &str) -> Result<(String, String), LoadError> {
        let found = self.find(Some(importer), path)?;
        let text = self.text(&found)?;
        Ok((found.name, text))
    }

    /// The text of a file, or an editor's unsaved version of it; kept for errors.
    fn text(&self, found: &Found) -> Result<String, LoadError> {
        let text = self.sources.unsaved(&found.file).map_or_else(|| read_script(&found.file), Ok)?;
        self.sources.keep(&found.name, &text);
        Ok(text)
    }

    fn enter(&self, found: &Found, path: &str) -> Result<(), LoadError> {
        let mut state = self.state();
        if state.open.iter().any(|open| open.file == found.file) {
            let chain: Vec<String> = state.open.iter().map(|open| open.name.clone()).collect();
            return Err(LoadError::Circular { path: path.to_owned(), chain: chain.join(", ") });
        }
        state.open.push(found.clone());
        Ok(())
    }

    fn load(&self, engine: &Engine, found: &Found) -> Result<Module, Box<EvalAltResult>> {
        let text = self.text(found).map_err(|error| {
            Failure::from(&error).into_rhai(ScriptLocation::new(&found.name, Position::NONE))
        })?;
        let mut script = engine.compile(&text)?;
        script.set_source(found.name.as_str());
        Module::eval_ast_as_new(Scope::new(), &script, engine)
    }
}

/// The error for a missing file, suggesting the one with the most similar name.
fn missing(path: &str, named: &Path) -> LoadError {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let wanted = stem(named).unwrap_or_default();
    let entries = named.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|kind| kind == "rhai"))
        .filter_map(|file| stem(&file))
        .collect();
    names.sort();
    let folder = path.strip_suffix(".rhai").unwrap_or(path).strip_suffix(&wanted);
    let near = nearest(&wanted, names.iter().map(String::as_str));
    let meant = near.and_then(|near| Some(folder?.to_owned() + near));
    let hint = meant.map(|meant| format!("; did you mean \"{meant}\"?")).unwrap_or_default();
    LoadError::Missing { path: path.to_owned(), named: named.display().to_string(), hint }
}

impl ModuleResolver for Jail {
    fn resolve(
        &self,
        engine: &Engine,
        source: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let refuse = |error: LoadError| {
            let importer = source.map_or_else(|| self.folder.display().to_string(), str::to_owned);
            Failure::from(&error).into_rhai(ScriptLocation::new(&importer, position))
        };
        let found = self.find(source, path).map_err(refuse)?;
        if let Some(module) = self.state().modules.get(&found.file) {
            return Ok(Arc::clone(module));
        }
        self.enter(&found, path).map_err(refuse)?;
        let loaded = self.load(engine, &found);
        self.state().open.pop();
        let module: Shared<Module> =
            loaded.map_err(|cause| EvalAltResult::ErrorInModule(found.name, cause, position))?.into();
        self.state().modules.insert(found.file, Arc::clone(&module));
        Ok(module)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{LoadError, MAX_SCRIPT_BYTES, MAX_SCRIPT_LINES, read_script};

    #[test]
    fn scripts_have_limited_bytes_and_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("long.rhai");
        let read = |text: &str| {
            fs::write(&path, text).expect("writes");
            read_script(&path)
        };
        let lines = "\n".repeat(MAX_SCRIPT_LINES);
        assert_eq!(read(&lines).expect("as many as the interpreter counts"), lines);
        let error = read(&format!("{lines}1")).expect_err("one more");
        assert!(matches!(error, LoadError::TooLong { lines: 65_536, .. }), "{error}");
        let bytes = " ".repeat(MAX_SCRIPT_BYTES as usize);
        assert!(read(&bytes).is_ok());
        let error = read(&format!("{bytes} ")).expect_err("one more");
        assert!(matches!(error, LoadError::TooLarge { bytes: 1_048_577, .. }), "{error}");
    }
}
