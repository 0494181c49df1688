//! The board as lines of text.

use dc0_core::board::{Move, Piece, Position, Side};

use dc0_process::look::Look;

/// What is drawn.
pub struct Scene<'a> {
    /// The position.
    pub position: &'a Position,
    /// The move that led here.
    pub last: Option<Move>,
    /// Whether Black's side is below.
    pub is_flipped: bool,
    /// What the terminal can show.
    pub look: Look,
}

/// Columns of the board with its labels.
pub const WIDTH: usize = 28;

/// Colours of the palette of 256: squares and those of the last move, a king in check, the two sides' pieces. The squares are of
/// middle brightness, so that both white and black can be read on them.
const LIGHT: (u8, u8) = (103, 137);
const DARK: (u8, u8) = (60, 94);
const CHECK: u8 = 160;
const WHITE: u8 = 231;
const BLACK: u8 = 16;

/// Eight ranks from the top, then the names of the files.
pub fn board(scene: &Scene<'_>) -> Vec<String> {
    let order = |at: u8| if scene.is_flipped { 7 - at } else { at };
    let rank = |at: u8| {
        let rank = order(7 - at);
        let squares: String = (0..8).map(|file| square(scene, 8 * rank + order(file))).collect();
        format!("  {} {squares}", rank + 1)
    };
    let files: String = (0..8).map(|at| format!(" {} ", char::from(b'a' + order(at)))).collect();
    (0..8).map(rank).chain([format!("    {files}").trim_end().to_owned()]).collect()
}

/// One square, three columns wide.
fn square(scene: &Scene<'_>, at: u8) -> String {
    let piece = scene.position.piece_at(at);
    let side = if scene.position.occupied(Side::White) >> at & 1 == 1 { Side::White } else { Side::Black };
    let is_last = scene.last.is_some_and(|last| last.from() == at || last.to() == at);
    let is_mover = side == scene.position.side_to_move();
    let is_checked = piece == Some(Piece::King) && is_mover && scene.position.is_check();
    let is_light = (at / 8 + at % 8) % 2 == 1;
    if scene.look.is_coloured {
        let (plain, last) = if is_light { LIGHT } else { DARK };
        let ground = if is_checked {
            CHECK
        } else if is_last {
            last
        } else {
            plain
        };
        let ink = if side == Side::White && piece.is_some() { WHITE } else { BLACK };
        let shown = piece.map_or(' ', |piece| solid(piece, side, scene.look));
        return scene.look.paint(&format!(" {shown} "), &format!("1;38;5;{ink};48;5;{ground}"));
    }
    let empty = if is_light {
        ' '
    } else if scene.look.is_unicode {
        '·'
    } else {
        '.'
    };
    let shown = piece.map_or(empty, |piece| glyph(piece, side, scene.look));
    match (is_checked, is_last) {
        (true, _) => format!("!{shown}!"),
        (false, true) => format!("[{shown}]"),
        (false, false) => format!(" {shown} "),
    }
}

/// A piece where only its form tells the sides apart: outlines and capitals are White's.
fn glyph(piece: Piece, side: Side, look: Look) -> char {
    let place = piece as usize;
    match (look.is_unicode, side) {
        (true, Side::White) => ['♙', '♘', '♗', '♖', '♕', '♔'][place],
        (true, Side::Black) => ['♟', '♞', '♝', '♜', '♛', '♚'][place],
        (false, Side::White) => ['P', 'N', 'B', 'R', 'Q', 'K'][place],
        (false, Side::Black) => ['p', 'n', 'b', 'r', 'q', 'k'][place],
    }
}

/// A piece where colours tell the sides apart; filled forms read best.
fn solid(piece: Piece, side: Side, look: Look) -> char {
    glyph(piece, if look.is_unicode { Side::Black } else { side }, look)
}

/// A kind of piece, whosever it is.
pub(crate) fn kind(piece: Piece, look: Look) -> char {
    let side = if look.is_unicode { Side::Black } else { Side::White };
    glyph(piece, side, look)
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Move, Position};

    use super::{Look, Scene, WIDTH, board};
    use dc0_process::look::PLAIN;
    use dc0_process::look::width;

    fn drawn(fen: &str, last: &str, is_flipped: bool, look: Look) -> String {
        let position = Position::from_fen(fen).unwrap();
        let scene = Scene { position: &position, last: Move::from_uci(last), is_flipped, look };
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
    fn for_black_the_board_is_turned() {
        let look = Look { is_unicode: true, is_coloured: false };
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPP1PPPP/RNB1KBNR w KQkq - 0 1";
        let drawn = drawn(fen, "h1f1", true, look);
        let lines: Vec<&str> = drawn.lines().collect();
        assert!(lines[8].ends_with("h  g  f  e  d  c  b  a"), "{drawn}");
        assert!(lines[7].starts_with("  8  ♜  ♞  ♝  ♚  ♛  ♝  ♞  ♜"), "{drawn}");
        assert_eq!(lines[0], "  1 [♖] ♘ [♗] ♔     ♗  ♘  ♖ ");
    }

    #[test]
    fn colours_change_no_width_and_take_the_place_of_marks() {
        let look = Look { is_unicode: true, is_coloured: true };
        let drawn = drawn(ITALIAN, "d4f7", false, look);
        assert!(drawn.lines().take(8).all(|line| width(line) == WIDTH));
        assert!(drawn.contains("\x1b[1;38;5;16;48;5;160m ♚ \x1b[0m"), "{drawn}");
        assert!(drawn.contains("\x1b[1;38;5;231;48;5;137m ♝ \x1b[0m"), "{drawn}");
    }
}
