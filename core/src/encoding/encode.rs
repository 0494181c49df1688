//! From positions to planes.

use thiserror::Error;

use super::planes::{Orientation, Plane, PlaneKind, Viewed};
use super::policy::{self, PolicyIndex};
use super::tables::{EncodingName, MissingHistory};
use crate::board::{Game, Move, Piece, Position, Side};

/// A combination that an encoding does not support.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EncodingError {
    #[error("the encoding `{encoding}` takes a history of {range}, got {found}", range = range(*longest))]
    History { encoding: &'static str, longest: u32, found: u32 },
    #[error(
        "the encoding `{encoding}` does not show who is to move, so it is seen from the side to move only, got `{found}`; \
         use `side_to_move`, or an encoding that shows it: {others}"
    )]
    Orientation { encoding: &'static str, found: &'static str, others: String },
}

fn range(longest: u32) -> String {
    if longest == 1 { "1 position".to_owned() } else { format!("1 to {longest} positions") }
}

/// A table of planes with an orientation and a history length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    name: EncodingName,
    orientation: Orientation,
    history: u32,
    planes: Vec<Plane>,
    binary_count: usize,
    /// The castling rights among the binary planes.
    castling_planes: Vec<usize>,
}

impl Encoding {
    /// The named encoding with its default history.
    ///
    /// # Panics
    /// If it does not support the orientation; [`try_new`](Self::try_new) is for combinations that were not chosen in the code.
    pub fn new(name: EncodingName, orientation: Orientation) -> Self {
        Self::try_new(name, orientation, None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The named encoding with a history of this many positions, including the current one; `None` for its default.
    ///
    /// # Errors
    /// If the encoding does not support the orientation or the history.
    pub fn try_new(
        name: EncodingName,
        orientation: Orientation,
        history: Option<u32>,
    ) -> Result<Self, EncodingError> {
        if !name.orientations().contains(&orientation) {
            let supports = |other: &EncodingName| other.orientations().contains(&orientation);
            let others: Vec<&str> =
                EncodingName::ALL.into_iter().filter(supports).map(EncodingName::name).collect();
            let (encoding, found, others) = (name.name(), orientation.name(), others.join(", "));
            return Err(EncodingError::Orientation { encoding, found, others });
        }
        let (history, longest) = (history.unwrap_or(name.history()), name.max_history());
        if !(1..=longest).contains(&history) {
            return Err(EncodingError::History { encoding: name.name(), longest, found: history });
        }
        Ok(Self::build(name, orientation, history))
    }

    fn build(name: EncodingName, orientation: Orientation, history: u32) -> Self {
        let planes = name.table().planes(history);
        let binary_count = planes.iter().filter(|plane| plane.kind() == PlaneKind::Binary).count();
        let binary = planes.iter().filter(|plane| plane.kind() == PlaneKind::Binary);
        let rights = binary.enumerate().filter(|(_, plane)| matches!(plane, Plane::MayCastle(..)));
        let castling_planes = rights.map(|(index, _)| index).collect();
        Self { name, orientation, history, planes, binary_count, castling_planes }
    }

    /// The encoding's name.
    pub fn name(&self) -> EncodingName {
        self.name
    }

    /// The side from which planes and policy are seen.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// The number of positions that are encoded, including the current one.
    pub fn history(&self) -> u32 {
        self.history
    }

    /// The `P` planes, in the order of the net's input.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The number of planes stored as bits.
    pub fn binary_count(&self) -> usize {
        self.binary_count
    }

    /// The number of planes stored as one number each.
    pub fn scalar_count(&self) -> usize {
        self.planes.len() - self.binary_count
    }

    /// Whether the mirror image of an encoded position, with its files reversed, is worth the same: neither side may castle.
    /// `binary` holds the position's `[binary planes]`.
    pub fn can_mirror(&self, binary: &[u64]) -> bool {
        self.castling_planes.iter().all(|plane| binary[*plane] == 0)
    }

    /// Appends the current position of a game: bits to `binary`, numbers to `scalars`, each in the order of the planes.
    ///
    /// Earlier positions of the game are seen from the same side as the current one.
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
                    unreachable!("history planes come before the rest of a table")
                }
            }
        }
    }

    /// Appends encoded positions as floats: `[B, P, 8, 8]`, row-major.
    pub fn expand(&self, binary: &[u64], scalars: &[f32], values: &mut Vec<f32>) {
        let (start, rows) = (values.len(), binary.len() / self.binary_count);
        values.resize(start + rows * self.planes.len() * 64, 0.0);
        let (mut binary, mut scalars) = (binary.iter(), scalars.iter());
        let boards = values[start..].as_chunks_mut::<64>().0.iter_mut();
        for (squares, plane) in boards.zip(self.planes.iter().cycle()) {
            match plane.kind() {
                PlaneKind::Binary => {
                    set(squares, *binary.next().expect("a row has a number for each binary plane"));
                }
                PlaneKind::Scalar => {
                    squares.fill(*scalars.next().expect("a row has a number for each scalar plane"));
                }
            }
        }
    }

    /// The index of each plane among all binary planes followed by all scalar planes.
    pub fn stored_order(&self) -> Vec<i64> {
        let (mut binary, mut scalar) = (0, self.binary_count as i64);
        let next = |plane: &Plane| {
            let counter = if plane.kind() == PlaneKind::Binary { &mut binary } else { &mut scalar };
            *counter += 1;
            *counter - 1
        };
        self.planes.iter().map(next).collect()
    }

    /// Encodes the history steps, the current position first.
    fn encode_history(&self, game: &Game, view: View, binary: &mut Vec<u64>) {
        let table = self.name.table();
        let width = PIECE_PLANES + usize::from(table.repetitions);
        let steps = self.history as usize;
        let known = steps.min(game.ply() + 1);
        for (position, repetitions) in game.recent().take(known) {
            binary.extend_from_slice(&view.step(Boards::new(position), repetitions)[..width]);
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

    /// The policy index of a legal move of this side.
    pub fn policy_index(&self, mv: Move, side: Side) -> PolicyIndex {
        policy::index_of(mv, self.is_mirrored(side))
    }

    /// The move of a policy index in a position; a pawn that reaches the last rank becomes a queen.
    ///
    /// `None` if the index leads off the board. Legality is not checked.
    pub fn move_at(&self, index: PolicyIndex, position: &Position) -> Option<Move> {
        policy::move_at(index, position, self.is_mirrored(position.side_to_move()))
    }

    fn is_mirrored(&self, side: Side) -> bool {
        self.orientation == Orientation::SideToMove && side == Side::Black
    }
}

/// Name and orientation, and the history if it is not the default.
impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name.name(), self.orientation.name())?;
        if self.history == self.name.history() {
            return Ok(());
        }
        write!(f, " with a history of {}", self.history)
    }
}

/// Piece planes of one history step.
const PIECE_PLANES: usize = 12;
/// Planes of the longest step: the pieces and two for repetitions.
const STEP: usize = PIECE_PLANES + 2;

/// Sets the squares of a plane's bits to 1.
fn set(squares: &mut [f32; 64], mut bits: u64) {
    while bits != 0 {
        squares[bits.trailing_zeros() as usize] = 1.0;
        bits &= bits - 1;
    }
}

fn all_if(condition: bool) -> u64 {
    if condition { u64::MAX } else { 0 }
}

/// Bit boards of a position; a1 is bit 0.
#[derive(Debug, Clone, Copy)]
struct Boards {
    /// The squares of White's and of Black's pieces.
    sides: [u64; 2],
    /// The squares of each kind of piece.
    kinds: [u64; 6],
}

impl Boards {
    fn new(position: &Position) -> Self {
        let sides = [position.occupied(Side::White), position.occupied(Side::Black)];
        Self { sides, kinds: position.pieces_by_kind() }
    }

    /// The boards before a position, as far as known: a pawn that can be captured en passant has just moved two squares.
    fn before(position: &Position) -> Self {
        let mut boards = Self::new(position);
        if let Some(target) = position.legal_en_passant() {
            let from_and_to = 1 << (target - 8) | 1 << (target + 8);
            boards.sides[position.side_to_move().other() as usize] ^= from_and_to;
            boards.kinds[Piece::Pawn as usize] ^= from_and_to;
        }
        boards
    }
}

/// The view of an orientation on a game's positions.
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

    /// The planes of one history step, the last two for repetitions.
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

/// Mirrors the ranks of a bit board, which swaps its bytes.
fn mirror(squares: u64, mirrored: bool) -> u64 {
    if mirrored { squares.swap_bytes() } else { squares }
}
