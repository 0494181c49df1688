//! Formats numbers and times for people.

use std::time::Duration;

/// A count with a unit prefix, three digits: `950`, `12.3k`, `4.56M`.
pub fn amount(count: f64) -> String {
    let prefixes = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let fits = |(_, size): &&(&str, f64)| count < size * 999.5;
    let (prefix, size) = prefixes.iter().find(fits).unwrap_or(&prefixes[4]);
    let scaled = count / size;
    match (prefix.is_empty(), scaled) {
        (true, _) if scaled.fract() == 0.0 => format!("{scaled}"),
        (_, scaled) if scaled < 9.995 => format!("{scaled:.2}{prefix}"),
        (_, scaled) if scaled < 99.95 => format!("{scaled:.1}{prefix}"),
        (_, scaled) => format!("{scaled:.0}{prefix}"),
    }
}

/// A count with its noun, in the plural unless it is one: `1 trial`, `2 trials`, `2 plies`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", numbered(noun, count == 1))
}

/// As [`counted`], with the count as [`amount`] writes it: `12.3k simulations`.
pub fn counted_amount(count: f64, noun: &str) -> String {
    format!("{} {}", amount(count), numbered(noun, count == 1.0))
}

fn numbered(noun: &str, is_single: bool) -> String {
    match noun.strip_suffix('y') {
        _ if is_single => noun.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

/// A time in its two largest units: `0.8s`, `42s`, `3m05s`, `2h10m`.
pub fn duration(time: Duration) -> String {
    let secs = time.as_secs();
    match secs {
        0..=9 => format!("{:.1}s", time.as_secs_f64()),
        10..=59 => format!("{secs}s"),
        60..=3599 => format!("{}m{:02}s", secs / 60, secs % 60),
        _ => format!("{}h{:02}m", secs / 3600, secs / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{amount, counted, counted_amount, duration};

    #[test]
    fn a_single_thing_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "trial"));
        assert_eq!(texts, ["0 trials", "1 trial", "2 trials"]);
        assert_eq!([1, 2].map(|count| counted(count, "ply")), ["1 ply", "2 plies"]);
        let amounts = [1.0, 12_345.0].map(|count| counted_amount(count, "simulation"));
        assert_eq!(amounts, ["1 simulation", "12.3k simulations"]);
    }

    #[test]
    fn counts_have_three_digits() {
        let expected =
            [(0.0, "0"), (7.0, "7"), (0.5, "0.50"), (950.0, "950"), (999.6, "1.00k"), (12_345.0, "12.3k")];
        for (count, text) in expected {
            assert_eq!(amount(count), text);
        }
        assert_eq!((amount(4.56e6), amount(2e15)), ("4.56M".to_owned(), "2000T".to_owned()));
    }

    #[test]
    fn times_have_two_units() {
        let texts = [0.84, 42.3, 185.0, 7_800.0].map(|secs| duration(Duration::from_secs_f64(secs)));
        assert_eq!(texts, ["0.8s", "42s", "3m05s", "2h10m"]);
    }
}
