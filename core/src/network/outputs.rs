//! The meaning of the value head's outputs.

use super::exponential::{softmax, tanh};
use super::{ValueHead, Wdl};

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
#[expect(
    clippy::inline_always,
    reason = "part of an evaluation, which is one function for each set of instructions"
)]
#[inline(always)]
pub fn expected_result(head: ValueHead, outputs: &mut [f32]) -> Option<Wdl> {
    match head {
        ValueHead::Wdl => {
            softmax(outputs).then(|| Wdl { win: outputs[0], draw: outputs[1], loss: outputs[2] })
        }
        ValueHead::Scalar => outputs[0].is_finite().then(|| Wdl::from_value(tanh(outputs[0]), 0.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::expected_result;
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
    }

    #[test]
    fn non_finite_outputs_are_none() {
        for broken in [f32::NAN, f32::INFINITY] {
            assert_eq!(expected_result(ValueHead::Wdl, &mut [0.0, broken, 0.0]), None);
            assert_eq!(expected_result(ValueHead::Scalar, &mut [broken]), None);
        }
    }
}
