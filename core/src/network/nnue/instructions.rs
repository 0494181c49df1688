//! Which instructions of the processor are used.
//!
//! Everything an evaluation does is inlined into one function for each set, so that the compiler uses the set's instructions
//! throughout. Only products of bytes are written by hand, since compilers do not find the instructions for them.

use super::blocks::{Outputs, Weights};

/// Sets of instructions that evaluations are compiled for. All of them give the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// Those that every processor of this kind has: SSE2 on x86-64, NEON on ARM64.
    Baseline,
    /// AVX2, with the bit counts of the same processors.
    Avx2,
    /// AVX-512 with bytes and words, and its dot products of bytes (VNNI).
    Avx512,
}

impl Instructions {
    /// The sets that this processor has, the fastest last.
    pub fn available() -> Vec<Self> {
        let mut sets = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("popcnt");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni");
            if has_avx2 {
                sets.push(Self::Avx2);
            }
            if has_avx2 && has_avx512 {
                sets.push(Self::Avx512);
            }
        }
        sets
    }

    /// The fastest set of this processor.
    pub fn fastest() -> Self {
        Self::available().pop().unwrap_or(Self::Baseline)
    }
}

/// What a set has of its own.
pub(super) trait Set {
    /// Σ input · weight; at most 64 · 128 · 127 for a block, so that sums over 2,000 blocks fit.
    fn dot(inputs: &[Outputs], weights: &[Weights]) -> i32;
}

/// [`Instructions::Baseline`].
#[derive(Debug)]
pub(super) struct Baseline;

impl Set for Baseline {
    #[inline(always)]
    fn dot(inputs: &[Outputs], weights: &[Weights]) -> i32 {
        let mut sum = 0;
        for (inputs, weights) in inputs.iter().zip(weights) {
            for (input, weight) in inputs.0.iter().zip(&weights.0) {
                sum += i32::from(*input) * i32::from(*weight);
            }
        }
        sum
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "instructions that not every processor has, and loads by address, have no safe interface"
)]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_load_si256, _mm256_madd_epi16,
        _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_setzero_si256, _mm512_dpbusd_epi32,
        _mm512_load_si512, _mm512_reduce_add_epi32, _mm512_setzero_si512,
    };

    use std::ptr::from_ref;

    use super::{Outputs, Set, Weights};

    /// [`Instructions::Avx2`](super::Instructions::Avx2); to be used only in functions that are compiled for it.
    #[derive(Debug)]
    pub(in super::super) struct Avx2;

    impl Set for Avx2 {
        #[inline(always)]
        fn dot(inputs: &[Outputs], weights: &[Weights]) -> i32 {
            // SAFETY: its users are compiled for processors that have these instructions.
            unsafe { dot_by_avx2(inputs, weights) }
        }
    }

    /// [`Instructions::Avx512`](super::Instructions::Avx512); to be used only in functions that are compiled for it.
    #[derive(Debug)]
    pub(in super::super) struct Avx512;

    impl Set for Avx512 {
        #[inline(always)]
        fn dot(inputs: &[Outputs], weights: &[Weights]) -> i32 {
            // SAFETY: as above.
            unsafe { dot_by_avx512(inputs, weights) }
        }
    }

    /// Sums of two products stay in 16 bits, as inputs are at most 128: 2 · 128 · 127 < 2¹⁵.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot_by_avx2(inputs: &[Outputs], weights: &[Weights]) -> i32 {
        let (mut sums, ones) = (_mm256_setzero_si256(), _mm256_set1_epi16(1));
        for (inputs, weights) in inputs.iter().zip(weights) {
            let (inputs, weights) = (from_ref(inputs).cast::<__m256i>(), from_ref(weights).cast::<__m256i>());
            for half in 0..2 {
                // SAFETY: both are blocks of 64 bytes at addresses that are multiples of 64.
                let (input, weight) =
                    unsafe { (_mm256_load_si256(inputs.add(half)), _mm256_load_si256(weights.add(half))) };
                let pairs = _mm256_maddubs_epi16(input, weight);
                sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
            }
        }
        let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
        _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn dot_by_avx512(inputs: &[Outputs], weights: &[Weights]) -> i32 {
        let mut sums = _mm512_setzero_si512();
        for (inputs, weights) in inputs.iter().zip(weights) {
            // SAFETY: both are blocks of 64 bytes at addresses that are multiples of 64.
            let (input, weight) = unsafe {
                (_mm512_load_si512(from_ref(inputs).cast()), _mm512_load_si512(from_ref(weights).cast()))
            };
            sums = _mm512_dpbusd_epi32(sums, input, weight);
        }
        _mm512_reduce_add_epi32(sums)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};
