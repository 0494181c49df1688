//! `cargo xtask setup`: makes sure that the libtorch that tch needs is installed.
//!
//! tch links against one exact version of libtorch. Its own download uses a single vendor's site, which networks with a
//! package mirror do not reach, so the libraries are taken from the Python wheels instead, through pip and the index that
//! pip is configured for. No Python code of the wheels is run.

mod custom;
mod disk;
mod layout;
mod platform;
mod requirements;

use std::env;
use std::env::consts::DLL_SUFFIX;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::checkout::Checkout;
use crate::install::{self, move_files, put};
use crate::pip;
use platform::{Flavour, Platform};

/// The only version that tch 0.24 accepts.
pub(crate) const VERSION: &str = "2.11.0";

/// The folder of libtorch in the checkout; `.cargo/config.toml` names the same one.
const FOLDER: &str = ".libtorch";

/// What to do where pip cannot fetch the wheels.
const INSTEAD: &str = "set LIBTORCH to a libtorch 2.11.0 that you have, or download the wheels elsewhere and run `cargo xtask setup \
    --wheels DIR` (docs/guides/setup.md says which)";

/// The options of the set-up.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// Also install the libraries for NVIDIA GPUs.
    pub(crate) cuda: bool,
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
    let wanted = platform.flavour(options.cuda)?;
    install::ensure(
        &format!("libtorch {VERSION} ({wanted})"),
        &folder,
        &stamp(wanted),
        || installed(&folder).is_some_and(|found| found.serves(wanted)),
        |work| {
            disk::check_free(work, wanted.bytes_while_fetching())?;
            let tree = work.join("tree");
            unpack(work, &tree, platform, wanted, options.wheels.as_deref())?;
            put(&tree, &folder)
        },
    )?;
    let found = installed(&folder).with_context(|| format!("{} is not complete", folder.display()))?;
    Ok(Ready { description: format!("{VERSION} ({found})"), folder })
}

/// The stamp of an installation. The number changes with the layout of the folder, so that the next set-up fetches it again.
fn stamp(flavour: Flavour) -> String {
    format!("dc0 libtorch, layout 1\nversion {VERSION}\nflavour {flavour}\n")
}

/// The flavour of the installation in `folder`, if it is of the version that is needed. Its stamp may list the files, too.
fn installed(folder: &Path) -> Option<Flavour> {
    let found = install::stamp(folder);
    let is_there = folder.join(format!("lib/libtorch_cpu{DLL_SUFFIX}")).exists();
    [Flavour::Cpu, Flavour::Cuda].into_iter().find(|flavour| is_there && found.starts_with(&stamp(*flavour)))
}

/// Has pip unpack the wheels in `work`, and moves what is needed of them into `tree`.
fn unpack(
    work: &Path,
    tree: &Path,
    platform: Platform,
    flavour: Flavour,
    wheels: Option<&Path>,
) -> anyhow::Result<()> {
    let offline =
        wheels.map(|folder| ["--no-index".to_owned(), format!("--find-links={}", folder.display())]);
    let pip = |arguments: Vec<String>, target: &Path| {
        pip::unpack(&[arguments, offline.iter().flatten().cloned().collect()].concat(), target, INSTEAD)
    };
    let torch = work.join("torch");
    pip(vec!["--no-deps".to_owned(), format!("torch=={VERSION}")], &torch)?;
    let metadata = metadata(&torch)?;
    move_files(&torch, tree, |file| layout::of_torch(file, platform, flavour))?;
    let libraries = requirements::libraries(&metadata, platform, flavour);
    if !libraries.is_empty() {
        let nvidia = work.join("nvidia");
        pip(libraries.clone(), &nvidia)?;
        move_files(&nvidia, tree, |file| layout::of_nvidia(file, flavour))?;
    }
    if !libraries.is_empty() || flavour == Flavour::Cuda {
        check_complete(&tree.join("lib"), flavour)?;
    }
    for (path, text) in layout::written(platform, VERSION) {
        let path = tree.join(path);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Whatever pip says, an installation without a library would be of no use.
fn check_complete(lib: &Path, flavour: Flavour) -> anyhow::Result<()> {
    let entries = fs::read_dir(lib).with_context(|| format!("cannot list {}", lib.display()))?;
    let names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let missing = layout::missing(&names, flavour);
    ensure!(
        missing.is_empty(),
        "none of the wheels holds {}; docs/guides/setup.md lists the wheels that a {flavour} set-up needs",
        missing.join(", ")
    );
    Ok(())
}

/// The metadata of the torch wheel that was unpacked in a folder. The name of their file holds the exact version, such as `2.11.0+cpu`.
fn metadata(torch: &Path) -> anyhow::Result<String> {
    let entries = fs::read_dir(torch).with_context(|| format!("cannot list {}", torch.display()))?;
    let mut found = entries.flatten().map(|entry| entry.path().join("METADATA"));
    let file = found.find(|file| file.exists());
    let file = file.with_context(|| format!("pip left no metadata of torch in {}", torch.display()))?;
    fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_needs_its_stamp_and_its_library() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let (file, libraries) = (folder.path().join("dc0-stamp"), folder.path().join("lib"));
        fs::write(&file, stamp(Flavour::Cuda))?;
        assert_eq!(installed(folder.path()), None);
        fs::create_dir(&libraries)?;
        fs::write(libraries.join(format!("libtorch_cpu{DLL_SUFFIX}")), "")?;
        assert_eq!(installed(folder.path()), Some(Flavour::Cuda));
        fs::write(&file, stamp(Flavour::Cpu) + "12 DIGEST lib/libc10.so\n")?;
        assert_eq!(installed(folder.path()), Some(Flavour::Cpu));
        fs::write(&file, stamp(Flavour::Cpu).replace(VERSION, "2.11.01"))?;
        assert_eq!(installed(folder.path()), None);
        Ok(())
    }
}
