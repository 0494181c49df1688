//! What trees take of memory, as bytes a position and bytes a legal move.

use dc0_core::board::Game;
use dc0_core::network::EvaluatorError;
use dc0_core::search::Search;
use dc0_core::search::reference::{Child, Node};

use super::{Kind, Load, by_reference, games, searched};

/// Of the fast engine.
pub(super) fn of_fast(load: &Load, kind: Kind) -> Result<[f64; 2], EvaluatorError> {
    let games: Vec<Game> = games(load.games).collect();
    let (mut bytes, mut counts) = ([0, 0], [0, 0]);
    for memory in searched(load, kind, &games)?.iter().map(Search::memory) {
        bytes = [bytes[0] + memory.node_bytes, bytes[1] + memory.move_bytes];
        counts = [counts[0] + memory.nodes, counts[1] + memory.moves];
    }
    Ok([0, 1].map(|of| bytes[of] as f64 / counts[of].max(1) as f64))
}

/// Of the reference; what the allocator adds to each node is left out.
pub(super) fn of_reference(load: &Load, kind: Kind) -> Result<[f64; 2], EvaluatorError> {
    let (params, mut held, mut moves) = (load.params(), 0, 0);
    for game in games(load.games) {
        let search = by_reference(&game, &params, kind)?;
        for node in search.nodes() {
            held += node.children.capacity();
            moves += node.children.len();
        }
    }
    Ok([size_of::<Node>() as f64, (held * size_of::<Child>()) as f64 / moves.max(1) as f64])
}
