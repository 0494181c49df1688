//! What a FEN says without its rules of movement. Reading the letters is a hundred times faster than setting up a position.

/// The men of a FEN's board, as letters; `None` if there is no board.
fn letters(fen: &str) -> Option<impl Iterator<Item = char>> {
    let board = fen.split(' ').next()?;
    let is_board = board.split('/').count() == 8;
    is_board.then(|| board.chars().filter(char::is_ascii_alphabetic))
}

/// Shannon's values; the king has none.
fn worth(letter: char) -> i32 {
    match letter.to_ascii_lowercase() {
        'p' => 1,
        'n' | 'b' => 3,
        'r' => 5,
        'q' => 9,
        _ => 0,
    }
}

/// White's material less Black's, in pawns.
pub(super) fn material(fen: &str) -> Option<i32> {
    let signed = |letter: char| if letter.is_ascii_uppercase() { worth(letter) } else { -worth(letter) };
    Some(letters(fen)?.map(signed).sum())
}

/// The share of the pieces that is left, of 24 points at the start: queens 4, rooks 2, knights and bishops 1. Promotions may
/// bring it above 1.
pub(super) fn phase(fen: &str) -> Option<f64> {
    let points = |letter: char| match letter.to_ascii_lowercase() {
        'n' | 'b' => 1,
        'r' => 2,
        'q' => 4,
        _ => 0,
    };
    Some(f64::from(letters(fen)?.map(points).sum::<i32>()) / 24.0)
}

/// Men on the board.
pub(super) fn men(fen: &str) -> Option<i32> {
    Some(letters(fen)?.count() as i32)
}

/// Who is to move.
pub(super) fn side(fen: &str) -> Option<String> {
    match fen.split(' ').nth(1)? {
        "w" => Some("white".to_owned()),
        "b" => Some("black".to_owned()),
        _ => None,
    }
}

/// The board in eight lines with a dot for an empty square.
pub(super) fn board(fen: &str) -> Option<String> {
    let ranks = fen.split(' ').next()?.split('/');
    if ranks.clone().count() != 8 {
        return None;
    }
    let rank = |rank: &str| {
        let squares = rank.chars().flat_map(|c| match c.to_digit(10) {
            Some(empty) => vec!["."; empty as usize].into_iter().map(str::to_owned).collect::<Vec<_>>(),
            None => vec![c.to_string()],
        });
        squares.collect::<Vec<_>>().join(" ")
    };
    Some(ranks.map(rank).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{board, material, men, phase, side};

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const ENDING: &str = "4k3/8/8/8/3p4/8/4P3/Q3K3 b - - 0 40";

    #[test]
    fn the_board_is_counted() {
        assert_eq!((material(START), phase(START), men(START)), (Some(0), Some(1.0), Some(32)));
        assert_eq!((material(ENDING), phase(ENDING), men(ENDING)), (Some(9), Some(4.0 / 24.0), Some(5)));
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
    fn what_is_no_fen_has_no_value() {
        for text in ["", "hello", "8/8 w"] {
            assert_eq!((material(text), phase(text), men(text), board(text)), (None, None, None, None));
        }
        assert_eq!(side("8/8/8/8/8/8/8/8 x"), None);
    }
}
