//! The axis of a parameter of a sweep: numbers, words, or words behind numbers.

use dc0_core::params::Value;

use crate::charts::{Axis, Scale, short};

/// How far behind the numbers a word stands, as a share of what they span. Chosen.
const BEHIND: f64 = 0.15;

/// An axis that has a place for each of these values. A parameter that a trial does not have is a word, too, the last one.
pub(super) fn axis(name: &str, values: &[&Value], is_logarithmic: bool) -> Axis {
    let numbers = values.iter().filter_map(|value| value.as_f64()).filter(|number| number.is_finite());
    let (least, most) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), number| {
        (least.min(number), most.max(number))
    });
    let is_logarithmic = is_logarithmic && least > 0.0;
    let behind = |at: f64| match least <= most {
        false => at,
        true if is_logarithmic => most * (most / least).max(10.0).powf(BEHIND * at),
        true if least < most => most + BEHIND * (most - least) * at,
        true => most + at,
    };
    let mut words: Vec<&&Value> = values.iter().filter(|value| value.as_f64().is_none()).collect();
    words.sort_by_key(|value| (***value == Value::None, worded(value)));
    words.dedup();
    let words = words.into_iter().enumerate().map(|(at, word)| (behind(at as f64 + 1.0), worded(word)));
    let scale = match (least <= most, is_logarithmic) {
        (false, _) => Scale::Words,
        (true, true) => Scale::Logarithm,
        (true, false) => Scale::Plain,
    };
    Axis { scale, words: words.collect(), ..Axis::plain(name) }
}

/// Where a value stands on its axis.
pub(super) fn place(axis: &Axis, value: &Value) -> Option<f64> {
    let word = || axis.words.iter().find(|(_, word)| *word == worded(value)).map(|(place, _)| *place);
    value.as_f64().or_else(word)
}

/// A value as people read it.
pub(super) fn worded(value: &Value) -> String {
    match value {
        Value::None => "not set".to_owned(),
        Value::Text(text) => text.clone(),
        number => number.as_f64().map_or_else(|| number.to_string(), short),
    }
}

#[cfg(test)]
mod tests {
    use super::{axis, place};
    use crate::charts::Scale;
    use dc0_core::params::Value;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn words_alone_stand_one_after_the_other() {
        let (visits, gumbel) = (text("visits"), text("gumbel"));
        let words = axis("choice", &[&visits, &Value::None, &gumbel, &visits], false);
        assert_eq!(words.scale, Scale::Words);
        let places = [&gumbel, &visits, &Value::None].map(|value| place(&words, value));
        assert_eq!(places, [Some(1.0), Some(2.0), Some(3.0)]);
    }

    #[test]
    fn words_stand_behind_the_numbers() {
        let numbers = [0.01, 1.0].map(Value::Float);
        let values = [&numbers[0], &Value::None, &numbers[1]];
        let plain = axis("rate", &values, false);
        assert_eq!((plain.scale, place(&plain, &Value::None)), (Scale::Plain, Some(1.0 + 0.15 * 0.99)));
        let by_factor = axis("rate", &values, true);
        assert_eq!(by_factor.scale, Scale::Logarithm);
        let place = place(&by_factor, &Value::None).expect("a place");
        assert!((place - 100_f64.powf(0.15)).abs() < 1e-12, "{place}");
        assert!(by_factor.words.iter().all(|(place, _)| *place > 1.0));
    }
}
