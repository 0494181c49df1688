//! The rows of the result tables whose makers come after the store.

/// One game of a match.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchGameRow {
    /// Number of the game within its match; the key of the table.
    pub game: u32,
    /// The pair of games from one opening with colours exchanged; two games each.
    pub pair: u32,
    /// The first player.
    pub first: String,
    /// The second player.
    pub second: String,
    /// Whether the first player has White.
    pub first_is_white: bool,
    /// The position before the first move.
    pub start_fen: String,
    /// Every move played, the opening's included, packed as `board::Move` packs it.
    pub moves: Vec<u16>,
    /// Random plies at the start.
    pub opening_plies: u16,
    /// The number of moves.
    pub plies: u16,
    /// The first player's score: 1, 0.5 or 0.
    pub score: f64,
    /// 1 White won, 0 draw, −1 Black won.
    pub result: i8,
    /// Why the game ended, as `board::Reason` words it.
    pub reason: String,
}
