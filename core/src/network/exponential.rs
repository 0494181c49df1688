//! Softmax, exponentials and powers that are the same on every machine, which those of a system's library need not be.

#![allow(
    clippy::inline_always,
    reason = "part of an evaluation, which is one function for each set of instructions"
)]

/// Added to a float below 2²² and taken away again, it rounds to an integer, whose bits are the last of the sum.
const ROUNDING: f32 = 12_582_912.0;

/// eˣ for x in [−87, 0], with an error below 10⁻⁵ of it; 0 below that. NaN becomes e⁻⁸⁷, so callers look for it themselves.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// ln(2)ᵏ / k! for k from 7 to 0: the series of 2ˣ, most precise in [−½, ½].
    const SERIES: [f32; 8] = [
        1.525_273_4e-5,
        1.540_353e-4,
        1.333_355_8e-3,
        9.618_129e-3,
        5.550_411e-2,
        0.240_226_5,
        std::f32::consts::LN_2,
        1.0,
    ];
    let exponent = x.max(-87.0) * std::f32::consts::LOG2_E;
    let shifted = exponent + ROUNDING;
    let fraction = exponent - (shifted - ROUNDING);
    let mut power = 0.0;
    for term in SERIES {
        power = power * fraction + term;
    }
    let whole = shifted.to_bits().wrapping_sub(ROUNDING.to_bits()).wrapping_add(127) << 23;
    let value = power * f32::from_bits(whole);
    if x < -87.0 { 0.0 } else { value }
}

/// xᵖ for x in [0, 1] and p > 0, with an error below 2 · 10⁻⁵ of it; 0 where that is below e⁻⁸⁷.
pub(crate) fn power(x: f32, p: f32) -> f32 {
    if x == 0.0 { 0.0 } else { exp((p * ln(x)).min(0.0)) }
}

/// ln x for a positive x.
#[inline]
fn ln(x: f32) -> f32 {
    /// The bits of √½.
    const LEAST: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    const SUBNORMAL: f32 = (1 << 24) as f32;
    // Numbers below the normal ones have no exponent of their own.
    let (x, shift) = if x < f32::MIN_POSITIVE { (x * SUBNORMAL, 24.0) } else { (x, 0.0) };
    // x = 2ᵏ · m with m in [√½, √2).
    let k = (x.to_bits().wrapping_sub(LEAST) as i32) >> 23;
    let m = f32::from_bits(x.to_bits().wrapping_sub((k as u32) << 23));
    // ln m = 2 artanh((m − 1) / (m + 1)), whose argument is below 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square / 9.0)));
    (k as f32 - shift) * std::f32::consts::LN_2 + 2.0 * s * series
}

/// Replaces logits by probabilities that sum to 1, and returns whether all logits were finite; if not, the results are
/// meaningless. An empty slice is allowed.
///
/// The largest logit is subtracted first, so that no exponential overflows.
#[must_use]
#[inline(always)]
pub fn softmax(logits: &mut [f32]) -> bool {
    let (mut largest, mut is_finite) = (f32::NEG_INFINITY, true);
    for logit in &*logits {
        largest = largest.max(*logit);
        is_finite &= logit.is_finite();
    }
    for logit in &mut *logits {
        *logit = exp(*logit - largest);
    }
    let mut sum = 0.0;
    for exponential in &*logits {
        sum += exponential;
    }
    for exponential in logits {
        *exponential /= sum;
    }
    is_finite
}

/// tanh x = (1 − e^(−2|x|)) / (1 + e^(−2|x|)), with the sign of x.
pub(super) fn tanh(x: f32) -> f32 {
    let decay = exp(-2.0 * x.abs());
    ((1.0 - decay) / (1.0 + decay)).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::{exp, ln, power, softmax, tanh};

    #[test]
    fn close_to_the_librarys() {
        for step in 0..87_000 {
            let x = -0.000_999 * step as f32;
            let (got, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((got / expected - 1.0).abs() < 1e-5, "{x}: {got} {expected}");
            let y = 0.0005 * step as f32 - 20.0;
            assert!((tanh(y) - y.tanh()).abs() < 1e-6, "{y}");
        }
        assert_eq!((exp(0.0), exp(-87.5), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
    }

    #[test]
    fn logarithms_and_powers_are_close_to_the_librarys() {
        for step in 0..100_000 {
            let x = (-0.001 * f64::from(step)).exp() as f32;
            let expected = f64::from(x).ln();
            assert!((f64::from(ln(x)) - expected).abs() <= 2e-7 * expected.abs().max(1.0), "{x}: {}", ln(x));
            for p in [0.05, 0.5, 1.0 / 1.5, 1.0, 2.0, 20.0] {
                let (got, expected) = (f64::from(power(x, p)), f64::from(x).powf(f64::from(p)));
                let bound = 2e-5 * expected;
                let is_below = got == 0.0 && expected < 1.7e-38;
                assert!((got - expected).abs() <= bound || is_below, "{x}^{p}: {got} {expected}");
            }
        }
        assert_eq!((power(0.0, 0.05), power(1.0, 0.7), power(1.0, 20.0)), (0.0, 1.0, 1.0));
    }

    #[test]
    fn probabilities_sum_to_one_and_broken_logits_are_reported() {
        let mut logits = [0.0, 3.0_f32.ln(), 0.0];
        assert!(softmax(&mut logits) && softmax(&mut []));
        for (got, expected) in logits.iter().zip([0.2, 0.6, 0.2]) {
            assert!((got - expected).abs() < 1e-6, "{logits:?}");
        }
        let mut large = [1e30, 1e30];
        assert!(softmax(&mut large));
        assert_eq!(large, [0.5, 0.5]);
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!softmax(&mut [0.0, broken, 1.0]), "{broken}");
        }
    }
}
