//! Squeeze-and-excitation on CPUs that multiply bf16: each board is read twice and written once, where libtorch's own operations
//! go over it seven times, which costs a small net a tenth of its time.
//!
//! Boards are `[B, 64, C]` in bf16, contiguous, `C` a multiple of 16. Sums are in 32 bits and rounded once.

use tch::{Device, Kind, TchError, Tensor};

/// Channels that are worked on at once.
const WIDTH: i64 = 16;

/// Whether these functions can work on a board here. Libtorch's operations share their work among threads and these do not.
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

/// `branch · scale + shift + skip`, then relu if asked for; `branch` and `skip` are boards, `scale` and `shift` `[B, C]`.
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

/// Runs `work` on the numbers of each position of contiguous bf16 tensors that all have `B` rows.
#[allow(unsafe_code, reason = "libtorch's wrapper shows the numbers of a tensor by their address only")]
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
            // SAFETY: the tensor is contiguous, on the CPU and of 16-bit numbers, and has `rows` times `width` of them; nothing
            // writes to it meanwhile.
            unsafe { std::slice::from_raw_parts(start.add(row * width(tensor)), width(tensor)) }
        });
        let start = out.data_ptr().cast::<u16>();
        // SAFETY: as above; `out` was made by the caller, so that nothing else has its memory.
        let out = unsafe { std::slice::from_raw_parts_mut(start.add(row * width(out)), width(out)) };
        work(parts, out);
    }
}

#[cfg(target_arch = "x86_64")]
mod kernel {
    #![allow(unsafe_code, reason = "processor instructions that a program must ask for before it uses them")]
    #![allow(clippy::cast_ptr_alignment, reason = "the loads and stores that are used take any address")]

    use std::arch::x86_64::{
        __m256i, __m512, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_ps, _mm512_castsi512_ps,
        _mm512_cvtepu16_epi32, _mm512_cvtneps_pbh, _mm512_fmadd_ps, _mm512_max_ps, _mm512_mul_ps,
        _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32,
    };

    const LANES: usize = super::WIDTH as usize;

    pub(super) fn means(board: &[u16], means: &mut [u16]) {
        assert_eq!(board.len(), 64 * means.len());
        assert_eq!(means.len() % LANES, 0);
        // SAFETY: `applies` asked for the instructions; the lengths are as the function wants them.
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
    /// The processor has the instructions, and `at + 16` lies within `numbers`.
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(numbers: &[u16], at: usize) -> __m512 {
        debug_assert!(at + LANES <= numbers.len());
        // SAFETY: see above. A bf16 is the upper half of a 32-bit float.
        let halves = unsafe { _mm256_loadu_si256(numbers.as_ptr().add(at).cast::<__m256i>()) };
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
    }

    /// # Safety
    /// As [`load`].
    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn store(numbers: &mut [u16], at: usize, values: __m512) {
        debug_assert!(at + LANES <= numbers.len());
        // SAFETY: see above; both types are 256 bits of plain numbers.
        unsafe {
            let halves: __m256i = std::mem::transmute(_mm512_cvtneps_pbh(values));
            _mm256_storeu_si256(numbers.as_mut_ptr().add(at).cast::<__m256i>(), halves);
        }
    }

    /// # Safety
    /// The processor has the instructions; `board` has 64 times as many numbers as `means`, which has a multiple of 16.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn means_of(board: &[u16], means: &mut [u16]) {
        let channels = means.len();
        for channel in (0..channels).step_by(LANES) {
            let mut sum = _mm512_setzero_ps();
            for square in 0..64 {
                // SAFETY: the place is below 64 · channels.
                sum = _mm512_add_ps(sum, unsafe { load(board, square * channels + channel) });
            }
            // SAFETY: the place is below the number of channels.
            unsafe { store(means, channel, _mm512_mul_ps(sum, _mm512_set1_ps(1.0 / 64.0))) };
        }
    }

    /// # Safety
    /// The processor has the instructions; `branch`, `skip` and `out` have 64 times as many numbers as `scale` and `shift`, which
    /// have a multiple of 16.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn join_of([branch, scale, shift, skip]: [&[u16]; 4], out: &mut [u16], relu: bool) {
        let channels = scale.len();
        let floor = _mm512_set1_ps(if relu { 0.0 } else { f32::NEG_INFINITY });
        for channel in (0..channels).step_by(LANES) {
            // SAFETY: the place is below the number of channels.
            let (scale, shift) = unsafe { (load(scale, channel), load(shift, channel)) };
            for at in (channel..64 * channels).step_by(channels) {
                // SAFETY: the place is below 64 · channels.
                unsafe {
                    let kept = _mm512_add_ps(load(skip, at), shift);
                    let sum = _mm512_fmadd_ps(load(branch, at), scale, kept);
                    store(out, at, _mm512_max_ps(floor, sum));
                }
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod kernel {
    pub(super) fn means(_: &[u16], _: &mut [u16]) {
        unreachable!("no processor of this kind has the instructions")
    }

    pub(super) fn join(_: [&[u16]; 4], _: &mut [u16], _: bool) {
        unreachable!("no processor of this kind has the instructions")
    }
}
