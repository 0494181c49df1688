//! The formulas of the search, apart from the tree.

use super::params::{FirstPlay, FirstPlayParams};

/// The exploration term of PUCT: `c_puct · P · √N / (1 + n)` (Silver et al. 2018, Methods).
///
/// `parent_visits` N counts the parent's own evaluation as in AlphaZero's pseudocode, so that priors decide the first
/// descent; `visits` n counts descents in flight.
pub(super) fn exploration(c_puct: f64, prior: f64, parent_visits: u32, visits: u32) -> f64 {
    c_puct * prior * f64::from(parent_visits).sqrt() / f64::from(1 + visits)
}

/// The mean value of a visited move, descents in flight counted as visits worth `-virtual_loss`.
pub(super) fn mean_value(value_sum: f64, visits: u32, in_flight: u32, virtual_loss: f64) -> f64 {
    (value_sum - virtual_loss * f64::from(in_flight)) / f64::from(visits + in_flight)
}

/// The value of a move without a visit. `visited_prior` is the sum of the priors of visited moves.
pub(super) fn first_play_value(params: &FirstPlayParams, parent_value: f64, visited_prior: f64) -> f64 {
    match params.kind {
        FirstPlay::Absolute => params.value,
        FirstPlay::Reduction => parent_value - params.value * visited_prior.sqrt(),
    }
}

/// A prior with noise mixed in: `(1 − fraction) · prior + fraction · noise` (Silver et al. 2018, Methods).
pub(super) fn noisy_prior(prior: f64, noise: f64, fraction: f64) -> f64 {
    (1.0 - fraction) * prior + fraction * noise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_examples() {
        // 1.5 · 0.2 · √25 / (1 + 4) = 0.3
        assert!((exploration(1.5, 0.2, 25, 4) - 0.3).abs() < 1e-12);
        // Three visits worth 1.2 in all and one in flight as a loss: (1.2 − 1) / 4 = 0.05
        assert!((mean_value(1.2, 3, 1, 1.0) - 0.05).abs() < 1e-12);
        let reduction = FirstPlayParams { kind: FirstPlay::Reduction, value: 0.3 };
        // 0.1 − 0.3 · √0.25 = −0.05
        assert!((first_play_value(&reduction, 0.1, 0.25) + 0.05).abs() < 1e-12);
        let absolute = FirstPlayParams { kind: FirstPlay::Absolute, value: -0.5 };
        assert_eq!(first_play_value(&absolute, 0.9, 1.0), -0.5);
        assert!((noisy_prior(0.4, 0.8, 0.25) - 0.5).abs() < 1e-12);
    }
}
