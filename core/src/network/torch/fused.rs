//! Fused squeeze-and-excitation for CPUs with bf16 instructions: each board is read twice and written once, where libtorch's
//! operations pass over it seven times, which costs a small net a tenth of its time.
//!
//! Boards are `[B, 64, C]` in bf16, contiguous, with `C` a multiple of 16. Sums are in f32 and rounded once.

use tch::{Device, Kind, TchError, Tensor};

/// Channels per vector.
const WIDTH: i64 = 16;

/// Whether these functions apply to a board. Only with one thread, because unlike libtorch's operations they are single-threaded.
pub(super) fn applies(board: &Tensor) -> bool {
    has_instructions()
        && board.device() == Device::Cpu
        && board.kind() == Kind::BFloat16
        && board.size()[2] % WIDTH == 0
        && board.is_contiguous()
        && tch::get_num_threads() == 1
}

#[cfg(target_arch = "x86_64")]
fn has_instructions() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f") && has!("avx512bw") && has!("avx512bf16")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_instructions() -> bool {
    false
}

/// `[B, C]`: means over the squares of a board.
pub(super) fn pooled(board: &Tensor) -> Result<Tensor, TchError> {
    let size = board.size();
    let means = Tensor::f_empty([size[0], size[2]], (Kind::BFloat16, Device::Cpu))?;
    each_row(&means, [board], size[2] as usize, |[board], means| kernel::means(board, means));
    Ok(means)
}

/// `branch · scale + shift + skip`, then relu if `relu`; `branch` and `skip` are boards, `scale` and `shift` `[B, C]`.
pub(super) fn joined(
    branch: &Tensor,
    [scale, shift]: [&Tensor; 2],
    skip: &Tensor,
    relu: bool,
) -> Result<Tensor, TchError> {
    let (scale, shift, skip) = (scale.f_contiguous()?, shift.f_contiguous()?, skip.f_contiguous()?);
    let out = Tensor::f_empty(branch.size(), (Kind::BFloat16, Device::Cpu))?;
    let channels = branch.size()[2] as usize;
    each_row(&out, [branch, &scale, &shift, &skip], channels, |parts, out| kernel::join(parts, out, relu));
    Ok(out)
}

/// Runs `work` on the values of each row of contiguous bf16 tensors with `B` rows each.
#[allow(unsafe_code, reason = "libtorch's wrapper gives access to a tensor's values only by pointer")]
fn each_row<const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    channels: usize,
    work: impl Fn([&[u16]; N], &mut [u16]),
) {
    let rows = out.size()[0] as usize;
    if rows == 0 {
        return;
    }
    let width = |tensor: &Tensor| tensor.numel() / rows;
    for tensor in inputs.iter().copied().chain([out]) {
        assert!(tensor.is_contiguous() && tensor.kind() == Kind::BFloat16 && tensor.device() == Device::Cpu);
        assert!(tensor.size()[0] as usize == rows && width(tensor) % channels == 0);
    }
    for row in 0..rows {
        let parts = inputs.map(|tensor| {
            let start = tensor.data_ptr().cast::<u16>().cast_const();
            // SAFETY: the tensor is contiguous, on the CPU and has `rows` times `width` 16-bit values; nothing writes to it
            // meanwhile.
            unsafe { std::slice::from_raw_parts(start.add(row * width(tensor)), width(tensor)) }
        });
        let start = out.data_ptr().cast::<u16>();
        // SAFETY: as above; the caller has just created `out`, so nothing else uses its memory.
        let out = unsafe { std::slice::from_raw_parts_mut(start.add(row * width(out)), width(out)) };
        work(parts, out);
    }
}

#[cfg(target_arch = "x86_64")]
mod kernel {
    #![allow(unsafe_code, reason = "CPU instructions whose support must be checked before use")]
    #![allow(clippy::cast_ptr_alignment, reason = "the loads and stores used here are unaligned")]

    use std::arch::x86_64::{
        __m256i, __m512, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_ps, _mm512_castsi512_ps,
        _mm512_cvtepu16_epi32, _mm512_cvtneps_pbh, _mm512_fmadd_ps, _mm512_max_ps, _mm512_mul_ps,
        _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32,
    };

    const LANES: usize = super::WIDTH as usize;

    pub(super) fn means(board: &[u16], means: &mut [u16]) {
        assert_eq!(board.len(), 64 * means.len());
        assert_eq!(means.len() % LANES, 0);
        // SAFETY: `applies` has checked for the instructions; the lengths are as the function requires.
        unsafe { means_of(board, means) }
    }

    pub(super) fn join([branch, scale, shift, skip]: [&[u16]; 4], out: &mut [u16], relu: bool) {
        assert_eq!([skip.len(), out.len()], [branch.len(); 2]);
        assert_eq!([64 * scale.len(), 64 * shift.len()], [branch.len(); 2]);
        assert_eq!(scale.len() % LANES, 0);
        // SAFETY: as above.
        unsafe { join_of([branch, scale, shift, skip], out, relu) }
    }

    /// # Safety
    /// The CPU has the instructions, and `start + 16` is at most the length of `values`.
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(values: &[u16], start: usize) -> __m512 {
        debug_assert!(start + LANES <= values.len());
        // SAFETY: see above. A bf16 is the upper half of a 32-bit float.
        let halves = unsafe { _mm256_loadu_si256(values.as_ptr().add(start).cast::<__m256i>()) };
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
    }

    /// # Safety
    /// As [`load`].
    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn store(values: &mut [u16], start: usize, floats: __m512) {
        debug_assert!(start + LANES <= values.len());
        // SAFETY: see above; both types are 256 bits of plain data.
        unsafe {
            let halves: __m256i = std::mem::transmute(_mm512_cvtneps_pbh(floats));
            _mm256_storeu_si256(values.as_mut_ptr().add(start).cast::<__m256i>(), halves);
        }
    }

    /// # Safety
    /// The CPU has the instructions; `board` has 64 times as many values as `means`, whose length is a multiple of 16.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn means_of(board: &[u16], means: &mut [u16]) {
        let channels = means.len();
        for channel in (0..channels).step_by(LANES) {
            let mut sum = _mm512_setzero_ps();
            for square in 0..64 {
                // SAFETY: the index is below 64 · channels.
                sum = _mm512_add_ps(sum, unsafe { load(board, square * channels + channel) });
            }
            // SAFETY: the index is below the number of channels.
            unsafe { store(means, channel, _mm512_mul_ps(sum, _mm512_set1_ps(1.0 / 64.0))) };
        }
    }

    /// # Safety
    /// The CPU has the instructions; `branch`, `skip` and `out` have 64 times as many values as `scale` and `shift`, whose length
    /// is a multiple of 16.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn join_of([branch, scale, shift, skip]: [&[u16]; 4], out: &mut [u16], relu: bool) {
        let channels = scale.len();
        let floor = _mm512_set1_ps(if relu { 0.0 } else { f32::NEG_INFINITY });
        for channel in (0..channels).step_by(LANES) {
            // SAFETY: the index is below the number of channels.
            let (scale, shift) = unsafe { (load(scale, channel), load(shift, channel)) };
            for index in (channel..64 * channels).step_by(channels) {
                // SAFETY: the index is below 64 · channels.
                unsafe {
                    let kept = _mm512_add_ps(load(skip, index), shift);
                    let sum = _mm512_fmadd_ps(load(branch, index), scale, kept);
                    store(out, index, _mm512_max_ps(floor, sum));
                }
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod kernel {
    pub(super) fn means(_: &[u16], _: &mut [u16]) {
        unreachable!("CPUs of this architecture do not have the instructions")
    }

    pub(super) fn join(_: [&[u16]; 4], _: &mut [u16], _: bool) {
        unreachable!("CPUs of this architecture do not have the instructions")
    }
}
