//! The formulas of the search as pure functions.

use super::params::{Fpu, FpuParams, MovesLeftParams};
use crate::math::ln;
use crate::network::power;

/// The exploration term of PUCT: `c · P · √N / (1 + n)` (Silver et al. 2018, Methods), with `c_times_root = c · √N`.
///
/// N includes the parent's own evaluation as in AlphaZero's pseudocode, so that priors decide the first descent; n,
/// `visits`, includes descents in flight.
pub(super) fn exploration(c_times_root: f64, prior: f64, visits: u32) -> f64 {
    c_times_root * prior / f64::from(1 + visits)
}

/// `init + factor · ln((N + base + 1) / base)` (AlphaZero 2018, pseudocode, with its factor 1).
pub(super) fn c_puct(init: f64, factor: f64, base: f64, parent_visits: u32) -> f64 {
    if factor == 0.0 {
        return init;
    }
    init + factor * ln((f64::from(parent_visits) + base + 1.0) / base)
}

/// Q of an edge, counting descents in flight as visits with value `-virtual_loss`.
pub(super) fn mean_value(value_sum: f64, visits: u32, in_flight: u32, virtual_loss: f64) -> f64 {
    (value_sum - virtual_loss * f64::from(in_flight)) / f64::from(visits + in_flight)
}

/// Q of an edge with this mean, counting descents in flight as visits with value `mean - virtual_loss`.
pub(super) fn lowered_mean(mean: f64, visits: u32, in_flight: u32, virtual_loss: f64) -> f64 {
    mean - virtual_loss * f64::from(in_flight) / f64::from((visits + in_flight).max(1))
}

/// First-play urgency (FPU): the Q of an edge without a visit. `visited_prior` is the sum of the priors of visited edges.
pub(super) fn fpu_value(params: &FpuParams, parent_value: f64, visited_prior: f64) -> f64 {
    match params.kind {
        Fpu::Absolute => params.value,
        Fpu::Reduction => parent_value - params.value * visited_prior.sqrt(),
    }
}

/// Moves-left utility, added to the value `q` of a move that makes the game `longer` by this many plies: positive for a
/// shorter win or a longer loss, negative for the opposite (Leela Chess Zero, `MEvaluator::GetMUtility` in
/// `src/search/classic/search.cc`).
pub(super) fn moves_left_utility(params: &MovesLeftParams, q: f64, longer: f64) -> f64 {
    if q == 0.0 {
        return 0.0;
    }
    let effect = (params.slope * longer).clamp(-params.max_effect, params.max_effect);
    // No value exceeds a threshold of 1.
    let beyond = if params.threshold < 1.0 {
        (q.abs() - params.threshold).max(0.0) / (1.0 - params.threshold)
    } else {
        0.0
    };
    let factors = [params.constant_factor, params.scaled_factor, params.quadratic_factor];
    let weight = factors[0] + factors[1] * beyond + factors[2] * beyond * beyond;
    -q.signum() * effect * weight
}

/// A prior with noise mixed in: `(1 − fraction) · prior + fraction · noise` (Silver et al. 2018, Methods).
pub(super) fn noisy_prior(prior: f64, noise: f64, fraction: f64) -> f64 {
    (1.0 - fraction) * prior + fraction * noise
}

/// The least visits of a visited root move under forced playouts: `√(k · P · N)`, N the visits of all edges (Wu 2020,
/// section 3.2).
pub(super) fn forced_visits(forced_playouts: f64, prior: f64, edge_visits: u32) -> f64 {
    (forced_playouts * prior * f64::from(edge_visits)).sqrt()
}

/// Applies the policy temperature: `P^(1/T)`, normalised whatever the sum was before.
pub(super) fn apply_policy_temperature(priors: &mut [f32], temperature: f64) {
    if temperature == 1.0 {
        return;
    }
    // Relative to the largest prior, so that not all powers underflow.
    let largest = priors.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let exponent = (1.0 / temperature) as f32;
    for prior in &mut *priors {
        *prior = power(*prior / largest, exponent);
    }
    // In 64 bits it does not depend on the order of the moves.
    let total = priors.iter().map(|prior| f64::from(*prior)).sum::<f64>() as f32;
    for prior in priors {
        *prior /= total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_examples() {
        // 1.5 · √25 · 0.2 / (1 + 4) = 0.3
        assert!((exploration(1.5 * 5.0, 0.2, 4) - 0.3).abs() < 1e-12);
        // 1.25 + 2 · ln((99 + 100 + 1) / 100) = 1.25 + 2 · ln 2
        assert!((c_puct(1.25, 2.0, 100.0, 99) - 2.636_294_361_119_891).abs() < 1e-12);
        assert_eq!(c_puct(1.25, 0.0, 100.0, 99), 1.25);
        // Three visits with a sum of 1.2 and one in flight as a loss: (1.2 − 1) / 4 = 0.05
        assert!((mean_value(1.2, 3, 1, 1.0) - 0.05).abs() < 1e-12);
        // Three visits with the mean 0.4 and one in flight that is worth 0.4 − 0.8: 0.8 / 4
        assert!((lowered_mean(0.4, 3, 1, 0.8) - 0.2).abs() < 1e-12);
        assert_eq!((lowered_mean(0.5, 0, 0, 0.75), lowered_mean(0.5, 0, 2, 0.75)), (0.5, -0.25));
        let urgency = |kind, value| fpu_value(&FpuParams { kind, value }, 0.1, 0.25);
        // 0.1 − 0.3 · √0.25 = −0.05
        assert!((urgency(Fpu::Reduction, 0.3) + 0.05).abs() < 1e-12);
        assert_eq!(urgency(Fpu::Absolute, -0.5), -0.5);
        assert_eq!(urgency(Fpu::Reduction, 0.0), 0.1);
        assert!((noisy_prior(0.4, 0.8, 0.25) - 0.5).abs() < 1e-12);
        // √(2 · 0.25 · 32) = 4
        assert!((forced_visits(2.0, 0.25, 32) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn moves_left_utility_favours_short_wins_and_long_losses() {
        let params = MovesLeftParams::default();
        // |Q| = 0.9 is half way from the threshold 0.8 to 1, so the weight is 1.6521 · 0.5 − 0.6521 · 0.25 = 0.663025; the effect of
        // ten plies is 0.027.
        let utility = 0.027 * 0.663_025;
        for (q, longer, expected) in
            [(0.9, -10.0, utility), (0.9, 10.0, -utility), (-0.9, 10.0, utility), (-0.9, -10.0, -utility)]
        {
            assert!((moves_left_utility(&params, q, longer) - expected).abs() < 1e-12, "{q} {longer}");
        }
        // 100 plies are capped: 0.0345 · (1.6521 − 0.6521).
        assert!((moves_left_utility(&params, 1.0, -100.0) - 0.0345).abs() < 1e-12);
        assert_eq!(moves_left_utility(&params, 0.8, -10.0), 0.0);
        assert_eq!(moves_left_utility(&params, 0.0, -10.0), 0.0);
        let constant = MovesLeftParams { threshold: 0.0, constant_factor: 0.5, ..params };
        // 0.5 + 1.6521 · 0.2 − 0.6521 · 0.04 = 0.804336: with a threshold of 0, q is |Q|.
        assert!((moves_left_utility(&constant, 0.2, -10.0) - 0.027 * 0.804_336).abs() < 1e-12);
    }

    #[test]
    fn policy_temperature_flattens_or_sharpens_and_normalises() {
        let mut priors = [0.64, 0.32, 0.04];
        apply_policy_temperature(&mut priors, 2.0);
        // Square roots 0.8, 0.5657, 0.2 over their sum.
        assert!((priors[0] - 0.510_95).abs() < 1e-4 && (priors.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let mut tiny = [1e-30, 1e-38];
        apply_policy_temperature(&mut tiny, 0.5);
        assert!(tiny[0] == 1.0 && (tiny[1] / 1e-16 - 1.0).abs() < 1e-5, "{tiny:?}");
    }
}
