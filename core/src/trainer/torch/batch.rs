//! Samples as tensors.

use tch::{Device, TchError, Tensor};

use crate::encoding::{Encoding, PlaneKind, PolicyIndex};
use crate::trainer::samples::Sample;

/// A sample as it is trained on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    sample: Sample<'a>,
    /// Whether its files are reversed.
    is_mirrored: bool,
}

impl<'a> Row<'a> {
    /// A sample as it was played.
    pub(super) fn played(sample: Sample<'a>) -> Self {
        Self { sample, is_mirrored: false }
    }

    /// The mirror image of a sample; the sample itself if it has none.
    pub(super) fn mirrored(sample: Sample<'a>, encoding: &Encoding) -> Self {
        Self { sample, is_mirrored: encoding.can_mirror(sample.binary) }
    }

    /// What reverses the file of a square; cheaper than mirroring whole planes, few of whose bits are set.
    fn flip(self) -> usize {
        if self.is_mirrored { 7 } else { 0 }
    }

    fn index(self, index: PolicyIndex) -> PolicyIndex {
        if self.is_mirrored { index.mirrored() } else { index }
    }
}

/// One batch on the device; `L` is the largest number of legal moves of its samples.
#[derive(Debug)]
pub(super) struct TrainingBatch {
    /// `[B, P, 8, 8]`, channels last in memory.
    pub(super) planes: Tensor,
    /// `[B, L]`: policy indices of the legal moves, padded with zeros.
    pub(super) legal: Tensor,
    /// `[B, L]`: true where `legal` is padding.
    pub(super) padding: Tensor,
    /// `[B, L]`: target probabilities of `legal`; a row without a policy target is all 0.
    pub(super) shares: Tensor,
    /// `[B, 3]`: target win, draw and loss, multiplied by the row's weight.
    pub(super) wdl: Tensor,
    /// `[B]`: moves left in the game, in plies; 0 if the ply cap ended it.
    pub(super) plies_left: Tensor,
    /// `[B]`: 1 if the game was played to its end, else 0.
    pub(super) ended: Tensor,
    /// `B`.
    pub(super) rows: usize,
    /// Rows with a policy target.
    pub(super) policy_rows: usize,
    /// Rows of games that were played to their end.
    pub(super) ended_rows: usize,
    /// Sum of the policy targets' entropies, in nats.
    pub(super) policy_entropy: f64,
}

impl TrainingBatch {
    /// Copies samples to a device.
    pub(super) fn new(batch: &[Row<'_>], encoding: &Encoding, device: Device) -> Result<Self, TchError> {
        let rows = batch.len() as i64;
        let samples = || batch.iter().map(|row| row.sample);
        let moves = samples().map(|sample| sample.legal.len()).max().unwrap_or(0).max(1);
        let tensors = PolicyColumns::new(batch, moves);
        let shape = [rows, moves as i64];
        let wdl: Vec<f32> = samples().flat_map(|s| [s.wdl.win, s.wdl.draw, s.wdl.loss]).collect();
        let plies_left = |sample: Sample<'_>| sample.plies_left.map_or(0.0, f32::from);
        let plies_left: Vec<f32> = samples().map(plies_left).collect();
        let ended: Vec<f32> = samples().map(|s| f32::from(u8::from(s.plies_left.is_some()))).collect();
        Ok(Self {
            planes: planes(batch, encoding)?.f_to_device(device)?,
            legal: Tensor::f_from_slice(&tensors.legal)?.f_reshape(shape)?.f_to_device(device)?,
            padding: Tensor::f_from_slice(&tensors.padding)?.f_reshape(shape)?.f_to_device(device)?,
            shares: Tensor::f_from_slice(&tensors.shares)?.f_reshape(shape)?.f_to_device(device)?,
            wdl: Tensor::f_from_slice(&wdl)?.f_reshape([rows, 3])?.f_to_device(device)?,
            plies_left: Tensor::f_from_slice(&plies_left)?.f_to_device(device)?,
            ended: Tensor::f_from_slice(&ended)?.f_to_device(device)?,
            rows: batch.len(),
            ended_rows: samples().filter(|sample| sample.plies_left.is_some()).count(),
            policy_rows: samples().filter(|sample| !sample.legal.is_empty()).count(),
            policy_entropy: samples().map(|sample| entropy(sample.shares)).sum(),
        })
    }
}

/// Expands bits and numbers to `[B, P, 8, 8]`.
///
/// Each square's planes are contiguous, as libtorch's channels-last convolutions expect; the axes are then permuted as a view.
fn planes(batch: &[Row<'_>], encoding: &Encoding) -> Result<Tensor, TchError> {
    let count = encoding.planes().len();
    let mut values = vec![0.0f32; batch.len() * 64 * count];
    for (row, squares) in batch.iter().zip(values.chunks_exact_mut(64 * count)) {
        let (mut binary, mut scalars) = (row.sample.binary.iter(), row.sample.scalars.iter());
        let flip = row.flip();
        for (plane, kind) in encoding.planes().iter().map(|plane| plane.kind()).enumerate() {
            match kind {
                PlaneKind::Binary => binary.next().into_iter().for_each(|&bits| {
                    for_each_bit(bits, |square| squares[(square ^ flip) * count + plane] = 1.0);
                }),
                PlaneKind::Scalar => scalars.next().into_iter().for_each(|&scalar| {
                    squares.iter_mut().skip(plane).step_by(count).for_each(|value| *value = scalar);
                }),
            }
        }
    }
    let shape = [batch.len() as i64, 8, 8, count as i64];
    Tensor::f_from_slice(&values)?.f_reshape(shape)?.f_permute([0, 3, 1, 2])
}

fn for_each_bit(mut bits: u64, mut act: impl FnMut(usize)) {
    while bits != 0 {
        act(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// The policy targets, every row padded to the same number of moves.
struct PolicyColumns {
    legal: Vec<i64>,
    padding: Vec<bool>,
    shares: Vec<f32>,
}

impl PolicyColumns {
    fn new(batch: &[Row<'_>], moves: usize) -> Self {
        let size = batch.len() * moves;
        let mut columns = Self { legal: vec![0; size], padding: vec![true; size], shares: vec![0.0; size] };
        for (number, row) in batch.iter().enumerate() {
            let filled = number * moves..number * moves + row.sample.legal.len();
            for (to, index) in columns.legal[filled.clone()].iter_mut().zip(row.sample.legal) {
                *to = row.index(*index).get().into();
            }
            columns.padding[filled.clone()].fill(false);
            columns.shares[filled].copy_from_slice(row.sample.shares);
        }
        columns
    }
}

/// −Σ p ln p, where 0 ln 0 = 0.
fn entropy(shares: &[f32]) -> f64 {
    shares.iter().map(|&share| f64::from(share)).filter(|&share| share > 0.0).map(|p| -p * p.ln()).sum()
}
