//! Long curves in as many points as a picture has room for.

use crate::charts::Point;

/// Points of a curve at most. Chosen: a picture has some 500 pixels.
const MOST: usize = 240;

/// The means of as many neighbours each as leave no more than [`MOST`] points. Points that are no numbers are left out.
pub(super) fn thinned(points: &[(f64, f64)]) -> Vec<Point> {
    let sound: Vec<(f64, f64)> =
        points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()).copied().collect();
    let together = sound.len().div_ceil(MOST).max(1);
    let mean = |points: &[(f64, f64)]| {
        let count = points.len() as f64;
        let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        Point::new(sum.0 / count, sum.1 / count)
    };
    sound.chunks(together).map(mean).collect()
}

/// The value below which a share of sorted values lies.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().max(1) - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    match (sorted.get(below), sorted.get(above)) {
        (Some(low), Some(high)) => low + (high - low) * place.fract(),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, quantile, thinned};

    #[test]
    fn long_curves_keep_their_mean_and_short_ones_every_point() {
        let long: Vec<(f64, f64)> = (0..2400).map(|at| (f64::from(at), f64::from(at % 7))).collect();
        let thin = thinned(&long);
        assert_eq!(thin.len(), MOST);
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
    fn quantiles_lie_between_neighbours() {
        let sorted = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.5), 2.5);
        assert_eq!(quantile(&sorted, 1.0), 10.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
