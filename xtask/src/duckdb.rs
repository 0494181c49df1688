//! DuckDB's library, with which `dc0-run` answers SQL, from an npm package. It is loaded at run time; no build needs it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::interop::{remove, step};
use crate::report::print;
use crate::setup::{self, digest};

/// The package with its locked version and digest.
const FILES: [&str; 2] = ["package.json", "package-lock.json"];
const FOLDER: &str = "xtask/duckdb";
const LIBRARY: &str = "libduckdb.so";

/// Names a library of the user's own.
const VARIABLE: &str = "DC0_DUCKDB";

/// Installs the library in `.duckdb`, again only if `FILES` have changed. A library that the user names is left to them.
pub(crate) fn ensure(checkout: &Checkout) -> anyhow::Result<()> {
    if env::var_os(VARIABLE).is_some_and(|path| !path.is_empty()) {
        return Ok(());
    }
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "DuckDB's library is fetched for Linux on x86-64 only; install DuckDB 1.5 and set {VARIABLE} to its library \
         (docs/guides/setup.md)"
    );
    let mut all = Vec::new();
    for name in FILES {
        let file = checkout.path(&format!("{FOLDER}/{name}"));
        all.extend(fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let wanted = digest::of_bytes(&all);
    let folder = checkout.path(".duckdb");
    let stamp = folder.join("dc0-stamp");
    let is_there =
        || folder.join(LIBRARY).exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if is_there() {
        return Ok(());
    }
    let _lock = setup::lock(checkout)?;
    if is_there() {
        return Ok(());
    }
    print(&format!("fetching DuckDB's library into {}", folder.display()));
    let work = checkout.path(".duckdb.tmp");
    remove(&work)?;
    let library = download(checkout, &work)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::rename(&library, folder.join(LIBRARY))
        .with_context(|| format!("cannot move the library to {}", folder.display()))?;
    // Written last: a set-up that is killed leaves no stamp.
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    remove(&work)
}

/// Has npm download the package, whose digest it compares with the lock's.
fn download(checkout: &Checkout, work: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(work).with_context(|| format!("cannot create {}", work.display()))?;
    for name in FILES {
        let from = checkout.path(&format!("{FOLDER}/{name}"));
        fs::copy(&from, work.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    step(
        Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(work),
        &format!(
            "npm (from Node.js) is needed to fetch DuckDB's library (Debian and Ubuntu: apt install npm), and a network; or set \
             {VARIABLE} to a DuckDB library that you have"
        ),
    )?;
    let library = work.join("node_modules/@duckdb/node-bindings-linux-x64").join(LIBRARY);
    ensure!(library.exists(), "the package brought no library: {} is missing", library.display());
    Ok(library)
}
