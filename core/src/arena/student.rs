//! Student's t distribution, for intervals of means of few pairs.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Degrees of freedom beyond which the quantile is that of the expansion, which has an error of less than 1e-8 there.
const MANY: f64 = 1000.0;

/// The distribution; with fewer than 1 degree of freedom, as estimates of it may have, that with 1.
fn distribution(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees.max(1.0)).expect("the scale and the degrees are above 0")
}

/// The 97.5 % quantile for a number of degrees of freedom, whole or not; that of the normal distribution for infinitely many.
pub fn student(degrees: f64) -> f64 {
    if degrees > MANY { expansion(degrees) } else { distribution(degrees).inverse_cdf(0.975) }
}

/// The expansion of the 97.5 % quantile by degrees of freedom (Abramowitz and Stegun 1964, 26.7.5, to the second order).
fn expansion(degrees: f64) -> f64 {
    let [first, third, fifth] = [1, 3, 5].map(|power| NORMAL.powi(power));
    NORMAL
        + (third + first) / (4.0 * degrees)
        + (5.0 * fifth + 16.0 * third + 3.0 * first) / (96.0 * degrees * degrees)
}

/// The probability of a value of at most `t`.
pub(super) fn student_below(t: f64, degrees: f64) -> f64 {
    distribution(degrees).cdf(t)
}

#[cfg(test)]
mod tests {
    use super::{student, student_below};

    #[test]
    fn quantiles_are_those_of_scipy() {
        // scipy.stats.t.ppf(0.975, degrees)
        let known = [
            (1.0, 12.706_204_736),
            (2.0, 4.302_652_730),
            (4.5, 2.658_912_347),
            (19.0, 2.093_024_054),
            (120.0, 1.979_930_405),
            (1000.0, 1.962_339_081),
            (1001.0, 1.962_336_705),
            (99_999.0, 1.959_987_708),
            (f64::INFINITY, 1.959_963_985),
        ];
        for (degrees, expected) in known {
            let found = student(degrees);
            assert!((found - expected).abs() < 1e-8, "{degrees}: {found} instead of {expected}");
        }
        assert_eq!(student(0.3), student(1.0));
    }

    #[test]
    fn probabilities_invert_the_quantiles() {
        for degrees in [1.0, 2.0, 3.5, 8.0, 9.0, 30.0, 120.0, 1001.0] {
            let found = student_below(student(degrees), degrees);
            assert!((found - 0.975).abs() < 1e-9, "{degrees}: {found}");
            assert!((student_below(-student(degrees), degrees) - (1.0 - found)).abs() < 1e-12);
            assert_eq!(student_below(0.0, degrees), 0.5);
        }
        // Cauchy's distribution, and nearly the normal one.
        assert!((student_below(1.0, 1.0) - 0.75).abs() < 1e-12);
        assert!((student_below(1.0, 1e9) - 0.841_344).abs() < 1e-5);
        assert!(student_below(1e9, 4.0) <= 1.0 && student_below(f64::INFINITY, 4.0) == 1.0);
    }
}
