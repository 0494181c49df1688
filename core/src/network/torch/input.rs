//! Encoded positions as floats on the device: `[B, 64, P]`, so that a square's planes lie together (channels last).

use half::bf16;
use tch::{Device, Kind, TchError, Tensor};

use crate::encoding::{Encoding, PlaneKind};
use crate::network::Batch;

/// Expands batches; keeps its memory between them.
#[derive(Debug)]
pub(super) struct Input {
    planes: Vec<PlaneKind>,
    floats: Vec<[u8; 4]>,
    halves: Vec<[u8; 2]>,
    tables: DeviceTables,
}

/// What the expansion on a device needs there.
#[derive(Debug)]
struct DeviceTables {
    /// 0..64 as `[1, 64, 1]`.
    squares: Tensor,
    /// `[P]`: where each plane lies among all binary planes followed by all scalar ones.
    order: Tensor,
}

impl Input {
    pub(super) fn new(encoding: &Encoding, device: Device) -> Result<Self, TchError> {
        let planes: Vec<PlaneKind> = encoding.planes().iter().map(|plane| plane.kind()).collect();
        let tables = DeviceTables {
            squares: Tensor::f_arange(64, (Kind::Int64, device))?.f_reshape([1, 64, 1])?,
            order: Tensor::f_from_slice(&stored_order(&planes))?.f_to_device(device)?,
        };
        Ok(Self { planes, floats: Vec::new(), halves: Vec::new(), tables })
    }

    /// `[B, 64, P]` on the CPU, straight in the order and the kind that the net reads.
    pub(super) fn expand_here(&mut self, batch: &Batch, kind: Kind) -> Result<Tensor, TchError> {
        let shape = [batch.len() as i64, 64, self.planes.len() as i64];
        if kind == Kind::BFloat16 {
            fill(&self.planes, batch, &mut self.halves, |value| bf16::from_f32(value).to_ne_bytes());
            Tensor::f_from_data_size(self.halves.as_flattened(), &shape, kind)
        } else {
            fill(&self.planes, batch, &mut self.floats, f32::to_ne_bytes);
            Tensor::f_from_data_size(self.floats.as_flattened(), &shape, Kind::Float)
        }
    }

    /// `[B, 64, P]` on a device: bits and scalars go over the bus, and become floats there.
    pub(super) fn expand_there(&self, batch: &Batch, kind: Kind, device: Device) -> Result<Tensor, TchError> {
        let rows = batch.len() as i64;
        // Squares are bits of an i64 too: the arithmetic shift repeats the sign, and the mask removes the copies.
        let packed: Vec<i64> = batch.binary.iter().map(|squares| squares.cast_signed()).collect();
        let packed = Tensor::f_from_slice(&packed)?.f_to_device(device)?.f_reshape([rows, 1, -1])?;
        let bits = packed.f_bitwise_right_shift(&self.tables.squares)?.f_bitwise_and(1)?.f_to_kind(kind)?;
        let scalars = Tensor::f_from_slice(&batch.scalars)?.f_to_device(device)?.f_to_kind(kind)?;
        let scalars = scalars.f_reshape([rows, 1, -1])?.f_expand([-1, 64, -1], false)?;
        Tensor::f_cat(&[bits, scalars], 2)?.f_index_select(2, &self.tables.order)
    }
}

fn stored_order(planes: &[PlaneKind]) -> Vec<i64> {
    let binary_count = planes.iter().filter(|kind| **kind == PlaneKind::Binary).count() as i64;
    let (mut binary, mut scalar) = (0, binary_count);
    let next = |kind: &PlaneKind| {
        let counter = if *kind == PlaneKind::Binary { &mut binary } else { &mut scalar };
        *counter += 1;
        *counter - 1
    };
    planes.iter().map(next).collect()
}

/// Fills `out` with `[B, 64, P]` numbers of `N` bytes.
fn fill<const N: usize>(
    planes: &[PlaneKind],
    batch: &Batch,
    out: &mut Vec<[u8; N]>,
    bytes_of: fn(f32) -> [u8; N],
) {
    out.clear();
    out.resize(batch.len() * 64 * planes.len(), [0; N]);
    let one = bytes_of(1.0);
    let (mut binary, mut scalars) = (batch.binary.iter(), batch.scalars.iter());
    for row in out.chunks_exact_mut(64 * planes.len()) {
        for (plane, kind) in planes.iter().enumerate() {
            match kind {
                PlaneKind::Binary => {
                    let squares = *binary.next().expect("a row has a number for each binary plane");
                    set_squares(row, plane, planes.len(), squares, one);
                }
                PlaneKind::Scalar => {
                    let value = *scalars.next().expect("a row has a number for each scalar plane");
                    set_squares(row, plane, planes.len(), u64::MAX, bytes_of(value));
                }
            }
        }
    }
}

fn set_squares<const N: usize>(
    row: &mut [[u8; N]],
    plane: usize,
    planes: usize,
    mut squares: u64,
    value: [u8; N],
) {
    while squares != 0 {
        row[squares.trailing_zeros() as usize * planes + plane] = value;
        squares &= squares - 1;
    }
}
