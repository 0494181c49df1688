//! Opening names by position, from the lichess chess-openings data set, which is in the public domain (CC0).

use std::collections::HashMap;
use std::sync::LazyLock;

use dc0_core::board::{Game, Move};

/// Lines of `shared plies, further moves, ECO code, name`, sorted by moves; the first number counts the plies shared with the line
/// before.
pub(crate) const LINES: &str = include_str!("../../data/openings.tsv");

/// An opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The code of the Encyclopaedia of Chess Openings, such as `B20`.
    pub(crate) eco: &'static str,
    /// The name, such as `Sicilian Defense: Najdorf Variation`.
    pub(crate) name: &'static str,
}

/// Openings by the keys of their positions, and the length in plies of the longest line.
struct Book {
    positions: HashMap<u64, Opening>,
    longest: usize,
}

static BOOK: LazyLock<Book> = LazyLock::new(read);

fn read() -> Book {
    let mut book = Book { positions: HashMap::new(), longest: 0 };
    let mut game = Game::initial();
    for line in LINES.lines() {
        let mut fields = line.split('\t');
        let mut next = || fields.next().expect("a line of the book has four fields");
        let shared: usize = next().parse().expect("a number of plies");
        game.take_back_to(shared);
        for text in next().split(' ').filter(|text| !text.is_empty()) {
            game.play_unchecked(Move::from_uci(text).expect("a move of the book"));
        }
        let (eco, name) = (next(), next());
        book.longest = book.longest.max(game.ply());
        book.positions.insert(game.position().key(), Opening { eco, name });
    }
    book
}

/// The opening of a game from the initial position: that of its last position that has one, so transpositions count. `None` if
/// there is none, or if a move is illegal.
pub(crate) fn find(moves: &[Move]) -> Option<Opening> {
    let mut game = Game::initial();
    let mut found = None;
    for &mv in moves.iter().take(BOOK.longest) {
        if !game.position().is_legal(mv) {
            return None;
        }
        game.play_unchecked(mv);
        found = BOOK.positions.get(&game.position().key()).copied().or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Game, Move};

    use super::{BOOK, LINES, Opening, find};

    fn opening(moves: &str) -> Option<Opening> {
        find(&moves.split(' ').map(|text| Move::from_uci(text).unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn openings_are_named_by_the_last_named_position() {
        let name = |moves| opening(moves).map(|opening| (opening.eco, opening.name));
        assert_eq!(name("e2e4 c7c5"), Some(("B20", "Sicilian Defense")));
        let najdorf = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 a2a3 h7h5";
        assert_eq!(name(najdorf), Some(("B90", "Sicilian Defense: Najdorf Variation")));
        assert_eq!(name("g1f3 d7d5 d2d4"), name("d2d4 d7d5 g1f3"), "a transposition has the same name");
        assert_eq!(name("e2e5"), None);
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn the_lines_of_the_book_are_legal() {
        let mut game = Game::initial();
        for line in LINES.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields.len(), 4, "{line}");
            game.take_back_to(fields[0].parse().unwrap());
            for text in fields[1].split(' ') {
                let mv = Move::from_uci(text).unwrap();
                assert!(game.position().is_legal(mv), "{line}");
                game.play_unchecked(mv);
            }
        }
        assert_eq!((LINES.lines().count(), BOOK.longest), (3807, 36));
    }
}
