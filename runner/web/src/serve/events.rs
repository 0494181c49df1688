//! Server-sent events: what is new about the list of runs, or about one run, as long as somebody looks.

use std::time::Duration;
use std::{io, thread};

use serde_json::{Value, json};

use super::connection::Slot;
use super::library::{Found, Kind};
use super::{Server, tail};
use dc0_process::clock::Stopwatch;

/// How often is looked for news. Chosen.
const EVERY: Duration = Duration::from_millis(500);

/// A word is sent at least this often, so that readers that are gone are found out.
const AT_LEAST: Duration = Duration::from_secs(10);

/// What one reader looks at.
pub(super) struct Follow {
    /// A run or sweep, or all of them.
    of: Option<Found>,
    /// Where the log is read on.
    log: Option<u64>,
    state: String,
    charts: String,
    games: String,
    _slot: Slot,
}

/// Takes what is sent.
type Send<'a> = &'a mut dyn FnMut(&str) -> io::Result<()>;

impl Follow {
    /// `last` is the id of the last event that the reader had, where the log went on.
    pub(super) fn new(of: Option<Found>, last: Option<&str>, slot: Slot) -> Self {
        let log = last.and_then(|id| id.parse().ok());
        Self { of, log, state: String::new(), charts: String::new(), games: String::new(), _slot: slot }
    }

    /// Tells until the reader is gone or the server ends.
    pub(super) fn tell(&mut self, server: &Server, send: Send<'_>) -> io::Result<()> {
        send("retry: 1000\n\n")?;
        let mut said = Stopwatch::start();
        while !server.is_stopping() {
            let news = self.news(server);
            if !news.is_empty() || said.elapsed() > AT_LEAST {
                send(if news.is_empty() { ": still here\n\n" } else { &news })?;
                said = Stopwatch::start();
            }
            thread::sleep(EVERY);
        }
        Ok(())
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
