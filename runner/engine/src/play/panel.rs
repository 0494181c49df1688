//! The panel beside the board: the players, what they captured, and the last moves.

use dc0_core::board::{Piece, Position, Side};

use super::board::kind;
use super::record::Record;
use dc0_process::style::{TermStyle, Tone, padded, width};

/// Rows of moves; there are two columns.
const ROWS: usize = 4;

/// The width of one column of moves.
const COLUMN: usize = 22;

/// The value of a piece in pawns, in the order of [`Piece::ALL`].
const PIECE_VALUES: [i32; 6] = [1, 3, 3, 5, 9, 0];

/// Eight lines for the eight ranks; the player at the top of the board comes first.
pub(super) fn panel(record: &Record, names: [&str; 2], is_flipped: bool, style: TermStyle) -> Vec<String> {
    let (above, below) = if is_flipped { (Side::White, Side::Black) } else { (Side::Black, Side::White) };
    let mut lines = vec![player(record, above, names, style), String::new()];
    lines.extend(moves(record, style));
    lines.extend([String::new(), player(record, below, names, style)]);
    lines
}

fn player(record: &Record, side: Side, names: [&str; 2], style: TermStyle) -> String {
    let position = record.game.position();
    let is_to_move = position.side_to_move() == side && !record.is_over();
    let mark = match (is_to_move, style.is_unicode) {
        (true, true) => "▸",
        (true, false) => ">",
        (false, _) => " ",
    };
    let captured = captured(record.game.start(), position, side, style);
    let lead = balance(position) * if side == Side::White { 1 } else { -1 };
    let lead = if lead > 0 { format!(" +{lead}") } else { String::new() };
    let who = style.tone(&format!("{side:?}"), Tone::Bold);
    let line = format!("{mark} {who} {}", names[side as usize]);
    if captured.is_empty() && lead.is_empty() {
        line
    } else {
        format!("{}  {captured}{lead}", padded(&line, 18))
    }
}

/// The pieces that the opponent has lost since the start, the most valuable first. Promoted pawns are not lost.
fn captured(start: &Position, now: &Position, side: Side, style: TermStyle) -> String {
    let count =
        |position: &Position, piece: Piece| position.pieces(side.other(), piece).count_ones() as usize;
    let promoted: usize =
        Piece::ALL[1..].iter().map(|piece| count(now, *piece).saturating_sub(count(start, *piece))).sum();
    let lost = |piece: &Piece| {
        let fewer = count(start, *piece).saturating_sub(count(now, *piece));
        if *piece == Piece::Pawn { fewer.saturating_sub(promoted) } else { fewer }
    };
    Piece::ALL.iter().rev().map(|piece| kind(*piece, style).to_string().repeat(lost(piece))).collect()
}

/// White's material less Black's, in pawns.
fn balance(position: &Position) -> i32 {
    let count = |side: Side, piece: Piece| position.pieces(side, piece).count_ones() as i32;
    let value = |piece: &Piece| {
        PIECE_VALUES[*piece as usize] * (count(Side::White, *piece) - count(Side::Black, *piece))
    };
    Piece::ALL.iter().map(value).sum()
}

/// The latest moves, the last one in bold.
fn moves(record: &Record, style: TermStyle) -> Vec<String> {
    let pairs = pairs(record, style);
    let shown = &pairs[pairs.len().saturating_sub(2 * ROWS)..];
    let cell = |index: usize| shown.get(index).map_or("", String::as_str);
    (0..ROWS)
        .map(|row| format!("{}{}", padded(cell(row), COLUMN + 1), cell(row + ROWS)).trim_end().to_owned())
        .collect()
}

/// White's move and Black's answer in each line.
fn pairs(record: &Record, style: TermStyle) -> Vec<String> {
    let mut pairs: Vec<String> = Vec::new();
    let last = record.game.ply();
    for (ply, (position, played, _)) in (1..).zip(record.plies()) {
        let san = position.san(played);
        let san = if ply == last { style.tone(&san, Tone::Bold) } else { san };
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
    use dc0_process::style::PLAIN;

    fn shown(text: &str, is_flipped: bool) -> String {
        let record = Record::new(Game::from_text(text).unwrap());
        format!("\n{}", panel(&record, ["you", "dc0"], is_flipped, PLAIN).join("\n"))
    }

    #[test]
    fn captures_and_move_pairs_are_shown() {
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
    fn the_latest_moves_are_shown_in_two_columns() {
        let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(6);
        let shown = shown(&format!("startpos moves {moves}"), false);
        assert!(shown.contains("\n  5. Nf3      Nf6        9. Nf3      Nf6\n"), "{shown}");
        assert!(shown.contains("\n  8. Ng1      Ng8       12. Ng1      Ng8\n"), "{shown}");
    }

    #[test]
    fn a_game_begun_by_black_has_an_empty_white_column() {
        let shown = shown("4k3/8/8/8/8/8/4P3/4K3 b - - 0 17 moves e8d7 e2e4", false);
        assert!(shown.contains("\n 17...        Kd7\n 18. e4\n"), "{shown}");
        assert!(shown.contains("> Black dc0\n") && shown.ends_with("  White you          +1"), "{shown}");
    }

    #[test]
    fn a_promoted_pawn_is_not_captured() {
        let text = "4k3/P7/8/8/8/8/8/4K1n1 w - - 0 1 moves a7a8q";
        let shown = shown(text, false);
        assert!(
            shown.starts_with("\n> Black dc0\n") && shown.ends_with("  White you          +6"),
            "{shown}"
        );
    }
}
