//! What the own king's square decides in the first layer of an nnue: which weights it uses, and whether it sees the board mirrored.
//!
//! Each side sees the board from its own side, and decides by its own king. Stockfish's inputs `HalfKAv2_hm` have both
//! (`src/nnue/features/half_ka_v2_hm.h`), as has `ChessBucketsMirrored` of bullet, a trainer of such nets.

#![allow(
    clippy::inline_always,
    reason = "part of an evaluation, which is one function for each set of instructions"
)]

use std::array::from_fn;

/// The squares that a king may stand on: all, or files a to d where the board is mirrored.
const ALL: usize = 64;
const LEFT_HALF: usize = 32;

/// The bucket of each square of the own king, and whether the board is mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KingBuckets {
    /// By the king's square as its side sees it, before the board is mirrored.
    buckets: [u8; ALL],
    count: usize,
    is_mirrored: bool,
}

impl KingBuckets {
    /// From the parameters of a net in which [`problem`] finds none: 64 buckets, 32 for files a to d if the board is mirrored, or none
    /// at all for one bucket.
    pub fn new(buckets: &[u32], is_mirrored: bool) -> Self {
        let buckets = from_fn(|square| {
            let (rank, file) = (square / 8, square % 8);
            let index = if is_mirrored { 4 * rank + file.min(7 - file) } else { square };
            buckets.get(index).map_or(0, |bucket| *bucket as u8)
        });
        let count = 1 + usize::from(buckets.into_iter().max().unwrap_or(0));
        Self { buckets, count, is_mirrored }
    }

    /// How many buckets there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the king's square decides nothing.
    pub fn is_plain(&self) -> bool {
        self.count == 1 && !self.is_mirrored
    }

    /// Whether the board is mirrored for some squares of the king.
    pub fn is_mirrored(&self) -> bool {
        self.is_mirrored
    }

    /// The bucket of each square of the own king, as its side sees it.
    pub fn buckets(&self) -> &[u8; ALL] {
        &self.buckets
    }

    /// The bucket for a king's square as its side sees it.
    #[inline(always)]
    pub fn bucket(&self, king: usize) -> usize {
        usize::from(self.buckets[king % ALL])
    }

    /// What reverses the files of a square's number, by `^`, if the board is mirrored for this king; else 0.
    #[inline(always)]
    pub fn flip(&self, king: usize) -> usize {
        if self.is_mirrored && is_on_the_right(king) { 7 } else { 0 }
    }

    /// Whether the same inputs have the same weights for two squares of the king.
    #[inline(always)]
    pub fn are_alike(&self, one: usize, other: usize) -> bool {
        self.bucket(one) == self.bucket(other) && self.flip(one) == self.flip(other)
    }

    /// For each bucket, the one of other buckets that it is part of.
    ///
    /// # Errors
    /// Two squares that would come into one bucket, though they are in different ones, by name.
    pub(super) fn parts_of(&self, other: &Self) -> Result<Vec<usize>, [String; 2]> {
        let squares = |bucket: usize| (0..ALL).filter(move |square| self.bucket(*square) == bucket);
        let part = |bucket: usize| {
            let first = squares(bucket).next().unwrap_or(0);
            match squares(bucket).find(|square| other.bucket(*square) != other.bucket(first)) {
                Some(square) => Err([first, square].map(name)),
                None => Ok(other.bucket(first)),
            }
        };
        (0..self.count).map(part).collect()
    }
}

/// Whether a king stands on files e to h.
#[inline(always)]
pub fn is_on_the_right(king: usize) -> bool {
    king & 4 != 0
}

/// The squares of the king of the side to move and of its opponent's, each as its own side sees it, from the twelve planes of pieces.
#[inline(always)]
pub fn king_squares(pieces: &[u64; 12]) -> [usize; 2] {
    let square = |plane: usize| pieces[plane].trailing_zeros() as usize % ALL;
    [square(5), square(11) ^ 56]
}

fn name(square: usize) -> String {
    format!("{}{}", char::from(b'a' + (square % 8) as u8), square / 8 + 1)
}

/// What is wrong with the buckets of a net, if anything.
pub(super) fn problem(buckets: &[u32], is_mirrored: bool) -> Option<String> {
    if buckets.is_empty() {
        return None;
    }
    let squares = if is_mirrored { LEFT_HALF } else { ALL };
    if buckets.len() != squares {
        let (of, about) = match (is_mirrored, buckets.len()) {
            (true, ALL) => ("of files a to d", "; on files e to h the king of a mirrored net has the same"),
            (true, _) => ("of files a to d", ""),
            (false, LEFT_HALF) => ("", "; as many are for a net with `mirrored: true`"),
            (false, _) => ("", ""),
        };
        let found = buckets.len();
        let square = format!("square {of}").trim_end().to_owned();
        return Some(format!(
            "expected {squares} numbers, one for each {square}, rank by rank from a1, got {found}{about}"
        ));
    }
    let largest = buckets.iter().copied().max().unwrap_or(0);
    if largest == 0 {
        return Some("all squares are in bucket 0; leave it out for one bucket".to_owned());
    }
    let empty = (0..largest).find(|bucket| !buckets.contains(bucket))?;
    Some(format!(
        "no square is in bucket {empty}, but one is in {largest}; number buckets from 0 without gaps"
    ))
}

#[cfg(test)]
mod tests {
    use super::{KingBuckets, king_squares, problem};
    use crate::network::Batch;
    use crate::network::samples::{encoding, random_game};

    /// Two buckets for each rank: the corner's two files, and the middle.
    fn halves(ranks: u32) -> Vec<u32> {
        (0..ranks).flat_map(|rank| [0, 0, 1, 1].map(|half| 2 * rank + half)).collect()
    }

    #[test]
    fn mirrored_squares_share_their_bucket_and_are_flipped_on_the_right() {
        let kings = KingBuckets::new(&halves(8), true);
        assert_eq!((kings.count(), kings.is_plain()), (16, false));
        for square in 0..64 {
            let (rank, file) = (square / 8, square % 8);
            assert_eq!(kings.bucket(square), 2 * rank + usize::from((2..6).contains(&file)));
            assert_eq!(kings.bucket(square), kings.bucket(square ^ 7));
            assert_eq!(kings.flip(square), if file > 3 { 7 } else { 0 });
            assert!(kings.are_alike(square, square) && !kings.are_alike(square, square ^ 7));
        }
        let all: Vec<u32> = (0..64).collect();
        let kings = KingBuckets::new(&all, false);
        assert!((0..64).all(|square| kings.bucket(square) == square && kings.flip(square) == 0));
        assert!(KingBuckets::new(&[], false).is_plain() && !KingBuckets::new(&[], true).is_plain());
    }

    #[test]
    fn kings_are_seen_from_their_own_sides() {
        let mut batch = Batch::default();
        batch.push(&encoding(), &random_game(0));
        let pieces = batch.binary.first_chunk().expect("twelve planes");
        assert_eq!(king_squares(pieces), [4, 4], "both on e1 as they see it");
    }

    #[test]
    fn layouts_that_are_none_are_refused() {
        assert_eq!(problem(&[], true), None);
        assert_eq!(problem(&halves(8), true), None);
        let refused = |buckets: &[u32], is_mirrored| problem(buckets, is_mirrored).expect("no layout");
        assert_eq!(
            refused(&halves(8), false),
            "expected 64 numbers, one for each square, rank by rank from a1, got 32; as many are for a net with `mirrored: true`"
        );
        let halved = refused(&halves(16), true);
        assert!(
            halved.contains("32 numbers, one for each square of files a to d, rank by rank from a1, got 64;")
        );
        assert!(refused(&[0, 1], true).ends_with("got 2") && refused(&[0, 1], false).ends_with("got 2"));
        assert!(refused(&[0; 32], true).contains("all squares are in bucket 0"));
        let mut gap = halves(8);
        gap[2..4].fill(15);
        assert!(refused(&gap, true).contains("no square is in bucket 1, but one is in 15"));
    }

    #[test]
    fn finer_buckets_are_parts_of_coarser_ones() {
        let rows: Vec<u32> = (0..32).map(|index| index / 16).collect();
        let [coarse, fine] = [&rows, &halves(8)].map(|buckets| KingBuckets::new(buckets, true));
        let parts: Vec<usize> = (0..16).map(|bucket| bucket / 8).collect();
        assert_eq!(fine.parts_of(&coarse), Ok(parts));
        assert_eq!(coarse.parts_of(&fine), Err(["a1", "c1"].map(str::to_owned)));
        assert_eq!(fine.parts_of(&KingBuckets::new(&[], true)), Ok(vec![0; 16]));
    }
}
