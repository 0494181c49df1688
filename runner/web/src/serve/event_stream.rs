//! Server-sent events: changes of the list of runs, of one run or of a comparison, for as long as a page is open.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::{SendError, Sender};
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::library::{Found, Kind};
use super::stage::{Progress, Stage};
use super::{Server, tail};
use dc0_process::clock::Stopwatch;

/// Polling interval. Chosen.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Something is sent at least this often, so that closed connections are noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Time limit for the client to receive an event.
const SEND_LIMIT: Duration = Duration::from_secs(5);

/// What a reader follows.
#[derive(Debug, Clone)]
pub(super) enum Followed {
    /// The list of runs.
    List,
    /// A run or sweep.
    One(Found),
    /// The comparison of some runs.
    Comparison(Vec<Found>),
}

/// The event stream of one reader, with what it has sent last.
pub(super) struct EventStream {
    followed: Followed,
    /// The offset in the log to read from.
    log: Option<u64>,
    state: String,
    unshown: String,
    charts: String,
    games: String,
    glances: String,
    _permit: OwnedSemaphorePermit,
}

impl EventStream {
    /// `last` is the id of the last event that the reader received: an offset in the log.
    pub(super) fn new(followed: Followed, last: Option<&str>, permit: OwnedSemaphorePermit) -> Self {
        let log = last.and_then(|id| id.parse().ok());
        Self {
            followed,
            log,
            state: String::new(),
            unshown: String::new(),
            charts: String::new(),
            games: String::new(),
            glances: String::new(),
            _permit: permit,
        }
    }

    /// Sends changes until the reader is gone.
    pub(super) async fn send(
        self,
        server: Arc<Server>,
        mut events: Sender<Bytes>,
        progress: Progress,
    ) -> Result<(), SendError> {
        send(&mut events, &progress, "retry: 1000\n\n".to_owned()).await?;
        let (mut stream, mut sent) = (self, Stopwatch::start());
        loop {
            let server = Arc::clone(&server);
            let polled = spawn_blocking(move || {
                let changes = stream.changes(&server);
                (stream, changes)
            });
            // A panic is reported on the terminal; the reader sees the stream end, and connects again.
            let Ok((polled, changes)) = polled.await else {
                progress.set(Stage::sending(SEND_LIMIT));
                return Ok(());
            };
            stream = polled;
            if !changes.is_empty() || sent.elapsed() > KEEP_ALIVE {
                let text = if changes.is_empty() { ": keep-alive\n\n".to_owned() } else { changes };
                send(&mut events, &progress, text).await?;
                sent = Stopwatch::start();
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    fn changes(&mut self, server: &Server) -> String {
        match self.followed.clone() {
            Followed::List => self.list(server),
            Followed::One(found) => self.one(server, &found),
            Followed::Comparison(runs) => self.charts(server.charts.due_comparison(server, &runs)),
        }
    }

    fn list(&mut self, server: &Server) -> String {
        // The list comes first: ratings take longer.
        let is_first = self.state.is_empty();
        let mut changes = changed("list", &mut self.state, &server.list());
        changes += &changed("unshown", &mut self.unshown, &server.unshown());
        if let Some(glances) = if is_first { None } else { server.glances() } {
            changes += &changed("glances", &mut self.glances, &glances);
        }
        changes
    }

    fn one(&mut self, server: &Server, found: &Found) -> String {
        let is_run = found.kind == Kind::Run;
        let state = if is_run { server.status(found) } else { server.sweep(found) };
        let mut changes = changed("state", &mut self.state, &state);
        changes += &self.log(server, found);
        changes += &self.charts(server.charts.due(server, found));
        if is_run {
            changes += &changed("games", &mut self.games, &server.shard(found));
        }
        changes
    }

    fn charts(&mut self, due: Option<String>) -> String {
        due.map_or_else(String::new, |version| changed("charts", &mut self.charts, &Value::String(version)))
    }

    fn log(&mut self, server: &Server, found: &Found) -> String {
        let Some(path) = server.library.file(found, "run.log") else { return String::new() };
        // A log that cannot be read now is tried again at the next poll.
        let Ok(Some(read)) = tail::read(&path, self.log) else { return String::new() };
        self.log = Some(read.next);
        let data = json!({ "reset": read.is_reset, "text": read.text });
        format!("event: log\nid: {}\ndata: {data}\n\n", read.next)
    }
}

/// Sends events, once the reader has received those before.
async fn send(events: &mut Sender<Bytes>, progress: &Progress, text: String) -> Result<(), SendError> {
    progress.set(Stage::sending(SEND_LIMIT));
    events.send_data(text.into()).await?;
    progress.set(Stage::Answering);
    Ok(())
}

/// An event, if its data have changed.
fn changed(event: &str, before: &mut String, data: &Value) -> String {
    let text = data.to_string();
    if *before == text {
        return String::new();
    }
    *before = text;
    format!("event: {event}\ndata: {before}\n\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{EventStream, Followed, changed};
    use crate::serve::routes::tests::server_of_a_run;

    #[test]
    fn ratings_follow_a_list_that_changes_all_the_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = server_of_a_run(folder.path());
        let permit = Arc::clone(&server.waiting).try_acquire_owned().expect("a permit");
        let mut stream = EventStream::new(Followed::List, None, permit);
        let first = stream.changes(&server);
        assert!(first.contains("event: list\n") && !first.contains("event: glances\n"), "{first}");
        // The list was another one at the poll before.
        stream.state = "[]".to_owned();
        let second = stream.changes(&server);
        assert!(second.contains("event: list\n") && second.contains("event: glances\n"), "{second}");
    }

    #[test]
    fn only_changes_are_sent_each_in_one_line() {
        let mut before = String::new();
        assert_eq!(
            changed("state", &mut before, &json!({"a": "x\ny"})),
            "event: state\ndata: {\"a\":\"x\\ny\"}\n\n"
        );
        assert_eq!(changed("state", &mut before, &json!({"a": "x\ny"})), "");
        assert_eq!(changed("state", &mut before, &json!(null)), "event: state\ndata: null\n\n");
    }
}
