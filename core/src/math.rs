//! Functions of numbers that are the same on every machine: those of the standard library are a system's own, whose last digits differ
//! between systems and between processors of one system.

pub(crate) use libm::{exp, log as ln, log1p as ln_1p, pow, tan, tanh};

#[cfg(test)]
mod tests {
    use super::{exp, ln, ln_1p, pow, tan, tanh};

    #[test]
    fn last_digits_are_pinned() {
        // Those of glibc 2.36 differ, but for the logarithm of 1 + x on processors without FMA.
        let found = [
            exp(1.0),
            exp(-10.0),
            ln(3.0),
            ln(1.4),
            ln_1p(1.881),
            pow(0.4, 1.7),
            tan(0.88),
            tanh(0.3),
            tanh(0.7),
        ];
        let expected = [
            0x4005_bf0a_8b14_576a,
            0x3f07_cd79_b564_7c9a,
            0x3ff1_93ea_7aad_030a,
            0x3fd5_88c2_d913_348e,
            0x3ff0_ee21_8a8a_1e56,
            0x3fca_f5a2_4955_0820,
            0x3ff3_5ac8_c3f9_10c0,
            0x3fd2_a4dd_a7d9_14f9,
            0x3fe3_56fb_17af_2e90,
        ];
        assert_eq!(found.map(f64::to_bits), expected);
    }
}
