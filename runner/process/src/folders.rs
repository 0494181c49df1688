//! Folders of the system that dc0 writes to.

use std::env;
use std::path::PathBuf;

/// The folder of what can be measured or fetched again, `~/.cache/dc0` unless `XDG_CACHE_HOME` names another place; none if the environment
/// has neither a home nor that variable.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("dc0"))
}
