//! Samples as tensors.

use tch::kind::Element;
use tch::{Device, Kind, TchError, Tensor};

use crate::encoding::{Encoding, Orientation, PlaneKind, PolicyIndex, mirrored};
use crate::network::graph::{mirrored_move_sources, move_sources, seen_from_the_other_side};
use crate::network::king_buckets::{is_on_the_right, king_squares};
use crate::network::threats::threats;
use crate::network::torch::{Expansion, NetInput, Pieces, send};
use crate::network::{NetworkSpec, NnueInputs, Tower};
use crate::trainer::samples::{Reply, Sample};

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

    /// The pieces of an nnue's position, before the files are reversed.
    fn pieces(self) -> &'a [u64; 12] {
        self.sample.binary.first_chunk().expect("an nnue's encoding begins with the pieces")
    }

    /// The squares of the kings of the side to move and of its opponent, each as its own side sees it.
    fn kings(self) -> [usize; 2] {
        king_squares(self.pieces()).map(|square| square ^ self.flip())
    }
}

/// A side of a position.
#[derive(Debug, Clone, Copy)]
enum Viewer {
    ToMove = 0,
    Opponent = 1,
}

/// What batches are made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSetup<'a> {
    /// The encoding of the samples.
    pub(super) encoding: &'a Encoding,
    /// What an nnue needs; other nets read planes and predict all 4672 indices.
    pub(super) nnue: Option<&'a NnueSetup>,
    /// Whether the net predicts the opponent's next move.
    pub(super) has_reply_head: bool,
    /// What expands planes on a device; on the CPU they are written as they are read.
    pub(super) expansion: Option<&'a Expansion>,
    /// Where the batches go.
    pub(super) device: Device,
}

/// What batches for an nnue are made with.
#[derive(Debug)]
pub(super) struct NnueSetup {
    /// The number of each policy index among the moves that the net predicts.
    columns: Vec<i64>,
    /// The number of the mirrored move, if the net is mirrored.
    mirrored_columns: Option<Vec<i64>>,
    /// What the layer that reads most reads.
    inputs: NnueInputs,
    /// Whether any layer has king buckets.
    has_buckets: bool,
}

impl NnueSetup {
    /// `None` for other nets.
    pub(super) fn new(spec: &NetworkSpec) -> Option<Self> {
        let reads_threats =
            [Some(spec.tower.inputs), spec.policy_head.inputs].contains(&Some(NnueInputs::Threats));
        let inputs = if reads_threats { NnueInputs::Threats } else { NnueInputs::Pieces };
        (spec.tower.kind == Tower::Nnue).then(|| Self {
            columns: move_sources(),
            mirrored_columns: spec.tower.mirrored.then(mirrored_move_sources),
            inputs,
            has_buckets: [spec.king_buckets(), spec.policy_king_buckets()]
                .iter()
                .any(|kings| kings.count() > 1),
        })
    }

    /// What reverses the files of a square, for a side whose king stands on one.
    fn flip(&self, king: usize) -> usize {
        if self.mirrored_columns.is_some() && is_on_the_right(king) { 7 } else { 0 }
    }

    /// The net's output for a move of a side, as the side sees it.
    fn column(&self, row: Row<'_>, side: Viewer, index: PolicyIndex) -> i64 {
        let columns = match &self.mirrored_columns {
            Some(mirrored) if is_on_the_right(row.kings()[side as usize]) => mirrored,
            _ => &self.columns,
        };
        columns[usize::from(index.get())]
    }
}

impl BatchSetup<'_> {
    fn reply(self, row: Row<'_>) -> (&[PolicyIndex], &[f32]) {
        let reply = row.sample.reply.filter(|_| self.has_reply_head);
        reply.map_or((&[], &[]), |Reply { legal, shares }| (legal, shares))
    }

    /// The index of an opponent's move as the net predicts it: in the input's view of the board; by an nnue, which only knows moves of
    /// the side at the bottom, in the opponent's.
    fn seen_from_here(self, index: PolicyIndex) -> PolicyIndex {
        match self.encoding.orientation() {
            Orientation::SideToMove if self.nnue.is_none() => index.flipped(),
            Orientation::SideToMove | Orientation::Absolute => index,
        }
    }

    /// The net's output for a policy index of a side's move.
    fn column(self, row: Row<'_>, side: Viewer, index: PolicyIndex) -> i64 {
        let index = row.index(index);
        self.nnue.map_or(index.get().into(), |nnue| nnue.column(row, side, index))
    }

    fn input(self, batch: &[Row<'_>]) -> Result<NetInput, TchError> {
        Ok(match self.nnue {
            None => NetInput::Planes(match self.expansion {
                None => send(&planes(batch, self.encoding)?, self.device)?,
                Some(expansion) => expanded(batch, expansion, self.device)?,
            }),
            Some(nnue) => NetInput::Pieces(pieces(batch, nnue, self.device)?),
        })
    }
}

/// One batch on the device; `L` is the largest number of legal moves of its samples.
#[derive(Debug)]
pub struct TrainingBatch {
    /// The positions; planes are channels last in memory.
    pub(super) input: NetInput,
    /// `[B, L]`: the net's outputs for the legal moves, padded with zeros.
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
    /// `[B, 3]`: 1 for the result, else 0; all 0 without one.
    pub(super) result: Tensor,
    /// `[B]`: the later balance of material for the side to move, in pawns.
    pub(super) material: Tensor,
    /// `[B, R]`: the net's outputs for the opponent's legal moves, padded with zeros.
    pub(super) replies: Tensor,
    /// `[B, R]`: target probabilities of `replies`; a row without a reply is all 0.
    pub(super) reply_shares: Tensor,
    /// `B`.
    pub(super) rows: usize,
    /// Rows with a policy target.
    pub(super) policy_rows: usize,
    /// Rows with a result.
    pub(super) result_rows: usize,
    /// Rows whose next position has a policy target, if the net predicts it.
    pub(super) reply_rows: usize,
    /// Rows of games that were played to their end.
    pub(super) ended_rows: usize,
    /// Sum of the rows' weights in the value's loss.
    pub(super) value_weight: f64,
    /// Sum of the policy targets' entropies, in nats.
    pub(super) policy_entropy: f64,
}

impl TrainingBatch {
    /// Copies samples to a device.
    pub(super) fn new(batch: &[Row<'_>], setup: BatchSetup<'_>) -> Result<Self, TchError> {
        let rows = batch.len() as i64;
        let samples = || batch.iter().map(|row| row.sample);
        let own = |row: Row<'_>, index| setup.column(row, Viewer::ToMove, index);
        let reply = |row: Row<'_>, index| setup.column(row, Viewer::Opponent, setup.seen_from_here(index));
        let policy = PolicyColumns::new(batch, |row| (row.sample.legal, row.sample.shares), own);
        let replies = PolicyColumns::new(batch, |row| setup.reply(row), reply);
        let wdl: Vec<f32> = samples().flat_map(|s| [s.wdl.win, s.wdl.draw, s.wdl.loss]).collect();
        let plies_left = |sample: Sample<'_>| sample.plies_left.map_or(0.0, f32::from);
        let plies_left: Vec<f32> = samples().map(plies_left).collect();
        let ended: Vec<f32> = samples().map(|s| f32::from(u8::from(s.plies_left.is_some()))).collect();
        let is_result =
            |sample: Sample<'_>| [1, 0, -1].map(|result| f32::from(u8::from(sample.result == Some(result))));
        let result: Vec<f32> = samples().flat_map(is_result).collect();
        let material: Vec<f32> = samples().map(|sample| f32::from(sample.material)).collect();
        let send = |tensor: Tensor| send(&tensor, setup.device);
        Ok(Self {
            input: setup.input(batch)?,
            legal: send(policy.tensor(&policy.legal)?)?,
            padding: send(policy.tensor(&policy.padding)?)?,
            shares: send(policy.tensor(&policy.shares)?)?,
            wdl: send(Tensor::f_from_slice(&wdl)?.f_reshape([rows, 3])?)?,
            plies_left: send(Tensor::f_from_slice(&plies_left)?)?,
            ended: send(Tensor::f_from_slice(&ended)?)?,
            result: send(Tensor::f_from_slice(&result)?.f_reshape([rows, 3])?)?,
            material: send(Tensor::f_from_slice(&material)?)?,
            replies: send(replies.tensor(&replies.legal)?)?,
            reply_shares: send(replies.tensor(&replies.shares)?)?,
            rows: batch.len(),
            result_rows: samples().filter(|sample| sample.result.is_some()).count(),
            ended_rows: samples().filter(|sample| sample.plies_left.is_some()).count(),
            value_weight: wdl.iter().copied().map(f64::from).sum(),
            policy_rows: samples().filter(|sample| !sample.legal.is_empty()).count(),
            reply_rows: batch.iter().filter(|row| !setup.reply(**row).0.is_empty()).count(),
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

/// As [`planes`], but expanded on the device, to which bits are sent instead of floats.
fn expanded(batch: &[Row<'_>], expansion: &Expansion, device: Device) -> Result<Tensor, TchError> {
    let seen = |row: &Row<'_>, bits: u64| if row.is_mirrored { mirrored(bits) } else { bits };
    let packed: Vec<i64> = batch
        .iter()
        .flat_map(|row| row.sample.binary.iter().map(|&bits| seen(row, bits).cast_signed()))
        .collect();
    let scalars: Vec<f32> = batch.iter().flat_map(|row| row.sample.scalars).copied().collect();
    let [packed, scalars] = [Tensor::f_from_slice(&packed)?, Tensor::f_from_slice(&scalars)?];
    let (packed, scalars) = (send(&packed, device)?, send(&scalars, device)?);
    let planes = expansion.run(&packed, &scalars, batch.len(), Kind::Float)?;
    planes.f_reshape([batch.len() as i64, 8, 8, -1])?.f_permute([0, 3, 1, 2])
}

/// The pieces of positions: 32 at most in each, of the 12 planes that every encoding of an nnue begins with.
fn pieces(batch: &[Row<'_>], nnue: &NnueSetup, device: Device) -> Result<Pieces, TchError> {
    let size = 32 * batch.len();
    let (mut own, mut other) = (Vec::with_capacity(2 * size), Vec::with_capacity(size));
    let (mut own_kings, mut other_kings) = (Vec::new(), Vec::new());
    let mut starts = Vec::with_capacity(2 * batch.len());
    for row in batch {
        starts.push(own.len() as i64);
        let kings = row.kings();
        let [own_flip, other_flip] = kings.map(|king| nnue.flip(king));
        let flip = row.flip();
        let mut add = |planes: &[u64]| {
            for (plane, &bits) in planes.iter().enumerate() {
                for_each_bit(bits, |square| {
                    let input = plane * 64 + (square ^ flip);
                    own.push((input ^ own_flip) as i64);
                    other.push((seen_from_the_other_side(input) ^ other_flip) as i64);
                });
            }
        };
        match nnue.inputs {
            NnueInputs::Pieces => add(row.pieces()),
            NnueInputs::Threats => add(&threats(row.pieces())),
        }
        if nnue.has_buckets {
            own_kings.resize(own.len(), kings[0] as i64);
            other_kings.resize(own.len(), kings[1] as i64);
        }
    }
    let count = own.len() as i64;
    starts.extend_from_within(..);
    starts[batch.len()..].iter_mut().for_each(|start| *start += count);
    own.append(&mut other);
    own_kings.append(&mut other_kings);
    let send = |numbers: &[i64]| send(&Tensor::f_from_slice(numbers)?, device);
    let kings = nnue.has_buckets.then(|| send(&own_kings)).transpose()?;
    Ok(Pieces { squares: send(&own)?, starts: send(&starts)?, kings, kind: Kind::Float })
}

fn for_each_bit(mut bits: u64, mut act: impl FnMut(usize)) {
    while bits != 0 {
        act(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// Policy targets, every row padded to the same number of moves.
struct PolicyColumns {
    /// Rows.
    rows: usize,
    /// Moves of a row.
    moves: usize,
    legal: Vec<i64>,
    padding: Vec<bool>,
    shares: Vec<f32>,
}

impl PolicyColumns {
    /// `target` gives the moves and shares of a row, `column` the net's output for an index.
    fn new<'a>(
        batch: &[Row<'a>],
        target: impl Fn(Row<'a>) -> (&'a [PolicyIndex], &'a [f32]),
        column: impl Fn(Row<'_>, PolicyIndex) -> i64,
    ) -> Self {
        let moves = batch.iter().map(|row| target(*row).0.len()).max().unwrap_or(0).max(1);
        let (rows, size) = (batch.len(), batch.len() * moves);
        let mut columns =
            Self { rows, moves, legal: vec![0; size], padding: vec![true; size], shares: vec![0.0; size] };
        for (number, row) in batch.iter().enumerate() {
            let (legal, shares) = target(*row);
            let filled = number * moves..number * moves + legal.len();
            for (to, index) in columns.legal[filled.clone()].iter_mut().zip(legal) {
                *to = column(*row, *index);
            }
            columns.padding[filled.clone()].fill(false);
            columns.shares[filled].copy_from_slice(shares);
        }
        columns
    }

    /// `[rows, moves]` of one of its columns.
    fn tensor<T: Element>(&self, column: &[T]) -> Result<Tensor, TchError> {
        Tensor::f_from_slice(column)?.f_reshape([self.rows as i64, self.moves as i64])
    }
}

/// −Σ p ln p, where 0 ln 0 = 0.
fn entropy(shares: &[f32]) -> f64 {
    shares.iter().map(|&share| f64::from(share)).filter(|&share| share > 0.0).map(|p| -p * p.ln()).sum()
}
