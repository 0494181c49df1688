//! A move as 16 bits, and its UCI text.

/// The piece that a pawn promotes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Promotion {
    /// A knight.
    Knight = 1,
    /// A bishop.
    Bishop = 2,
    /// A rook.
    Rook = 3,
    /// A queen.
    Queen = 4,
}

impl Promotion {
    fn from_code(code: u16) -> Option<Self> {
        match code {
            1 => Some(Self::Knight),
            2 => Some(Self::Bishop),
            3 => Some(Self::Rook),
            4 => Some(Self::Queen),
            _ => None,
        }
    }

    fn letter(self) -> char {
        ['n', 'b', 'r', 'q'][self as usize - 1]
    }

    pub(super) fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'n' => Some(Self::Knight),
            b'b' => Some(Self::Bishop),
            b'r' => Some(Self::Rook),
            b'q' => Some(Self::Queen),
            _ => None,
        }
    }
}

/// A move, packed as `from + 64·to + 4096·promotion` (a1 = 0, h8 = 63; promotion 0 none, 1 N, 2 B, 3 R, 4 Q).
///
/// Castling is the king's move of two squares; a castling that only Chess960 has is the king's move to its rook's square. The stored
/// tables use this packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Move(u16);

impl Move {
    /// A move between two squares in 0..64.
    pub fn new(from: u8, to: u8, promotion: Option<Promotion>) -> Self {
        debug_assert!(from < 64 && to < 64, "squares lie in 0..64");
        Self(u16::from(from) | u16::from(to) << 6 | promotion.map_or(0, |p| p as u16) << 12)
    }

    /// The packed form.
    pub fn packed(self) -> u16 {
        self.0
    }

    /// From the packed form; `None` if its promotion code is not known.
    pub fn from_packed(packed: u16) -> Option<Self> {
        (packed >> 12 <= 4).then_some(Self(packed))
    }

    /// The square moved from, 0..64.
    pub fn from(self) -> u8 {
        (self.0 & 63) as u8
    }

    /// The square moved to, 0..64.
    pub fn to(self) -> u8 {
        (self.0 >> 6 & 63) as u8
    }

    /// Both squares as one number in 0..4096: `from + 64·to`.
    pub fn squares(self) -> u16 {
        self.0 & 0xfff
    }

    /// The piece that a pawn promotes to, if this is a promotion.
    pub fn promotion(self) -> Option<Promotion> {
        Promotion::from_code(self.0 >> 12)
    }

    /// Parses UCI text such as `e2e4` or `a7a8q`, without checking legality.
    pub fn from_uci(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let square = |start: usize| {
            let (file, rank) = (*bytes.get(start)?, *bytes.get(start + 1)?);
            let on_board = (b'a'..=b'h').contains(&file) && (b'1'..=b'8').contains(&rank);
            on_board.then(|| file - b'a' + 8 * (rank - b'1'))
        };
        let promotion = match bytes.len() {
            4 => None,
            5 => Some(Promotion::from_letter(bytes[4])?),
            _ => return None,
        };
        Some(Self::new(square(0)?, square(2)?, promotion))
    }
}

impl std::fmt::Display for Move {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |square: u8| (char::from(b'a' + square % 8), char::from(b'1' + square / 8));
        let ((from_file, from_rank), (to_file, to_rank)) = (name(self.from()), name(self.to()));
        write!(f, "{from_file}{from_rank}{to_file}{to_rank}")?;
        self.promotion().map_or(Ok(()), |promotion| write!(f, "{}", promotion.letter()))
    }
}
