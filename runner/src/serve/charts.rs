//! The report of a run or sweep in its page. It is made again when the data have changed and somebody looks, one at a time, and
//! no more often than leaves nine tenths of a core to the runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::library::{Found, Library};
use super::reply::Reply;
use super::shard;
use crate::clock::Stopwatch;
use crate::report;

/// After a report the machine rests this many times as long as the report took. Chosen.
const REST: u32 = 9;

/// Reports that are kept; each may have some MiB.
const MOST: usize = 16;

/// The reports that somebody has looked at.
#[derive(Debug, Default)]
pub(super) struct Charts {
    made: Mutex<BTreeMap<String, Entry>>,
    /// Held while one is made.
    one: Mutex<()>,
}

type Entry = Arc<Mutex<Option<Made>>>;

/// A report.
#[derive(Debug)]
struct Made {
    /// Of the data that it shows.
    version: String,
    took: Duration,
    ended: Stopwatch,
    reply: Reply,
}

impl Made {
    fn is_good(&self, version: &str) -> bool {
        self.version == version || self.ended.elapsed() < self.took * REST
    }
}

impl Charts {
    fn entry(&self, of: &Found) -> Entry {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() >= MOST && !made.contains_key(&of.path) {
            made.clear();
        }
        Arc::clone(made.entry(of.path.clone()).or_default())
    }

    /// The version of the report that a reader should ask for now; `None` while one is made.
    pub(super) fn due(&self, library: &Library, of: &Found) -> Option<String> {
        let version = shard::version(library, of);
        let entry = self.entry(of);
        let made = entry.try_lock().ok()?;
        let good = made.as_ref().filter(|made| made.is_good(&version)).map(|made| made.version.clone());
        Some(good.unwrap_or(version))
    }

    /// The report. Whoever asks for the same meanwhile waits for it.
    pub(super) fn page(&self, library: &Library, of: &Found) -> Reply {
        self.get(&of.path, &shard::version(library, of), &self.entry(of), || report::page(of.folder.root()))
    }

    fn get(
        &self,
        path: &str,
        version: &str,
        entry: &Entry,
        make: impl FnOnce() -> Result<String, String>,
    ) -> Reply {
        let mut made = entry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.as_ref().filter(|made| made.is_good(version)) {
            return made.reply.clone();
        }
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = Stopwatch::start();
        let reply = match make() {
            Ok(html) => Reply::enclosed(html),
            Err(cause) => {
                // Files of a run at work may move while they are looked for; the next step brings another report.
                log::info!("no report of {path}: {cause}");
                Reply::enclosed(failed(&cause))
            }
        };
        let (took, ended) = (watch.elapsed(), Stopwatch::start());
        *made = Some(Made { version: version.to_owned(), took, ended, reply: reply.clone() });
        reply
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
    use super::{Charts, Entry};

    #[test]
    fn a_report_is_made_once_for_a_version_and_again_after_a_rest() {
        let (charts, entry) = (Charts::default(), Entry::default());
        let get = |version: &str, text: &'static str| {
            charts.get("x", version, &entry, || Ok(text.to_owned())).body.as_slice().to_vec()
        };
        assert_eq!(get("1", "first"), b"first");
        assert_eq!(get("1", "again"), b"first");
        let mut made = entry.lock().expect("whole");
        made.as_mut().expect("made").took = std::time::Duration::from_hours(1);
        drop(made);
        assert_eq!(get("2", "too soon"), b"first");
        let mut made = entry.lock().expect("whole");
        made.as_mut().expect("made").took = std::time::Duration::ZERO;
        drop(made);
        assert_eq!(get("2", "second"), b"second");
        let failed = charts.get("x", "3", &entry, || Err("a < b".to_owned()));
        assert!(String::from_utf8_lossy(&failed.body).contains("There is no report: a &lt; b"));
    }
}
