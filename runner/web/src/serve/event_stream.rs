//! Server-sent events: what is new about the list of runs, or about one run, as long as somebody looks.

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

/// How often is looked for news. Chosen.
const EVERY: Duration = Duration::from_millis(500);

/// A word is sent at least this often, so that readers that are gone are found out.
const AT_LEAST: Duration = Duration::from_secs(10);

/// An event has to be taken within this time.
const TO_LEAVE: Duration = Duration::from_secs(5);

/// What one reader looks at.
pub(super) struct Follow {
    /// A run or sweep, or all of them.
    of: Option<Found>,
    /// Where the log is read on.
    log: Option<u64>,
    state: String,
    charts: String,
    games: String,
    _permit: OwnedSemaphorePermit,
}

impl Follow {
    /// `last` is the id of the last event that the reader had, where the log went on.
    pub(super) fn new(of: Option<Found>, last: Option<&str>, permit: OwnedSemaphorePermit) -> Self {
        let log = last.and_then(|id| id.parse().ok());
        Self { of, log, state: String::new(), charts: String::new(), games: String::new(), _permit: permit }
    }

    /// Sends news until the reader is gone.
    pub(super) async fn send(
        self,
        server: Arc<Server>,
        mut events: Sender<Bytes>,
        progress: Progress,
    ) -> Result<(), SendError> {
        send(&mut events, &progress, "retry: 1000\n\n".to_owned()).await?;
        let (mut follow, mut sent) = (self, Stopwatch::start());
        loop {
            let server = Arc::clone(&server);
            let looked = spawn_blocking(move || {
                let news = follow.news(&server);
                (follow, news)
            });
            // A panic is reported on the terminal; the reader sees the stream end, and connects again.
            let Ok((looked, news)) = looked.await else {
                progress.set(Stage::leaving(TO_LEAVE));
                return Ok(());
            };
            follow = looked;
            if !news.is_empty() || sent.elapsed() > AT_LEAST {
                let text = if news.is_empty() { ": still here\n\n".to_owned() } else { news };
                send(&mut events, &progress, text).await?;
                sent = Stopwatch::start();
            }
            sleep(EVERY).await;
        }
    }

    fn news(&mut self, server: &Server) -> String {
        let Some(of) = self.of.clone() else {
            return changed("list", &mut self.state, &server.list());
        };
        if of.kind == Kind::Sweep {
            let mut news = changed("state", &mut self.state, &server.sweep(&of));
            news += &self.log(server, &of);
            news += &self.charts(server, &of);
            return news;
        }
        let mut news = changed("state", &mut self.state, &server.status(&of));
        news += &self.log(server, &of);
        news += &self.charts(server, &of);
        news += &changed("games", &mut self.games, &server.shard(&of));
        news
    }

    fn charts(&mut self, server: &Server, of: &Found) -> String {
        let due = server.charts.due(server, of);
        due.map_or_else(String::new, |version| changed("charts", &mut self.charts, &Value::String(version)))
    }

    fn log(&mut self, server: &Server, of: &Found) -> String {
        let Some(path) = server.library.file(of, "run.log") else { return String::new() };
        // A log that cannot be read now may be read in a moment.
        let Ok(Some(news)) = tail::read(&path, self.log) else { return String::new() };
        self.log = Some(news.next);
        let data = json!({ "anew": news.is_anew, "text": news.text });
        format!("event: log\nid: {}\ndata: {data}\n\n", news.next)
    }
}

/// Sends events; there is room once the reader has taken those before.
async fn send(events: &mut Sender<Bytes>, progress: &Progress, text: String) -> Result<(), SendError> {
    progress.set(Stage::leaving(TO_LEAVE));
    events.send_data(text.into()).await?;
    progress.set(Stage::Answering);
    Ok(())
}

/// An event, if its data is another one than before.
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
    use serde_json::json;

    use super::changed;

    #[test]
    fn only_what_has_changed_is_told_and_in_one_line() {
        let mut before = String::new();
        assert_eq!(
            changed("state", &mut before, &json!({"a": "x\ny"})),
            "event: state\ndata: {\"a\":\"x\\ny\"}\n\n"
        );
        assert_eq!(changed("state", &mut before, &json!({"a": "x\ny"})), "");
        assert_eq!(changed("state", &mut before, &json!(null)), "event: state\ndata: null\n\n");
    }
}
