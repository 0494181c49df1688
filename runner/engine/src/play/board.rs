//! The board as lines of text.

use dc0_core::board::{Move, Piece, Position, Side};

use dc0_process::style::TermStyle;

/// What to draw.
pub struct Scene<'a> {
    /// The position.
    pub position: &'a Position,
    /// The move that led here.
    pub last: Option<Move>,
    /// Whether Black's side is below.
    pub is_flipped: bool,
    /// What the terminal can show.
    pub style: TermStyle,
}

/// The width of the board with its labels.
pub const WIDTH: usize = 28;

/// Colours of the 256-colour palette: squares (plain, of the last move), a king in check, the pieces of both sides. The squares are
/// of medium brightness, so that both white and black pieces are readable on them.
const LIGHT: (u8, u8) = (103, 137);
const DARK: (u8, u8) = (60, 94);
const CHECK: u8 = 160;
const WHITE: u8 = 231;
const BLACK: u8 = 16;

/// Eight ranks from the top, then the names of the files.
pub fn board(scene: &Scene<'_>) -> Vec<String> {
    let order = |index: u8| if scene.is_flipped { 7 - index } else { index };
    let rank = |row: u8| {
        let rank = order(7 - row);
        let squares: String = (0..8).map(|file| square(scene, 8 * rank + order(file))).collect();
        format!("  {} {squares}", rank + 1)
    };
    let files: String = (0..8).map(|column| format!(" {} ", char::from(b'a' + order(column)))).collect();
    (0..8).map(rank).chain([format!("    {files}").trim_end().to_owned()]).collect()
}

/// One square, three columns wide.
fn square(scene: &Scene<'_>, square: u8) -> String {
    let piece = scene.position.piece_at(square);
    let side =
        if scene.position.occupied(Side::White) >> square & 1 == 1 { Side::White } else { Side::Black };
    let is_last = scene.last.is_some_and(|last| last.from() == square || last.to() == square);
    let is_mover = side == scene.position.side_to_move();
    let is_checked = piece == Some(Piece::King) && is_mover && scene.position.is_check();
    let is_light = (square / 8 + square % 8) % 2 == 1;
    if scene.style.is_coloured {
        let (plain, last) = if is_light { LIGHT } else { DARK };
        let ground = if is_checked {
            CHECK
        } else if is_last {
            last
        } else {
            plain
        };
        let ink = if side == Side::White && piece.is_some() { WHITE } else { BLACK };
        let shown = piece.map_or(' ', |piece| solid(piece, side, scene.style));
        return scene.style.paint(&format!(" {shown} "), &format!("1;38;5;{ink};48;5;{ground}"));
    }
    let empty = if is_light {
        ' '
    } else if scene.style.is_unicode {
        '·'
    } else {
        '.'
    };
    let shown = piece.map_or(empty, |piece| glyph(piece, side, scene.style));
    match (is_checked, is_last) {
        (true, _) => format!("!{shown}!"),
        (false, true) => format!("[{shown}]"),
        (false, false) => format!(" {shown} "),
    }
}

/// A piece whose shape alone shows its side: outlines and capitals are White's.
fn glyph(piece: Piece, side: Side, style: TermStyle) -> char {
    let index = piece as usize;
    match (style.is_unicode, side) {
        (true, Side::White) => ['♙', '♘', '♗', '♖', '♕', '♔'][index],
        (true, Side::Black) => ['♟', '♞', '♝', '♜', '♛', '♚'][index],
        (false, Side::White) => ['P', 'N', 'B', 'R', 'Q', 'K'][index],
        (false, Side::Black) => ['p', 'n', 'b', 'r', 'q', 'k'][index],
    }
}

/// A piece whose colour shows its side; filled shapes read best.
fn solid(piece: Piece, side: Side, style: TermStyle) -> char {
    glyph(piece, if style.is_unicode { Side::Black } else { side }, style)
}

/// A kind of piece, of either side.
pub(crate) fn kind(piece: Piece, style: TermStyle) -> char {
    let side = if style.is_unicode { Side::Black } else { Side::White };
    glyph(piece, side, style)
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Move, Position};

    use super::{Scene, TermStyle, WIDTH, board};
    use dc0_process::style::PLAIN;
    use dc0_process::style::width;

    fn drawn(fen: &str, last: &str, is_flipped: bool, style: TermStyle) -> String {
        let position = Position::from_fen(fen).unwrap();
        let scene = Scene { position: &position, last: Move::from_uci(last), is_flipped, style };
        board(&scene).join("\n")
    }

    const ITALIAN: &str = "r1bqk1nr/pppp1Bpp/2n5/2b1p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 0 4";

    #[test]
    fn a_board_without_colours_marks_the_last_move_and_the_check() {
        let expected = "
  8  r  .  b  q !k! .  n  r 
  7  p  p  p  p  . [B] p  p 
  6     .  n  .     .     . 
  5  .     b     p     .    
  4     .    [.] P  .     . 
  3  .     .     .  N  .    
  2  P  P  P  P     P  P  P 
  1  R  N  B  Q  K     .  R 
     a  b  c  d  e  f  g  h";
        assert_eq!(format!("\n{}", drawn(ITALIAN, "d4f7", false, PLAIN)), expected);
    }

    #[test]
    fn the_board_is_turned_for_black() {
        let style = TermStyle { is_unicode: true, is_coloured: false };
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPP1PPPP/RNB1KBNR w KQkq - 0 1";
        let drawn = drawn(fen, "h1f1", true, style);
        let lines: Vec<&str> = drawn.lines().collect();
        assert!(lines[8].ends_with("h  g  f  e  d  c  b  a"), "{drawn}");
        assert!(lines[7].starts_with("  8  ♜  ♞  ♝  ♚  ♛  ♝  ♞  ♜"), "{drawn}");
        assert_eq!(lines[0], "  1 [♖] ♘ [♗] ♔     ♗  ♘  ♖ ");
    }

    #[test]
    fn colours_replace_marks_and_keep_the_width() {
        let style = TermStyle { is_unicode: true, is_coloured: true };
        let drawn = drawn(ITALIAN, "d4f7", false, style);
        assert!(drawn.lines().take(8).all(|line| width(line) == WIDTH));
        assert!(drawn.contains("\x1b[1;38;5;16;48;5;160m ♚ \x1b[0m"), "{drawn}");
        assert!(drawn.contains("\x1b[1;38;5;231;48;5;137m ♝ \x1b[0m"), "{drawn}");
    }
}
