//! Names of openings: positions that have one, from the lichess chess-openings data set, which is in the public domain (CC0).

use std::collections::HashMap;
use std::sync::LazyLock;

use dc0_core::board::{Game, Move};

/// Lines of `common plies, more moves, code, name`, sorted by their moves: each line begins with as many moves of the one before.
const LINES: &str = include_str!("../../data/openings.tsv");

/// A named position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// The code of the Encyclopaedia of Chess Openings, such as `B20`.
    pub(super) eco: &'static str,
    /// The name, such as `Sicilian Defense: Najdorf Variation`.
    pub(super) name: &'static str,
}

/// Named positions by their keys, and the most plies to one.
struct Book {
    positions: HashMap<u64, Named>,
    longest: usize,
}

static BOOK: LazyLock<Book> = LazyLock::new(read);

fn read() -> Book {
    let mut book = Book { positions: HashMap::new(), longest: 0 };
    let mut game = Game::initial();
    for line in LINES.lines() {
        let mut fields = line.split('\t');
        let mut next = || fields.next().expect("a line of the book has four fields");
        let common: usize = next().parse().expect("a number of plies");
        game.take_back_to(common);
        for text in next().split(' ').filter(|text| !text.is_empty()) {
            game.play_unchecked(Move::from_uci(text).expect("a move of the book"));
        }
        let (eco, name) = (next(), next());
        book.longest = book.longest.max(game.ply());
        book.positions.insert(game.position().key(), Named { eco, name });
    }
    book
}

/// The last position of a game from the initial position that has a name, whatever the order of its moves. `None` without one, or
/// if a move is not legal.
pub(super) fn find(moves: &[Move]) -> Option<Named> {
    let mut game = Game::initial();
    let mut found = None;
    for &played in moves.iter().take(BOOK.longest) {
        if !game.position().is_legal(played) {
            return None;
        }
        game.play_unchecked(played);
        found = BOOK.positions.get(&game.position().key()).copied().or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Game, Move};

    use super::{BOOK, LINES, Named, find};

    fn of(moves: &str) -> Option<Named> {
        find(&moves.split(' ').map(|text| Move::from_uci(text).unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn openings_are_named_by_their_last_known_position() {
        let name = |moves| of(moves).map(|named| (named.eco, named.name));
        assert_eq!(name("e2e4 c7c5"), Some(("B20", "Sicilian Defense")));
        let najdorf = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 a2a3 h7h5";
        assert_eq!(name(najdorf), Some(("B90", "Sicilian Defense: Najdorf Variation")));
        assert_eq!(
            name("g1f3 d7d5 d2d4"),
            name("d2d4 d7d5 g1f3"),
            "another order of moves leads to the same position"
        );
        assert_eq!(name("e2e5"), None);
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn the_book_is_a_list_of_legal_games() {
        let mut game = Game::initial();
        for line in LINES.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields.len(), 4, "{line}");
            game.take_back_to(fields[0].parse().unwrap());
            for text in fields[1].split(' ') {
                let played = Move::from_uci(text).unwrap();
                assert!(game.position().is_legal(played), "{line}");
                game.play_unchecked(played);
            }
        }
        assert_eq!((LINES.lines().count(), BOOK.longest), (3807, 36));
    }
}
