//! What all installations of set-up share: each is made once, by one process at a time, and a stamp says which version it is.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::report::print;

/// The file of an installation that says which one it is.
const STAMP: &str = "dc0-stamp";

/// Fetches `what` into `folder`, unless it `is_there`. `make` gets an empty folder beside it to work in, and puts the result into place
/// with [`put`], or makes it there. The stamp is written last, so that what a killed process leaves does not pass for complete.
pub(crate) fn ensure(
    what: &str,
    folder: &Path,
    stamp: &str,
    is_there: impl Fn() -> bool,
    make: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if is_there() {
        return Ok(());
    }
    let _lock = lock(what, &folder.with_extension("lock"))?;
    if is_there() {
        return Ok(());
    }
    print(&format!("fetching {what} into {}", folder.display()));
    let work = folder.with_extension("tmp");
    remove(&work)?;
    create(&work)?;
    let made = make(&work);
    // The next installation removes what cannot be removed here.
    let _ = remove(&work);
    made?;
    let stamp_file = folder.join(STAMP);
    fs::write(&stamp_file, stamp).with_context(|| format!("cannot write {}", stamp_file.display()))
}

/// The stamp of an installation; empty if it has none.
pub(crate) fn stamp(folder: &Path) -> String {
    fs::read_to_string(folder.join(STAMP)).unwrap_or_default()
}

/// Waits until no other set-up has the lock. It is released when this process and those it has started have ended, however they end.
fn lock(what: &str, path: &Path) -> anyhow::Result<File> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        print(&format!("another set-up is fetching {what}; waiting for it"));
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    // pip and npm inherit it: if only this process is killed, they go on writing.
    fcntl_setfd(&file, FdFlags::empty()).with_context(|| format!("cannot pass on {}", path.display()))?;
    Ok(file)
}

/// Renames `tree` to `folder`, and what was there to a name beside `tree`.
pub(crate) fn put(tree: &Path, folder: &Path) -> anyhow::Result<()> {
    if folder.symlink_metadata().is_ok() {
        fs::rename(folder, tree.with_file_name("replaced"))
            .with_context(|| format!("cannot move the old {} away", folder.display()))?;
    }
    fs::rename(tree, folder).with_context(|| format!("cannot move the new {} into place", folder.display()))
}

/// Moves files from below `from` into `tree`: those for whose path below `from` there is a `target`, a path below `tree`.
pub(crate) fn move_files(
    from: &Path,
    tree: &Path,
    target: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    let mut folders = vec![from.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(from).ok().and_then(Path::to_str);
            let Some(target) = name.and_then(&target).map(|target| tree.join(target)) else { continue };
            create(target.parent().unwrap_or(tree))?;
            fs::rename(&path, &target)
                .with_context(|| format!("cannot move {} to {}", path.display(), target.display()))?;
        }
    }
    Ok(())
}

/// Runs one step of an installation; `advice` says what to do if it fails.
pub(crate) fn step(command: &mut Command, advice: &str) -> anyhow::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    let program = command.get_program().display();
    let status = status.with_context(|| format!("cannot start {program}: {advice}"))?;
    ensure!(status.success(), "{program} failed ({status}), see its message above: {advice}");
    Ok(())
}

/// Creates a folder, if it is not there.
pub(crate) fn create(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use anyhow::bail;

    use super::*;

    /// Installs the version `wanted`, or fails with a half of it; returns how often it was made.
    fn install(folder: &Path, wanted: &str, fails: bool) -> anyhow::Result<usize> {
        let made = Cell::new(0);
        ensure(
            "a thing",
            folder,
            wanted,
            || stamp(folder) == wanted,
            |work| {
                made.set(made.get() + 1);
                assert_eq!(fs::read_dir(work)?.count(), 0);
                let tree = work.join("tree");
                create(&tree)?;
                fs::write(tree.join(wanted), "")?;
                if fails {
                    bail!("no network");
                }
                put(&tree, folder)
            },
        )?;
        Ok(made.get())
    }

    /// The paths of all files below a folder, sorted.
    fn files(folder: &Path) -> anyhow::Result<Vec<String>> {
        let found = RefCell::new(Vec::new());
        move_files(folder, folder, |name| {
            found.borrow_mut().push(name.to_owned());
            None
        })?;
        let mut found = found.into_inner();
        found.sort();
        Ok(found)
    }

    #[test]
    fn an_installation_is_made_once_and_replaced_as_a_whole() -> anyhow::Result<()> {
        let root = tempfile::tempdir()?;
        let folder = root.path().join(".thing");
        assert_eq!((install(&folder, "1", false)?, install(&folder, "1", false)?), (1, 0));
        // A killed process has left it.
        fs::create_dir(root.path().join(".thing.tmp"))?;
        fs::write(root.path().join(".thing.tmp/half"), "")?;
        assert_eq!(install(&folder, "2", false)?, 1);
        assert_eq!(files(root.path())?, [".thing.lock", ".thing/2", ".thing/dc0-stamp"]);
        Ok(())
    }

    #[test]
    fn a_failure_leaves_what_was_there() -> anyhow::Result<()> {
        let root = tempfile::tempdir()?;
        let folder = root.path().join(".thing");
        install(&folder, "1", false)?;
        let message = install(&folder, "2", true).expect_err("it fails").to_string();
        assert_eq!(message, "no network");
        assert_eq!(files(root.path())?, [".thing.lock", ".thing/1", ".thing/dc0-stamp"]);
        assert_eq!(stamp(&folder), "1");
        Ok(())
    }

    #[test]
    fn the_lock_outlives_this_process_in_the_programs_it_has_started() -> anyhow::Result<()> {
        let root = tempfile::tempdir()?;
        let path = root.path().join("lock");
        let held = lock("a thing", &path)?;
        let mut child = Command::new("sleep").arg("60").spawn()?;
        drop(held);
        let is_free = || File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        let was_free = is_free();
        child.kill()?;
        child.wait()?;
        assert!(!was_free && is_free());
        Ok(())
    }

    #[test]
    fn only_files_with_a_target_are_moved() -> anyhow::Result<()> {
        let (from, tree) = (tempfile::tempdir()?, tempfile::tempdir()?);
        create(&from.path().join("a/lib"))?;
        for name in ["a/lib/a.so", "a/b.py"] {
            fs::write(from.path().join(name), name)?;
        }
        move_files(from.path(), tree.path(), |name| {
            name.strip_prefix("a/lib/").map(|name| format!("lib/{name}"))
        })?;
        assert_eq!(
            (files(from.path())?, files(tree.path())?),
            (vec!["a/b.py".to_owned()], vec!["lib/a.so".to_owned()])
        );
        Ok(())
    }
}
