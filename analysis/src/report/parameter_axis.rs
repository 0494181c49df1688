//! The axis of a sweep's parameter: numbers, labels, or labels after the numbers.

use dc0_core::params::Value;

use crate::charts::{Axis, Scale, short};

/// The distance of labels from the numbers, as a share of the numbers' span. Chosen.
const LABEL_GAP: f64 = 0.15;

/// An axis with a position for each of the values. `None`, for trials without the parameter, is the last label.
pub(super) fn axis(name: &str, values: &[&Value], is_logarithmic: bool) -> Axis {
    let numbers = values.iter().filter_map(|value| value.as_f64()).filter(|number| number.is_finite());
    let (least, most) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), number| {
        (least.min(number), most.max(number))
    });
    let is_logarithmic = is_logarithmic && least > 0.0;
    let label_position = |number: f64| match least <= most {
        false => number,
        true if is_logarithmic => most * (most / least).max(10.0).powf(LABEL_GAP * number),
        true if least < most => most + LABEL_GAP * (most - least) * number,
        true => most + number,
    };
    let mut labels: Vec<&&Value> = values.iter().filter(|value| value.as_f64().is_none()).collect();
    labels.sort_by_key(|value| (***value == Value::None, value_text(value)));
    labels.dedup();
    let labels = labels.into_iter().enumerate();
    let labels = labels.map(|(index, value)| (label_position(index as f64 + 1.0), value_text(value)));
    let scale = match (least <= most, is_logarithmic) {
        (false, _) => Scale::Categories,
        (true, true) => Scale::Logarithm,
        (true, false) => Scale::Plain,
    };
    Axis { scale, labels: labels.collect(), ..Axis::plain(name) }
}

/// The position of a value on its axis.
pub(super) fn position(axis: &Axis, value: &Value) -> Option<f64> {
    let labelled = || axis.labels.iter().find(|(_, label)| *label == value_text(value)).map(|(x, _)| *x);
    value.as_f64().or_else(labelled)
}

/// A value's displayed text.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::None => "not set".to_owned(),
        Value::Text(text) => text.clone(),
        number => number.as_f64().map_or_else(|| number.to_string(), short),
    }
}

#[cfg(test)]
mod tests {
    use super::{axis, position};
    use crate::charts::Scale;
    use dc0_core::params::Value;

    #[test]
    fn labels_alone_are_categories() {
        let (visits, gumbel) = (Value::from("visits"), Value::from("gumbel"));
        let categories = axis("choice", &[&visits, &Value::None, &gumbel, &visits], false);
        assert_eq!(categories.scale, Scale::Categories);
        let positions = [&gumbel, &visits, &Value::None].map(|value| position(&categories, value));
        assert_eq!(positions, [Some(1.0), Some(2.0), Some(3.0)]);
    }

    #[test]
    fn labels_follow_the_numbers() {
        let numbers = [0.01, 1.0].map(Value::Float);
        let values = [&numbers[0], &Value::None, &numbers[1]];
        let plain = axis("rate", &values, false);
        assert_eq!((plain.scale, position(&plain, &Value::None)), (Scale::Plain, Some(1.0 + 0.15 * 0.99)));
        let logarithmic = axis("rate", &values, true);
        assert_eq!(logarithmic.scale, Scale::Logarithm);
        let label = position(&logarithmic, &Value::None).expect("a position");
        assert!((label - 100_f64.powf(0.15)).abs() < 1e-12, "{label}");
        assert!(logarithmic.labels.iter().all(|(position, _)| *position > 1.0));
    }
}
