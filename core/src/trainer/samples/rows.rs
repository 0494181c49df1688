//! Samples in memory, as a structure of arrays.

use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::ops::Range;

use crate::encoding::{Encoding, PolicyIndex};
use crate::network::Wdl;

/// Samples in order.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::trainer) struct Rows {
    binary_count: usize,
    scalar_count: usize,
    /// `[N, binary planes]`, one bit per square.
    pub(super) binary: Vec<u64>,
    /// `[N, scalar planes]`.
    pub(super) scalars: Vec<f32>,
    /// Policy indices of the legal moves of all samples with a policy target, sample by sample.
    pub(super) legal: Vec<PolicyIndex>,
    /// The target probability of each of `legal`.
    pub(super) shares: Vec<f32>,
    /// The end of each sample's moves in `legal`; `[N]`.
    pub(super) legal_ends: Vec<u64>,
    /// The value targets for the side to move, each multiplied by its weight in the loss; `[N]`.
    pub(super) wdl: Vec<Wdl>,
    /// Moves left in each sample's game, in plies; `None` if it was ended before the rules did; `[N]`.
    pub(super) plies_left: Vec<Option<u16>>,
    /// For the side to move, -1, 0 or 1: the result of perfect play where tablebases know it, else the game's; `None` if the ply cap
    /// ended that; `[N]`.
    pub(super) results: Vec<Option<i8>>,
    /// The balance of material some plies later for the side to move, in pawns; `[N]`.
    pub(super) material: Vec<i8>,
    /// Whether the next sample is the position after, with a policy target; `[N]`.
    pub(super) replied: Vec<bool>,
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// `[binary planes]`.
    pub binary: &'a [u64],
    /// `[scalar planes]`.
    pub scalars: &'a [f32],
    /// Policy indices of the legal moves; empty without a policy target.
    pub legal: &'a [PolicyIndex],
    /// Target probabilities of `legal`; they sum to 1.
    pub shares: &'a [f32],
    /// Target win, draw and loss for the side to move.
    pub wdl: Wdl,
    /// Moves left in the game, in plies; `None` if it was ended before the rules did.
    pub plies_left: Option<u16>,
    /// For the side to move, -1, 0 or 1: the result of perfect play where tablebases know it, else the game's; `None` if the ply cap
    /// ended that.
    pub result: Option<i8>,
    /// The balance of material `material_plies` later for the side to move, in pawns.
    pub material: i8,
    /// The policy target of the position after, if it has one, seen from the opponent, who moves there.
    pub reply: Option<Reply<'a>>,
}

/// The policy target of the position after a sample's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reply<'a> {
    /// Policy indices of the legal moves.
    pub legal: &'a [PolicyIndex],
    /// Target probabilities of `legal`; they sum to 1.
    pub shares: &'a [f32],
}

/// A row and what decides which others are the same sample, in the order in which they are grouped: rows with a policy target come
/// first, so that they begin the groups.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    input: [u8; 32],
    has_no_target: bool,
    legal: [u8; 32],
    row: u32,
}

impl Keyed {
    /// An encoding may hide what decides whether a move is legal, such as en passant: then the inputs are the same, but the policy
    /// targets cannot be averaged.
    fn is_same_sample(&self, next: &Self) -> bool {
        self.input == next.input && (self.legal == next.legal || next.has_no_target)
    }
}

impl Rows {
    pub(super) fn new(encoding: &Encoding) -> Self {
        Self {
            binary_count: encoding.binary_count(),
            scalar_count: encoding.scalar_count(),
            binary: Vec::new(),
            scalars: Vec::new(),
            legal: Vec::new(),
            shares: Vec::new(),
            legal_ends: Vec::new(),
            wdl: Vec::new(),
            plies_left: Vec::new(),
            results: Vec::new(),
            material: Vec::new(),
            replied: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.wdl.len()
    }

    pub(super) fn append(&mut self, other: &Self) {
        let moves = self.legal.len() as u64;
        self.binary.extend_from_slice(&other.binary);
        self.scalars.extend_from_slice(&other.scalars);
        self.legal.extend_from_slice(&other.legal);
        self.shares.extend_from_slice(&other.shares);
        self.legal_ends.extend(other.legal_ends.iter().map(|end| end + moves));
        self.wdl.extend_from_slice(&other.wdl);
        self.plies_left.extend_from_slice(&other.plies_left);
        self.results.extend_from_slice(&other.results);
        self.material.extend_from_slice(&other.material);
        self.replied.extend_from_slice(&other.replied);
    }

    pub(super) fn sample(&self, row: usize) -> Sample<'_> {
        let moves = self.moves(row);
        Sample {
            binary: &self.binary[row * self.binary_count..][..self.binary_count],
            scalars: &self.scalars[row * self.scalar_count..][..self.scalar_count],
            legal: &self.legal[moves.clone()],
            shares: &self.shares[moves],
            wdl: self.wdl[row],
            plies_left: self.plies_left[row],
            result: self.results[row],
            material: self.material[row],
            reply: self.replied[row]
                .then(|| self.moves(row + 1))
                .map(|moves| Reply { legal: &self.legal[moves.clone()], shares: &self.shares[moves] }),
        }
    }

    /// Where the moves of a sample are in `legal`.
    fn moves(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.legal_ends[row - 1] as usize };
        start..self.legal_ends[row] as usize
    }

    /// Makes one row of all that have the same input, with the means of their policy and value targets, weighted by how often each is
    /// trained on. What the other heads learn is that of the first of them with a policy target, or else of the first.
    ///
    /// `training` are numbers of rows, some of them several times; those that remain are returned, each as often as the most frequent
    /// of its rows.
    pub(super) fn merge_duplicates(&mut self, training: &[u32]) -> Vec<u32> {
        let mut copies: BTreeMap<u32, usize> = BTreeMap::new();
        for row in training {
            *copies.entry(*row).or_default() += 1;
        }
        let mut keyed: Vec<Keyed> = copies
            .keys()
            .map(|&row| Keyed {
                input: self.input_digest(row),
                has_no_target: self.moves(row as usize).is_empty(),
                legal: self.legal_digest(row),
                row,
            })
            .collect();
        keyed.sort_unstable();
        let mut remaining: Vec<(u32, usize)> = Vec::new();
        for group in keyed.chunk_by(Keyed::is_same_sample) {
            let rows: Vec<(usize, usize)> =
                group.iter().map(|keyed| (keyed.row as usize, copies[&keyed.row])).collect();
            self.average(&rows);
            remaining.push((group[0].row, rows.iter().map(|(_, copies)| *copies).max().unwrap_or(0)));
        }
        remaining.sort_unstable();
        remaining.into_iter().flat_map(|(row, copies)| repeat_n(row, copies)).collect()
    }

    fn input_digest(&self, row: u32) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let sample = self.sample(row as usize);
        hash_numbers(&mut hasher, sample.binary, |bits| bits.to_le_bytes());
        hash_numbers(&mut hasher, sample.scalars, |scalar| scalar.to_le_bytes());
        *hasher.finalize().as_bytes()
    }

    /// A digest of the legal moves in any order: the two colours list the moves of a turned board differently.
    fn legal_digest(&self, row: u32) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut legal = self.sample(row as usize).legal.to_vec();
        legal.sort_unstable();
        hash_numbers(&mut hasher, &legal, |index| index.get().to_le_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Gives the first of some rows, each with its number of copies, their mean targets.
    fn average(&mut self, rows: &[(usize, usize)]) {
        let total = |rows: &mut dyn Iterator<Item = &(usize, usize)>| {
            rows.map(|(_, copies)| *copies as f32).sum::<f32>()
        };
        let (first, all) = (rows[0].0, total(&mut rows.iter()));
        let sum = |part: fn(Wdl) -> f32| {
            rows.iter().map(|(row, copies)| *copies as f32 * part(self.wdl[*row])).sum::<f32>() / all
        };
        self.wdl[first] =
            Wdl { win: sum(|wdl| wdl.win), draw: sum(|wdl| wdl.draw), loss: sum(|wdl| wdl.loss) };
        let mut shares: BTreeMap<PolicyIndex, f32> = BTreeMap::new();
        let with_target = || rows.iter().filter(|(row, _)| !self.moves(*row).is_empty());
        let all = total(&mut with_target());
        for (row, copies) in with_target() {
            let sample = self.sample(*row);
            for (index, share) in sample.legal.iter().zip(sample.shares) {
                *shares.entry(*index).or_default() += *copies as f32 * share / all;
            }
        }
        for at in self.moves(first) {
            self.shares[at] = shares[&self.legal[at]];
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.binary)
            + size_of_val(&*self.scalars)
            + size_of_val(&*self.legal)
            + size_of_val(&*self.shares)
            + size_of_val(&*self.legal_ends)
            + size_of_val(&*self.wdl)
            + size_of_val(&*self.plies_left)
            + size_of_val(&*self.results)
            + size_of_val(&*self.material)
            + size_of_val(&*self.replied)
    }

    /// Feeds every array to a hasher.
    pub(super) fn hash(&self, hasher: &mut blake3::Hasher) {
        hash_numbers(hasher, &self.binary, |bits| bits.to_le_bytes());
        hash_numbers(hasher, &self.scalars, |scalar| scalar.to_le_bytes());
        hash_numbers(hasher, &self.legal, |index| index.get().to_le_bytes());
        hash_numbers(hasher, &self.shares, |share| share.to_le_bytes());
        hash_numbers(hasher, &self.legal_ends, |end| end.to_le_bytes());
        hash_numbers(hasher, &self.wdl, |wdl| {
            let halves = [wdl.win.to_bits(), wdl.loss.to_bits()].map(u128::from);
            (halves[0] << 64 | halves[1] << 32 | u128::from(wdl.draw.to_bits())).to_le_bytes()
        });
        hash_numbers(hasher, &self.plies_left, |plies| plies.map_or(-1, i32::from).to_le_bytes());
        hash_numbers(hasher, &self.results, |result| result.unwrap_or(i8::MAX).to_le_bytes());
        hash_numbers(hasher, &self.material, |pawns| pawns.to_le_bytes());
        hash_numbers(hasher, &self.replied, |is_replied| [u8::from(*is_replied)]);
    }
}

/// Feeds the length and the numbers of an array to a hasher, in chunks.
pub(in crate::trainer) fn hash_numbers<T, const N: usize>(
    hasher: &mut blake3::Hasher,
    numbers: &[T],
    bytes: impl Fn(&T) -> [u8; N],
) {
    hasher.update(&(numbers.len() as u64).to_le_bytes());
    let mut buffer = Vec::with_capacity(4096 * N);
    for chunk in numbers.chunks(4096) {
        buffer.clear();
        buffer.extend(chunk.iter().flat_map(&bytes));
        hasher.update(&buffer);
    }
}
