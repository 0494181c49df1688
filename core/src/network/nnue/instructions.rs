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
            if x86::has_avx2() {
                sets.push(Self::Avx2);
            }
            if x86::has_avx512() {
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

/// A set that this processor has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dispatch(Instructions);

impl Dispatch {
    /// A set; the fastest one if the processor lacks it.
    pub(super) fn to(set: Instructions) -> Self {
        Self(if Instructions::available().contains(&set) { set } else { Instructions::fastest() })
    }

    /// Does work that is compiled for the set.
    #[cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "instructions are chosen at run time"))]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: the processor has the instructions, which `to` has checked.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { x86::by_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { x86::by_avx512(work) },
            _ => work.run::<Baseline>(),
        }
    }
}

/// What is compiled for each set.
pub(super) trait Work {
    /// Its result.
    type Output;

    /// Does it; always inlined, as everything that it calls.
    fn run<S: Set>(self) -> Self::Output;
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

    use super::{Outputs, Set, Weights, Work};

    /// Whether the processor has some instructions, and a function that is compiled for them.
    macro_rules! compiled {
        ($has:ident, $by:ident, $set:ident: $($instructions:tt)+) => {
            pub(super) fn $has() -> bool {
                $(is_x86_feature_detected!($instructions))&&+
            }

            #[target_feature($(enable = $instructions),+)]
            pub(super) fn $by<W: Work>(work: W) -> W::Output {
                work.run::<$set>()
            }
        };
    }

    // Each list has the instructions of the set's product, below.
    compiled!(has_avx2, by_avx2, Avx2: "avx2" "bmi1" "popcnt");
    compiled!(has_avx512, by_avx512, Avx512: "avx2" "bmi1" "popcnt" "avx512f" "avx512bw" "avx512vl" "avx512vnni");

    /// [`Instructions::Avx2`](super::Instructions::Avx2); to be used only in functions that are compiled for it.
    #[derive(Debug)]
    struct Avx2;

    impl Set for Avx2 {
        #[inline(always)]
        fn dot(inputs: &[Outputs], weights: &[Weights]) -> i32 {
            // SAFETY: its users are compiled for processors that have these instructions.
            unsafe { dot_by_avx2(inputs, weights) }
        }
    }

    /// [`Instructions::Avx512`](super::Instructions::Avx512); to be used only in functions that are compiled for it.
    #[derive(Debug)]
    struct Avx512;

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
