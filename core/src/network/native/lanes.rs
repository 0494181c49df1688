//! Sixteen floats at once, on each kind of CPU.
//!
//! Every operation rounds each lane by itself and products are always fused with their sum, so all kinds of CPU give
//! the same bits.

use std::ops::{Add, Sub};

/// Lanes in a [`Line`].
pub(super) const LANES: usize = 16;

/// Sixteen floats in memory, one cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f32; LANES]);

impl Line {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

/// How many lines hold so many numbers; the rest of the last one is zero.
pub(super) fn lines_for(numbers: usize) -> usize {
    numbers.div_ceil(LANES)
}

/// Sixteen floats in registers.
pub(super) trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> {
    /// Reads a line.
    fn load(line: &Line) -> Self;
    /// Writes a line.
    fn store(self, line: &mut Line);
    /// The same number in every lane.
    fn splat(value: f32) -> Self;
    /// `self · factor + addend`, rounded once.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// max(0, x); NaN stays NaN, so that damage shows at the end.
    fn relu(self) -> Self;
}

/// Any CPU; the compiler makes of it what the target has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable([f32; LANES]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl Add for Portable {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Portable {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn load(line: &Line) -> Self {
        Self(line.0)
    }

    #[inline(always)]
    fn store(self, line: &mut Line) {
        line.0 = self.0;
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].mul_add(factor.0[lane], addend.0[lane])))
    }

    #[inline(always)]
    fn relu(self) -> Self {
        Self(self.0.map(|value| if 0.0 > value { 0.0 } else { value }))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "vector instructions may only be used on CPUs that have them")]
mod x86 {
    //! SAFETY for the whole module: values of these types are made only below functions that are compiled for their
    //! instructions, and those are called only after the CPU was asked (`native::Cpu`). Lines are 64-byte aligned and
    //! as long as what is read and written.

    use std::arch::x86_64::{
        __m256, __m512, _mm256_add_ps, _mm256_fmadd_ps, _mm256_load_ps, _mm256_max_ps, _mm256_set1_ps,
        _mm256_setzero_ps, _mm256_store_ps, _mm256_sub_ps, _mm512_add_ps, _mm512_fmadd_ps, _mm512_load_ps,
        _mm512_max_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_store_ps, _mm512_sub_ps,
    };
    use std::ops::{Add, Sub};

    use super::{Lanes, Line};

    /// A CPU with 512-bit vectors.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Avx512(__m512);

    impl Add for Avx512 {
        type Output = Self;

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_ps(self.0, other.0) })
        }
    }

    impl Sub for Avx512 {
        type Output = Self;

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm512_sub_ps(self.0, other.0) })
        }
    }

    impl Lanes for Avx512 {
        #[inline(always)]
        fn load(line: &Line) -> Self {
            Self(unsafe { _mm512_load_ps(line.0.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, line: &mut Line) {
            unsafe { _mm512_store_ps(line.0.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            Self(unsafe { _mm512_set1_ps(value) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, addend.0) })
        }

        #[inline(always)]
        fn relu(self) -> Self {
            // Of a NaN and a number the instruction gives the second.
            Self(unsafe { _mm512_max_ps(_mm512_setzero_ps(), self.0) })
        }
    }

    /// A CPU with 256-bit vectors and fused multiply-add.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Avx2(__m256, __m256);

    impl Add for Avx2 {
        type Output = Self;

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            unsafe { Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
        }
    }

    impl Sub for Avx2 {
        type Output = Self;

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            unsafe { Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)) }
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn load(line: &Line) -> Self {
            let (low, high) = line.0.split_at(8);
            unsafe { Self(_mm256_load_ps(low.as_ptr()), _mm256_load_ps(high.as_ptr())) }
        }

        #[inline(always)]
        fn store(self, line: &mut Line) {
            let (low, high) = line.0.split_at_mut(8);
            unsafe {
                _mm256_store_ps(low.as_mut_ptr(), self.0);
                _mm256_store_ps(high.as_mut_ptr(), self.1);
            }
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            let half = unsafe { _mm256_set1_ps(value) };
            Self(half, half)
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            unsafe {
                Self(_mm256_fmadd_ps(self.0, factor.0, addend.0), _mm256_fmadd_ps(self.1, factor.1, addend.1))
            }
        }

        #[inline(always)]
        fn relu(self) -> Self {
            unsafe {
                let zero = _mm256_setzero_ps();
                Self(_mm256_max_ps(zero, self.0), _mm256_max_ps(zero, self.1))
            }
        }
    }
}
