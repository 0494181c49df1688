//! Student's t distribution, for intervals of means of few pairs.

/// The 97.5 % quantile: tabulated up to 30 degrees of freedom, approximated beyond.
pub fn student(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let known = degrees.checked_sub(1).and_then(|row| TABLE.get(row));
    // Cornish and Fisher's expansion in 1/degrees.
    known.copied().unwrap_or_else(|| 1.959_964 + 2.372 / degrees as f64 + 2.82 / (degrees as f64).powi(2))
}

/// The 97.5 % quantile for any number of degrees from 1 up, infinity included: linear in 1/degrees between whole numbers.
pub(super) fn student_between(degrees: f64) -> f64 {
    if degrees >= 1e6 {
        return NORMAL;
    }
    let (below, above) = (degrees.max(1.0).floor(), degrees.max(1.0).floor() + 1.0);
    let share = (1.0 / below - 1.0 / degrees.max(1.0)) / (1.0 / below - 1.0 / above);
    let [low, high] = [below, above].map(|degrees| student(degrees as usize));
    low + share * (high - low)
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The probability of a value of at most `t`, by the finite series of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4.
pub(super) fn student_below(t: f64, degrees: usize) -> f64 {
    let angle = (t.abs() / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    // Each term is the one before times cos² and a ratio of neighbouring whole numbers.
    let first = if is_odd { 2.0 } else { 1.0 };
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    for index in 0..(degrees - usize::from(is_odd)) / 2 {
        sum += term;
        let factor = first + 2.0 * index as f64;
        term *= factor / (factor + 1.0) * cosine * cosine;
    }
    let within = if is_odd { std::f64::consts::FRAC_2_PI * (angle + sine * sum) } else { sine * sum };
    0.5 + 0.5 * within.clamp(0.0, 1.0).copysign(t)
}

#[cfg(test)]
mod tests {
    use super::{student, student_below, student_between};

    #[test]
    fn quantiles_continue_their_table() {
        // 2.0395 at 31 and 1.9799 at 120 degrees of freedom.
        assert!((student(31) - 2.0395).abs() < 1e-3 && (student(120) - 1.9799).abs() < 1e-3);
        assert_eq!((student_between(1.0), student_between(7.0)), (student(1), student(7)));
        assert!((student_between(f64::INFINITY) - 1.959_964).abs() < 1e-6);
        // 2.6649 at 4½ degrees (scipy.stats.t.ppf).
        assert!((student_between(4.5) - 2.6602).abs() < 5e-3, "{}", student_between(4.5));
        assert!(student_between(0.3) == student(1));
    }

    #[test]
    fn probabilities_invert_the_quantiles() {
        for degrees in [1, 2, 3, 8, 9, 30, 120, 1001] {
            let found = student_below(student(degrees), degrees);
            assert!((found - 0.975).abs() < 2e-5, "{degrees}: {found}");
            assert!((student_below(-student(degrees), degrees) - (1.0 - found)).abs() < 1e-12);
            assert_eq!(student_below(0.0, degrees), 0.5);
        }
        // Cauchy's distribution, and a sum of many terms.
        assert!((student_below(1.0, 1) - 0.75).abs() < 1e-12);
        assert!((student_below(1.0, 100_000) - 0.841_344).abs() < 1e-5);
        assert!(student_below(1e9, 4) <= 1.0 && student_below(f64::INFINITY, 4) == 1.0);
    }
}
