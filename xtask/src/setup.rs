//! `cargo xtask setup`: makes sure that the libtorch that tch needs is installed.
//!
//! tch links against one exact version of libtorch. Its own download uses a single vendor's site, which networks with a
//! package mirror do not reach, so the libraries are taken from the Python wheels instead, through pip and the index that
//! pip is configured for. A wheel is a zip file with a list of digests; no Python code of it is installed or run.

mod custom;
pub(crate) mod digest;
mod disk;
mod install;
mod layout;
mod pip;
mod platform;
mod requirements;
mod stamp;
mod wheel;

use std::env;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::report::print;
use platform::{Flavour, Platform};
use stamp::Stamp;
use wheel::Wheel;

/// The only version that tch 0.24 accepts.
pub(crate) const VERSION: &str = "2.11.0";

/// The folder of libtorch in the checkout; `.cargo/config.toml` names the same one.
const FOLDER: &str = ".libtorch";

/// The options of the set-up.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// Also install the libraries for NVIDIA GPUs.
    pub(crate) cuda: bool,
    /// Read every installed file of libtorch again and compare its digest, not only its size.
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
    if let Some(own) = custom::folder(env::var_os("LIBTORCH"), &folder) {
        let description = custom::check(&own, options)?;
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
    print(&format!("fetching libtorch {VERSION} ({flavour}): {reason:#}"));
    install::into_checkout(checkout, &folder, platform, flavour, options.wheels.as_deref())?;
    installed(&folder, flavour, false)
}

/// The installation in `folder`, or why it cannot be used.
fn installed(folder: &Path, wanted: Flavour, verify: bool) -> anyhow::Result<Ready> {
    let stamp = Stamp::read(folder)?;
    stamp.check(folder, wanted, verify)?;
    Ok(Ready { description: format!("{VERSION} ({})", stamp.flavour), folder: folder.to_owned() })
}

/// Waits until no other set-up runs in this checkout. The lock is released when the process ends, however it ends.
pub(crate) fn lock(checkout: &Checkout) -> anyhow::Result<File> {
    let path = checkout.path(".libtorch.lock");
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        print("another set-up is running in this checkout; waiting for it");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

/// Has pip download one wheel into `work`, and unpacks the entries for which `target` gives a path into `tree`. Every file is compared
/// with the wheel's digest. `instead` is what to do where pip cannot.
pub(crate) fn unpack_wheel(
    requirement: &str,
    (work, tree): (&Path, &Path),
    instead: &str,
    target: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    pip::check(instead)?;
    pip::download_one(requirement, work, instead)?;
    let wheels = install::wheels_in(work, "")?;
    let path = wheels.first().with_context(|| format!("pip brought no wheel of {requirement}"))?;
    let mut wheel = Wheel::open(path)?;
    let placed = wheel.placed(target)?;
    ensure!(!placed.is_empty(), "{} holds no library", path.display());
    for file in &placed {
        wheel.unpack(file, tree, |_| ())?;
    }
    Ok(())
}
