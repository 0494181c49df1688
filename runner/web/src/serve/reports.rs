//! The report of a run or sweep in its page. It is made again when the data have changed and a page shows it, one report at a time.
//! Making one takes all cores, so while any run is running the next report, of any run, waits: nine tenths of the time are left to
//! the runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use dc0_core::poison::IgnorePoison as _;

use super::Server;
use super::library::Found;
use super::reply::Reply;
use crate::report;
use dc0_process::clock::Stopwatch;

/// The pause after a report, in multiples of the time that it took. Chosen.
const PAUSE: u32 = 9;

/// The time after which a failed report is tried again. Chosen.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Reports that are kept; each may have some MiB.
const MAX_REPORTS: usize = 16;

/// The reports made so far.
#[derive(Debug, Default)]
pub(super) struct Charts {
    reports: Mutex<BTreeMap<String, Entry>>,
    /// When the last report was made; locked while one is made.
    last: Mutex<Option<LastReport>>,
}

type Entry = Arc<Mutex<Option<CachedReport>>>;

/// When the last report of any run was made, and how long that took.
#[derive(Debug, Clone, Copy)]
struct LastReport {
    took: Duration,
    ended: Stopwatch,
}

impl LastReport {
    fn is_pausing(self) -> bool {
        self.ended.elapsed() < self.took * PAUSE
    }
}

/// A report.
#[derive(Debug)]
struct CachedReport {
    /// The version of its data.
    version: String,
    /// How often a report of this version was tried.
    tries: u32,
    /// Started when it failed; `None` if it was made.
    failed: Option<Stopwatch>,
    reply: Reply,
}

impl CachedReport {
    fn is_current(&self, version: &str) -> bool {
        self.version == version && self.failed.is_none_or(|since| since.elapsed() < RETRY_AFTER)
    }

    /// Identifies this report among those of its run.
    fn tag(&self) -> String {
        tag(&self.version, self.tries)
    }
}

fn tag(version: &str, tries: u32) -> String {
    format!("{version}.{tries}")
}

fn next_try(made: Option<&CachedReport>, version: &str) -> u32 {
    made.filter(|made| made.version == version).map_or(0, |made| made.tries) + 1
}

/// Locks, unless it is locked already.
fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Charts {
    fn entry(&self, path: &str) -> Entry {
        let mut reports = self.reports.lock().ignore_poison();
        if reports.len() >= MAX_REPORTS && !reports.contains_key(path) {
            reports.clear();
        }
        Arc::clone(reports.entry(path.to_owned()).or_default())
    }

    /// The tag of the report that a page should request now; `None` while one is made, or while the first one has to wait.
    pub(super) fn due(&self, server: &Server, found: &Found) -> Option<String> {
        self.tag_of(&found.path, &server.version(found), || server.is_any_running())
    }

    /// As [`due`](Self::due), for the comparison of some runs.
    pub(super) fn due_comparison(&self, server: &Server, runs: &[Found]) -> Option<String> {
        let (key, version) = compared(server, runs);
        self.tag_of(&key, &version, || server.is_any_running())
    }

    fn tag_of(&self, path: &str, version: &str, is_any_running: impl FnOnce() -> bool) -> Option<String> {
        let entry = self.entry(path);
        let made = try_lock(&entry)?;
        if let Some(made) = made.as_ref().filter(|made| made.is_current(version)) {
            return Some(made.tag());
        }
        let last = try_lock(&self.last).map(|last| *last);
        let may_be_made =
            last.is_some_and(|last| !last.is_some_and(LastReport::is_pausing) || !is_any_running());
        if may_be_made {
            Some(tag(version, next_try(made.as_ref(), version)))
        } else {
            made.as_ref().map(CachedReport::tag)
        }
    }

    /// The report, or the previous one while a new one has to wait. Concurrent requests for the same one wait for it.
    pub(super) fn page(&self, server: &Server, found: &Found) -> Option<Reply> {
        let make = || {
            no_stray(server, found)?;
            report::page(found.folder.root())
        };
        self.get(&found.path, &server.version(found), || server.is_any_running(), make)
    }

    /// The comparison of some runs, or the previous one, as with [`page`](Self::page).
    pub(super) fn comparison(&self, server: &Server, runs: &[Found]) -> Option<Reply> {
        let make = || {
            runs.iter().try_for_each(|run| no_stray(server, run))?;
            report::comparison(&runs.iter().map(|run| run.folder.root()).collect::<Vec<_>>())
        };
        let (key, version) = compared(server, runs);
        self.get(&key, &version, || server.is_any_running(), make)
    }

    fn get(
        &self,
        path: &str,
        version: &str,
        is_any_running: impl FnOnce() -> bool,
        make: impl FnOnce() -> Result<String, String>,
    ) -> Option<Reply> {
        let entry = self.entry(path);
        let mut made = entry.lock().ignore_poison();
        if let Some(made) = made.as_ref().filter(|made| made.is_current(version)) {
            return Some(made.reply.clone());
        }
        let mut last = self.last.lock().ignore_poison();
        if last.is_some_and(LastReport::is_pausing) && is_any_running() {
            return made.as_ref().map(|made| made.reply.clone());
        }
        let tries = next_try(made.as_ref(), version);
        let watch = Stopwatch::start();
        let (reply, failed) = match make() {
            Ok(html) => (Reply::enclosed(html), None),
            Err(cause) => {
                // Files of a running run may move while they are read; another try may succeed.
                log::info!("no report of {path}: {cause}");
                (Reply::enclosed(failed(&cause)), Some(Stopwatch::start()))
            }
        };
        *last = Some(LastReport { took: watch.elapsed(), ended: Stopwatch::start() });
        *made = Some(CachedReport { version: version.to_owned(), tries, failed, reply: reply.clone() });
        Some(reply)
    }
}

/// The key of the comparison of some runs, and the version of its data.
fn compared(server: &Server, runs: &[Found]) -> (String, String) {
    let versions: Vec<String> = runs.iter().map(|run| server.version(run)).collect();
    let paths: Vec<&str> = runs.iter().map(|run| run.path.as_str()).collect();
    // No run has a name with a space before it.
    (format!(" {}", paths.join(" ")), versions.join("-"))
}

fn no_stray(server: &Server, found: &Found) -> Result<(), String> {
    let link = server.library.stray(found);
    link.map_or(Ok(()), |link| Err(format!("{} leads out of the folder that is served", link.display())))
}

fn failed(cause: &str) -> String {
    let cause = dc0_analysis::charts::escape(cause);
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>No report</title><style>:root {{ color-scheme: light dark; \
         font: 15px system-ui, sans-serif }}</style><p>There is no report: {cause}</p></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dc0_core::poison::IgnorePoison as _;

    use super::{Charts, LastReport, RETRY_AFTER};
    use dc0_process::clock::Stopwatch;

    fn get(
        charts: &Charts,
        (path, version): (&str, &str),
        is_any_running: bool,
        text: &str,
    ) -> Option<String> {
        let reply = charts.get(path, version, || is_any_running, || Ok(text.to_owned()))?;
        Some(String::from_utf8_lossy(&reply.body).into_owned())
    }

    fn set_last(charts: &Charts, took: Duration) {
        *charts.last.lock().ignore_poison() = Some(LastReport { took, ended: Stopwatch::start() });
    }

    #[test]
    fn a_report_is_made_once_per_version_and_the_next_one_waits() {
        let charts = Charts::default();
        let due = |path: &str, version: &str, is_any_running| charts.tag_of(path, version, || is_any_running);
        assert_eq!(due("x", "1", true).as_deref(), Some("1.1"));
        assert_eq!(get(&charts, ("x", "1"), true, "first").as_deref(), Some("first"));
        assert_eq!(get(&charts, ("x", "1"), true, "again").as_deref(), Some("first"));
        set_last(&charts, Duration::from_hours(1));
        assert_eq!(get(&charts, ("x", "2"), true, "too soon").as_deref(), Some("first"));
        assert_eq!(due("x", "2", true).as_deref(), Some("1.1"));
        // Reports of other runs wait, too; but not while no run is running.
        assert_eq!((get(&charts, ("y", "1"), true, "too soon"), due("y", "1", true)), (None, None));
        assert_eq!(due("y", "1", false).as_deref(), Some("1.1"));
        assert_eq!(get(&charts, ("y", "1"), false, "other").as_deref(), Some("other"));
        set_last(&charts, Duration::ZERO);
        assert_eq!(due("x", "2", true).as_deref(), Some("2.1"));
        assert_eq!(get(&charts, ("x", "2"), true, "second").as_deref(), Some("second"));
        assert_eq!(due("x", "2", true).as_deref(), Some("2.1"));
    }

    #[test]
    fn a_failed_report_is_tried_again_with_a_new_tag() {
        let charts = Charts::default();
        let failed = charts.get("x", "1", || false, || Err("a < b".to_owned())).expect("a page");
        assert!(String::from_utf8_lossy(&failed.body).contains("There is no report: a &lt; b"));
        assert_eq!(charts.tag_of("x", "1", || false).as_deref(), Some("1.1"));
        let entry = charts.entry("x");
        let long_ago = Stopwatch::start().earlier_by(RETRY_AFTER).expect("the machine is up that long");
        entry.lock().ignore_poison().as_mut().expect("made").failed = Some(long_ago);
        assert_eq!(charts.tag_of("x", "1", || false).as_deref(), Some("1.2"));
        assert_eq!(get(&charts, ("x", "1"), false, "better").as_deref(), Some("better"));
        assert_eq!(charts.tag_of("x", "1", || false).as_deref(), Some("1.2"));
    }
}
