//! The browser for the tests of web pages: a headless Chromium from an npm package, and the packages that drive it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout::{Checkout, target_dir};
use crate::interop::{remove, step};
use crate::report::print;
use crate::setup::{self, digest};

/// The packages, their locked versions, and the script that unpacks the browser.
const FILES: [&str; 3] = ["package.json", "package-lock.json", "unpack.mjs"];
const FOLDER: &str = "tests/interop/browser";

/// The browser's program, and the folder of the packages that drive it.
pub(crate) struct Browser {
    pub(crate) program: PathBuf,
    pub(crate) packages: PathBuf,
}

/// Installs the browser, again only if `FILES` have changed.
pub(crate) fn browser(checkout: &Checkout) -> anyhow::Result<Browser> {
    let mut all = Vec::new();
    for name in FILES {
        let file = checkout.path(&format!("{FOLDER}/{name}"));
        all.extend(fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let wanted = digest::of_bytes(&all);
    let packages = target_dir()?.join("browser");
    let (unpacked, stamp) = (packages.join("unpacked"), packages.join("dc0-stamp"));
    let program = unpacked.join("chromium");
    let is_there = || program.exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if is_there() {
        return Ok(Browser { program, packages });
    }
    let _lock = setup::lock(checkout)?;
    if is_there() {
        return Ok(Browser { program, packages });
    }
    print(&format!("installing the browser for the tests of web pages in {}", packages.display()));
    remove(&packages)?;
    fs::create_dir_all(&unpacked).with_context(|| format!("cannot create {}", unpacked.display()))?;
    for name in FILES {
        let from = checkout.path(&format!("{FOLDER}/{name}"));
        fs::copy(&from, packages.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    step(
        Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(&packages),
        "Node.js 20.11 or newer with npm is needed for the tests of web pages (Debian and Ubuntu: apt install nodejs npm), and \
         a network for the first time; `cargo xtask test --fast` needs neither",
    )?;
    step(
        Command::new("node").arg("unpack.mjs").current_dir(&packages).env("TMPDIR", &unpacked),
        "the browser could not be unpacked; see its message above",
    )?;
    ensure!(program.exists(), "unpacking produced no browser: {} is missing", program.display());
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(Browser { program, packages })
}
