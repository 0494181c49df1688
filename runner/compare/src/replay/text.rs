//! A game as text: for each ply the board, the search result and the move.

use dc0_core::board::Side;
use dc0_core::search::Target;
use dc0_core::selfplay::PositionRow;
use dc0_core::store::{Found, StoredGame, StoredPly};

use super::game::FoundGame;
use dc0_engine::play::board::{self, Scene, board};
use dc0_process::format::counted;
use dc0_process::style::{TermStyle, Tone, padded};

/// The most moves of a search that are shown.
const MAX_MOVES: usize = 5;

/// The whole game, or the position before one ply.
pub(super) fn page(game: &FoundGame, ply: Option<usize>, style: TermStyle) -> String {
    let stored = &game.stored;
    let mut lines = vec![style.tone(&title(game), Tone::Bold), players(stored)];
    let is_shown = |stored: &StoredPly<'_>| ply.is_none_or(|ply| ply == stored.ply);
    lines.extend(stored.plies().filter(is_shown).flat_map(|ply| ply_lines(stored, &ply, style)));
    lines.join("\n")
}

fn title(game: &FoundGame) -> String {
    let StoredGame { result, reason, .. } = &game.stored;
    let (step, number) = (game.step.name(), game.name.game);
    format!("{step}, game {number}: {}, {}", result.symbol(), reason.name().replace('_', " "))
}

fn players(game: &StoredGame) -> String {
    let opening = match game.opening_plies {
        0 => String::new(),
        plies => format!(", of which {plies} are the opening"),
    };
    format!("White {}, Black {}; {}{opening}", game.white, game.black, counted(game.game.ply(), "ply"))
}

/// The board before a ply, with the ply's move and search beside it.
fn ply_lines(game: &StoredGame, ply: &StoredPly<'_>, style: TermStyle) -> Vec<String> {
    let scene = Scene { position: ply.position, last: ply.last, is_flipped: false, style };
    let notes = notes(game, ply, style);
    let mut lines = vec![String::new()];
    for (line, rank) in board(&scene).iter().enumerate() {
        let note = notes.get(line).map_or("", String::as_str);
        lines.push(format!("{}   {note}", padded(rank, board::WIDTH)).trim_end().to_owned());
    }
    lines
}

/// The lines beside a board, at most as many as the board has.
fn notes(game: &StoredGame, stored: &StoredPly<'_>, style: TermStyle) -> Vec<String> {
    let StoredPly { ply, position, .. } = *stored;
    let Some(played) = stored.played else {
        return vec![
            format!("ply {ply}"),
            style.tone(game.result.symbol(), Tone::Bold),
            game.reason.name().replace('_', " "),
        ];
    };
    let (number, side) = (position.fullmove_number(), position.side_to_move());
    let dots = if side == Side::White { "." } else { "..." };
    let san = style.tone(&format!("{number}{dots} {}", position.san(played)), Tone::Bold);
    let mut lines = vec![format!("ply {ply}: {san}")];
    match stored.search {
        None if ply < game.opening_plies => lines.push("opening".to_owned()),
        None => lines.extend(game.found[ply].and_then(Found::text)),
        Some(row) => lines.extend(search_lines(stored, row)),
    }
    lines
}

fn search_lines(stored: &StoredPly<'_>, row: &PositionRow) -> Vec<String> {
    let position = stored.position;
    let side = position.side_to_move();
    let fast = if row.full { "" } else { ", no policy target" };
    let mut lines = vec![
        format!(
            "search {:+.3} for {side:?}, draw {:.2}, {}{fast}",
            row.root_q,
            row.root_d,
            counted(row.simulations as usize, "visit")
        ),
        format!(
            "net    {:+.3} for {side:?}, draw {:.2}, {}",
            row.net_q,
            row.net_d,
            counted(row.legal.into(), "legal move")
        ),
    ];
    for Target { played, visits, share } in stored.targets().into_iter().take(MAX_MOVES) {
        let mark = if Some(played) == stored.played { "<" } else { "" };
        let (san, share) = (position.san(played), 100.0 * share);
        let line = format!("{san:<8}{visits:>7} visits  target {share:>5.1}% {mark}");
        lines.push(line.trim_end().to_owned());
    }
    lines
}
