//! Fetches libtorch into the checkout; it is either complete or absent.
//!
//! Everything is built in a temporary folder beside the final one and renamed at the end. A killed set-up leaves such a
//! folder behind; the next one removes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use super::platform::{Flavour, Platform};
use super::requirements;
use super::stamp::{InstalledFile, Stamp};
use super::wheel::{Placed, Wheel};
use super::{VERSION, digest, disk, layout, pip};
use crate::checkout::Checkout;

/// The prefix of temporary folders.
const UNFINISHED: &str = ".libtorch.tmp-";

/// What to do where pip cannot download.
const INSTEAD: &str = "set LIBTORCH to a libtorch 2.11.0 that you have, or download the wheels elsewhere and run `cargo xtask setup \
    --wheels DIR` (docs/guides/setup.md says which)";

/// Installs libtorch in `folder`, replacing what is there. The caller holds the lock.
pub(super) fn into_checkout(
    checkout: &Checkout,
    folder: &Path,
    platform: Platform,
    flavour: Flavour,
    wheels: Option<&Path>,
) -> anyhow::Result<()> {
    remove_leftovers(checkout.root())?;
    disk::check_free(checkout.root(), flavour.bytes_while_fetching())?;
    let work = WorkFolder::create(checkout.path(&format!("{UNFINISHED}{}", process::id())))?;
    let wheels = match wheels {
        Some(folder) => Wheels::in_folder(folder, platform, flavour)?,
        None => Wheels::download(&work.subfolder("wheels")?, platform, flavour)?,
    };
    let tree = work.subfolder("tree")?;
    let stamp =
        Stamp { version: VERSION.to_owned(), flavour, files: wheels.unpack(&tree, platform, flavour)? };
    stamp.write(&tree)?;
    work.swap_in(&tree, folder)
}

/// The wheels of an installation.
struct Wheels {
    torch: Wheel,
    nvidia: Vec<Wheel>,
}

impl Wheels {
    fn download(folder: &Path, platform: Platform, flavour: Flavour) -> anyhow::Result<Self> {
        pip::check(INSTEAD)?;
        pip::download_one(&format!("torch=={VERSION}"), folder, INSTEAD)?;
        let mut torch = Wheel::open(&torch_wheel(folder)?)?;
        let libraries = requirements::libraries(&torch.metadata()?, platform, flavour);
        if !libraries.is_empty() {
            pip::download_all(&libraries, folder, INSTEAD)?;
        }
        Self::in_folder(folder, platform, flavour)
    }

    fn in_folder(folder: &Path, platform: Platform, flavour: Flavour) -> anyhow::Result<Self> {
        let mut torch = Wheel::open(&torch_wheel(folder)?)?;
        let needs_more = !requirements::libraries(&torch.metadata()?, platform, flavour).is_empty();
        let others = if needs_more { wheels_in(folder, "nvidia_")? } else { Vec::new() };
        let nvidia = others.iter().map(|path| Wheel::open(path)).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { torch, nvidia })
    }

    /// Unpacks the needed files into `tree` and lists them. Every file is compared with the wheel's digest.
    fn unpack(
        mut self,
        tree: &Path,
        platform: Platform,
        flavour: Flavour,
    ) -> anyhow::Result<Vec<InstalledFile>> {
        let needs_more = !requirements::libraries(&self.torch.metadata()?, platform, flavour).is_empty();
        let mut work =
            vec![(self.torch.placed(|entry| layout::of_torch(entry, platform, flavour))?, self.torch)];
        for mut wheel in self.nvidia {
            work.push((wheel.placed(|entry| layout::of_nvidia(entry, flavour))?, wheel));
        }
        let placed = || work.iter().flat_map(|(placed, _)| placed);
        if needs_more {
            check_complete(placed(), flavour)?;
        }
        let bar = progress_bar(placed().map(|file| file.size_bytes).sum());
        let mut files = Vec::new();
        for (placed, wheel) in &mut work {
            for file in placed {
                files.push(wheel.unpack(file, tree, |bytes| bar.inc(bytes))?);
            }
        }
        bar.finish_and_clear();
        for (path, text) in layout::written(platform, VERSION) {
            files.push(write(tree, path, &text)?);
        }
        Ok(files)
    }
}

fn check_complete<'a>(placed: impl Iterator<Item = &'a Placed>, flavour: Flavour) -> anyhow::Result<()> {
    let paths: Vec<_> = placed.map(|file| file.path.as_str()).collect();
    let missing = layout::missing(&paths, flavour);
    ensure!(
        missing.is_empty(),
        "none of the wheels holds {}; docs/guides/setup.md lists the wheels that a {flavour} set-up needs",
        missing.join(", ")
    );
    Ok(())
}

fn write(tree: &Path, path: String, text: &str) -> anyhow::Result<InstalledFile> {
    fs::write(tree.join(&path), text)
        .with_context(|| format!("cannot write {}", tree.join(&path).display()))?;
    Ok(InstalledFile { size_bytes: text.len() as u64, digest: digest::of_bytes(text.as_bytes()), path })
}

/// The torch wheel of the required version in `folder`.
fn torch_wheel(folder: &Path) -> anyhow::Result<PathBuf> {
    let start = format!("torch-{VERSION}");
    let mut found = wheels_in(folder, &start)?;
    let shown = folder.display();
    ensure!(
        found.len() < 2,
        "{shown} holds {} wheels of torch {VERSION}; keep only the one for this machine",
        found.len()
    );
    found.pop().with_context(|| format!("{shown} holds no wheel of torch {VERSION} ({start}-….whl)"))
}

pub(super) fn wheels_in(folder: &Path, name_start: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = entries(folder, name_start)?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "whl"));
    found.sort();
    Ok(found)
}

fn remove_leftovers(root: &Path) -> anyhow::Result<()> {
    for path in entries(root, UNFINISHED)? {
        fs::remove_dir_all(&path)
            .with_context(|| format!("cannot remove the leftover {}", path.display()))?;
    }
    Ok(())
}

/// Paths in `folder` whose names begin with `name_start`.
fn entries(folder: &Path, name_start: &str) -> anyhow::Result<Vec<PathBuf>> {
    let listing = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let listing = listing.with_context(|| format!("cannot list {}", folder.display()))?;
    let named =
        |entry: &&fs::DirEntry| entry.file_name().to_str().is_some_and(|name| name.starts_with(name_start));
    Ok(listing.iter().filter(named).map(fs::DirEntry::path).collect())
}

fn progress_bar(total_bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("unpacking [{bar:40}] {bytes} of {total_bytes}, {eta} left");
    let bar = ProgressBar::new(total_bytes);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar
}

/// A temporary folder, removed when the work ends, whether it succeeds or not.
struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    fn create(path: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }

    fn subfolder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(path)
    }

    /// Renames `tree` to `target`; what was there is removed with the temporary folder.
    fn swap_in(&self, tree: &Path, target: &Path) -> anyhow::Result<()> {
        if target.symlink_metadata().is_ok() {
            fs::rename(target, self.path.join("replaced"))
                .with_context(|| format!("cannot move the old {} away", target.display()))?;
        }
        fs::rename(tree, target)
            .with_context(|| format!("cannot move the new libtorch to {}", target.display()))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // The next set-up removes what cannot be removed now.
        let _ = fs::remove_dir_all(&self.path);
    }
}
