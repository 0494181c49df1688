//! ONNX Runtime's library, with which small batches are several times as fast as with libtorch, from a Python wheel. It is loaded at
//! run time; no build needs it, and without it everything works.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::checkout::Checkout;
use crate::interop::remove;
use crate::report::print;
use crate::setup;

/// The version that the tests compare with libtorch (`tests/interop/requirements.txt`).
const VERSION: &str = "1.31.1";

/// The folder in the checkout; `runner/backend/src/onnxruntime.rs` names the same one.
const FOLDER: &str = ".onnxruntime";

/// The file with the version of what is installed.
const STAMP: &str = "dc0-stamp";

/// Names a library of the user's own.
const VARIABLE: &str = "DC0_ONNXRUNTIME";

/// Installs the library in `.onnxruntime`, if it is not there yet. A library that the user names is left to them.
pub(crate) fn ensure(checkout: &Checkout) -> anyhow::Result<()> {
    let (folder, work) = (checkout.path(FOLDER), checkout.path(&format!("{FOLDER}.tmp")));
    let is_named = env::var_os(VARIABLE).is_some_and(|path| !path.is_empty());
    if is_named || is_installed(&folder) {
        return Ok(());
    }
    let _lock = setup::lock(checkout)?;
    if is_installed(&folder) {
        return Ok(());
    }
    print(&format!("fetching ONNX Runtime {VERSION} into {}", folder.display()));
    remove(&work)?;
    let tree = work.join("tree");
    fs::create_dir_all(&tree).with_context(|| format!("cannot create {}", tree.display()))?;
    let instead = format!("set {VARIABLE} to a library of ONNX Runtime that you have");
    setup::unpack_wheel(&format!("onnxruntime=={VERSION}"), (&work, &tree), &instead, |entry| {
        let name = entry.strip_prefix("onnxruntime/capi/")?;
        is_library(name).then(|| name.to_owned())
    })?;
    // Written before the folder gets its name: a set-up that is killed leaves none of that name.
    fs::write(tree.join(STAMP), VERSION).with_context(|| format!("cannot write to {}", tree.display()))?;
    remove(&folder)?;
    fs::rename(&tree, &folder).with_context(|| format!("cannot create {}", folder.display()))?;
    remove(&work)
}

fn is_library(name: &str) -> bool {
    name.starts_with("libonnxruntime.")
}

/// Whether a folder holds the library in the right version.
fn is_installed(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == VERSION)
        && entries.any(|entry| is_library(&entry.file_name().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_without_the_library_is_no_installation() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(!is_installed(&folder.path().join("absent")));
        fs::write(folder.path().join(STAMP), VERSION)?;
        assert!(!is_installed(folder.path()));
        fs::write(folder.path().join("libonnxruntime.so.1"), "")?;
        assert!(is_installed(folder.path()));
        fs::write(folder.path().join(STAMP), "1.0.0")?;
        assert!(!is_installed(folder.path()));
        Ok(())
    }
}
