//! DuckDB's library, with which `dc0-run` answers SQL, from an npm package. It is loaded at run time; no build needs it.

use std::env;
use std::fs;

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::install::{self, create, put};
use crate::npm;

/// The package with its locked version.
const FOLDER: &str = "xtask/duckdb";
const LIBRARY: &str = "libduckdb.so";

/// Names a library of the user's own.
const VARIABLE: &str = "DC0_DUCKDB";

/// Installs the library in `.duckdb`, again only if another version is wanted. A library that the user names is left to them.
pub(crate) fn ensure(checkout: &Checkout) -> anyhow::Result<()> {
    if env::var_os(VARIABLE).is_some_and(|path| !path.is_empty()) {
        return Ok(());
    }
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "DuckDB's library is fetched for Linux on x86-64 only; install DuckDB 1.5 and set {VARIABLE} to its library \
         (docs/guides/setup.md)"
    );
    let wanted = npm::wanted(checkout, FOLDER)?;
    let folder = checkout.path(".duckdb");
    install::ensure(
        "DuckDB's library",
        &folder,
        &wanted,
        || folder.join(LIBRARY).exists() && install::stamp(&folder) == wanted,
        |work| {
            let advice = format!(
                "npm (from Node.js) is needed to fetch DuckDB's library (Debian and Ubuntu: apt install npm), and a network; or set \
                 {VARIABLE} to a DuckDB library that you have"
            );
            npm::install(checkout, FOLDER, work, &advice)?;
            let library = work.join("node_modules/@duckdb/node-bindings-linux-x64").join(LIBRARY);
            let tree = work.join("tree");
            create(&tree)?;
            fs::rename(&library, tree.join(LIBRARY))
                .with_context(|| format!("the package brought no library {}", library.display()))?;
            put(&tree, &folder)
        },
    )
}
