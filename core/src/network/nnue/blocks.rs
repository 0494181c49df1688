//! Numbers in blocks of a cache line, so that a processor's widest loads never cross one.

/// 32 sums or weights of the first layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Sums(pub(super) [i16; 32]);

// By value: compilers do not find vectors in sums in place.
impl Sums {
    /// The sums of both.
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        let mut sums = [0; 32];
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum = self.0[index].wrapping_add(other.0[index]);
        }
        Self(sums)
    }

    /// The differences of both.
    #[inline(always)]
    pub(super) fn less(self, other: Self) -> Self {
        let mut sums = [0; 32];
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum = self.0[index].wrapping_sub(other.0[index]);
        }
        Self(sums)
    }
}

/// 64 outputs of the first layer after their activation, in [0, 128].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Outputs(pub(super) [u8; 64]);

impl Outputs {
    pub(super) const ZERO: Self = Self([0; 64]);
}

/// 64 weights of a dense layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Weights(pub(super) [i8; 64]);
