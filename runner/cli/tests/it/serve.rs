//! The server of `dc0-run serve`, tested with raw bytes over loopback.

mod games;
pub(crate) mod server;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::experiment::{Experiment, SMALL, copy_folder};
use server::{Events, Server, folder};

#[test]
fn requests_need_the_token() {
    let folder = folder();
    let server = Server::start(folder.path());
    let (port, token, cookie) = (server.port, server.token.clone(), server.cookie_name());
    let ask =
        |target: &str, head: &str| server.raw(format!("GET {target} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes());
    let own = format!("Host: localhost:{port}");
    assert_eq!(ask("/", &own).status, 401);
    assert_eq!(ask("/api/runs", &own).status, 401);
    assert_eq!(ask("/?token=0123", &own).status, 403);
    assert_eq!(ask("/", &format!("{own}\r\nCookie: {cookie}=0123")).status, 403);
    assert_eq!(ask(&format!("/?token={token}"), "Host: evil.example").status, 421);
    let entered = ask(&format!("/?token={token}"), &own);
    assert_eq!(entered.status, 303);
    assert!(entered.head.contains(&format!("Set-Cookie: {cookie}={token}; Path=/; HttpOnly; SameSite=Lax")));
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
fn runs_are_listed_and_path_traversal_is_refused() {
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
        let body = json!({ "net": net, "side": "white", "fen": null, "simulations": 10 });
        assert_eq!(server.post("/api/play", &body).status, 404, "{net}");
    }
}

#[test]
fn runs_and_sweeps_are_counted_apart_and_names_that_no_address_can_hold_are_named() {
    let folder = folder();
    let greeting = |contents: &str| format!("{}: {contents}", folder.path().display());
    assert_eq!(Server::start(folder.path()).greeting, greeting("1 run"));
    for (name, file) in
        [("second", "run.json"), ("swept", "sweep.json"), (".old", "run.json"), ("a\\b", "run.json")]
    {
        fs::create_dir(folder.path().join(name)).expect("a folder");
        fs::write(folder.path().join(name).join(file), "{}").expect("writes");
    }
    let server = Server::start(folder.path());
    assert_eq!(server.greeting, greeting("2 runs and 1 sweep"));
    let unshown = json!([".old", "a\\\\b"]);
    assert_eq!(server.follow("/api/events", None).until("unshown", |_| true), unshown);
    let page = server.get("/").body;
    assert!(page.contains("rename the folder: .old, a\\\\b</p>"), "{page}");
}

#[test]
fn long_slow_and_malformed_requests_are_refused() {
    let folder = folder();
    let server = Server::start(folder.path());
    let long = "x".repeat(100_000);
    assert_eq!(server.request("GET", "/", &format!("X: {long}\r\n"), "").status, 431);
    assert_eq!(server.get(&format!("/{long}")).status, 431);
    assert_eq!(server.request("POST", "/api/play", "Content-Length: 100000000\r\n", &long).status, 413);
    assert_eq!(server.request("POST", "/api/play", "Transfer-Encoding: chunked\r\n", "").status, 411);
    assert_eq!(server.request("PUT", "/", "", "").status, 501);
    for (method, target, allowed) in [
        ("DELETE", "/api/runs", "GET, HEAD"),
        ("GET", "/api/play", "POST"),
        ("DELETE", "/api/play/1/pgn", "GET, HEAD"),
        ("HEAD", "/api/play/1/undo", "POST"),
    ] {
        let refused = server.request(method, target, "", "");
        let allow = format!("Allow: {allowed}\r\n");
        assert!(
            refused.status == 405 && (refused.head.clone() + "\r\n").contains(&allow),
            "{}",
            refused.head
        );
    }
    assert_eq!(server.request("HEAD", "/api/play/1", "", "").status, server.get("/api/play/1").status);
    assert_eq!(server.raw(&[0x16, 3, 1, 0, 0xff, b'\r', b'\n', b'\r', b'\n']).status, 400);
    // A request that is never completed.
    assert_eq!(server.raw(b"GET / HTTP/1.1\r\nHost: local").status, 408);
    assert_eq!(server.get("/").status, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_concurrent_requests_need_few_threads_and_little_memory() {
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
            // New games wait for each other; those beyond the limit are refused.
            assert!(status == 200 || (status == 503 && number % 5 == 4), "request {number}: {status}");
        }
    });
    // 16 read files; two for each of eight games, the game's and its engine's, and one of ONNX Runtime's own.
    assert!(most_threads <= threads + 16 + 8 * 2 + 1, "{most_threads} threads, {threads} before");
    let grown = status("VmRSS:").saturating_sub(before);
    // Each of eight games has the net in floats and in integers, 7 MiB.
    assert!(grown < 64 * 1024, "{grown} KiB more than {before}");
}

#[test]
fn excess_event_readers_are_sent_away_and_others_are_served() {
    let folder = folder();
    let server = Server::start(folder.path());
    // The answer to HEAD has no body, even for an endless stream.
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
fn a_log_is_streamed_by_line_and_resumes_after_a_reconnect() {
    let folder = folder();
    let server = Server::start(folder.path());
    let path = folder.path().join("first/run.log");
    let mut events = server.follow("/api/events/first", None);
    assert_eq!(events.until("log", |_| true), json!({ "reset": true, "text": "one\ntwo\n" }));
    fs::write(&path, "one\ntwo\nthree\n").expect("writes");
    assert_eq!(events.until("log", |_| true), json!({ "reset": false, "text": "three\n" }));
    let last = events.id.take().expect("an id");
    drop(events);
    fs::write(&path, "one\ntwo\nthree\nfour\n").expect("writes");
    let mut events = server.follow("/api/events/first", Some(&last));
    assert_eq!(events.until("log", |_| true), json!({ "reset": false, "text": "four\n" }));
    fs::write(&path, "new\n").expect("writes");
    assert_eq!(events.until("log", |_| true), json!({ "reset": true, "text": "new\n" }));
    // A run that appears, and one that disappears.
    let mut list = server.follow("/api/events", None);
    assert_eq!(list.until("list", |_| true).as_array().map(Vec::len), Some(1));
    fs::create_dir(folder.path().join("second")).expect("a folder");
    fs::write(folder.path().join("second/run.json"), "{\"scr").expect("writes");
    assert_eq!(list.until("list", |list| list.as_array().map(Vec::len) == Some(2))[1]["path"], "second");
    fs::remove_dir_all(folder.path().join("first")).expect("removes");
    list.until("list", |list| list[0]["path"] == "second");
}

/// Sends a thousand requests, some with a wrong token and some for paths that do not exist.
fn disturb(server: &Server) {
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

/// The run `small` at a glance, compared, without JavaScript, and its games as pages and as PGN.
fn compares_and_downloads(server: &Server, runs: &Path) {
    let mut list = server.follow("/api/events", None);
    let glance = list.until("glances", |known| known["small"].is_object())["small"].clone();
    assert!(glance["loss"].as_f64().is_some_and(|loss| loss > 0.0), "{glance}");
    assert!(glance["elo"]["elo"].is_f64() && glance["elo"]["net"].is_number(), "{glance}");
    let home = server.get("/").body;
    let plain = home.split_once("<noscript>").and_then(|(_, rest)| rest.split_once("</noscript>"));
    assert!(
        plain.is_some_and(|(plain, _)| plain.contains("<a href=\"/api/report/small\">small</a>")),
        "{home}"
    );
    for wrong in [
        "",
        "?run=small",
        "?run=small&run=none",
        "?run=small&run=..",
        "?run=small&run=small",
        &"?run=small".repeat(9).replace("l?", "l&"),
    ] {
        let statuses = ["compare", "api/compare"].map(|page| server.get(&format!("/{page}{wrong}")).status);
        assert_eq!(statuses, [404, 404], "{wrong}");
    }
    copy_folder(&runs.join("small"), &runs.join("twin"));
    let compared = server.get("/api/compare?run=small&run=twin");
    assert!(compared.status == 200 && compared.head.contains("frame-ancestors 'self'"), "{}", compared.head);
    assert!(compared.body.contains("id=\"learning\"") && compared.body.contains("class=\"data\""));
    assert_eq!(server.get("/compare?run=small&run=twin").status, 200);
    let mut charts = server.follow("/api/events?run=small&run=twin", None);
    assert!(charts.until("charts", Value::is_string).as_str().is_some_and(|tag| tag.ends_with(".1")));
    assert_eq!(server.get("/api/events?run=small&run=none").status, 404);
    drop(charts);
    fs::remove_dir_all(runs.join("twin")).expect("removes");

    let steps = server.get("/api/game-steps/small").json();
    let step = steps.as_array().and_then(|steps| steps.first()).expect("a step").clone();
    assert_eq!((&step["name"], &step["games"]), (&json!("iteration 0000"), &json!(40)));
    let id = step["id"].as_str().expect("an id");
    let page = |from: usize| server.get(&format!("/api/games/small?step={id}&from={from}")).json();
    let (first, second) = (page(0), page(24));
    let length = |page: &Value| page["games"].as_array().map(Vec::len);
    assert_eq!((length(&first), length(&second), &second["all"]), (Some(24), Some(16), &json!(40)));
    assert_eq!((&second["games"][0]["title"], &second["games"][0]["index"]), (&json!("game 24"), &json!(24)));
    assert_eq!(length(&page(40)), Some(0));
    assert_eq!(server.get("/api/games/small?from=x").status, 422);
    // Games of another shard than the page shows begin with its first.
    let moved = |source: &str| {
        server.get(&format!("/api/games/small?step={id}&from=24&source={source}")).json()["from"].clone()
    };
    assert_eq!((moved("iteration%200000"), moved("games%2Fother.parquet")), (json!(24), json!(0)));

    let all = server.get(&format!("/api/pgn/small?step={id}"));
    assert!(all.head.contains("attachment; filename=\"small-iteration-0000.pgn\""), "{}", all.head);
    assert_eq!(all.body.matches("[Event \"small, iteration 0000\"]").count(), 40);
    assert!(all.body.contains("[White \"network 0000 (") && !all.body.contains("q="), "{}", all.body);
    let one = server.get(&format!("/api/pgn/small?step={id}&game=39")).body;
    assert!(
        one.contains("[Round \"39\"]") && one.matches("[Event ").count() == 1 && one.contains("q="),
        "{one}"
    );
    for wrong in [
        "?step=0000-none",
        "?step=../run",
        "?game=x",
        "?source=games%2Fother.parquet",
        &format!("?step={id}&game=40"),
    ] {
        assert_eq!(server.get(&format!("/api/pgn/small{wrong}")).status, 404, "{wrong}");
    }
    assert_eq!(server.request("HEAD", &format!("/api/pgn/small?step={id}"), "", "").body, "");
}

#[cfg(target_os = "linux")]
#[test]
fn watching_a_killed_and_resumed_run_does_not_change_it() {
    // Long enough to be watched and killed on a busy machine, too.
    let script = SMALL.replace("games: 6", "games: 40");
    let alone = Experiment::new(&script);
    assert_eq!(alone.run(&[]).code, Some(0));
    let watched = Experiment::new(&script);
    fs::create_dir(watched.folder.path().join("datasets")).expect("a folder");
    let server = Server::start(&watched.folder.path().join("datasets"));
    let mut list = server.follow("/api/events", None);
    let mut process = watched.begin(&[]);
    list.until("list", |list| list[0]["state"] == "running");
    let mut events = server.follow("/api/events/small", None);
    let games = events.until("games", Value::is_string);
    assert!(games.as_str().is_some_and(|file| file.ends_with(".parquet")), "{games}");
    let shown = server.get("/api/games/small").json();
    assert!(shown["again"] == true || shown["games"][0]["plies"][0]["b"].is_string(), "{shown}");
    process.kill().expect("kills");
    process.wait().expect("ends");
    // The run may have ended before it could be killed; then it does not change any more.
    let cut = events.stands("state", |state| state["state"] != "running");
    assert!(["cut", "rests"].iter().any(|state| cut["state"] == *state), "{cut}");
    thread::scope(|scope| {
        let disturbing = scope.spawn(|| disturb(&server));
        assert_eq!(watched.run(&[]).code, Some(0));
        disturbing.join().expect("answers");
    });
    let ended = events.stands("state", |state| state["state"] == "rests" && state["steps"] == 8);
    assert_eq!((&ended["generation"], &ended["step"]), (&json!(2), &Value::Null));
    assert_eq!(watched.results(), alone.results());
    assert!(server.get("/api/games/small").json()["games"][0]["plies"][1]["m"][0].is_string());
    compares_and_downloads(&server, &watched.folder.path().join("datasets"));
    // Its nets can be played against.
    assert_eq!(server.get("/api/nets").json(), json!([{ "run": "small", "nets": [2, 1, 0] }]));
    let body = json!({ "net": "small:2", "side": "black", "fen": null, "simulations": 8 });
    let game = server.post("/api/play", &body).json();
    let answered = server
        .get(&format!("/api/play/{}?after={}", game["id"].as_str().expect("an id"), game["version"]))
        .json();
    assert_eq!(answered["moves"].as_array().map(Vec::len), Some(1), "{answered}");
    assert_eq!(watched.results(), alone.results());
}

#[cfg(unix)]
#[test]
fn ctrl_c_shuts_down_cleanly_with_readers_and_a_search_running() {
    let folder = folder();
    let mut server = Server::start(folder.path());
    let mut events = server.follow("/api/events", None);
    assert_eq!(events.next().0, "list");
    let body = json!({ "net": "", "side": "black", "fen": null, "simulations": 10_000 });
    assert_eq!(server.post("/api/play", &body).json()["thinking"], true);
    let signal =
        Command::new("kill").args(["-TERM", &server.process.id().to_string()]).status().expect("kill");
    assert!(signal.success());
    assert_eq!(server.process.wait().expect("ends").code(), Some(0));
}

#[test]
fn missing_folders_and_ports_in_use_are_reported() {
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
    #{ value: -candidate.loss, low: -candidate.loss - 0.1, high: -candidate.loss + 0.1 }
});
"#;

#[test]
fn a_sweep_has_a_leaderboard_and_its_trials_are_runs() {
    let experiment = Experiment::new(SWEEP);
    experiment.run_ends(&[], 0);
    let server = Server::start(&experiment.folder.path().join("datasets"));
    let listed = server.get("/api/runs").json();
    assert_eq!(
        (&listed[0]["path"], &listed[0]["kind"], &listed[0]["trials"]),
        (&json!("tiny"), &json!("sweep"), &json!(4))
    );
    assert!(listed[0]["last"].as_str().is_some_and(|time| time.ends_with('Z')), "{listed}");
    let state = server.follow("/api/events/tiny", None).until("state", |_| true);
    assert_eq!(
        (&state["objective"], &state["direction"], &state["all"]),
        (&json!("score"), &json!("maximize"), &json!(4))
    );
    let rows = state["rows"].as_array().expect("trials");
    let values: Vec<f64> = rows.iter().map(|row| row["value"][0].as_f64().expect("a value")).collect();
    assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
    assert_eq!(
        (&rows[0]["to_the_best"], rows[1]["to_the_best"].as_array().map(Vec::len)),
        (&Value::Null, Some(3))
    );
    for row in rows {
        assert_eq!(row["state"], "complete");
        let run = row["runs"][0].as_str().expect("a run");
        assert_eq!(server.get(&format!("/run/{run}")).status, 200);
        assert_eq!(server.get(&format!("/api/status/{run}")).json()["steps"], 3);
    }
    assert_eq!(
        (&state["complete"], &state["failed"], &state["best"]),
        (&json!(4), &json!(0), &rows[0]["value"])
    );
    // Folders of a trial's replicates do not count as trials of their own.
    fs::create_dir(experiment.folder.path().join("datasets/tiny/trials/0000-1")).expect("a folder");
    fs::write(experiment.folder.path().join("datasets/tiny/trials/0000-1/run.json"), "{}").expect("writes");
    assert_eq!(server.get("/api/status/tiny").json()["trials"], 4);
    assert_eq!((server.get("/sweep/tiny").status, server.get("/run/tiny").status), (200, 404));
    // A half-written event is skipped.
    let journal = experiment.folder.path().join("datasets/tiny/trials.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, &text[..text.len() - 7]).expect("writes");
    assert!(server.get("/api/status/tiny").json()["error"].is_null());
}
