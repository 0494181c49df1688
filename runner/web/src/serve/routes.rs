//! What each address answers with.

use std::sync::Arc;

use serde_json::{Value, json};

use super::access::Verdict;
use super::events::Follow;
use super::library::{Found, Kind};
use super::play::{PlayError, all_nets, nets};
use super::reply::Reply;
use super::request::{Method, Request};
use super::{Server, assets, shard};

/// An answer.
pub(super) enum Answer {
    /// That ends.
    Reply(Reply),
    /// Events until the reader is gone.
    Events(Box<Follow>),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

/// Answers a request.
pub(super) fn answer(server: &Arc<Server>, request: &Request) -> Answer {
    if let Verdict::Answered(reply) = server.access.check(request) {
        return Answer::Reply(*reply);
    }
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match (request.method, path.as_slice()) {
        (_, ["api", "play", rest @ ..]) => play(server, request, rest),
        (Method::Get | Method::Head, path) => read(server, request, path),
        _ => Reply::failure(405, "this cannot be done here").into(),
    }
}

fn read(server: &Arc<Server>, request: &Request, path: &[&str]) -> Answer {
    let run = |kind: Kind| server.library.find(&request.path[1..]).filter(|found| found.kind == kind);
    match path {
        [] => assets::home().into(),
        ["play"] => assets::play().into(),
        ["assets", name] => assets::asset(name).unwrap_or_else(assets::absent).into(),
        ["run", ..] => run(Kind::Run).map_or_else(assets::absent, |_| assets::run()).into(),
        ["sweep", ..] => run(Kind::Sweep).map_or_else(assets::absent, |_| assets::sweep()).into(),
        ["api", "events", rest @ ..] => events(server, request, rest),
        ["api", "runs"] => Reply::json(200, &server.list()).into(),
        ["api", "nets"] => Reply::json(200, &all_nets(&server.library)).into(),
        ["api", "limits"] => {
            Reply::json(200, &json!({ "simulations": server.hall.most_simulations() })).into()
        }
        ["api", what, ..] => about(server, request, what).into(),
        _ => assets::absent().into(),
    }
}

/// What there is to say of one run or sweep.
fn about(server: &Arc<Server>, request: &Request, what: &str) -> Reply {
    let nothing = || Reply::failure(404, "there is no such run or sweep");
    let Some(of) = server.library.find(&request.path[2..]) else { return nothing() };
    match (what, of.kind) {
        ("status", Kind::Run) => Reply::json(200, &server.status(&of)),
        ("status", Kind::Sweep) => Reply::json(200, &server.sweep(&of)),
        ("nets", Kind::Run) => Reply::json(200, &nets(&server.library, &of)),
        ("games", Kind::Run) => games(server, &of),
        ("report", _) => report(server, &of),
        _ => nothing(),
    }
}

fn games(server: &Server, run: &Found) -> Reply {
    let nothing = |again: bool| json!({ "source": Value::Null, "games": [], "again": again });
    let Some(_slot) = server.making.try_take() else { return Reply::json(200, &nothing(true)) };
    let Some(shard) = shard::latest(&server.library, run) else { return Reply::json(200, &nothing(false)) };
    server.games.get(&server.library, run, &shard).unwrap_or_else(|cause| {
        // A file has moved while it was looked for; the page asks again.
        log::debug!("the games of {} are not shown yet: {cause}", run.path);
        Reply::json(200, &nothing(true))
    })
}

fn report(server: &Server, of: &Found) -> Reply {
    let Some(_slot) = server.making.try_take() else { return busy() };
    server.charts.page(server, of).unwrap_or_else(busy)
}

fn events(server: &Arc<Server>, request: &Request, rest: &[&str]) -> Answer {
    let of = if rest.is_empty() { None } else { server.library.find(&request.path[2..]) };
    if of.is_none() && !rest.is_empty() {
        return Reply::failure(404, "there is no such run or sweep").into();
    }
    match server.waiting.try_take() {
        Some(slot) => Answer::Events(Box::new(Follow::new(of, request.header("last-event-id"), slot))),
        None => busy().into(),
    }
}

fn busy() -> Reply {
    Reply::failure(503, "there is too much to do just now; close pages, or try again in a moment")
        .with("Retry-After", "5")
}

/// Requests of games, which change something and are therefore asked for with JSON, as only pages of this server can.
fn play(server: &Arc<Server>, request: &Request, rest: &[&str]) -> Answer {
    let kind = request.header("content-type").unwrap_or_default();
    if request.method == Method::Post && kind.split(';').next() != Some("application/json") {
        return Reply::failure(415, "expected the content type application/json").into();
    }
    let (hall, body) = (&server.hall, &request.body);
    let done = match (request.method, rest) {
        (Method::Post, []) => match server.waiting.try_take() {
            Some(_slot) => hall.begin(&server.library, body),
            None => return busy().into(),
        },
        (Method::Post, [id, verb]) => hall.act(id, verb, body),
        (Method::Delete, [id]) => hall.end(id).map(|()| Value::Null),
        (Method::Get, [id]) => match look(server, request, id) {
            Some(told) => told,
            None => return busy().into(),
        },
        _ => return Reply::failure(405, "this cannot be done here").into(),
    };
    match done {
        Ok(value) => Reply::json(200, &value).into(),
        Err(error) => error.reply().into(),
    }
}

/// How a game stands; `None` where too many wait already.
fn look(server: &Server, request: &Request, id: &str) -> Option<Result<Value, PlayError>> {
    let Some(known) = request.asked("after").and_then(|known| known.parse().ok()) else {
        return Some(server.hall.look(id, None));
    };
    let _slot = server.waiting.try_take()?;
    Some(server.hall.look(id, Some(known)))
}
