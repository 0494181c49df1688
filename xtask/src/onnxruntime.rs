//! ONNX Runtime's library, with which small batches are several times as fast as with libtorch, from a Python wheel. It is loaded at
//! run time; no build needs it, and without it everything works.

use std::env;
use std::fs;
use std::path::Path;

use crate::checkout::Checkout;
use crate::install::{self, move_files, put};
use crate::pip;

/// The version that the tests compare with libtorch (`tests/interop/requirements.txt`).
const VERSION: &str = "1.31.1";

/// The folder in the checkout; `runner/backend/src/onnxruntime.rs` names the same one.
const FOLDER: &str = ".onnxruntime";

/// Names a library of the user's own.
const VARIABLE: &str = "DC0_ONNXRUNTIME";

/// Installs the library in `.onnxruntime`, if it is not there yet. A library that the user names is left to them.
pub(crate) fn ensure(checkout: &Checkout) -> anyhow::Result<()> {
    if env::var_os(VARIABLE).is_some_and(|path| !path.is_empty()) {
        return Ok(());
    }
    let folder = checkout.path(FOLDER);
    install::ensure(
        &format!("ONNX Runtime {VERSION}"),
        &folder,
        VERSION,
        || is_installed(&folder),
        |work| {
            let (unpacked, tree) = (work.join("unpacked"), work.join("tree"));
            let instead = format!("set {VARIABLE} to a library of ONNX Runtime that you have");
            pip::unpack(&["--no-deps".to_owned(), format!("onnxruntime=={VERSION}")], &unpacked, &instead)?;
            move_files(&unpacked, &tree, |file| {
                let name = file.strip_prefix("onnxruntime/capi/")?;
                is_library(name).then(|| name.to_owned())
            })?;
            put(&tree, &folder)
        },
    )
}

fn is_library(name: &str) -> bool {
    name.starts_with("libonnxruntime.")
}

/// Whether a folder holds the library in the right version.
fn is_installed(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    install::stamp(folder) == VERSION && entries.any(|entry| is_library(&entry.file_name().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_without_the_library_is_no_installation() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(!is_installed(&folder.path().join("absent")));
        fs::write(folder.path().join("dc0-stamp"), VERSION)?;
        assert!(!is_installed(folder.path()));
        fs::write(folder.path().join("libonnxruntime.so.1"), "")?;
        assert!(is_installed(folder.path()));
        fs::write(folder.path().join("dc0-stamp"), "1.0.0")?;
        assert!(!is_installed(folder.path()));
        Ok(())
    }
}
