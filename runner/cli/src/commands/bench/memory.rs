//! The memory of trees, in bytes per position and bytes per legal move.

use dc0_core::board::Game;
use dc0_core::network::EvaluatorError;
use dc0_core::search::Search;
use dc0_core::search::reference::{Child, Node};

use super::{Kind, Load, games, reference_search, search_games};

/// Memory of the fast search.
pub(super) fn of_fast_search(load: &Load, kind: Kind<'_>) -> Result<[f64; 2], EvaluatorError> {
    let games: Vec<Game> = games(load.games).collect();
    let (mut bytes, mut counts) = ([0, 0], [0, 0]);
    for memory in search_games(load, kind, &games)?.iter().map(Search::memory) {
        bytes = [bytes[0] + memory.node_bytes, bytes[1] + memory.move_bytes];
        counts = [counts[0] + memory.nodes, counts[1] + memory.moves];
    }
    Ok([0, 1].map(|index| bytes[index] as f64 / counts[index].max(1) as f64))
}

/// Memory of the reference search, without the allocator's overhead per node.
pub(super) fn of_reference_search(load: &Load, kind: Kind<'_>) -> Result<[f64; 2], EvaluatorError> {
    let (params, mut held, mut moves) = (load.params(), 0, 0);
    for game in games(load.games) {
        let search = reference_search(&game, &params, kind)?;
        for node in search.nodes() {
            held += node.children.capacity();
            moves += node.children.len();
        }
    }
    Ok([size_of::<Node>() as f64, (held * size_of::<Child>()) as f64 / moves.max(1) as f64])
}
