//! Softmax.

/// Replaces logits by probabilities that sum to 1, and returns whether all logits were finite; if not, the results are
/// meaningless. An empty slice is allowed.
///
/// The largest logit is subtracted first, so that no exponential overflows.
#[must_use]
pub fn softmax(logits: &mut [f32]) -> bool {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let is_finite = logits.iter().all(|logit| logit.is_finite());
    let mut sum = 0.0;
    for logit in &mut *logits {
        *logit = (*logit - largest).exp();
        sum += *logit;
    }
    for exponential in logits {
        *exponential /= sum;
    }
    is_finite
}

#[cfg(test)]
mod tests {
    use super::softmax;

    #[test]
    fn worked_cases() {
        let mut logits = [0.0, 3.0_f32.ln(), 1000.0 - 1000.0];
        assert!(softmax(&mut logits));
        for (got, expected) in logits.iter().zip([0.2, 0.6, 0.2]) {
            assert!((got - expected).abs() < 1e-6, "{logits:?}");
        }
        assert!(softmax(&mut []));
        let mut large = [1e30, 1e30];
        assert!(softmax(&mut large));
        assert_eq!(large, [0.5, 0.5]);
    }

    #[test]
    fn a_non_finite_logit_is_reported() {
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!softmax(&mut [0.0, broken, 1.0]), "{broken}");
        }
    }
}
