//! `cargo xtask setup`: makes sure that the libtorch tch needs is there.
//!
//! tch links against one exact version of libtorch. Its own download goes to a single vendor's site, which networks
//! with a package mirror do not reach, so the libraries are taken from the Python wheels instead, through pip and with
//! whatever index pip is set up for. A wheel is a zip file with a list of digests; nothing of it is installed or run.

pub(crate) mod digest;
mod disk;
mod install;
mod layout;
mod pip;
mod platform;
mod requirements;
mod stamp;
mod users_own;
mod wheel;

use std::env;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::checkout::Checkout;
use crate::report::say;
use platform::{Flavour, Platform};
use stamp::Stamp;

/// The version that tch 0.24 accepts, and no other.
pub(crate) const VERSION: &str = "2.11.0";

/// Folder in the checkout that holds libtorch; `.cargo/config.toml` names the same one.
const FOLDER: &str = ".libtorch";

/// What the user asked of the set-up.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// Also the libraries for NVIDIA GPUs.
    pub(crate) cuda: bool,
    /// Read every installed file again and compare its digest, not only its size.
    pub(crate) verify: bool,
    /// Take the wheels from this folder and download nothing.
    pub(crate) wheels: Option<PathBuf>,
}

/// The libtorch that builds will use.
pub(crate) struct Ready {
    description: String,
    folder: PathBuf,
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "libtorch {} is ready in {}", self.description, self.folder.display())
    }
}

/// Finds a usable libtorch, or fetches one into the checkout.
pub(crate) fn ensure(checkout: &Checkout, options: &Options) -> anyhow::Result<Ready> {
    let folder = checkout.path(FOLDER);
    if let Some(own) = users_own::folder(env::var_os("LIBTORCH"), &folder) {
        let description = users_own::check(&own, options.cuda)?;
        return Ok(Ready { description, folder: own });
    }
    let platform = Platform::of_this_machine()?;
    let flavour = platform.flavour(options.cuda)?;
    if let Ok(ready) = installed(&folder, flavour, options.verify) {
        return Ok(ready);
    }
    let _lock = lock(checkout)?;
    let reason = match installed(&folder, flavour, options.verify) {
        Ok(ready) => return Ok(ready),
        Err(reason) => reason,
    };
    say(&format!("fetching libtorch {VERSION} ({flavour}): {reason:#}"));
    install::into_checkout(checkout, &folder, platform, flavour, options.wheels.as_deref())?;
    installed(&folder, flavour, false)
}

/// What is installed in `folder`, or why that will not do.
fn installed(folder: &Path, wanted: Flavour, verify: bool) -> anyhow::Result<Ready> {
    let stamp = Stamp::read(folder)?;
    stamp.check(folder, wanted, verify)?;
    Ok(Ready { description: format!("{VERSION} ({})", stamp.flavour), folder: folder.to_owned() })
}

/// Waits until no other set-up works in this checkout. The lock ends with the process, however that ends.
fn lock(checkout: &Checkout) -> anyhow::Result<File> {
    let path = checkout.path(".libtorch.lock");
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        say("another set-up is at work in this checkout; waiting for it");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}
