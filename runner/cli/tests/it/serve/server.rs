//! A server under test, and a client that sends raw bytes over loopback.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dc0_process::clock::Stopwatch;
use serde_json::Value;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running server, which is killed when this value is dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
    /// What it printed before its address.
    pub(crate) greeting: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Server {
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    pub(crate) fn start_with(folder: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.arg("serve").arg(folder).args(["--port", "0"]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut greeting = String::new();
        let address = loop {
            let line = lines.next().expect("the address").expect("text");
            if let Some(address) = line.strip_prefix("open http://127.0.0.1:") {
                break address.to_owned();
            }
            greeting += &line;
        };
        let (port, token) = address.split_once("/?token=").expect("a token");
        Self { port: port.parse().expect("a port"), token: token.to_owned(), process, greeting }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        stream
    }

    /// Sends bytes, and reads the answer to its end.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early does not read the rest.
        let _unread = stream.write_all(bytes);
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn cookie(&self) -> String {
        format!("Cookie: {}={}", self.cookie_name(), self.token)
    }

    /// The cookie's name; a server on another port has another.
    pub(crate) fn cookie_name(&self) -> String {
        format!("dc0-{}", self.port)
    }

    pub(crate) fn request(&self, method: &str, target: &str, more: &str, body: &str) -> Answer {
        let (port, cookie) = (self.port, self.cookie());
        let text =
            format!("{method} {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{cookie}\r\n{more}\r\n{body}");
        self.raw(text.as_bytes())
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.request("GET", target, "", "")
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        self.request("POST", target, &more, &body)
    }

    /// Follows events, after the event with the given id if there is one.
    pub(crate) fn follow(&self, target: &str, last: Option<&str>) -> Events {
        let mut stream = self.connect();
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let (port, cookie) = (self.port, self.cookie());
        write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{cookie}\r\n{last}\r\n")
            .expect("writes");
        Events { lines: BufReader::new(stream), id: None, latest: BTreeMap::new() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its own child, which may have ended already.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

/// A stream of events.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    pub(crate) id: Option<String>,
    /// The newest data of each kind of event.
    latest: BTreeMap<String, Value>,
}

impl Events {
    /// The next event and its data.
    pub(crate) fn next(&mut self) -> (String, Value) {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).expect("an event"), 0, "the events have ended");
            if let Some(name) = line.strip_prefix("event: ") {
                name.trim().clone_into(&mut event);
            } else if let Some(id) = line.strip_prefix("id: ") {
                self.id = Some(id.trim().to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                let data: Value = serde_json::from_str(data).expect("JSON");
                self.latest.insert(event.clone(), data.clone());
                return (event, data);
            }
        }
    }

    /// Reads until a new event of a kind satisfies the condition.
    pub(crate) fn until(&mut self, event: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        // Keep-alive comments never stop, so the read timeout alone would not end the wait.
        let watch = Stopwatch::start();
        while watch.elapsed() < PATIENCE {
            let (name, data) = self.next();
            if name == event && is_wanted(&data) {
                return data;
            }
        }
        panic!("no {event:?} as wanted; the latest events: {:?}", self.latest);
    }

    /// Reads until the newest event of a kind satisfies the condition, which it may do already.
    pub(crate) fn stands(&mut self, event: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        match self.latest.get(event).filter(|data| is_wanted(data)) {
            Some(data) => data.clone(),
            None => self.until(event, is_wanted),
        }
    }
}

/// A folder with a run that has only a record, a log and a journal.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("first");
    fs::create_dir(&run).expect("a folder");
    fs::write(run.join("run.json"), "{\"script\":{\"file\":\"x.rhai\"},\"seed\":1}").expect("writes");
    fs::write(run.join("run.log"), "one\ntwo\nthr").expect("writes");
    fs::write(run.join("journal.jsonl"), "{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"created\"}\n{\"at")
        .expect("writes");
    folder
}

/// Waits until the net has moved.
pub(crate) fn answered(server: &Server, game: &Value) -> Value {
    let mut state = game.clone();
    while state["thinking"] == true {
        let target = format!("/api/play/{}?after={}", state["id"].as_str().expect("an id"), state["version"]);
        state = server.get(&target).json();
    }
    state
}
