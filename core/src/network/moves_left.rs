//! The meaning of the moves-left head's output.

use crate::math::{exp, ln_1p};

/// The moves-left head's unit in plies: one unit of loss is this many plies, as in Leela's training
/// (`lczero-training`, `tfprocess.py`).
pub const MOVES_LEFT_SCALE: f64 = 20.0;

/// Plies left in the game from the moves-left head's output: `20 · ln(1 + eˣ)`; `None` if it is not finite.
pub fn moves_left(output: f32) -> Option<f32> {
    let x = f64::from(output);
    // Avoid overflow of the exponential for large x, where softplus is x itself.
    let softplus = x.max(0.0) + ln_1p(exp(-x.abs()));
    output.is_finite().then_some((MOVES_LEFT_SCALE * softplus) as f32)
}

#[cfg(test)]
mod tests {
    use super::moves_left;

    #[test]
    fn worked_outputs() {
        assert!((moves_left(0.0).expect("finite") - 20.0 * 2.0_f32.ln()).abs() < 1e-4);
        assert!((moves_left(100.0).expect("finite") - 2000.0).abs() < 1e-2);
        assert!(moves_left(-100.0).expect("finite") < 1e-6);
    }

    #[test]
    fn non_finite_outputs_are_none() {
        assert_eq!([f32::NAN, f32::INFINITY].map(moves_left), [None, None]);
    }
}
