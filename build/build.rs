//! Build script of every member whose programs use libtorch: makes them find the libraries.
//!
//! A dependency cannot add link arguments to the programs that use it (tch's own build script tries in vain), so each
//! member names this one file as its `build`. Three ways to the libraries, tried in this order:
//! the absolute path this build used; the checkout's `.libtorch` relative to the program, so that a checkout may be
//! moved; and `lib` beside the program, for a program packed together with its libraries.
//! Doc tests get no link arguments at all; for them the folder appears below this build's output folder, where
//! `cargo test` lets programs look.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    // The core alone can do without; every other member has it in through the core.
    if env::var("CARGO_PKG_NAME")? == "dc0-core" && env::var_os("CARGO_FEATURE_TORCH").is_none() {
        return Ok(());
    }
    let libraries = libraries()?;
    let is_macos = env::var("CARGO_CFG_TARGET_OS")? == "macos";
    let origin = if is_macos { "@loader_path" } else { "$ORIGIN" };
    // Programs lie in target/PROFILE, test programs and benches one folder below.
    run_path(&libraries.display().to_string());
    run_path(&format!("{origin}/../../.libtorch/lib"));
    run_path(&format!("{origin}/../../../.libtorch/lib"));
    run_path(&format!("{origin}/lib"));
    // DuckDB's library is loaded by its name when a statement is run; set-up has it in the checkout.
    let member = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?);
    let checkout = member.ancestors().find(|folder| folder.join("Cargo.lock").exists());
    if let Some(checkout) = checkout {
        run_path(&checkout.join(".duckdb").display().to_string());
    }
    run_path(&format!("{origin}/../../.duckdb"));
    run_path(&format!("{origin}/../../../.duckdb"));
    if !is_macos {
        // The older kind of run path: it also serves the libraries' own needs, and it goes before LD_LIBRARY_PATH,
        // where another version of libtorch may lie.
        println!("cargo::rustc-link-arg=-Wl,--disable-new-dtags");
    }
    offer_to_doc_tests(&libraries)
}

fn run_path(path: &str) {
    println!("cargo::rustc-link-arg=-Wl,-rpath,{path}");
}

/// The folder of libtorch's libraries; an error that says what to do if there is none.
fn libraries() -> Result<PathBuf, Box<dyn Error>> {
    let libtorch = env::var_os("LIBTORCH").filter(|value| !value.is_empty());
    let libtorch = libtorch.ok_or(
        "LIBTORCH is empty or not set; leave it unset inside the checkout, where .cargo/config.toml gives it a value",
    )?;
    let libraries = Path::new(&libtorch).join("lib");
    if !libraries.is_dir() {
        let shown = libtorch.display();
        return Err(format!("there is no libtorch in {shown}; run `cargo xtask setup`").into());
    }
    Ok(libraries)
}

/// Cargo adds the library folders that lie below the target folder to the search path of the programs it starts.
fn offer_to_doc_tests(libraries: &Path) -> Result<(), Box<dyn Error>> {
    let link = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("libtorch");
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(libraries, &link)?;
    println!("cargo::rustc-link-search=native={}", link.display());
    Ok(())
}
