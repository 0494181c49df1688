//! Games against a net over HTTP.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Server, answered, folder};

#[test]
fn only_legal_moves_are_played() {
    let folder = folder();
    let server = Server::start(folder.path());
    let body = |side: &str, fen: Value| json!({ "net": "", "side": side, "fen": fen, "simulations": 16 });
    let game = server.post("/api/play", &body("white", Value::Null)).json();
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
fn the_king_castles_by_going_to_its_rook() {
    let folder = folder();
    let server = Server::start(folder.path());
    for (fen, goals) in [
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", &[("e1g1", 6), ("e1g1", 7)][..]),
        ("4k3/8/8/8/8/8/8/5K1R w K - 0 1", &[("f1h1", 7)]),
    ] {
        let body = json!({ "net": "", "side": "both", "fen": fen, "simulations": 16 });
        let game = server.post("/api/play", &body).json();
        let legal = game["legal"].as_array().expect("moves");
        let castlings: Vec<(&str, u64)> = legal
            .iter()
            .filter(|goal| goal[4] == "O-O")
            .map(|goal| (goal[0].as_str().expect("a move"), goal[2].as_u64().expect("a square")))
            .collect();
        assert_eq!(castlings, goals, "{fen}");
        let id = game["id"].as_str().expect("an id");
        let castled = server.post(&format!("/api/play/{id}/move"), &json!({ "move": goals[0].0 })).json();
        assert!(castled["fen"].as_str().is_some_and(|fen| fen.contains("5RK1 b")), "{castled}");
    }
}

#[test]
fn promotions_are_offered_mates_end_games_and_deleted_games_are_gone() {
    let folder = folder();
    let server = Server::start(folder.path());
    let body = |side: &str, fen: Value| json!({ "net": "", "side": side, "fen": fen, "simulations": 16 });
    let promotion = server.post("/api/play", &body("both", json!("8/P6k/8/8/8/8/8/K7 w - - 0 1"))).json();
    let letters: Vec<&Value> = promotion["legal"]
        .as_array()
        .expect("moves")
        .iter()
        .map(|chess_move| &chess_move[3])
        .filter(|promotion| promotion.is_string())
        .collect();
    assert_eq!(letters.len(), 4);
    let mate = server.post("/api/play", &body("white", json!("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"))).json();
    let id = mate["id"].as_str().expect("an id");
    let over = server.post(&format!("/api/play/{id}/move"), &json!({ "move": "Ra8" })).json();
    assert_eq!(
        (&over["result"], &over["legal"], &over["thinking"]),
        (&json!("1-0"), &json!([]), &json!(false))
    );
    let pgn = server.get(&format!("/api/play/{id}/pgn"));
    assert_eq!(pgn.status, 200);
    assert!(
        pgn.head.to_lowercase().contains("content-disposition: attachment; filename=\"game.pgn\""),
        "{}",
        pgn.head
    );
    for expected in [
        "[Event \"Game in the browser\"]",
        "[White \"Human\"]",
        "[Black \"dc0 ",
        "[FEN \"6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1\"]",
        "[DC0Net \"the shipped net\"]",
        "[DC0Simulations \"16\"]",
        "\n\n1. Ra8# {White won by checkmate} 1-0\n",
    ] {
        assert!(pgn.body.contains(expected), "{expected}\n{}", pgn.body);
    }
    let refused = server.post(&format!("/api/play/{id}/go"), &json!({})).json();
    assert_eq!((&refused["refused"], &refused["human"]), (&json!("the game is over"), &json!("white")));
    // Clients that wait for a change of a game are released when it is deleted.
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
    assert_eq!(server.get(&format!("/api/play/{id}/pgn")).status, 404);
    assert_eq!(server.post(&format!("/api/play/{id}/undo"), &json!({})).json(), gone);
}

#[test]
fn limits_are_enforced_and_wrong_requests_are_reported() {
    let folder = folder();
    let server = Server::start_with(folder.path(), &["--max-sims", "50"]);
    let ask = |net: &str, side: &str, fen: Value, simulations: Value| {
        let body = json!({ "net": net, "side": side, "fen": fen, "simulations": simulations });
        let answer = server.post("/api/play", &body);
        let reply = answer.json();
        let why = reply["error"].as_str().or(reply["refused"].as_str());
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
    assert_eq!(full, (200, "8 games are in progress, the most allowed; end one first".to_owned()));
    assert_eq!(server.post("/api/play/77/undo", &json!({})).json(), json!({ "gone": true }));
}
