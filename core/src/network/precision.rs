//! The precision of evaluation.

use crate::param_enum;

param_enum! {
    /// The number format (dtype) of an inference copy.
    pub enum Precision {
        /// bf16 if the device multiplies it natively, otherwise f32.
        Auto = "auto",
        /// 32-bit floats.
        F32 = "f32",
        /// 16-bit floats with 8 bits of precision; the last layers of the value and moves-left heads stay in f32.
        Bf16 = "bf16",
        /// 16-bit floats with 11 bits of precision and a range of ±65,504, for GPUs; slow on most CPUs.
        F16 = "f16",
    }
}
