//! The server of `dc0-run serve`, talked to as any program may talk to it: raw bytes over loopback.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use common::{Experiment, SMALL};

/// How long an answer may take on a machine that has other work, too.
const PATIENCE: Duration = Duration::from_mins(2);

struct Server {
    process: Child,
    port: u16,
    token: String,
}

/// An answer.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Server {
    fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    fn start_with(folder: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.arg("serve").arg(folder).args(["--port", "0"]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let address =
            lines.find_map(|line| line.ok()?.strip_prefix("open http://127.0.0.1:").map(ToOwned::to_owned));
        let address = address.expect("the address");
        let (port, token) = address.split_once("/?token=").expect("a token");
        Self { port: port.parse().expect("a port"), token: token.to_owned(), process }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        stream
    }

    /// Sends bytes, and reads the answer to its end.
    fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early reads no more.
        let _unread = stream.write_all(bytes);
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn cookie(&self) -> String {
        format!("Cookie: dc0-{}={}", self.port, self.token)
    }

    fn request(&self, method: &str, target: &str, more: &str, body: &str) -> Answer {
        let (port, cookie) = (self.port, self.cookie());
        let text =
            format!("{method} {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{cookie}\r\n{more}\r\n{body}");
        self.raw(text.as_bytes())
    }

    fn get(&self, target: &str) -> Answer {
        self.request("GET", target, "", "")
    }

    fn post(&self, target: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        self.request("POST", target, &more, &body)
    }

    /// Follows events, from where another reader has left off.
    fn follow(&self, target: &str, last: Option<&str>) -> Events {
        let mut stream = self.connect();
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let (port, cookie) = (self.port, self.cookie());
        write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{cookie}\r\n{last}\r\n")
            .expect("writes");
        Events { lines: BufReader::new(stream), id: None }
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
struct Events {
    lines: BufReader<TcpStream>,
    id: Option<String>,
}

impl Events {
    /// The next event and its data.
    fn next(&mut self) -> (String, Value) {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).expect("an event"), 0, "the events have ended");
            if let Some(name) = line.strip_prefix("event: ") {
                name.trim().clone_into(&mut event);
            } else if let Some(id) = line.strip_prefix("id: ") {
                self.id = Some(id.trim().to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (event, serde_json::from_str(data).expect("JSON"));
            }
        }
    }

    /// Reads until an event of a kind is as wanted.
    fn until(&mut self, event: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (name, data) = self.next();
            if name == event && is_wanted(&data) {
                return data;
            }
        }
    }
}

/// A folder with a run that only has a record, a log and a journal.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("first");
    fs::create_dir(&run).expect("a folder");
    fs::write(run.join("run.json"), "{\"script\":{\"file\":\"x.rhai\"},\"seed\":1}").expect("writes");
    fs::write(run.join("run.log"), "one\ntwo\nthr").expect("writes");
    fs::write(run.join("journal.jsonl"), "{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"created\"}\n{\"at")
        .expect("writes");
    folder
}

#[test]
fn the_token_opens_and_nothing_else_does() {
    let folder = folder();
    let server = Server::start(folder.path());
    let (port, token) = (server.port, server.token.clone());
    let ask =
        |target: &str, head: &str| server.raw(format!("GET {target} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes());
    let own = format!("Host: localhost:{port}");
    assert_eq!(ask("/", &own).status, 401);
    assert_eq!(ask("/api/runs", &own).status, 401);
    assert_eq!(ask("/?token=0123", &own).status, 403);
    assert_eq!(ask("/", &format!("{own}\r\nCookie: dc0-{port}=0123")).status, 403);
    assert_eq!(ask(&format!("/?token={token}"), "Host: evil.example").status, 421);
    let entered = ask(&format!("/?token={token}"), &own);
    assert_eq!(entered.status, 303);
    assert!(
        entered.head.contains(&format!("Set-Cookie: dc0-{port}={token}; Path=/; HttpOnly; SameSite=Lax"))
    );
    assert!(!entered.body.contains(&token));
    let page = server.get("/");
    assert_eq!(page.status, 200);
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'self'",
        "Cache-Control: no-store",
        "nosniff",
    ] {
        assert!(page.head.contains(header), "{}", page.head);
    }
    let foreign = server.request("GET", "/api/runs", "Origin: http://evil.example\r\n", "");
    assert_eq!(foreign.status, 403);
    let posted =
        server.request("POST", "/api/play", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}");
    assert_eq!(posted.status, 415);
}

#[test]
fn runs_are_listed_and_tricks_with_paths_lead_nowhere() {
    let (folder, outside) = (folder(), tempfile::tempdir().expect("a folder"));
    fs::write(outside.path().join("run.json"), "{\"secret\":1}").expect("writes");
    fs::write(outside.path().join("run.log"), "secret\n").expect("writes");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("run.log"), folder.path().join("first/generations.json"))
        .expect("a link");
    let server = Server::start(folder.path());
    let runs = server.get("/api/runs").json();
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!((&runs[0]["path"], &runs[0]["state"]), (&json!("first"), &json!("rests")));
    assert_eq!(server.get("/run/first").status, 200);
    let tricks = [
        "/run/link",
        "/api/status/link",
        "/api/games/link",
        "/api/nets/link",
        "/run/..",
        "/run/../first",
        "/run/%2e%2e/first",
        "/run/.%2e/first",
        "/run/first%2f..%2f..",
        "/run//etc",
        "/run/first/",
        "/assets/../run.json",
        "/assets/%2e%2e%2frun.json",
        "/assets/..%5crun.json",
        "/api/status/first/trials/../x",
        "/etc/passwd",
        "//etc/passwd",
        "http://localhost/run/first",
        "/run/first%00",
        "/api/status",
        "/run/first\u{e9}",
        "/run/FIRST",
    ];
    for trick in tricks {
        let answer = server.get(trick);
        assert!(
            [404, 400].contains(&answer.status) && !answer.body.contains("secret"),
            "{trick}: {answer:?}"
        );
    }
    for net in ["link:0", "../first:0", "first:../../x", "/etc/passwd", "first:0"] {
        let asked = json!({ "net": net, "side": "white", "fen": null, "simulations": 10 });
        assert_eq!(server.post("/api/play", &asked).status, 404, "{net}");
    }
}

#[test]
fn what_is_too_long_too_slow_or_no_http_is_refused() {
    let folder = folder();
    let server = Server::start(folder.path());
    let long = "x".repeat(100_000);
    assert_eq!(server.request("GET", "/", &format!("X: {long}\r\n"), "").status, 431);
    assert_eq!(server.get(&format!("/{long}")).status, 431);
    assert_eq!(server.request("POST", "/api/play", "Content-Length: 100000000\r\n", &long).status, 413);
    assert_eq!(server.request("POST", "/api/play", "Transfer-Encoding: chunked\r\n", "").status, 411);
    assert_eq!(server.request("PUT", "/", "", "").status, 405);
    assert_eq!(server.raw(&[0x16, 3, 1, 0, 0xff, b'\r', b'\n', b'\r', b'\n']).status, 400);
    // Begins, and does not go on.
    assert_eq!(server.raw(b"GET / HTTP/1.1\r\nHost: local").status, 408);
    assert_eq!(server.get("/").status, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_requests_at_once_are_answered_with_few_threads_and_little_memory() {
    let folder = folder();
    let server = Server::start(folder.path());
    let status = |name: &str| -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", server.process.id())).expect("a process");
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
    };
    let (before, threads) = (status("VmRSS:"), status("Threads:"));
    let mut most_threads = 0;
    thread::scope(|scope| {
        let start = |number: usize| {
            let server = &server;
            let target = ["/", "/api/runs", "/run/first", "/assets/style.css", "/api/play"][number % 5];
            let begin = json!({ "net": "", "side": "white", "fen": null, "simulations": 8 });
            let ask = move || if number % 5 == 4 { server.post(target, &begin) } else { server.get(target) };
            let thread = thread::Builder::new().stack_size(128 * 1024);
            thread.spawn_scoped(scope, move || ask().status).expect("a thread")
        };
        let clients: Vec<_> = (0..1000).map(start).collect();
        while clients.iter().any(|client| !client.is_finished()) {
            most_threads = most_threads.max(status("Threads:"));
            thread::sleep(Duration::from_millis(20));
        }
        let answers: Vec<u16> = clients.into_iter().map(|client| client.join().expect("an answer")).collect();
        for (number, status) in answers.into_iter().enumerate() {
            // Games that would begin wait for each other, and too many do not.
            assert!(status == 200 || (status == 503 && number % 5 == 4), "request {number}: {status}");
        }
    });
    // Each of eight games has one, too.
    assert!(most_threads <= threads + 140, "{most_threads} threads, {threads} before");
    let grown = status("VmRSS:").saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KiB more than {before}");
}

#[test]
fn readers_beyond_a_limit_are_asked_to_come_again_and_others_are_served() {
    let folder = folder();
    let server = Server::start(folder.path());
    // The head of an endless answer has no endless body.
    let head = server.request("HEAD", "/api/events", "", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let mut readers: Vec<Events> = (0..48).map(|_| server.follow("/api/events", None)).collect();
    for reader in &mut readers {
        assert_eq!(reader.next().0, "list");
    }
    let head = server.request("HEAD", "/api/events", "", "");
    assert_eq!(head.status, 503);
    let refused = server.get("/api/events");
    assert_eq!(refused.status, 503);
    assert!(refused.head.contains("Retry-After: 5"));
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_log_is_followed_line_by_line_and_gone_on_with_after_a_break() {
    let folder = folder();
    let server = Server::start(folder.path());
    let path = folder.path().join("first/run.log");
    let mut events = server.follow("/api/events/first", None);
    assert_eq!(events.until("log", |_| true), json!({ "anew": true, "text": "one\ntwo\n" }));
    fs::write(&path, "one\ntwo\nthree\n").expect("writes");
    assert_eq!(events.until("log", |_| true), json!({ "anew": false, "text": "three\n" }));
    let last = events.id.take().expect("an id");
    drop(events);
    fs::write(&path, "one\ntwo\nthree\nfour\n").expect("writes");
    let mut events = server.follow("/api/events/first", Some(&last));
    assert_eq!(events.until("log", |_| true), json!({ "anew": false, "text": "four\n" }));
    fs::write(&path, "new\n").expect("writes");
    assert_eq!(events.until("log", |_| true), json!({ "anew": true, "text": "new\n" }));
    // A run that appears, and one that goes.
    let mut list = server.follow("/api/events", None);
    assert_eq!(list.until("list", |_| true).as_array().map(Vec::len), Some(1));
    fs::create_dir(folder.path().join("second")).expect("a folder");
    fs::write(folder.path().join("second/run.json"), "{\"scr").expect("writes");
    assert_eq!(list.until("list", |list| list.as_array().map(Vec::len) == Some(2))[1]["path"], "second");
    fs::remove_dir_all(folder.path().join("first")).expect("removes");
    list.until("list", |list| list[0]["path"] == "second");
}

/// A thousand requests, of which some have a wrong token and some lead nowhere.
fn annoy(server: &Server) {
    let port = server.port;
    for number in 0..250 {
        let wrong =
            format!("GET /api/status/small?token={number} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
        assert_eq!(server.raw(wrong.as_bytes()).status, 403);
        assert_eq!(server.get("/run/small/..%2f..%2fsmall").status, 404);
        assert_eq!(server.request("POST", "/api/status/small", "Content-Length: 2\r\n", "{}").status, 405);
        let sound = ["/api/games/small", "/api/runs", "/api/status/small", "/api/nets/small"][number % 4];
        assert_eq!(server.get(sound).status, 200);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_watched_killed_and_resumed_is_seen_as_it_goes_and_ends_as_without_watching() {
    let alone = Experiment::new(SMALL);
    assert_eq!(alone.run(&[]).code, Some(0));
    let watched = Experiment::new(SMALL);
    fs::create_dir(watched.folder.path().join("datasets")).expect("a folder");
    let server = Server::start(&watched.folder.path().join("datasets"));
    let mut list = server.follow("/api/events", None);
    let fixed = ["x.rhai", "--device", "cpu", "--backend", "torch", "--threads", "1"];
    let mut process = watched.start(&fixed);
    list.until("list", |list| list[0]["state"] == "running");
    let mut events = server.follow("/api/events/small", None);
    let games = events.until("games", Value::is_string);
    assert!(games.as_str().is_some_and(|file| file.ends_with(".parquet")), "{games}");
    let told = server.get("/api/games/small");
    let told = told.json();
    assert!(told["again"] == true || told["games"][0]["plies"][0]["b"].is_string(), "{told}");
    process.kill().expect("kills");
    process.wait().expect("ends");
    let cut = events.until("state", |state| state["state"] != "running");
    assert!(["cut", "rests"].iter().any(|state| cut["state"] == *state), "{cut}");
    thread::scope(|scope| {
        let annoying = scope.spawn(|| annoy(&server));
        assert_eq!(watched.run(&[]).code, Some(0));
        annoying.join().expect("answers");
    });
    let ended = events.until("state", |state| state["state"] == "rests" && state["steps"] == 8);
    assert_eq!((&ended["generation"], &ended["step"]), (&json!(2), &Value::Null));
    assert_eq!(watched.results(), alone.results());
    assert!(server.get("/api/games/small").json()["games"][0]["plies"][1]["m"][0].is_string());
    // Its nets can be played against.
    assert_eq!(server.get("/api/nets").json(), json!([{ "run": "small", "nets": [2, 1, 0] }]));
    let asked = json!({ "net": "small:2", "side": "black", "fen": null, "simulations": 8 });
    let game = server.post("/api/play", &asked).json();
    let answered = server
        .get(&format!("/api/play/{}?after={}", game["id"].as_str().expect("an id"), game["version"]))
        .json();
    assert_eq!(answered["moves"].as_array().map(Vec::len), Some(1), "{answered}");
    assert_eq!(watched.results(), alone.results());
}

/// Waits until the net has moved.
fn answered(server: &Server, game: &Value) -> Value {
    let mut state = game.clone();
    while state["thinking"] == true {
        let target = format!("/api/play/{}?after={}", state["id"].as_str().expect("an id"), state["version"]);
        state = server.get(&target).json();
    }
    state
}

#[test]
fn a_game_is_played_with_legal_moves_only() {
    let folder = folder();
    let server = Server::start(folder.path());
    let asked = |side: &str, fen: Value| json!({ "net": "", "side": side, "fen": fen, "simulations": 16 });
    let game = server.post("/api/play", &asked("white", Value::Null)).json();
    let act = |verb: &str, body: Value| {
        server.post(&format!("/api/play/{}/{verb}", game["id"].as_str().expect("an id")), &body)
    };
    assert_eq!((&game["turn"], &game["thinking"]), (&json!("white"), &json!(false)));
    assert_eq!(game["legal"].as_array().map(Vec::len), Some(20));
    let refused = act("move", json!({ "move": "e2e5" }));
    assert_eq!((refused.status, &refused.json()["moves"]), (200, &json!([])));
    assert!(refused.json()["refused"].as_str().is_some_and(|why| why.contains("e2e5")), "{refused:?}");
    let moved = act("move", json!({ "move": "e2e4" })).json();
    let answered_once = answered(&server, &moved);
    assert_eq!(answered_once["moves"][0], "e4");
    assert_eq!(answered_once["moves"].as_array().map(Vec::len), Some(2));
    let lines = answered_once["thought"]["lines"].as_array().expect("lines");
    assert!(lines.iter().any(|line| line["chosen"] == true), "{lines:?}");
    for line in lines {
        assert!((-1.0..=1.0).contains(&line["q"].as_f64().expect("q")), "{line}");
        assert!((0.0..=1.0).contains(&line["prior"].as_f64().expect("a prior")), "{line}");
        assert!(
            line["visits"].is_u64() && line["line"].as_str().is_some_and(|moves| moves.starts_with("1...")),
            "{line}"
        );
    }
    let undone = act("undo", json!({})).json();
    assert_eq!((&undone["moves"], &undone["undo"]), (&json!([]), &json!(false)));
    assert_eq!(act("undo", json!({})).json()["refused"], "there is no move of yours to take back");
    let hinted = answered(&server, &act("hint", json!({})).json());
    assert_eq!((&hinted["moves"], &hinted["thought"]["side"]), (&json!([]), &json!("white")));
    let gone = answered(&server, &act("go", json!({})).json());
    assert_eq!((&gone["human"], gone["moves"].as_array().map(Vec::len)), (&json!("black"), Some(1)));
    // The first move was the net's, so that Black has none to take back.
    assert_eq!(gone["undo"], false);
    assert_eq!(act("move", json!({ "to": "e5" })).status, 422);
    assert_eq!(act("dance", json!({})).status, 404);
}

#[test]
fn a_promotion_is_chosen_a_mate_ends_the_game_and_a_game_that_is_gone_is_said_to_be() {
    let folder = folder();
    let server = Server::start(folder.path());
    let asked = |side: &str, fen: Value| json!({ "net": "", "side": side, "fen": fen, "simulations": 16 });
    let promotion = server.post("/api/play", &asked("both", json!("8/P6k/8/8/8/8/8/K7 w - - 0 1"))).json();
    let letters: Vec<&Value> = promotion["legal"]
        .as_array()
        .expect("moves")
        .iter()
        .map(|of| &of[3])
        .filter(|of| of.is_string())
        .collect();
    assert_eq!(letters.len(), 4);
    let mate = server.post("/api/play", &asked("white", json!("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"))).json();
    let id = mate["id"].as_str().expect("an id");
    let over = server.post(&format!("/api/play/{id}/move"), &json!({ "move": "Ra8" })).json();
    assert_eq!(
        (&over["result"], &over["legal"], &over["thinking"]),
        (&json!("1-0"), &json!([]), &json!(false))
    );
    let refused = server.post(&format!("/api/play/{id}/go"), &json!({})).json();
    assert_eq!((&refused["refused"], &refused["human"]), (&json!("the game is over"), &json!("white")));
    // Who waits for news of a game that ends need not wait on.
    let target = format!("/api/play/{id}?after={}", refused["version"]);
    let waits = thread::scope(|scope| {
        let waits = scope.spawn(|| server.get(&target).json());
        thread::sleep(Duration::from_millis(100));
        assert_eq!(server.request("DELETE", &format!("/api/play/{id}"), "", "").status, 200);
        waits.join().expect("an answer")
    });
    assert!(waits["gone"] == true || waits["version"].as_u64() > refused["version"].as_u64(), "{waits}");
    let gone = json!({ "gone": true });
    assert_eq!(server.get(&format!("/api/play/{id}")).json(), gone);
    assert_eq!(server.post(&format!("/api/play/{id}/undo"), &json!({})).json(), gone);
}

#[test]
fn games_have_limits_and_wrong_requests_are_named() {
    let folder = folder();
    let server = Server::start_with(folder.path(), &["--max-sims", "50"]);
    let ask = |net: &str, side: &str, fen: Value, simulations: Value| {
        let asked = json!({ "net": net, "side": side, "fen": fen, "simulations": simulations });
        let answer = server.post("/api/play", &asked);
        let told = answer.json();
        let why = told["error"].as_str().or(told["refused"].as_str());
        (answer.status, why.unwrap_or_default().to_owned())
    };
    let none = Value::Null;
    assert_eq!(
        ask("", "white", none.clone(), json!(51)),
        (422, "simulations: expected 1..=50, got 51".to_owned())
    );
    assert_eq!(ask("", "white", none.clone(), json!(0)).0, 422);
    assert_eq!(ask("", "red", none.clone(), json!(9)).1, "side: expected white, black or both, got \"red\"");
    let (status, why) = ask("", "white", json!("x"), json!(9));
    assert!(status == 200 && !why.is_empty(), "{status}: {why}");
    let over = ask("", "white", json!("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), json!(9));
    assert_eq!(over, (200, "the position is over: draw by stalemate".to_owned()));
    assert_eq!(
        ask("none:3", "white", none.clone(), json!(9)),
        (404, "there is no net \"none:3\"".to_owned())
    );
    for _ in 0..8 {
        assert_eq!(ask("", "white", none.clone(), json!(9)).0, 200);
    }
    let full = ask("", "white", none, json!(9));
    assert_eq!(full, (200, "8 games are under way, the most that there may be; end one first".to_owned()));
    assert_eq!(server.post("/api/play/77/undo", &json!({})).json(), json!({ "gone": true }));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_well_with_readers_and_a_search_under_way() {
    let folder = folder();
    let mut server = Server::start(folder.path());
    let mut events = server.follow("/api/events", None);
    assert_eq!(events.next().0, "list");
    let asked = json!({ "net": "", "side": "black", "fen": null, "simulations": 10_000 });
    assert_eq!(server.post("/api/play", &asked).json()["thinking"], true);
    let signal =
        Command::new("kill").args(["-INT", &server.process.id().to_string()]).status().expect("kill");
    assert!(signal.success());
    assert_eq!(server.process.wait().expect("ends").code(), Some(0));
}

#[test]
fn a_folder_that_is_not_there_or_a_port_that_is_taken_is_named() {
    let folder = folder();
    let refused = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_dc0-run")).arg("serve").args(args).output().expect("ends");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let (code, message) = refused(&["no/such/folder"]);
    assert_eq!(code, Some(2));
    assert!(
        message.starts_with("error: no/such/folder: ")
            && message.contains("expected the folder that holds runs"),
        "{message}"
    );
    let (code, message) = refused(&[&folder.path().join("first").display().to_string()]);
    assert_eq!(code, Some(2));
    assert!(
        message.contains("is a run or sweep itself; expected the folder that holds it: dc0-run serve /"),
        "{message}"
    );
    let server = Server::start(folder.path());
    let (code, message) =
        refused(&[&folder.path().display().to_string(), "--port", &server.port.to_string()]);
    assert_eq!(code, Some(2));
    assert!(message.contains(&format!("cannot listen on 127.0.0.1:{}", server.port)), "{message}");
}

/// A sweep of four tiny trials.
const SWEEP: &str = r#"
sweep(#{ name: "tiny", space: #{ updates: choice([2, 4, 6, 8]) }, sampler: "random", pruner: #{ kind: "none" }, trials: 4,
    objective: "score" }, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
    let candidate = run.train(net, run.window(), #{ updates: trial.updates, batch: 16 });
    -candidate.loss
});
"#;

#[test]
fn a_sweep_has_its_leaderboard_and_its_trials_are_runs() {
    let experiment = Experiment::new(SWEEP);
    let ended = experiment.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let server = Server::start(&experiment.folder.path().join("datasets"));
    let listed = server.get("/api/runs").json();
    assert_eq!(
        (&listed[0]["path"], &listed[0]["kind"], &listed[0]["trials"]),
        (&json!("tiny"), &json!("sweep"), &json!(4))
    );
    let told = server.follow("/api/events/tiny", None).until("state", |_| true);
    assert_eq!(
        (&told["objective"], &told["direction"], &told["all"]),
        (&json!("score"), &json!("maximize"), &json!(4))
    );
    let rows = told["rows"].as_array().expect("trials");
    let values: Vec<f64> = rows.iter().map(|row| row["value"][0].as_f64().expect("a value")).collect();
    assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
    for row in rows {
        assert_eq!(row["state"], "complete");
        let run = row["runs"][0].as_str().expect("a run");
        assert_eq!(server.get(&format!("/run/{run}")).status, 200);
        assert_eq!(server.get(&format!("/api/status/{run}")).json()["steps"], 3);
    }
    assert_eq!((server.get("/sweep/tiny").status, server.get("/run/tiny").status), (200, 404));
    // A half-written event is passed over.
    let journal = experiment.folder.path().join("datasets/tiny/trials.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, &text[..text.len() - 7]).expect("writes");
    assert!(server.get("/api/status/tiny").json()["error"].is_null());
}
