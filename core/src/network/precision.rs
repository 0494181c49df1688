//! The numbers that a net is evaluated with.

use crate::param_enum;

param_enum! {
    /// The numbers that an inference copy calculates with.
    pub enum Precision {
        /// bf16 where the device multiplies it by itself, otherwise 32-bit floats.
        Auto = "auto",
        /// 32-bit floats.
        F32 = "f32",
        /// 16-bit floats with 8 bits of precision; the last layers stay in 32 bits.
        Bf16 = "bf16",
        /// 16-bit floats with 11 bits of precision that end at 65,504, for devices; slow on most CPUs.
        F16 = "f16",
    }
}
