//! A game as PGN, with the search's values as comments.

use dc0_core::board::Side;

use super::game::StoredGame;
use dc0_engine::play::pgn::{escaped, wrapped};

/// The game with its tags.
pub(super) fn pgn(run: &str, game: &StoredGame) -> String {
    let tags = tags(run, game);
    let tags: String =
        tags.iter().map(|(name, value)| format!("[{name} \"{}\"]\n", escaped(value))).collect();
    format!("{tags}\n{}", wrapped(&words(game)))
}

fn tags(run: &str, game: &StoredGame) -> Vec<(&'static str, String)> {
    let mut tags = vec![
        ("Event", format!("{run}, {}", game.step.name())),
        ("Site", "?".to_owned()),
        ("Date", "????.??.??".to_owned()),
        ("Round", game.name.game.to_string()),
        ("White", game.white.clone()),
        ("Black", game.black.clone()),
        ("Result", game.score().to_owned()),
    ];
    if !game.positions[0].is_initial() {
        tags.extend([("SetUp", "1".to_owned()), ("FEN", game.positions[0].fen())]);
    }
    tags.extend([
        ("PlyCount", game.moves.len().to_string()),
        ("DC0Reason", game.reason.clone()),
        ("DC0RandomPlies", game.opening_plies.to_string()),
    ]);
    tags
}

/// A comment stands behind each searched move: the value of the search and of the net, for the side that moved.
fn words(game: &StoredGame) -> Vec<String> {
    let mut words = Vec::new();
    let mut needs_number = true;
    for (ply, played) in game.moves.iter().enumerate() {
        let position = &game.positions[ply];
        let number = position.fullmove_number();
        match position.side_to_move() {
            Side::White => words.push(format!("{number}.")),
            Side::Black if needs_number => words.push(format!("{number}...")),
            Side::Black => {}
        }
        words.push(position.san(*played));
        needs_number = game.searched[ply].is_some();
        if let Some(row) = &game.searched[ply] {
            words.push(format!("{{q={:+.2}", row.root_q));
            words.push(format!("net={:+.2}}}", row.net_q));
        }
    }
    words.push(game.score().to_owned());
    words
}
