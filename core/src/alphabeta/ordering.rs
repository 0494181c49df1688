//! The order in which moves are tried: the table's move, captures that gain, killers, quiet moves by their histories, captures that
//! lose. The better the first move, the more of the others are refuted by it (Knuth and Moore 1975).

use super::history::{Before, History};
use super::piece_squares::value;
use super::see::gains_at_least;
use crate::board::{KnownMove, Move, Piece, Position};

/// A move with its rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub(super) mv: KnownMove,
    rank: i32,
}

/// Ranks of the kinds of moves; within a kind the histories decide, whose sums lie below half of the distances.
const HASH_MOVE: i32 = 1 << 30;
const CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const LOSING: i32 = -(1 << 24);

/// The buffers of one distance from the root, kept so that nodes allocate nothing.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) generated: Vec<KnownMove>,
    pub(super) ranked: Vec<Ranked>,
    /// Quiet moves and captures that were tried before a refutation.
    pub(super) tried: Vec<KnownMove>,
}

/// What the rank of a move depends on besides the move.
pub(super) struct Known<'a> {
    pub(super) position: &'a Position,
    pub(super) history: &'a History,
    pub(super) best: Option<Move>,
    pub(super) killers: [Option<Move>; 2],
    pub(super) before: Before,
}

impl Known<'_> {
    fn rank(&self, mv: KnownMove) -> i32 {
        let side = self.position.side_to_move();
        if self.best == Some(mv.played) {
            return HASH_MOVE;
        }
        if !mv.is_quiet() {
            // Most valuable victim first, then by history; an underpromotion is rarely of use.
            let promotion = mv.played.promotion().map_or(0, |promotion| match promotion.piece() {
                Piece::Queen => value(Piece::Queen),
                _ => -value(Piece::Queen),
            });
            let victim = mv.captured.map_or(0, value) + promotion;
            return CAPTURE + 16 * victim + self.history.of_capture(side, mv);
        }
        match self.killers.iter().position(|killer| *killer == Some(mv.played)) {
            Some(number) => KILLER - number as i32,
            None => self.history.of_quiet(side, self.before, mv),
        }
    }
}

/// Ranks generated moves.
pub(super) fn rank(known: &Known<'_>, buffers: &mut Buffers) {
    let Buffers { generated, ranked, .. } = buffers;
    ranked.clear();
    ranked.extend(generated.iter().map(|mv| Ranked { mv: *mv, rank: known.rank(*mv) }));
}

/// Takes the next best move of `ranked`, those before `next` being taken. A capture is moved behind the quiet moves once it turns out
/// to lose material, which is looked at only when its turn comes.
pub(super) fn next(position: &Position, ranked: &mut [Ranked], next: usize) -> Option<Picked> {
    loop {
        let rest = &ranked[next..];
        let (mut best, mut highest) = (next, rest.first()?.rank);
        for (index, other) in (next..).zip(rest) {
            if other.rank > highest {
                (best, highest) = (index, other.rank);
            }
        }
        let Ranked { mv, rank } = ranked[best];
        let is_unsure = (CAPTURE / 2..HASH_MOVE).contains(&rank);
        if is_unsure && !gains_at_least(position, mv, 0) {
            ranked[best].rank += LOSING - CAPTURE;
            continue;
        }
        ranked.swap(next, best);
        return Some(Picked { mv, loses: rank < LOSING / 2, is_killer: rank > KILLER / 2 && mv.is_quiet() });
    }
}

/// The move whose turn it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picked {
    pub(super) mv: KnownMove,
    /// Whether it is a capture or promotion that loses material on its square.
    pub(super) loses: bool,
    /// Whether it is a killer or the table's move, and quiet.
    pub(super) is_killer: bool,
}

#[cfg(test)]
mod tests {
    use super::{Buffers, Known, next, rank};
    use crate::alphabeta::history::History;
    use crate::board::{Move, Position};

    fn order(fen: &str, best: Option<&str>, killer: Option<&str>) -> Vec<String> {
        let position = Position::from_fen(fen).expect("a position");
        let read = |uci: Option<&str>| uci.and_then(Move::from_uci);
        let history = History::new();
        let known = Known {
            position: &position,
            history: &history,
            best: read(best),
            killers: [read(killer), None],
            before: [None; 2],
        };
        let mut buffers = Buffers::default();
        position.known_moves_into(&mut buffers.generated);
        rank(&known, &mut buffers);
        let mut taken = Vec::new();
        while let Some(picked) = next(&position, &mut buffers.ranked, taken.len()) {
            taken.push(picked.mv.played.to_string());
        }
        taken
    }

    #[test]
    fn good_moves_come_first_and_losing_captures_last() {
        // The rook takes a free queen or a protected pawn; the pawn takes the protected queen's neighbour.
        let fen = "4k3/8/2p5/q2p4/8/8/8/R2R2K1 w - - 0 1";
        let order = order(fen, Some("g1g2"), Some("d1d3"));
        assert_eq!(order[..3], ["g1g2", "a1a5", "d1d3"]);
        assert_eq!(order.last().map(String::as_str), Some("d1d5"));
        let legal = Position::from_fen(fen).expect("a position").legal_moves().len();
        assert_eq!(order.len(), legal);
    }
}
