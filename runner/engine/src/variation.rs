//! Variations as people read them.

use dc0_core::board::{Move, Position, numbered_moves};

/// As many whole moves of a variation, numbered, as fit into a width.
pub(crate) fn whole_moves(position: &Position, moves: &[Move], columns: usize) -> String {
    let mut text = String::new();
    for mv in numbered_moves(position, moves) {
        let gap = if text.is_empty() { "" } else { " " };
        if text.len() + gap.len() + mv.len() > columns {
            break;
        }
        text.extend([gap, &*mv]);
    }
    text
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Move, Position};

    use super::whole_moves;

    #[test]
    fn a_line_holds_whole_moves_only() {
        let moves: Vec<Move> = ["e2e4", "e7e5", "g1f3"].iter().filter_map(|mv| Move::from_uci(mv)).collect();
        let fitting = |columns| whole_moves(&Position::initial(), &moves, columns);
        assert_eq!([7, 8, 99].map(fitting), ["1. e4", "1. e4 e5", "1. e4 e5 2. Nf3"]);
    }
}
