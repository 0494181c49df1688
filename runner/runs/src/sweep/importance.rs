//! Parameter importance: how much the distribution of the best trials along a dimension differs from that of all trials
//! (PED-ANOVA of Watanabe, Bansal & Hutter 2023). A dimension that only some trials have is weighted by the share of the best
//! trials that have it, because few trials are weak evidence.

use dc0_core::params::Value;

use super::events::ROUNDING;
use super::observation::Direction;
use super::space::{Dimension, Domain, Point, Space};

/// With fewer trials, importances are not estimated. Chosen.
const LEAST_TRIALS: usize = 8;

/// Share of the trials that counts as best. The paper takes a tenth, but of more trials than sweeps of nets have. Chosen.
const BEST: f64 = 0.25;

/// Bins in which densities along a dimension are compared. Chosen.
const BINS: usize = 64;

/// The smallest bandwidth of a density, as a share of the dimension's range. Chosen.
const LEAST_WIDTH: f64 = 0.05;

/// The importance of each dimension, as shares that sum to 1, the largest first; empty while too few trials have a value, and if the best
/// ones are distributed as all. Trials as good as the last of the best are among the best.
pub fn importances(space: &Space, direction: Direction, trials: &[(&Point, f64)]) -> Vec<(String, f64)> {
    if trials.len() < LEAST_TRIALS {
        return Vec::new();
    }
    let mut best_first = trials.to_vec();
    let gain = |trial: &(&Point, f64)| direction.gain(trial.1);
    best_first.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    let cutoff = gain(&best_first[(trials.len() as f64 * BEST).ceil() as usize - 1]);
    // Means of equal scores may differ by rounding.
    let best = best_first.partition_point(|trial| gain(trial) >= cutoff - ROUNDING * cutoff.abs());
    let importance = |(name, dimension): (&str, &Dimension)| {
        let values = |count: usize| -> Vec<&Value> {
            let values = best_first[..count].iter().filter_map(|(point, _)| point.get(name));
            values.filter(|value| dimension.domain.contains(value)).collect()
        };
        let (top, all) = (values(best), values(best_first.len()));
        let weight = top.len() as f64 / best as f64;
        let divergence = divergence(&shares(&dimension.domain, &top), &shares(&dimension.domain, &all));
        (name.to_owned(), weight * divergence)
    };
    let mut all: Vec<(String, f64)> = space.dimensions().map(importance).collect();
    let sum: f64 = all.iter().map(|(_, importance)| importance).sum();
    if sum == 0.0 {
        return Vec::new();
    }
    for (_, importance) in &mut all {
        *importance /= sum;
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

/// Pearson's chi-squared divergence of the shares `top` from `all`.
fn divergence(top: &[f64], all: &[f64]) -> f64 {
    top.iter().zip(all).map(|(top, all)| all * (top / all - 1.0).powi(2)).sum()
}

/// The distribution of trials along a dimension, as shares that sum to 1: one per value if there are few, else one per bin. One
/// extra trial, spread evenly, keeps all shares above 0.
fn shares(domain: &Domain, values: &[&Value]) -> Vec<f64> {
    let count = domain.count().filter(|count| *count <= BINS as u64);
    let bins = count.map_or(BINS, |count| count as usize);
    let mut shares = vec![1.0 / bins as f64; bins];
    let units: Vec<f64> = values.iter().filter_map(|value| domain.unit_of(value)).collect();
    let width = width(&units);
    for (value, unit) in values.iter().zip(units) {
        let own = match (count, domain.index_of(value)) {
            (Some(_), Some(index)) => one_hot(bins, index as usize),
            (Some(_), None) => one_hot(bins, ((unit * bins as f64) as usize).min(bins - 1)),
            (None, _) => bell(unit, width),
        };
        for (share, own) in shares.iter_mut().zip(own) {
            *share += own;
        }
    }
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

fn one_hot(bins: usize, own: usize) -> Vec<f64> {
    (0..bins).map(|bin| f64::from(u8::from(bin == own))).collect()
}

/// A normal density around a value in `[0, 1]`, truncated at the dimension's ends.
fn bell(unit: f64, width: f64) -> Vec<f64> {
    let centre = |bin: usize| (bin as f64 + 0.5) / BINS as f64;
    let heights: Vec<f64> =
        (0..BINS).map(|bin| (-0.5 * ((centre(bin) - unit) / width).powi(2)).exp()).collect();
    let sum: f64 = heights.iter().sum();
    heights.into_iter().map(|height| height / sum).collect()
}

/// The bandwidth by Scott's rule (Scott 1992) for one variable.
fn width(units: &[f64]) -> f64 {
    let count = units.len() as f64;
    let mean = units.iter().sum::<f64>() / count;
    let variance = units.iter().map(|unit| (unit - mean).powi(2)).sum::<f64>() / count;
    (variance.sqrt() * count.powf(-0.2)).max(LEAST_WIDTH)
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::importances;
    use crate::sweep::observation::Direction;
    use crate::sweep::space::Point;
    use crate::sweep::space::Space;

    fn group(members: &[(&str, Value)]) -> Value {
        Value::Group(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    fn space() -> Space {
        let text = |text: &str| Value::Text(text.to_owned());
        let uniform = [("kind", text("uniform")), ("low", Value::Int(0)), ("high", Value::Int(1))];
        let choice = [("kind", text("choice")), ("values", Value::List(vec![text("a"), text("b")]))];
        let dimensions = [("matters", group(&uniform)), ("idle", group(&uniform)), ("word", group(&choice))];
        Space::from_value(&group(&dimensions)).expect("a space")
    }

    /// Points spread evenly: by the golden ratio along `matters`, and by another irrational along `idle`.
    fn points(count: u32) -> Vec<Point> {
        let point = |number: u32| {
            let along = |step: f64| Value::Float((f64::from(number) * step).fract());
            let word = Value::Text(if number.is_multiple_of(2) { "a" } else { "b" }.to_owned());
            let members = [("matters", along(0.618_034)), ("idle", along(0.754_878)), ("word", word)];
            members.map(|(name, value)| (name.to_owned(), value)).into()
        };
        (0..count).map(point).collect()
    }

    fn found(count: u32, direction: Direction, value: impl Fn(&Point) -> f64) -> Vec<(String, f64)> {
        let points = points(count);
        let trials: Vec<(&Point, f64)> = points.iter().map(|point| (point, value(point))).collect();
        importances(&space(), direction, &trials)
    }

    fn number(point: &Point, name: &str) -> f64 {
        point[name].as_f64().expect("a number")
    }

    #[test]
    fn a_dimension_that_few_trials_have_counts_little() {
        let mut points = points(32);
        for (number, point) in points.iter_mut().enumerate() {
            if number % 8 != 0 {
                point.remove("idle");
            }
        }
        let trials: Vec<(&Point, f64)> =
            points.iter().map(|point| (point, number(point, "matters"))).collect();
        let all = importances(&space(), Direction::Maximize, &trials);
        let share = |name: &str| all.iter().find(|(own, _)| own == name).expect("the dimension").1;
        assert!(share("matters") > 0.7 && share("idle") < 0.1, "{all:?}");
    }

    #[test]
    fn the_decisive_dimension_is_most_important_in_either_direction() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let all = found(32, direction, |point| number(point, "matters"));
            assert_eq!(all[0].0, "matters");
            assert!(all[0].1 > 0.6, "{all:?}");
            assert!((all.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let is_a = |point: &Point| point["word"] == Value::Text("a".to_owned());
        let all = found(32, Direction::Maximize, |point| f64::from(u8::from(is_a(point))));
        assert_eq!(all[0].0, "word", "{all:?}");
    }

    #[test]
    fn each_of_a_few_values_counts_for_itself_on_every_scale() {
        let shares = |log: bool| {
            let int = [
                ("kind", Value::Text("int".to_owned())),
                ("low", Value::Int(1)),
                ("high", Value::Int(4)),
                ("log", Value::Bool(log)),
            ];
            let space =
                Space::from_value(&group(&[("a", group(&int)), ("b", group(&int))])).expect("a space");
            let points: Vec<Point> = space.grid().collect();
            let value = |point: &Point| number(point, "a") + 0.9 * number(point, "b");
            let trials: Vec<(&Point, f64)> = points.iter().map(|point| (point, value(point))).collect();
            importances(&space, Direction::Maximize, &trials)
        };
        assert_eq!(shares(true), shares(false));
    }

    #[test]
    fn trials_that_tie_are_all_among_the_best_or_none() {
        let points = points(12);
        // Four tie for the last two of the three places, but for rounding.
        let values = (0..12).map(|number| 0.15 * f64::from(number / 4));
        let mut trials: Vec<(&Point, f64)> = points.iter().zip(values).collect();
        trials[0].1 = 9.0;
        (trials[10].1, trials[11].1) = (0.1 + 0.2, 0.1 + 0.2);
        let forwards = importances(&space(), Direction::Maximize, &trials);
        trials.reverse();
        let backwards = importances(&space(), Direction::Maximize, &trials);
        for ((name, share), (other, other_share)) in forwards.iter().zip(&backwards) {
            assert!(name == other && (share - other_share).abs() < 1e-12, "{forwards:?} {backwards:?}");
        }
        for direction in [Direction::Maximize, Direction::Minimize] {
            assert_eq!(found(12, direction, |_| 0.5), []);
        }
    }

    #[test]
    fn too_few_trials_have_no_importances() {
        assert!(found(7, Direction::Maximize, |point| number(point, "idle")).is_empty());
        assert_eq!(found(8, Direction::Maximize, |point| number(point, "idle")).len(), 3);
    }
}
