//! A game as text: for each ply the board, the search's opinion, and the move.

use dc0_core::board::{Move, Side};
use dc0_core::selfplay::PositionRow;

use super::game::StoredGame;
use dc0_engine::play::board::{self, Scene, board};
use dc0_process::look::{Look, Tone, padded};

/// Moves of a search that are shown.
const MOST_MOVES: usize = 5;

/// The whole game, or the position before one ply.
pub(super) fn page(game: &StoredGame, ply: Option<usize>, look: Look) -> String {
    let mut lines = vec![look.tone(&title(game), Tone::Bold), players(game)];
    match ply {
        Some(ply) => lines.extend(of_ply(game, ply, look)),
        None => (0..=game.moves.len()).for_each(|ply| lines.extend(of_ply(game, ply, look))),
    }
    lines.join("\n")
}

fn title(game: &StoredGame) -> String {
    format!(
        "{}, game {}: {}, {}",
        game.step.name(),
        game.name.game,
        game.score(),
        game.reason.replace('_', " ")
    )
}

fn players(game: &StoredGame) -> String {
    let opening = match game.opening_plies {
        0 => String::new(),
        plies => format!(", of which {plies} at random"),
    };
    format!("White {}, Black {}; {} plies{opening}", game.white, game.black, game.moves.len())
}

/// The board before a ply, with what is known of the ply beside it.
fn of_ply(game: &StoredGame, ply: usize, look: Look) -> Vec<String> {
    let last = ply.checked_sub(1).map(|before| game.moves[before]);
    let scene = Scene { position: &game.positions[ply], last, is_flipped: false, look };
    let beside = beside(game, ply, look);
    let mut lines = vec![String::new()];
    for (at, rank) in board(&scene).iter().enumerate() {
        let beside = beside.get(at).map_or("", String::as_str);
        lines.push(format!("{}   {beside}", padded(rank, board::WIDTH)).trim_end().to_owned());
    }
    lines
}

/// At most as many lines as a board has.
fn beside(game: &StoredGame, ply: usize, look: Look) -> Vec<String> {
    let position = &game.positions[ply];
    let Some(played) = game.moves.get(ply) else {
        return vec![
            format!("ply {ply}"),
            look.tone(game.score(), Tone::Bold),
            game.reason.replace('_', " "),
        ];
    };
    let (number, side) = (position.fullmove_number(), position.side_to_move());
    let dots = if side == Side::White { "." } else { "..." };
    let san = look.tone(&format!("{number}{dots} {}", position.san(*played)), Tone::Bold);
    let mut lines = vec![format!("ply {ply}: {san}")];
    match &game.searched[ply] {
        None if ply < game.opening_plies => lines.push("played at random".to_owned()),
        None => {}
        Some(row) => lines.extend(opinion(game, ply, row)),
    }
    lines
}

fn opinion(game: &StoredGame, ply: usize, row: &PositionRow) -> Vec<String> {
    let position = &game.positions[ply];
    let side = position.side_to_move();
    let fast = if row.full { "" } else { ", no policy target" };
    let mut lines = vec![
        format!(
            "search {:+.3} for {side:?}, draw {:.2}, {} visits{fast}",
            row.root_q, row.root_d, row.simulations
        ),
        format!("net    {:+.3} for {side:?}, draw {:.2}, {} legal moves", row.net_q, row.net_d, row.legal),
    ];
    let target: u32 = row.target.iter().map(|share| u32::from(*share)).sum();
    for (played, visits, share) in ranked(row).into_iter().take(MOST_MOVES) {
        let mark = if played == game.moves[ply] { "<" } else { "" };
        let share = 100.0 * f64::from(share) / f64::from(target.max(1));
        let line = format!("{:<8}{visits:>7} visits  target {share:>5.1}% {mark}", position.san(played));
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Moves with visits and target, the most visited first.
pub(super) fn ranked(row: &PositionRow) -> Vec<(Move, u32, u16)> {
    let both = row.visits.iter().zip(&row.target);
    let moves = row.moves.iter().filter_map(|packed| Move::from_packed(*packed));
    let mut all: Vec<(Move, u32, u16)> =
        moves.zip(both).map(|(played, (visits, share))| (played, *visits, *share)).collect();
    all.sort_by_key(|(_, visits, share)| std::cmp::Reverse((*visits, *share)));
    all
}
