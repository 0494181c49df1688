//! Plans scripts on a thread of its own, and publishes what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lsp_server::Notification;
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::{PublishDiagnosticsParams, Uri};

use super::api_index::ApiIndex;
use super::diagnostics::{Diagnosis, Diagnostics};
use super::outbox::Outbox;
use super::uri;
use dc0_process::exit::Exit;
use dc0_runs::sources::Sources;
use dc0_script::limits::STACK_BYTES;
use dc0_script::plans::{Planned, ScriptToPlan};
use dc0_steps::RunOptions;

/// A script is checked when nothing has been typed for this long.
const QUIET: Duration = Duration::from_millis(150);
/// Interpreter operations allowed in one check: a second or less. A shipped experiment needs a few thousand.
const OPERATIONS: u64 = 20_000_000;

/// A script to be checked.
pub(super) struct Job {
    /// The script.
    pub(super) path: PathBuf,
    /// Its text.
    pub(super) text: String,
    /// The folder that its imports must stay in; the script's own if `None`.
    pub(super) folder: Option<PathBuf>,
    /// Texts of open scripts, which replace those of their files.
    pub(super) texts: BTreeMap<PathBuf, String>,
    /// The folder that holds runs.
    pub(super) runs: PathBuf,
    /// The open scripts, with the editor's URIs and version numbers.
    pub(super) open: BTreeMap<PathBuf, (Uri, i32)>,
}

enum Task {
    Check(Box<Job>, Arc<AtomicBool>),
    Forget(PathBuf, Uri),
}

/// A handle of the checking thread.
pub(super) struct Checker {
    tasks: Sender<Task>,
    /// A flag for the latest check of each script; true cancels it.
    latest: BTreeMap<PathBuf, Arc<AtomicBool>>,
    thread: JoinHandle<()>,
}

impl Checker {
    /// Starts the thread.
    pub(super) fn start(api: Arc<ApiIndex>, outbox: Outbox) -> std::io::Result<Self> {
        let (tasks, inbox) = channel();
        let worker = Worker { api, outbox, published: BTreeMap::new() };
        let builder = thread::Builder::new().name("checker".to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || worker.work(&inbox))?;
        Ok(Self { tasks, latest: BTreeMap::new(), thread })
    }

    /// Queues a check of a script; a check of it that is running is cancelled.
    pub(super) fn check(&mut self, job: Job) {
        let is_stale = Arc::new(AtomicBool::new(false));
        if let Some(before) = self.latest.insert(job.path.clone(), Arc::clone(&is_stale)) {
            before.store(true, Ordering::Relaxed);
        }
        // The thread ends only when this sender is dropped.
        let _ = self.tasks.send(Task::Check(Box::new(job), is_stale));
    }

    /// Withdraws the diagnostics of a closed script.
    pub(super) fn forget(&mut self, path: &Path, uri: Uri) {
        if let Some(latest) = self.latest.remove(path) {
            latest.store(true, Ordering::Relaxed);
        }
        let _ = self.tasks.send(Task::Forget(path.to_owned(), uri));
    }

    /// Ends the thread.
    pub(super) fn end(self) {
        let Self { tasks, latest, thread } = self;
        for is_stale in latest.values() {
            is_stale.store(true, Ordering::Relaxed);
        }
        drop(tasks);
        // A panic has been reported on stderr.
        let _ = thread.join();
    }
}

/// The state of the checking thread.
struct Worker {
    api: Arc<ApiIndex>,
    outbox: Outbox,
    /// The published diagnostics of each file, by the script whose check found them.
    published: BTreeMap<PathBuf, Diagnostics>,
}

type Waiting = BTreeMap<PathBuf, (Box<Job>, Arc<AtomicBool>)>;

impl Worker {
    fn work(mut self, inbox: &Receiver<Task>) {
        let mut waiting = Waiting::new();
        while let Ok(task) = inbox.recv() {
            self.take(task, &mut waiting);
            loop {
                match inbox.recv_timeout(QUIET) {
                    Ok(task) => self.take(task, &mut waiting),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            while let Some((path, (job, is_stale))) = waiting.pop_first() {
                let outbox = self.outbox.clone();
                guarded(&outbox, &path, || self.check(&job, &is_stale));
            }
        }
    }

    fn take(&mut self, task: Task, waiting: &mut Waiting) {
        match task {
            Task::Check(job, is_stale) => _ = waiting.insert(job.path.clone(), (job, is_stale)),
            Task::Forget(path, uri) => {
                waiting.remove(&path);
                self.publish(&path, Diagnostics::new(), &[(path.clone(), (uri, 0))].into(), true);
            }
        }
    }

    fn check(&mut self, job: &Job, is_stale: &Arc<AtomicBool>) {
        if is_stale.load(Ordering::Relaxed) {
            return;
        }
        let planned = plan(job, Arc::clone(is_stale));
        let is_cancelled = matches!(&planned.plans, Err(failure) if failure.exit == Exit::Interrupted);
        if is_cancelled || is_stale.load(Ordering::Relaxed) {
            return;
        }
        let diagnosis = Diagnosis {
            api: &self.api,
            main: &job.path.display().to_string(),
            texts: &planned.sources.texts(),
            uri: &|file| uri_of(file, &job.open),
        };
        let found =
            planned.plans.as_ref().err().map(|failure| diagnosis.diagnostics(failure)).unwrap_or_default();
        self.publish(&job.path, found, &job.open, false);
    }

    /// Publishes the diagnostics of every file that this check or the one before found something in.
    fn publish(
        &mut self,
        owner: &Path,
        found: Diagnostics,
        open: &BTreeMap<PathBuf, (Uri, i32)>,
        is_closed: bool,
    ) {
        let mut files: BTreeSet<PathBuf> = found.keys().cloned().collect();
        files.insert(owner.to_owned());
        files.extend(self.published.remove(owner).into_iter().flat_map(Diagnostics::into_keys));
        if !is_closed {
            self.published.insert(owner.to_owned(), found);
        }
        for file in files {
            let Some(uri) = uri_of(&file, open) else { continue };
            let mut diagnostics: Vec<_> =
                self.published.values().filter_map(|found| found.get(&file)).flatten().cloned().collect();
            let mut seen: Vec<(lsp_types::Range, String)> = Vec::new();
            diagnostics.retain(|diagnostic| {
                let key = (diagnostic.range, diagnostic.message.clone());
                let is_first = !seen.contains(&key);
                seen.push(key);
                is_first
            });
            let version = open.get(&file).map(|(_, version)| *version).filter(|_| !is_closed);
            let params = PublishDiagnosticsParams { uri, diagnostics, version };
            self.outbox.send(Notification::new(PublishDiagnostics::METHOD.to_owned(), params));
        }
    }
}

/// Runs a check. A panic is logged, and does not end the checks that follow.
fn guarded(outbox: &Outbox, path: &Path, check: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(check)).is_err() {
        let message =
            format!("dc0-run itself is wrong in the check of {}; its message is on stderr", path.display());
        outbox.log(message);
    }
}

fn uri_of(file: &Path, open: &BTreeMap<PathBuf, (Uri, i32)>) -> Option<Uri> {
    open.get(file).map(|(uri, _)| uri.clone()).or_else(|| uri::of_path(file))
}

fn plan(job: &Job, is_stale: Arc<AtomicBool>) -> Planned {
    let script = ScriptToPlan {
        folder: job.folder.as_deref(),
        sources: Arc::new(Sources::with_unsaved(&job.texts)),
        operations: OPERATIONS,
        is_stopped: Arc::new(move || is_stale.load(Ordering::Relaxed)),
        ..ScriptToPlan::new(&job.path, &job.text, RunOptions::below(job.runs.clone()))
    };
    script.plan()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use lsp_server::{Connection, Message};

    use super::{Outbox, guarded};

    #[test]
    fn a_check_that_panics_is_logged_and_the_next_one_runs() {
        let (server, editor) = Connection::memory();
        let outbox = Outbox::new(Arc::new(server));
        let mut checked = 0;
        guarded(&outbox, Path::new("a.rhai"), || panic!("a fault of the check"));
        guarded(&outbox, Path::new("b.rhai"), || checked += 1);
        let sent: Vec<Message> = editor.receiver.try_iter().collect();
        let [Message::Notification(line)] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!((checked, line.method.as_str()), (1, "window/logMessage"));
        assert!(line.params.to_string().contains("in the check of a.rhai"), "{line:?}");
    }
}
