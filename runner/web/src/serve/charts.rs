//! The report of a run or sweep in its page. It is made again when the data have changed and somebody looks, one at a time. A report
//! takes all cores for its moment, so while any run is under way the next one, of whichever run, waits: nine tenths of the time
//! are the runs'.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::Server;
use super::library::Found;
use super::reply::Reply;
use crate::report;
use dc0_process::clock::Stopwatch;

/// After a report the machine rests this many times as long as the report took. Chosen.
const REST: u32 = 9;

/// A report that could not be made is tried again after this time. Chosen.
const AGAIN: Duration = Duration::from_secs(10);

/// Reports that are kept; each may have some MiB.
const MOST: usize = 16;

/// The reports that somebody has looked at.
#[derive(Debug, Default)]
pub(super) struct Charts {
    made: Mutex<BTreeMap<String, Entry>>,
    /// The last report's time; held while one is made.
    last: Mutex<Option<Last>>,
}

type Entry = Arc<Mutex<Option<Made>>>;

/// When the last report of all was made, and how long that took.
#[derive(Debug, Clone, Copy)]
struct Last {
    took: Duration,
    ended: Stopwatch,
}

impl Last {
    fn is_resting(self) -> bool {
        self.ended.elapsed() < self.took * REST
    }
}

/// A report.
#[derive(Debug)]
struct Made {
    /// Of the data that it shows.
    version: String,
    /// How often one of this version was made.
    tries: u32,
    /// `None` if it was made, else since when it was not.
    failed: Option<Stopwatch>,
    reply: Reply,
}

impl Made {
    fn is_good(&self, version: &str) -> bool {
        self.version == version && self.failed.is_none_or(|since| since.elapsed() < AGAIN)
    }

    /// What tells this report from others of the run.
    fn tag(&self) -> String {
        tag(&self.version, self.tries)
    }
}

fn tag(version: &str, tries: u32) -> String {
    format!("{version}.{tries}")
}

fn next_try(made: Option<&Made>, version: &str) -> u32 {
    made.filter(|made| made.version == version).map_or(0, |made| made.tries) + 1
}

fn whole<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What nobody else uses just now.
fn unused<T>(of: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match of.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Charts {
    fn entry(&self, path: &str) -> Entry {
        let mut made = whole(&self.made);
        if made.len() >= MOST && !made.contains_key(path) {
            made.clear();
        }
        Arc::clone(made.entry(path.to_owned()).or_default())
    }

    /// What tells the report that a reader should ask for now; `None` while one is made, or while the first one may not be.
    pub(super) fn due(&self, server: &Server, of: &Found) -> Option<String> {
        self.tag_of(&of.path, &server.version(of), || server.is_anyone_at_work())
    }

    fn tag_of(&self, path: &str, version: &str, is_anyone_at_work: impl FnOnce() -> bool) -> Option<String> {
        let entry = self.entry(path);
        let made = unused(&entry)?;
        if let Some(made) = made.as_ref().filter(|made| made.is_good(version)) {
            return Some(made.tag());
        }
        let last = unused(&self.last).map(|last| *last);
        let may_be_made =
            last.is_some_and(|last| !last.is_some_and(Last::is_resting) || !is_anyone_at_work());
        if may_be_made {
            Some(tag(version, next_try(made.as_ref(), version)))
        } else {
            made.as_ref().map(Made::tag)
        }
    }

    /// The report, or the one before while none may be made. Whoever asks for the same meanwhile waits for it.
    pub(super) fn page(&self, server: &Server, of: &Found) -> Option<Reply> {
        let make = || match server.library.stray(of) {
            Some(link) => Err(format!("{} leads out of the folder that is served", link.display())),
            None => report::page(of.folder.root()),
        };
        self.get((&of.path, &server.version(of)), || server.is_anyone_at_work(), make)
    }

    fn get(
        &self,
        (path, version): (&str, &str),
        is_anyone_at_work: impl FnOnce() -> bool,
        make: impl FnOnce() -> Result<String, String>,
    ) -> Option<Reply> {
        let entry = self.entry(path);
        let mut made = whole(&entry);
        if let Some(made) = made.as_ref().filter(|made| made.is_good(version)) {
            return Some(made.reply.clone());
        }
        let mut last = whole(&self.last);
        if last.is_some_and(Last::is_resting) && is_anyone_at_work() {
            return made.as_ref().map(|made| made.reply.clone());
        }
        let tries = next_try(made.as_ref(), version);
        let watch = Stopwatch::start();
        let (reply, failed) = match make() {
            Ok(html) => (Reply::enclosed(html), None),
            Err(cause) => {
                // Files of a run at work may move while they are looked for; another try may do better.
                log::info!("no report of {path}: {cause}");
                (Reply::enclosed(failed(&cause)), Some(Stopwatch::start()))
            }
        };
        *last = Some(Last { took: watch.elapsed(), ended: Stopwatch::start() });
        *made = Some(Made { version: version.to_owned(), tries, failed, reply: reply.clone() });
        Some(reply)
    }
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

    use super::{AGAIN, Charts, Last, whole};
    use dc0_process::clock::Stopwatch;

    fn get(charts: &Charts, of: (&str, &str), is_at_work: bool, text: &str) -> Option<String> {
        let reply = charts.get(of, || is_at_work, || Ok(text.to_owned()))?;
        Some(String::from_utf8_lossy(&reply.body).into_owned())
    }

    fn rest(charts: &Charts, took: Duration) {
        *whole(&charts.last) = Some(Last { took, ended: Stopwatch::start() });
    }

    #[test]
    fn a_report_is_made_once_for_a_version_and_after_any_report_the_machine_rests() {
        let charts = Charts::default();
        let due = |path: &str, version: &str, is_at_work| charts.tag_of(path, version, || is_at_work);
        assert_eq!(due("x", "1", true).as_deref(), Some("1.1"));
        assert_eq!(get(&charts, ("x", "1"), true, "first").as_deref(), Some("first"));
        assert_eq!(get(&charts, ("x", "1"), true, "again").as_deref(), Some("first"));
        rest(&charts, Duration::from_hours(1));
        assert_eq!(get(&charts, ("x", "2"), true, "too soon").as_deref(), Some("first"));
        assert_eq!(due("x", "2", true).as_deref(), Some("1.1"));
        // Of another run, too; but where no run is under way, nothing is waited for.
        assert_eq!((get(&charts, ("y", "1"), true, "too soon"), due("y", "1", true)), (None, None));
        assert_eq!(due("y", "1", false).as_deref(), Some("1.1"));
        assert_eq!(get(&charts, ("y", "1"), false, "other").as_deref(), Some("other"));
        rest(&charts, Duration::ZERO);
        assert_eq!(due("x", "2", true).as_deref(), Some("2.1"));
        assert_eq!(get(&charts, ("x", "2"), true, "second").as_deref(), Some("second"));
        assert_eq!(due("x", "2", true).as_deref(), Some("2.1"));
    }

    #[test]
    fn a_report_that_failed_is_tried_again_under_another_name() {
        let charts = Charts::default();
        let failed = charts.get(("x", "1"), || false, || Err("a < b".to_owned())).expect("a page");
        assert!(String::from_utf8_lossy(&failed.body).contains("There is no report: a &lt; b"));
        assert_eq!(charts.tag_of("x", "1", || false).as_deref(), Some("1.1"));
        let entry = charts.entry("x");
        let long_ago = Stopwatch::start().earlier_by(AGAIN).expect("the machine is up that long");
        whole(&entry).as_mut().expect("made").failed = Some(long_ago);
        assert_eq!(charts.tag_of("x", "1", || false).as_deref(), Some("1.2"));
        assert_eq!(get(&charts, ("x", "1"), false, "better").as_deref(), Some("better"));
        assert_eq!(charts.tag_of("x", "1", || false).as_deref(), Some("1.2"));
    }
}
