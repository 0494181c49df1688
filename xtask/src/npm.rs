//! Packages that npm fetches, in the versions and with the digests of a lock file of the checkout.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::checkout::Checkout;
use crate::install::step;

const FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// What the files of `folder` say, the stamp of an installation.
pub(crate) fn wanted(checkout: &Checkout, folder: &str) -> anyhow::Result<String> {
    let texts = FILES.iter().map(|name| {
        let file = checkout.path(folder).join(name);
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    });
    texts.collect()
}

/// Has npm install the packages of `folder` in `work`; `advice` says what to do if it fails.
pub(crate) fn install(checkout: &Checkout, folder: &str, work: &Path, advice: &str) -> anyhow::Result<()> {
    for name in FILES {
        let from = checkout.path(folder).join(name);
        fs::copy(&from, work.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    step(Command::new("npm").args(arguments).current_dir(work), advice)
}
