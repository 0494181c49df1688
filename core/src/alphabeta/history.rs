//! What earlier parts of the search say about moves: which refuted positions like the current one.
//!
//! History heuristic (Schaeffer 1989), with the gravity and the continuation histories that are described on
//! <https://www.chessprogramming.org/History_Heuristic>: a move is judged by its squares, and by its squares after each of the last
//! two moves. Killers are the last quiet moves that refuted a sibling.

use super::score::MAX_PLY;
use crate::board::{KnownMove, Move, Position, Side};

/// Histories lie in −LIMIT..=LIMIT. Chosen: a power of two within 16 bits.
pub(super) const LIMIT: i32 = 1 << 14;

/// Squares that a piece of either side may go to, as continuation histories index them.
const PLACEMENTS: usize = 2 * 6 * 64;

/// A piece of a side on the square that it went to, in 0..768.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement(usize);

impl Placement {
    pub(super) fn of(position: &Position, mv: KnownMove) -> Self {
        Self::of_side(position.side_to_move(), mv)
    }

    fn of_side(side: Side, mv: KnownMove) -> Self {
        Self(((side as usize * 6) + mv.piece as usize) * 64 + usize::from(mv.played.to()))
    }
}

/// The last two moves before a position; `None` for a pass and before the root.
pub(super) type Before = [Option<Placement>; 2];

/// The histories of one thread.
pub(super) struct History {
    /// By side and squares of the move.
    quiet: Vec<i16>,
    /// By the placement of an earlier move and the move's own.
    continuation: Vec<i16>,
    /// By the move's placement and the captured piece.
    captures: Vec<i16>,
    killers: Vec<[Option<Move>; 2]>,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            quiet: vec![0; 2 * 4096],
            continuation: vec![0; PLACEMENTS * PLACEMENTS],
            captures: vec![0; PLACEMENTS * 6],
            killers: vec![[None; 2]; MAX_PLY + 2],
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.quiet.fill(0);
        self.continuation.fill(0);
        self.captures.fill(0);
        self.killers.fill([None; 2]);
    }

    /// Forgets the killers: they belong to distances from the last root.
    pub(super) fn begin_search(&mut self) {
        self.killers.fill([None; 2]);
    }

    fn quiet_index(side: Side, mv: KnownMove) -> usize {
        side as usize * 4096 + usize::from(mv.played.squares())
    }

    fn capture_index(side: Side, mv: KnownMove) -> usize {
        let captured = mv.captured.map_or(0, |piece| piece as usize);
        Placement::of_side(side, mv).0 * 6 + captured
    }

    /// The sum of a quiet move's histories, in −3·LIMIT..=3·LIMIT.
    pub(super) fn of_quiet(&self, side: Side, before: Before, mv: KnownMove) -> i32 {
        let own = Placement::of_side(side, mv).0;
        let after = |earlier: &Placement| i32::from(self.continuation[earlier.0 * PLACEMENTS + own]);
        let continued: i32 = before.iter().flatten().map(after).sum();
        i32::from(self.quiet[Self::quiet_index(side, mv)]) + continued
    }

    /// The history of a capture or a promotion, in −LIMIT..=LIMIT.
    pub(super) fn of_capture(&self, side: Side, mv: KnownMove) -> i32 {
        i32::from(self.captures[Self::capture_index(side, mv)])
    }

    /// Moves a quiet move's histories by a bonus, or by a malus below 0.
    pub(super) fn add_quiet(&mut self, side: Side, before: Before, mv: KnownMove, bonus: i32) {
        add(&mut self.quiet[Self::quiet_index(side, mv)], bonus);
        let own = Placement::of_side(side, mv).0;
        for earlier in before.iter().flatten() {
            add(&mut self.continuation[earlier.0 * PLACEMENTS + own], bonus);
        }
    }

    /// Moves the history of a capture or a promotion.
    pub(super) fn add_capture(&mut self, side: Side, mv: KnownMove, bonus: i32) {
        add(&mut self.captures[Self::capture_index(side, mv)], bonus);
    }

    /// The last two quiet moves that refuted positions this many plies below the root.
    pub(super) fn killers(&self, ply: usize) -> [Option<Move>; 2] {
        self.killers[ply]
    }

    /// A quiet move refuted a position.
    pub(super) fn add_killer(&mut self, ply: usize, mv: Move) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
    }

    /// Forgets the killers this many plies below the root, which refuted children of another position.
    pub(super) fn clear_killers(&mut self, ply: usize) {
        self.killers[ply] = [None; 2];
    }
}

/// Adds a bonus that counts less the nearer the history is to its limit, which it never passes.
fn add(history: &mut i16, bonus: i32) {
    let (old, bonus) = (i32::from(*history), bonus.clamp(-LIMIT, LIMIT));
    *history = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

/// The bonus of a move that refuted a position searched to a depth. Chosen.
pub(super) fn bonus(depth: i32) -> i32 {
    (160 * depth - 80).min(1800)
}

#[cfg(test)]
mod tests {
    use super::{History, LIMIT, Placement, add};
    use crate::board::{Move, Position, Side};

    #[test]
    fn histories_stay_within_their_limit() {
        let mut history = 0i16;
        (0..1000).for_each(|_| add(&mut history, 1800));
        assert!(i32::from(history) <= LIMIT && i32::from(history) > LIMIT - 100);
        (0..1000).for_each(|_| add(&mut history, -5000));
        assert!(i32::from(history) >= -LIMIT && i32::from(history) < 100 - LIMIT);
    }

    #[test]
    fn moves_are_judged_by_the_moves_before_them() {
        let position = Position::initial();
        let known = |uci| position.known(Move::from_uci(uci).expect("a move"));
        let (knight, pawn) = (known("g1f3"), known("e2e4"));
        let before = [Some(Placement::of(&position, pawn)), None];
        let mut history = History::new();
        history.add_quiet(Side::White, before, knight, 1000);
        assert_eq!(history.of_quiet(Side::White, before, knight), 2000);
        assert_eq!(history.of_quiet(Side::White, [None; 2], knight), 1000);
        assert_eq!(history.of_quiet(Side::Black, before, knight), 0);
        assert_eq!(history.of_quiet(Side::White, before, pawn), 0);
        history.clear();
        assert_eq!(history.of_quiet(Side::White, before, knight), 0);
    }

    #[test]
    fn the_last_two_killers_are_kept() {
        let moves = ["e2e4", "d2d4", "c2c4"].map(|uci| Move::from_uci(uci).expect("a move"));
        let mut history = History::new();
        moves.into_iter().chain([moves[2]]).for_each(|mv| history.add_killer(5, mv));
        assert_eq!(history.killers(5), [Some(moves[2]), Some(moves[1])]);
        history.clear_killers(5);
        assert_eq!(history.killers(5), [None; 2]);
    }
}
