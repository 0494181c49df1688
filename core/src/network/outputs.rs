//! The meaning of a net's outputs.

use super::softmax::softmax;
use super::{ValueHead, Wdl};
use crate::math::{exp, ln_1p, tanhf};

/// The moves-left head's unit in plies: one unit of loss is this many plies, as in Leela's training
/// (`lczero-training`, `tfprocess.py`).
pub const MOVES_LEFT_SCALE: f64 = 20.0;

/// The number of outputs of a value head per position.
pub fn value_width(head: ValueHead) -> usize {
    match head {
        ValueHead::Wdl => 3,
        ValueHead::Scalar => 1,
    }
}

/// The WDL of a value head's outputs; `None` if they are not finite.
///
/// A scalar head does not predict draws: its value is split into win and loss.
pub fn expected_result(head: ValueHead, outputs: &mut [f32]) -> Option<Wdl> {
    match head {
        ValueHead::Wdl => {
            softmax(outputs).then(|| Wdl { win: outputs[0], draw: outputs[1], loss: outputs[2] })
        }
        ValueHead::Scalar => outputs[0].is_finite().then(|| Wdl::from_value(tanhf(outputs[0]), 0.0)),
    }
}

/// Plies left in the game from the moves-left head's output: `20 · ln(1 + eˣ)`; `None` if it is not finite.
pub fn moves_left(output: f32) -> Option<f32> {
    let x = f64::from(output);
    // Avoid overflow of the exponential for large x, where softplus is x itself.
    let softplus = x.max(0.0) + ln_1p(exp(-x.abs()));
    output.is_finite().then_some((MOVES_LEFT_SCALE * softplus) as f32)
}

#[cfg(test)]
mod tests {
    use super::{expected_result, moves_left};
    use crate::network::{ValueHead, Wdl};

    #[test]
    fn worked_outputs() {
        let wdl = expected_result(ValueHead::Wdl, &mut [0.0, 0.0, 2.0_f32.ln()]).expect("finite");
        assert!((wdl.loss - 0.5).abs() < 1e-6 && (wdl.win - 0.25).abs() < 1e-6);
        let scalar = expected_result(ValueHead::Scalar, &mut [0.5_f32.atanh()]).expect("finite");
        assert!((scalar.win - 0.75).abs() < 1e-6 && (scalar.loss - 0.25).abs() < 1e-6);
        assert_eq!(
            expected_result(ValueHead::Scalar, &mut [0.0]),
            Some(Wdl { win: 0.5, draw: 0.0, loss: 0.5 })
        );
        assert!((moves_left(0.0).expect("finite") - 20.0 * 2.0_f32.ln()).abs() < 1e-4);
        assert!((moves_left(100.0).expect("finite") - 2000.0).abs() < 1e-2);
        assert!(moves_left(-100.0).expect("finite") < 1e-6);
    }

    #[test]
    fn non_finite_outputs_are_none() {
        for broken in [f32::NAN, f32::INFINITY] {
            assert_eq!(expected_result(ValueHead::Wdl, &mut [0.0, broken, 0.0]), None);
            assert_eq!(expected_result(ValueHead::Scalar, &mut [broken]), None);
            assert_eq!(moves_left(broken), None);
        }
    }
}
