//! Charts as rows of text.

use std::collections::BTreeMap;

use super::{Chart, Marks, Point, Scale, Series};

/// A number in as few digits as say something: 0.0123, 4.56, 789, 12.3k, 4.5M.
pub fn short(value: f64) -> String {
    // Minus zero is no number that people write.
    let value = if value == 0.0 { 0.0 } else { value };
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 999_500_000.0 => format!("{}G", digits(value / 1e9)),
        size if size >= 999_500.0 => format!("{}M", digits(value / 1e6)),
        size if size >= 9_999.5 => format!("{}k", digits(value / 1e3)),
        size if size > 0.0 && size < 0.001 => format!("{value:.1e}"),
        _ => digits(value),
    }
}

/// Three digits that say something, four before the point, without zeros at the end.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0995 || size == 0.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    text.replace('-', "−")
}

/// A value with its interval.
pub(super) fn valued(point: &Point) -> String {
    match point.interval {
        Some((low, high)) => format!("{} [{}, {}]", short(point.y), short(low), short(high)),
        None => short(point.y),
    }
}

/// Text as HTML and SVG want it, in contents and attributes alike.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML has no way to write control characters.
            other if other.is_control() && !"\n\t".contains(other) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

impl Chart {
    /// The same as rows of text, the names of the columns first.
    pub fn table(&self) -> Vec<Vec<String>> {
        match &self.marks {
            Marks::Series(series) => self.of_series(series),
            Marks::Stacks { categories, parts } => {
                let head =
                    [self.x.label.clone()].into_iter().chain(parts.iter().map(|part| part.name.clone()));
                let row = |(at, category): (usize, &String)| {
                    let values = parts.iter().map(|part| self.value(part.values[at]));
                    [category.clone()].into_iter().chain(values).collect()
                };
                [head.collect()].into_iter().chain(categories.iter().enumerate().map(row)).collect()
            }
            Marks::Bars(bars) => {
                let head = vec![self.x.label.clone(), self.y.label.clone()];
                let row = |(name, value): &(String, f64)| vec![name.clone(), self.value(*value)];
                [head].into_iter().chain(bars.iter().map(row)).collect()
            }
            Marks::Parallel { axes, lines } => {
                let head = [self.x.label.clone()].into_iter().chain(axes.iter().cloned()).collect();
                let row = |line: &super::ParallelLine| {
                    [line.name.clone()]
                        .into_iter()
                        .chain(line.values.iter().map(|value| short(*value)))
                        .collect()
                };
                [head].into_iter().chain(lines.iter().map(row)).collect()
            }
        }
    }

    fn value(&self, value: f64) -> String {
        if self.y.scale == Scale::Share { format!("{:.1} %", 100.0 * value) } else { short(value) }
    }

    /// A row for each place, with the values of all series there.
    fn of_series(&self, series: &[Series]) -> Vec<Vec<String>> {
        let head = [self.x.label.clone()].into_iter().chain(series.iter().map(|series| series.name.clone()));
        let mut places: BTreeMap<u64, (f64, Vec<String>)> = BTreeMap::new();
        for (at, series) in series.iter().enumerate() {
            for point in &series.points {
                let row = places.entry(ordered(point.x)).or_insert_with(|| (point.x, Vec::new()));
                row.1.resize(at, String::new());
                row.1.push(valued(point));
            }
        }
        let row = |(x, mut cells): (f64, Vec<String>)| {
            cells.resize(series.len(), String::new());
            [short(x)].into_iter().chain(cells).collect()
        };
        [head.collect()].into_iter().chain(places.into_values().map(row)).collect()
    }
}

/// A number that is ordered as the numbers are.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::{escape, ordered, short};

    #[test]
    fn numbers_are_short_and_say_what_they_are() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (-12.34, "−12.3"),
            (1234.0, "1234"),
            (12_345.0, "12.3k"),
            (9_999.6, "10k"),
            (999_600.0, "1M"),
            (2_500_000.0, "2.5M"),
            (0.0123, "0.0123"),
            (0.0001, "1.0e-4"),
            (3.1449, "3.14"),
            (f64::NAN, "–"),
            (0.002, "0.002"),
            (100.0, "100"),
            (99.96, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text, "{value}");
        }
    }

    #[test]
    fn numbers_keep_their_order() {
        let rising = [f64::NEG_INFINITY, -2.5, -0.1, 0.0, 1e-9, 3.0, 4e200];
        assert!(rising.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
    }

    #[test]
    fn text_cannot_leave_its_place_in_a_page() {
        assert_eq!(escape("a<b>&\"'\u{7}"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}");
    }
}
