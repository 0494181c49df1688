//! The answer to each address.

use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::{JoinError, spawn_blocking};

use super::download::Download;
use super::event_stream::{EventStream, Followed};
use super::game_steps::GameSource;
use super::library::{Found, Kind};
use super::play::{Turn, all_nets, nets};
use super::reply::Reply;
use super::request::{Method, Request};
use super::{Server, assets, plain};

/// How many runs may be compared: as many as there are colours.
const COMPARED: RangeInclusive<usize> = 2..=8;

/// An answer.
pub(super) enum Answer {
    /// A complete reply.
    Reply(Reply),
    /// Events until the reader is gone.
    Events(Box<EventStream>),
    /// A file, sent part by part.
    Download(Box<Download>),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

/// Answers a request. Waiting for a move or for other new games takes no thread; everything else runs on a blocking thread, because it
/// may read files.
pub(super) async fn answer(server: &Arc<Server>, request: Request) -> Result<Answer, JoinError> {
    if let Some(reply) = server.access.check(&request) {
        return Ok(reply.into());
    }
    if let Some((id, known)) = awaited_game(&request) {
        let Ok(_permit) = server.waiting.try_acquire() else { return Ok(busy().into()) };
        server.rooms.wait_for_change(id, known).await;
    }
    let server = Arc::clone(server);
    if request.method == Method::POST && request.path == ["api", "play"] {
        let Ok(_permit) = server.waiting.try_acquire() else { return Ok(busy().into()) };
        let turn = server.rooms.turn().await;
        let own = Arc::clone(&server);
        return spawn_blocking(move || new_game(&own, &request, turn).into()).await;
    }
    spawn_blocking(move || answer_now(&server, &request)).await
}

/// The game and the known version of a request that waits for a later version.
fn awaited_game(request: &Request) -> Option<(&str, u64)> {
    match (&request.method, request.path.as_slice()) {
        (&Method::GET, [api, play, id]) if api == "api" && play == "play" => {
            Some((id, request.query("after")?.parse().ok()?))
        }
        _ => None,
    }
}

fn answer_now(server: &Arc<Server>, request: &Request) -> Answer {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match (&request.method, path.as_slice()) {
        (_, ["api", "play", rest @ ..]) => play(server, request, rest).into(),
        (&Method::GET | &Method::HEAD, path) => read(server, request, path),
        _ => not_allowed("GET, HEAD").into(),
    }
}

fn read(server: &Arc<Server>, request: &Request, path: &[&str]) -> Answer {
    let run = |kind: Kind| server.library.find(&request.path[1..]).filter(|found| found.kind == kind);
    match path {
        [] => assets::home(plain::list(&server.list(), server.glances().as_ref(), &server.unshown())).into(),
        ["compare"] => compare_page(server, request).into(),
        ["play"] => assets::play().into(),
        ["assets", name] => assets::asset(name).unwrap_or_else(assets::not_found).into(),
        ["run", ..] => run(Kind::Run)
            .map_or_else(assets::not_found, |found| assets::run(plain::report_link(&found)))
            .into(),
        ["sweep", ..] => run(Kind::Sweep)
            .map_or_else(assets::not_found, |found| assets::sweep(plain::report_link(&found)))
            .into(),
        ["api", "events", rest @ ..] => events(server, request, rest),
        ["api", "runs"] => Reply::json(200, &server.list()).into(),
        ["api", "compare"] => comparison(server, request).into(),
        ["api", "nets"] => Reply::json(200, &all_nets(&server.library)).into(),
        ["api", "limits"] => {
            Reply::json(200, &json!({ "simulations": server.rooms.max_simulations() })).into()
        }
        ["api", "pgn", ..] => download(server, request, &request.path[2..]),
        ["api", topic, ..] => about(server, request, topic).into(),
        _ => assets::not_found().into(),
    }
}

/// Data about one run or sweep.
fn about(server: &Arc<Server>, request: &Request, topic: &str) -> Reply {
    let not_found = || Reply::failure(404, "there is no such run or sweep");
    let Some(found) = server.library.find(&request.path[2..]) else { return not_found() };
    match (topic, found.kind) {
        ("status", Kind::Run) => Reply::json(200, &server.status(&found)),
        ("status", Kind::Sweep) => Reply::json(200, &server.sweep(&found)),
        ("nets", Kind::Run) => Reply::json(200, &nets(&server.library, &found)),
        ("games", Kind::Run) => games(server, request, &found),
        ("game-steps", Kind::Run) => Reply::json(200, &server.steps.list(&server.library, &found)),
        ("report", _) => report(server, &found),
        _ => not_found(),
    }
}

/// A page of games: of a finished step (`step=…`), or of the latest stored shard; from a game on (`from=…`). What was the latest shard
/// may not be it any more: games of another one than the page has shown (`source=…`) are listed from the first on.
fn games(server: &Server, request: &Request, run: &Found) -> Reply {
    let empty = |again: bool| json!({ "source": Value::Null, "games": [], "from": 0, "next": 0, "all": 0, "again": again });
    let Ok(from) = request.query("from").map_or(Ok(0), str::parse::<u64>) else {
        return Reply::failure(422, "from: expected the number of a game");
    };
    let Ok(_permit) = server.expensive.try_acquire() else { return Reply::json(200, &empty(true)) };
    let Some(source) = server.steps.source(&server.library, run, request.query("step")) else {
        return Reply::json(200, &empty(false));
    };
    let from = if is_shown(request, &source) { from } else { 0 };
    let shown = server.games.get(&server.library, &server.steps, run, source, from);
    shown.unwrap_or_else(|| Reply::json(200, &empty(true)))
}

/// Whether a source is the one that the page of a request shows, if the request names that.
fn is_shown(request: &Request, source: &GameSource) -> bool {
    request.query("source").is_none_or(|shown| shown == source.name)
}

/// The games of a finished step (`step=…`) or of the latest stored shard as a PGN file: all of them, or one (`game=…`).
fn download(server: &Server, request: &Request, rest: &[String]) -> Answer {
    let not_found = || Answer::from(Reply::failure(404, "there is no such game"));
    let found = server.library.find(rest).filter(|found| found.kind == Kind::Run);
    let source =
        found.as_ref().and_then(|run| server.steps.source(&server.library, run, request.query("step")));
    let (Some(run), Some(source)) = (found, source) else { return not_found() };
    if !is_shown(request, &source) {
        let message =
            format!("the games have moved: the latest are in {}; open the run's page again", source.name);
        return Reply::failure(404, &message).into();
    }
    let game = match request.query("game").map(str::parse) {
        None => None,
        Some(Ok(game)) if game < source.count() => Some(game),
        Some(_) => return not_found(),
    };
    let Ok(permit) = Arc::clone(&server.waiting).try_acquire_owned() else { return busy().into() };
    let download = Download::new(run, source, game, permit);
    // A file has a head, too.
    if request.method == Method::HEAD { download.head().into() } else { Answer::Download(Box::new(download)) }
}

fn report(server: &Server, found: &Found) -> Reply {
    let Ok(_permit) = server.expensive.try_acquire() else { return busy() };
    server.charts.page(server, found).unwrap_or_else(busy)
}

/// The runs that a request compares, each once; `None` if one of them is not there, or if there are too few or too many.
fn compared(server: &Server, request: &Request) -> Option<Vec<Found>> {
    let find = |path: &str| {
        let parts: Vec<String> = path.split('/').map(ToOwned::to_owned).collect();
        server.library.find(&parts).filter(|found| found.kind == Kind::Run)
    };
    let mut runs: Vec<Found> = Vec::new();
    for path in request.queries("run") {
        let found = find(path)?;
        if runs.iter().all(|run| run.path != found.path) {
            runs.push(found);
        }
    }
    COMPARED.contains(&runs.len()).then_some(runs)
}

fn compare_page(server: &Server, request: &Request) -> Reply {
    compared(server, request)
        .map_or_else(assets::not_found, |runs| assets::compare(plain::comparison_link(&runs)))
}

fn comparison(server: &Server, request: &Request) -> Reply {
    let Some(runs) = compared(server, request) else {
        let (least, most) = (COMPARED.start(), COMPARED.end());
        return Reply::failure(404, &format!("expected the paths of {least} to {most} runs, as run=PATH"));
    };
    let Ok(_permit) = server.expensive.try_acquire() else { return busy() };
    server.charts.comparison(server, &runs).unwrap_or_else(busy)
}

fn events(server: &Arc<Server>, request: &Request, rest: &[&str]) -> Answer {
    let followed = match rest {
        [] if request.query("run").is_some() => compared(server, request).map(Followed::Comparison),
        [] => Some(Followed::List),
        _ => server.library.find(&request.path[2..]).map(Followed::One),
    };
    let Some(followed) = followed else {
        return Reply::failure(404, "there is no such run, sweep or comparison").into();
    };
    match Arc::clone(&server.waiting).try_acquire_owned() {
        // A stream has a head, too.
        Ok(_permit) if request.method == Method::HEAD => Reply::events().into(),
        Ok(permit) => {
            Answer::Events(Box::new(EventStream::new(followed, request.header("last-event-id"), permit)))
        }
        Err(_) => busy().into(),
    }
}

/// The refusal of a method, with those that the address has (RFC 9110, section 15.5.6).
fn not_allowed(methods: &str) -> Reply {
    Reply::failure(405, "this cannot be done here").with("Allow", methods)
}

fn busy() -> Reply {
    Reply::failure(503, "the server is busy; close pages, or try again in a moment").with("Retry-After", "5")
}

/// The refusal of a request that changes something and is not JSON, which only pages of this server can send.
fn refused_kind(request: &Request) -> Option<Reply> {
    let kind = request.header("content-type").unwrap_or_default();
    let is_json = kind.split(';').next() == Some("application/json");
    (!is_json).then(|| Reply::failure(415, "expected the content type application/json"))
}

fn new_game(server: &Server, request: &Request, turn: Turn) -> Reply {
    if let Some(refused) = refused_kind(request) {
        return refused;
    }
    let begun = server.rooms.begin(&server.library, &request.body, turn);
    begun.map_or_else(|error| error.reply(), |game| Reply::json(200, &game))
}

/// Answers requests about games in progress.
fn play(server: &Server, request: &Request, rest: &[&str]) -> Reply {
    if request.method == Method::POST
        && let Some(refused) = refused_kind(request)
    {
        return refused;
    }
    let (rooms, body) = (&server.rooms, &request.body);
    if let (&Method::GET | &Method::HEAD, [id, "pgn"]) = (&request.method, rest) {
        return rooms.pgn(id).unwrap_or_else(|_| Reply::failure(404, "there is no such game; it has ended"));
    }
    let done = match (&request.method, rest) {
        (&Method::POST, [id, verb]) => rooms.act(id, verb, body),
        (&Method::DELETE, [id]) => rooms.end(id).map(|()| Value::Null),
        (&Method::GET | &Method::HEAD, [id]) => rooms.snapshot(id),
        (_, [_, "pgn"]) => return not_allowed("GET, HEAD"),
        (_, [_]) => return not_allowed("GET, HEAD, DELETE"),
        _ => return not_allowed("POST"),
    };
    done.map_or_else(|error| error.reply(), |value| Reply::json(200, &value))
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use dc0_core::params::Value as Param;
    use dc0_core::store::FileEntry;
    use dc0_engine::uci::Settings;
    use dc0_runs::Manifest;
    use serde_json::{Value, json};
    use tokio::sync::Semaphore;

    use super::{compared, games};
    use crate::serve::access::Access;
    use crate::serve::cache::Memo;
    use crate::serve::game_steps::GameSteps;
    use crate::serve::glance::Glances;
    use crate::serve::library::Library;
    use crate::serve::play::GameRooms;
    use crate::serve::reports::Charts;
    use crate::serve::request::Request;
    use crate::serve::request::tests::read;
    use crate::serve::stored_games::Games;
    use crate::serve::{MAX_EXPENSIVE, MAX_WAITING, Server};

    /// A server of a folder with the run `x`.
    pub(in crate::serve) fn server_of_a_run(folder: &Path) -> Server {
        fs::create_dir(folder.join("x")).expect("a folder");
        fs::write(folder.join("x/run.json"), "{}").expect("a file");
        Server {
            library: Library::open(folder).expect("a folder"),
            access: Access::new("abc".to_owned(), Vec::new()),
            rooms: GameRooms::new(Settings::new(None).expect("settings"), 100),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            expensive: Semaphore::new(MAX_EXPENSIVE),
            memo: Memo::default(),
            charts: Charts::default(),
            games: Games::default(),
            steps: GameSteps::default(),
            glances: Glances::default(),
        }
    }

    fn get(target: &str) -> Request {
        read("GET", target, "Host: localhost", "").expect("a valid request")
    }

    #[test]
    fn games_of_a_damaged_table_are_answered_with_the_cause() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = server_of_a_run(folder.path());
        let run = server.library.find(&["x".to_owned()]).expect("a run");
        let entry = |table: &str| FileEntry {
            path: format!("{table}/iteration=0000/part-bb-00000.parquet"),
            rows: 3,
            bytes: 2,
            blake3: "ab".repeat(32),
        };
        let files = ["games", "positions"].map(entry);
        for file in &files {
            let path = run.folder.path(&file.path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "{}").expect("a file");
        }
        let manifest = Manifest {
            version: 1,
            step: "bb".repeat(32),
            kind: "self_play".to_owned(),
            kind_version: 1,
            params: Param::group(),
            inputs: Vec::new(),
            seed: 1,
            files: files.to_vec(),
            summary: Param::group(),
        };
        let name = manifest.file_name(1);
        manifest.write(&run.folder.steps().join(&name)).expect("a manifest");
        let step = format!("step={}", name.trim_end_matches(".json"));
        let answer = |query: &str| -> Value {
            let reply = games(&server, &get(&format!("/api/games/x?{query}")), &run);
            serde_json::from_slice(&reply.body).expect("JSON")
        };
        for query in [step.as_str(), ""] {
            let found = answer(query);
            assert!(found["because"].as_str().is_some_and(|why| why.contains("not a whole")), "{found}");
            assert_eq!([&found["unreadable"], &found["next"], &found["all"]], [3, 3, 3], "{found}");
            assert_eq!((&found["games"], &found["again"]), (&json!([]), &Value::Null));
        }
        // A finished step's tables do not come back; the latest shard's may have moved.
        for file in &files {
            fs::remove_file(run.folder.path(&file.path)).expect("removes");
        }
        assert!(answer(&step)["because"].as_str().is_some_and(|why| why.contains("is missing")));
    }

    #[test]
    fn a_run_that_is_named_twice_is_compared_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = server_of_a_run(folder.path());
        fs::create_dir(folder.path().join("y")).expect("a folder");
        fs::write(folder.path().join("y/run.json"), "{}").expect("a file");
        let paths = |query: &str| {
            let runs = compared(&server, &get(&format!("/api/compare?{query}")))?;
            Some(runs.into_iter().map(|run| run.path).collect::<Vec<_>>())
        };
        assert_eq!(paths("run=x&run=x"), None);
        assert_eq!(paths("run=y&run=x&run=y"), Some(vec!["y".to_owned(), "x".to_owned()]));
    }
}
