//! Thins long curves to the resolution of a picture, and computes quantiles.

use crate::charts::Point;

/// The most points of a curve. Chosen: a picture is some 500 pixels wide.
const MAX_POINTS: usize = 240;

/// Averages neighbouring points so that at most [`MAX_POINTS`] are left. Points that are not finite are left out.
pub(super) fn thinned(points: &[(f64, f64)]) -> Vec<Point> {
    let finite: Vec<(f64, f64)> =
        points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()).copied().collect();
    let group = finite.len().div_ceil(MAX_POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let count = points.len() as f64;
        let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        Point::new(sum.0 / count, sum.1 / count)
    };
    finite.chunks(group).map(mean).collect()
}

/// A quantile of sorted values, interpolated linearly; NaN without values.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len().max(1) - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    match (sorted.get(below), sorted.get(above)) {
        (Some(low), Some(high)) => low + (high - low) * position.fract(),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_POINTS, quantile, thinned};

    #[test]
    fn long_curves_keep_their_mean_and_short_ones_all_points() {
        let long: Vec<(f64, f64)> = (0..2400).map(|x| (f64::from(x), f64::from(x % 7))).collect();
        let thin = thinned(&long);
        assert_eq!(thin.len(), MAX_POINTS);
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let all: Vec<f64> = values.collect();
            all.iter().sum::<f64>() / all.len() as f64
        };
        let whole = mean(&mut long.iter().map(|(_, y)| *y));
        assert!((mean(&mut thin.iter().map(|point| point.y)) - whole).abs() < 1e-9);
        assert_eq!(thinned(&[(1.0, 2.0), (2.0, f64::NAN), (3.0, 4.0)]).len(), 2);
        assert!(thinned(&[]).is_empty());
    }

    #[test]
    fn quantiles_are_interpolated() {
        let sorted = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.5), 2.5);
        assert_eq!(quantile(&sorted, 1.0), 10.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
