//! From positions to planes.

use thiserror::Error;

use super::planes::{Orientation, Plane, PlaneKind, Viewed};
use super::policy::{self, PolicyIndex};
use super::tables::{EncodingName, MissingHistory};
use crate::board::{Game, Move, Piece, Position, Side};

/// A history that a table does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the encoding `{encoding}` takes a history of {range}, got {found}", range = range(*longest))]
pub struct HistoryError {
    /// The table.
    pub encoding: &'static str,
    /// The longest history it takes.
    pub longest: u32,
    /// What was asked for.
    pub found: u32,
}

fn range(longest: u32) -> String {
    if longest == 1 { "1 position".to_owned() } else { format!("1 to {longest} positions") }
}

/// A table of planes in an orientation, with a length of history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    name: EncodingName,
    orientation: Orientation,
    history: u32,
    planes: Vec<Plane>,
    binary_count: usize,
}

impl Encoding {
    /// The table of that name with its own history.
    pub fn new(name: EncodingName, orientation: Orientation) -> Self {
        Self::checked(name, orientation, name.history())
    }

    /// The table of that name with a history of so many positions, the present one among them.
    ///
    /// An error where the table has no such history.
    pub fn with_history(
        name: EncodingName,
        orientation: Orientation,
        history: u32,
    ) -> Result<Self, HistoryError> {
        let longest = name.longest_history();
        if !(1..=longest).contains(&history) {
            return Err(HistoryError { encoding: name.word(), longest, found: history });
        }
        Ok(Self::checked(name, orientation, history))
    }

    fn checked(name: EncodingName, orientation: Orientation, history: u32) -> Self {
        let planes = name.table().planes(history);
        let binary_count = planes.iter().filter(|plane| plane.kind() == PlaneKind::Binary).count();
        Self { name, orientation, history, planes, binary_count }
    }

    /// The table's name.
    pub fn name(&self) -> EncodingName {
        self.name
    }

    /// Whose side of the board planes and policy are seen from.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// How many positions are seen, the present one among them.
    pub fn history(&self) -> u32 {
        self.history
    }

    /// The planes, in the order in which a net sees them; `P` of them.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The number of planes stored as bits.
    pub fn binary_count(&self) -> usize {
        self.binary_count
    }

    /// The number of planes stored as one number.
    pub fn scalar_count(&self) -> usize {
        self.planes.len() - self.binary_count
    }

    /// Appends the present position of a game: bits to `binary`, numbers to `scalars`, each in the order of the table.
    ///
    /// Earlier positions are those of the game, seen from the same side as the present one.
    pub fn encode(&self, game: &Game, binary: &mut Vec<u64>, scalars: &mut Vec<f32>) {
        let position = game.position();
        let view = View::new(self.orientation, position);
        self.encode_history(game, view, binary);
        for plane in self.name.table().rest {
            match *plane {
                Plane::WhiteToMove => binary.push(all_if(position.side_to_move() == Side::White)),
                Plane::BlackToMove => binary.push(all_if(position.side_to_move() == Side::Black)),
                Plane::MayCastle(side, wing) => {
                    binary.push(all_if(position.may_castle(view.side(side), wing)));
                }
                Plane::EnPassant => {
                    let target = position.legal_en_passant().map_or(0, |square| 1 << square);
                    binary.push(mirror(target, view.mirrored));
                }
                Plane::Ones => binary.push(u64::MAX),
                Plane::Zeros => binary.push(0),
                Plane::FullmoveNumber => {
                    scalars.push(position.fullmove_number() as f32 / f32::from(Plane::FULLMOVE_DIVISOR));
                }
                Plane::HalfmoveClock(divisor) => {
                    scalars.push(position.halfmove_clock() as f32 / f32::from(divisor));
                }
                Plane::Pieces { .. } | Plane::Repeated { .. } => {
                    unreachable!("planes of history stand before the rest of a table")
                }
            }
        }
    }

    /// The steps of history, the present position first.
    fn encode_history(&self, game: &Game, view: View, binary: &mut Vec<u64>) {
        let table = self.name.table();
        let width = PIECE_PLANES + usize::from(table.repetitions);
        let steps = self.history as usize;
        let known = steps.min(game.ply() + 1);
        for (position, repetitions) in game.recent().take(known) {
            binary.extend_from_slice(&view.step(Boards::of(position), repetitions)[..width]);
        }
        if known == steps {
            return;
        }
        let before = match table.missing {
            MissingHistory::FirstPosition if !game.start().is_initial() => {
                view.step(Boards::before(game.start()), 0)
            }
            _ => [0; STEP],
        };
        for _ in known..steps {
            binary.extend_from_slice(&before[..width]);
        }
    }

    /// The policy index of a legal move of a position with this side to move.
    pub fn policy_index(&self, played: Move, side: Side) -> PolicyIndex {
        policy::index_of(played, self.is_mirrored(side))
    }

    /// The move that an index means in a position; queen promotion where a pawn reaches the last rank.
    ///
    /// `None` if the index names no move on the board. Says nothing of legality.
    pub fn move_at(&self, index: PolicyIndex, position: &Position) -> Option<Move> {
        policy::move_at(index, position, self.is_mirrored(position.side_to_move()))
    }

    fn is_mirrored(&self, side: Side) -> bool {
        self.orientation == Orientation::SideToMove && side == Side::Black
    }
}

/// Name and orientation, and the history where it is not the table's own.
impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name.word(), self.orientation.word())?;
        if self.history == self.name.history() {
            return Ok(());
        }
        write!(f, " with a history of {}", self.history)
    }
}

/// Planes of pieces in a step of history.
const PIECE_PLANES: usize = 12;
/// Planes of the longest step: those of pieces and two of repetition.
const STEP: usize = PIECE_PLANES + 2;

fn all_if(condition: bool) -> u64 {
    if condition { u64::MAX } else { 0 }
}

/// Where the pieces stand.
#[derive(Debug, Clone, Copy)]
struct Boards {
    /// Squares of White's and of Black's pieces.
    sides: [u64; 2],
    /// Squares of each kind of piece.
    kinds: [u64; 6],
}

impl Boards {
    fn of(position: &Position) -> Self {
        let sides = [position.occupied(Side::White), position.occupied(Side::Black)];
        Self { sides, kinds: position.pieces_by_kind() }
    }

    /// What is known of the boards before a position: a pawn that may be captured en passant has just moved two squares.
    fn before(position: &Position) -> Self {
        let mut boards = Self::of(position);
        if let Some(target) = position.legal_en_passant() {
            let both = 1 << (target - 8) | 1 << (target + 8);
            boards.sides[position.side_to_move().other() as usize] ^= both;
            boards.kinds[Piece::Pawn as usize] ^= both;
        }
        boards
    }
}

/// How an orientation sees the positions of a game.
#[derive(Debug, Clone, Copy)]
struct View {
    mirrored: bool,
    first: Side,
}

impl View {
    fn new(orientation: Orientation, position: &Position) -> Self {
        let first = match orientation {
            Orientation::Absolute => Side::White,
            Orientation::SideToMove => position.side_to_move(),
        };
        Self { mirrored: first == Side::Black, first }
    }

    fn side(self, viewed: Viewed) -> Side {
        match viewed {
            Viewed::First => self.first,
            Viewed::Second => self.first.other(),
        }
    }

    /// The planes of one step of history, two of them for repetitions.
    fn step(self, boards: Boards, repetitions: u8) -> [u64; STEP] {
        let mut step = [0; STEP];
        let first = mirror(boards.sides[self.first as usize], self.mirrored);
        let second = mirror(boards.sides[self.first.other() as usize], self.mirrored);
        for (kind, squares) in boards.kinds.iter().enumerate() {
            let squares = mirror(*squares, self.mirrored);
            step[kind] = first & squares;
            step[kind + 6] = second & squares;
        }
        step[PIECE_PLANES] = all_if(repetitions >= 1);
        step[PIECE_PLANES + 1] = all_if(repetitions >= 2);
        step
    }
}

/// Mirroring the ranks swaps the bytes of a bit board.
fn mirror(squares: u64, mirrored: bool) -> u64 {
    if mirrored { squares.swap_bytes() } else { squares }
}
