//! Random endings, by their numbers: what games rarely reach, as they are resigned or drawn before.

use rand::RngExt;

use super::Position;
use crate::rng::{Purpose, Seed, Stream};

/// How many endings there are.
pub const ENDGAMES: u32 = 10_000;

/// The pieces of an ending besides the kings: those of the side that is usually better, then the other's. Of each, one in twenty endings
/// has them. Chosen: the mates that a player has to know, and the commonest endings of few pieces.
const MATERIAL: [(&str, &str); 20] = [
    ("Q", ""),
    ("R", ""),
    ("RR", ""),
    ("BB", ""),
    ("QP", ""),
    ("RP", ""),
    ("P", ""),
    ("PP", ""),
    ("Q", "R"),
    ("Q", "P"),
    ("R", "P"),
    ("RP", "R"),
    ("QP", "Q"),
    ("PP", "P"),
    ("RB", "R"),
    ("RPP", "RP"),
    ("BPP", "NP"),
    ("NPP", "PP"),
    ("RB", "NP"),
    ("Q", "BN"),
];

impl Position {
    /// A random ending of three to seven pieces, the same for a number at any time; `None` if the number is not below [`ENDGAMES`]. Either
    /// side may be the better one and the one to move, which has a legal move and none that captures. The game is not over.
    pub fn endgame(number: u32) -> Option<Self> {
        if number >= ENDGAMES {
            return None;
        }
        let mut stream = Seed { run: 0, step: 0 }.stream(number.into(), Purpose::Opening);
        let (better, other) = MATERIAL[number as usize % MATERIAL.len()];
        let (better, other) = (format!("K{better}"), format!("k{}", other.to_ascii_lowercase()));
        loop {
            let position = placed(&format!("{better}{other}"), &mut stream);
            if let Some(position) = position.filter(is_quiet) {
                return Some(position);
            }
        }
    }
}

/// The pieces, capitals of one side, on random squares; `None` if that is no legal position.
fn placed(pieces: &str, stream: &mut Stream) -> Option<Position> {
    let (is_white, to_move) = (stream.random::<bool>(), if stream.random() { 'w' } else { 'b' });
    let mut squares = ['1'; 64];
    for piece in pieces.chars() {
        let ranks = if piece.eq_ignore_ascii_case(&'p') { 8..56 } else { 0..64 };
        let square = stream.random_range(ranks);
        if squares[square] != '1' {
            return None;
        }
        squares[square] = if is_white == piece.is_ascii_uppercase() {
            piece.to_ascii_uppercase()
        } else {
            piece.to_ascii_lowercase()
        };
    }
    let ranks: Vec<String> = squares.chunks(8).map(|rank| rank.iter().collect()).collect();
    Position::from_fen(&format!("{} {to_move} - - 0 1", ranks.join("/"))).ok()
}

fn is_quiet(position: &Position) -> bool {
    let moves = position.legal_moves();
    // Two bishops may stand on squares of one colour.
    !position.is_insufficient_material()
        && !moves.is_empty()
        && !moves.iter().any(|mv| position.piece_at(mv.to()).is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::{ENDGAMES, MATERIAL};
    use crate::board::{Game, Position, Rules, Side};

    #[test]
    fn endings_are_legal_quiet_and_of_all_kinds() {
        let rules = Rules { max_plies: u32::MAX };
        let (mut seen, mut kinds) = (HashSet::new(), BTreeMap::new());
        let mut to_move = [0; 2];
        for number in 0..ENDGAMES {
            let position = Position::endgame(number).expect("an ending");
            let fen = position.fen();
            assert_eq!(Game::from_position(position.clone()).outcome(&rules), None, "{fen}");
            if number >= 2000 {
                continue;
            }
            assert_eq!(Position::endgame(number).expect("the same").fen(), fen);
            let mut pieces: Vec<char> =
                fen.split(' ').next().expect("pieces").chars().filter(char::is_ascii_alphabetic).collect();
            pieces.sort_unstable();
            *kinds.entry(pieces.iter().collect::<String>()).or_insert(0) += 1;
            to_move[usize::from(position.side_to_move() == Side::White)] += 1;
            assert!(position.has_legal_move() && (3..=7).contains(&pieces.len()), "{fen}");
            assert!(position.legal_moves().iter().all(|mv| position.piece_at(mv.to()).is_none()), "{fen}");
            seen.insert(fen);
        }
        // Each material comes with either colour, equally often.
        assert_eq!(kinds.len(), 2 * MATERIAL.len());
        assert!(kinds.values().all(|count| (25..75).contains(count)), "{kinds:?}");
        assert!(to_move.iter().all(|count| *count > 900), "{to_move:?}");
        assert!(seen.len() > 1990, "{}", seen.len());
        assert!(Position::endgame(ENDGAMES - 1).is_some() && Position::endgame(ENDGAMES).is_none());
    }
}
