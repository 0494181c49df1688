//! Expands encoded positions to floats on the device: `[B, 64, P]`, with a square's planes together (channels last).

use half::{bf16, f16};
use tch::{Device, Kind, TchError, Tensor};

use super::transfer::send;
use crate::encoding::{Encoding, PlaneKind};
use crate::network::Batch;

/// Expands batches, reusing its memory.
#[derive(Debug)]
pub(super) struct Input {
    planes: Vec<PlaneKind>,
    floats: Vec<[u8; 4]>,
    halves: Vec<[u8; 2]>,
    /// The binary planes to send to a device.
    packed: Vec<i64>,
    /// The scalars to send to a device.
    scalars: Vec<f32>,
    expansion: Expansion,
}

/// Expands the bits and scalars of positions on a device, with the constants that this takes.
#[derive(Debug)]
pub struct Expansion {
    /// 0..64 as `[1, 64, 1]`.
    squares: Tensor,
    /// `[P]`: the index of each plane among all binary planes followed by all scalar planes.
    order: Tensor,
}

impl Input {
    pub(super) fn new(encoding: &Encoding, device: Device) -> Result<Self, TchError> {
        let planes: Vec<PlaneKind> = encoding.planes().iter().map(|plane| plane.kind()).collect();
        let expansion = Expansion::new(encoding, device)?;
        let (floats, halves, packed, scalars) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { planes, floats, halves, packed, scalars, expansion })
    }

    /// `[R, 64, P]` on the CPU, written directly in the layout and dtype of the net; rows after the batch's are 0.
    pub(super) fn expand_on_cpu(
        &mut self,
        batch: &Batch,
        rows: usize,
        kind: Kind,
    ) -> Result<Tensor, TchError> {
        let shape = [rows as i64, 64, self.planes.len() as i64];
        let halves = &mut self.halves;
        match kind {
            Kind::BFloat16 => {
                fill(&self.planes, batch, rows, halves, |value| bf16::from_f32(value).to_ne_bytes());
                Tensor::f_from_data_size(halves.as_flattened(), &shape, kind)
            }
            Kind::Half => {
                fill(&self.planes, batch, rows, halves, |value| f16::from_f32(value).to_ne_bytes());
                Tensor::f_from_data_size(halves.as_flattened(), &shape, kind)
            }
            _ => {
                fill(&self.planes, batch, rows, &mut self.floats, f32::to_ne_bytes);
                Tensor::f_from_data_size(self.floats.as_flattened(), &shape, Kind::Float)
            }
        }
    }

    /// `[R, 64, P]` on a device: bits and scalars are sent, and expanded to floats there.
    pub(super) fn expand_on_device(
        &mut self,
        batch: &Batch,
        rows: usize,
        kind: Kind,
        device: Device,
    ) -> Result<Tensor, TchError> {
        let (binary, scalars) = (batch.binary.len() / batch.len(), batch.scalars.len() / batch.len());
        // Bits are sent as i64: the arithmetic shift repeats the sign bit, and the mask removes the copies.
        self.packed.clear();
        self.packed.extend(batch.binary.iter().map(|squares| squares.cast_signed()));
        self.packed.resize(rows * binary, 0);
        self.scalars.clone_from(&batch.scalars);
        self.scalars.resize(rows * scalars, 0.0);
        let packed = send(&Tensor::f_from_slice(&self.packed)?, device)?;
        let scalars = send(&Tensor::f_from_slice(&self.scalars)?, device)?;
        self.expansion.run(&packed, &scalars, rows, kind)
    }
}

impl Expansion {
    /// For positions of an encoding.
    pub fn new(encoding: &Encoding, device: Device) -> Result<Self, TchError> {
        Ok(Self {
            squares: Tensor::f_arange(64, (Kind::Int64, device))?.f_reshape([1, 64, 1])?,
            order: Tensor::f_from_slice(&encoding.stored_order())?.f_to_device(device)?,
        })
    }

    /// `[rows, 64, P]` in a dtype, from the binary planes of all rows as 64-bit integers and their scalars as 32-bit floats.
    pub fn run(
        &self,
        packed: &Tensor,
        scalars: &Tensor,
        rows: usize,
        kind: Kind,
    ) -> Result<Tensor, TchError> {
        let packed = packed.f_reshape([rows as i64, 1, -1])?;
        let bits = packed.f_bitwise_right_shift(&self.squares)?.f_bitwise_and(1)?.f_to_kind(kind)?;
        if scalars.numel() == 0 {
            return bits.f_index_select(2, &self.order);
        }
        let scalars = scalars.f_to_kind(kind)?;
        let scalars = scalars.f_reshape([rows as i64, 1, -1])?.f_expand([-1, 64, -1], false)?;
        Tensor::f_cat(&[bits, scalars], 2)?.f_index_select(2, &self.order)
    }
}

/// Fills `out` with `[R, 64, P]` values of `N` bytes; rows after the batch's are 0.
fn fill<const N: usize>(
    planes: &[PlaneKind],
    batch: &Batch,
    rows: usize,
    out: &mut Vec<[u8; N]>,
    to_bytes: fn(f32) -> [u8; N],
) {
    out.clear();
    out.resize(rows * 64 * planes.len(), [0; N]);
    let one = to_bytes(1.0);
    let (mut binary, mut scalars) = (batch.binary.iter(), batch.scalars.iter());
    for row in out.chunks_exact_mut(64 * planes.len()).take(batch.len()) {
        for (plane, kind) in planes.iter().enumerate() {
            match kind {
                PlaneKind::Binary => {
                    let squares = *binary.next().expect("a row has a number for each binary plane");
                    set_squares(row, plane, planes.len(), squares, one);
                }
                PlaneKind::Scalar => {
                    let value = *scalars.next().expect("a row has a number for each scalar plane");
                    set_squares(row, plane, planes.len(), u64::MAX, to_bytes(value));
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
