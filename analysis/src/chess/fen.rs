//! Facts that need only the letters of a FEN: reading them is a hundred times faster than setting up a position.

/// The board's part of a FEN; `None` if it has not eight ranks of eight squares.
fn ranks(fen: &str) -> Option<&str> {
    let squares = |letter: u8| match letter {
        b'1'..=b'8' => Some(usize::from(letter - b'0')),
        _ => b"PNBRQKpnbrqk".contains(&letter).then_some(1),
    };
    let is_rank = |rank: &str| rank.bytes().map(squares).sum::<Option<usize>>() == Some(8);
    let board = fen.split(' ').next()?;
    (board.split('/').count() == 8 && board.split('/').all(is_rank)).then_some(board)
}

/// The letters of the pieces on a FEN's board.
fn pieces(fen: &str) -> Option<impl Iterator<Item = char>> {
    Some(ranks(fen)?.chars().filter(char::is_ascii_alphabetic))
}

/// Shannon's piece values, in pawns; the king counts 0.
fn piece_value(letter: char) -> i32 {
    match letter.to_ascii_lowercase() {
        'p' => 1,
        'n' | 'b' => 3,
        'r' => 5,
        'q' => 9,
        _ => 0,
    }
}

/// White's material minus Black's, in pawns.
pub(crate) fn material(fen: &str) -> Option<i32> {
    let signed = |letter: char| {
        let value = piece_value(letter);
        if letter.is_ascii_uppercase() { value } else { -value }
    };
    Some(pieces(fen)?.map(signed).sum())
}

/// The game phase: the points of the pieces on the board (queen 4, rook 2, knight and bishop 1) divided by the initial 24.
/// Promotions can bring it above 1.
pub(crate) fn phase(fen: &str) -> Option<f64> {
    let points = |letter: char| match letter.to_ascii_lowercase() {
        'n' | 'b' => 1,
        'r' => 2,
        'q' => 4,
        _ => 0,
    };
    Some(f64::from(pieces(fen)?.map(points).sum::<i32>()) / 24.0)
}

/// The number of pieces on the board, kings and pawns included.
pub(crate) fn piece_count(fen: &str) -> Option<i32> {
    Some(pieces(fen)?.count() as i32)
}

/// The side to move.
pub(crate) fn side(fen: &str) -> Option<String> {
    match fen.split(' ').nth(1)? {
        "w" => Some("white".to_owned()),
        "b" => Some("black".to_owned()),
        _ => None,
    }
}

/// The board in eight lines with a dot for an empty square.
pub(crate) fn board(fen: &str) -> Option<String> {
    let rank = |rank: &str| {
        let squares = rank.chars().flat_map(|c| match c.to_digit(10) {
            Some(empty) => vec!["."; empty as usize].into_iter().map(str::to_owned).collect::<Vec<_>>(),
            None => vec![c.to_string()],
        });
        squares.collect::<Vec<_>>().join(" ")
    };
    Some(ranks(fen)?.split('/').map(rank).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{board, material, phase, piece_count, side};

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const ENDING: &str = "4k3/8/8/8/3p4/8/4P3/Q3K3 b - - 0 40";

    #[test]
    fn pieces_are_counted() {
        assert_eq!((material(START), phase(START), piece_count(START)), (Some(0), Some(1.0), Some(32)));
        assert_eq!(
            (material(ENDING), phase(ENDING), piece_count(ENDING)),
            (Some(9), Some(4.0 / 24.0), Some(5))
        );
        assert_eq!((side(START).as_deref(), side(ENDING).as_deref()), (Some("white"), Some("black")));
    }

    #[test]
    fn the_board_is_drawn() {
        let drawn = board(ENDING).unwrap();
        assert_eq!(drawn.lines().next(), Some(". . . . k . . ."));
        assert_eq!(drawn.lines().nth(6), Some(". . . . P . . ."));
        assert_eq!(drawn.lines().count(), 8);
    }

    #[test]
    fn text_without_eight_ranks_of_eight_squares_has_no_value() {
        let ranks = ["44444", "7", "8p", "9", "0", "xyz5", "........", ""];
        let boards = ranks.map(|rank| format!("8/8/8/{rank}/8/8/8/8 w - - 0 1"));
        for text in ["", "hello", "8/8 w"].into_iter().chain(boards.iter().map(String::as_str)) {
            let found = (material(text), phase(text), piece_count(text), board(text));
            assert_eq!(found, (None, None, None, None), "{text}");
        }
        assert_eq!(side("8/8/8/8/8/8/8/8 x"), None);
        assert_eq!(piece_count("8/8/8/44/8/8/8/8 w - - 0 1"), Some(0));
    }
}
