//! Positions as JSON lines.

use serde::Serialize;

use super::{Encoded, IndexedMove, PlaneContent};

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    encoding: &'a str,
    version: u32,
    orientation: &'a str,
    history: u32,
    fen: String,
    planes: Vec<Plane>,
    moves: Vec<LineMove>,
}

/// The squares of a plane as 16 hex digits, a1 the lowest bit, or the number on all its squares.
#[derive(Serialize)]
#[serde(untagged)]
enum Plane {
    Bits(String),
    Number(f32),
}

#[derive(Serialize)]
struct LineMove {
    uci: String,
    policy: u16,
    leela: u16,
}

pub(super) fn write(positions: &[Encoded<'_>]) -> String {
    let line = |position| {
        serde_json::to_string(&line(position)).expect("a line has text keys and finite numbers") + "\n"
    };
    positions.iter().map(line).collect()
}

fn line<'a>(position: &Encoded<'a>) -> Line<'a> {
    let plane = |content: &PlaneContent| match *content {
        PlaneContent::Bits(squares) => Plane::Bits(format!("{squares:016x}")),
        PlaneContent::Number(number) => Plane::Number(number),
    };
    let indexed =
        |mv: &IndexedMove| LineMove { uci: mv.chess_move.to_string(), policy: mv.policy, leela: mv.leela };
    Line {
        encoding: position.encoding.name().name(),
        version: position.encoding.name().version(),
        orientation: position.encoding.orientation().name(),
        history: position.encoding.history(),
        fen: position.game.position().fen(),
        planes: position.planes.iter().map(plane).collect(),
        moves: position.moves.iter().map(indexed).collect(),
    }
}
