//! What stands beside the board: the players, what they took, and the last moves.

use dc0_core::board::{Piece, Position, Side};

use super::board::kind;
use super::record::Record;
use dc0_process::look::{Look, Tone, padded, width};

/// Rows of moves, in two columns.
const ROWS: usize = 4;

/// Columns of one column of moves.
const COLUMN: usize = 22;

/// A piece's worth in pawns, in the order of [`Piece::ALL`].
const WORTH: [i32; 6] = [1, 3, 3, 5, 9, 0];

/// Eight lines for the eight ranks; the player whose side is above stands above.
pub(super) fn panel(record: &Record, names: [&str; 2], is_flipped: bool, look: Look) -> Vec<String> {
    let (above, below) = if is_flipped { (Side::White, Side::Black) } else { (Side::Black, Side::White) };
    let mut lines = vec![player(record, above, names, look), String::new()];
    lines.extend(moves(record, look));
    lines.extend([String::new(), player(record, below, names, look)]);
    lines
}

fn player(record: &Record, side: Side, names: [&str; 2], look: Look) -> String {
    let position = record.game.position();
    let is_to_move = position.side_to_move() == side && !record.is_over();
    let mark = match (is_to_move, look.is_unicode) {
        (true, true) => "▸",
        (true, false) => ">",
        (false, _) => " ",
    };
    let took = took(record.game.start(), position, side, look);
    let lead = balance(position) * if side == Side::White { 1 } else { -1 };
    let lead = if lead > 0 { format!(" +{lead}") } else { String::new() };
    let who = look.tone(&format!("{side:?}"), Tone::Bold);
    let line = format!("{mark} {who} {}", names[side as usize]);
    if took.is_empty() && lead.is_empty() { line } else { format!("{}  {took}{lead}", padded(&line, 18)) }
}

/// The pieces that the opponent has lost since the start, the most valuable first. Pawns that became pieces are not lost.
fn took(start: &Position, now: &Position, side: Side, look: Look) -> String {
    let count =
        |position: &Position, piece: Piece| position.pieces(side.other(), piece).count_ones() as usize;
    let promoted: usize =
        Piece::ALL[1..].iter().map(|piece| count(now, *piece).saturating_sub(count(start, *piece))).sum();
    let lost = |piece: &Piece| {
        let fewer = count(start, *piece).saturating_sub(count(now, *piece));
        if *piece == Piece::Pawn { fewer.saturating_sub(promoted) } else { fewer }
    };
    Piece::ALL.iter().rev().map(|piece| kind(*piece, look).to_string().repeat(lost(piece))).collect()
}

/// White's material less Black's, in pawns.
fn balance(position: &Position) -> i32 {
    let count = |side: Side, piece: Piece| position.pieces(side, piece).count_ones() as i32;
    let worth =
        |piece: &Piece| WORTH[*piece as usize] * (count(Side::White, *piece) - count(Side::Black, *piece));
    Piece::ALL.iter().map(worth).sum()
}

/// The last moves, the last of all in bold.
fn moves(record: &Record, look: Look) -> Vec<String> {
    let pairs = pairs(record, look);
    let shown = &pairs[pairs.len().saturating_sub(2 * ROWS)..];
    let cell = |at: usize| shown.get(at).map_or("", String::as_str);
    (0..ROWS)
        .map(|row| format!("{}{}", padded(cell(row), COLUMN + 1), cell(row + ROWS)).trim_end().to_owned())
        .collect()
}

/// White's move and Black's answer in each line.
fn pairs(record: &Record, look: Look) -> Vec<String> {
    let mut pairs: Vec<String> = Vec::new();
    let last = record.game.ply();
    for (ply, (position, played, _)) in (1..).zip(record.plies()) {
        let san = position.san(played);
        let san = if ply == last { look.tone(&san, Tone::Bold) } else { san };
        match (pairs.last_mut(), position.side_to_move()) {
            (Some(pair), Side::Black) => *pair = format!("{} {san}", padded(pair, 13.max(width(pair)))),
            (None, Side::Black) => pairs.push(format!("{} {san}", padded(&number(position, "..."), 13))),
            (_, Side::White) => pairs.push(format!("{} {san}", number(position, "."))),
        }
    }
    pairs
}

fn number(position: &Position, dots: &str) -> String {
    format!("{:>3}{dots}", position.fullmove_number())
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Game;

    use super::{Record, panel};
    use dc0_process::look::PLAIN;

    fn shown(text: &str, is_flipped: bool) -> String {
        let record = Record::new(Game::from_text(text).unwrap());
        format!("\n{}", panel(&record, ["you", "dc0"], is_flipped, PLAIN).join("\n"))
    }

    #[test]
    fn players_have_what_they_took_and_moves_stand_in_pairs() {
        let expected = "
  Black dc0         P

  1. e4       d5
  2. exd5     Qxd5



> White you         P";
        assert_eq!(shown("startpos moves e2e4 d7d5 e4d5 d8d5", false), expected);
        let ahead = shown("startpos moves e2e4 d7d5 e4d5 g8f6", false);
        assert!(ahead.ends_with("> White you         P +1"), "{ahead}");
        let flipped = shown("startpos moves e2e4 d7d5 e4d5 g8f6", true);
        assert!(flipped.starts_with("\n> White you         P +1\n"), "{flipped}");
    }

    #[test]
    fn only_the_last_moves_are_shown_in_two_columns() {
        let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(6);
        let shown = shown(&format!("startpos moves {moves}"), false);
        assert!(shown.contains("\n  5. Nf3      Nf6        9. Nf3      Nf6\n"), "{shown}");
        assert!(shown.contains("\n  8. Ng1      Ng8       12. Ng1      Ng8\n"), "{shown}");
    }

    #[test]
    fn a_game_that_black_begins_leaves_whites_place_empty() {
        let shown = shown("4k3/8/8/8/8/8/4P3/4K3 b - - 0 17 moves e8d7 e2e4", false);
        assert!(shown.contains("\n 17...        Kd7\n 18. e4\n"), "{shown}");
        assert!(shown.contains("> Black dc0\n") && shown.ends_with("  White you          +1"), "{shown}");
    }

    #[test]
    fn a_pawn_that_became_a_queen_was_not_taken() {
        let text = "4k3/P7/8/8/8/8/8/4K1n1 w - - 0 1 moves a7a8q";
        let shown = shown(text, false);
        assert!(
            shown.starts_with("\n> Black dc0\n") && shown.ends_with("  White you          +6"),
            "{shown}"
        );
    }
}
