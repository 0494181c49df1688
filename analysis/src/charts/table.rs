//! Charts as tables of text, and number formats.

use std::collections::BTreeMap;

use super::chart::{Chart, Marks, Point, Scale, Series};

/// A figure with its noun, which takes an `s` unless it is one.
pub fn with_noun(count: f64, noun: &str) -> String {
    format!("{} {noun}{}", short(count), if count == 1.0 { "" } else { "s" })
}

/// A number in about three significant digits: 0.0123, 4.56, 789, 12.3k, 4.5M.
pub fn short(value: f64) -> String {
    // Print −0 as 0.
    let value = if value == 0.0 { 0.0 } else { value };
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 999_500_000.0 => format!("{}G", digits(value / 1e9)),
        size if size >= 999_500.0 => format!("{}M", digits(value / 1e6)),
        size if size >= 9_999.5 => format!("{}k", digits(value / 1e3)),
        size if size > 0.0 && size < 0.001 => format!("{value:.1e}").replace('-', "−"),
        _ => digits(value),
    }
}

/// A share in per cent.
pub(crate) fn percent(share: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$} %", 100.0 * share);
    // A sum of no floating-point numbers is −0, and rounding may give it, too.
    let is_zero = text.chars().all(|letter| "-0. %".contains(letter));
    if is_zero { text.replace('-', "") } else { text.replace('-', "−") }
}

/// A number in about three significant digits, without trailing zeros; integer parts are kept in full.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.995 || size == 0.0 => 2,
        size if size >= 0.0995 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    text.replace('-', "−")
}

/// A value with its interval.
pub(super) fn with_interval(point: &Point) -> String {
    match point.interval {
        Some((low, high)) => format!("{} [{}, {}]", short(point.y), short(low), short(high)),
        None => short(point.y),
    }
}

/// Escapes text for HTML and SVG, both content and attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML cannot represent control characters.
            other if other.is_control() && !"\n\t".contains(other) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

impl Chart {
    /// The chart's numbers as rows of text; the first row has the column names.
    pub fn table(&self) -> Vec<Vec<String>> {
        match &self.marks {
            Marks::Series(series) => self.series_table(series),
            Marks::Stacks { categories, parts } => {
                let head =
                    [self.x.label.clone()].into_iter().chain(parts.iter().map(|part| part.name.clone()));
                let row = |(index, category): (usize, &String)| {
                    let values = parts.iter().map(|part| self.value(part.values[index]));
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
                let head = [self.x.label.clone(), "best".to_owned()]
                    .into_iter()
                    .chain(axes.iter().map(|axis| axis.label.clone()));
                let head = head.collect();
                let row = |line: &super::chart::ParallelLine| {
                    let best = if line.best { "yes" } else { "no" };
                    [line.name.clone(), best.to_owned()]
                        .into_iter()
                        .chain(line.labels.iter().cloned())
                        .collect()
                };
                [head].into_iter().chain(lines.iter().map(row)).collect()
            }
        }
    }

    /// A value as the vertical axis formats it.
    pub(super) fn value(&self, value: f64) -> String {
        if self.y.scale == Scale::Share { percent(value, 1) } else { short(value) }
    }

    /// The names of the series, then their [`rows`].
    fn series_table(&self, series: &[Series]) -> Vec<Vec<String>> {
        let head = [self.x.label.clone()].into_iter().chain(series.iter().map(|series| series.name.clone()));
        let row = |(x, points): (f64, Vec<Option<Point>>)| {
            let cells = points.iter().map(|point| point.as_ref().map(with_interval).unwrap_or_default());
            [self.x.text(x)].into_iter().chain(cells).collect()
        };
        [head.collect()].into_iter().chain(rows(series, |_| true).into_iter().map(row)).collect()
    }
}

/// A row for each x value, with the point of every series there; several rows if a series has several points there.
pub(super) fn rows(series: &[Series], is_shown: impl Fn(&Point) -> bool) -> Vec<(f64, Vec<Option<Point>>)> {
    let mut rows = BTreeMap::new();
    for (index, one) in series.iter().enumerate() {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for point in one.points.iter().filter(|point| is_shown(point)) {
            let count = counts.entry(sort_key(point.x)).or_default();
            let row = rows.entry((sort_key(point.x), *count));
            row.or_insert_with(|| (point.x, vec![None; series.len()])).1[index] = Some(*point);
            *count += 1;
        }
    }
    rows.into_values().collect()
}

/// An integer that sorts as the number does.
fn sort_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::{escape, percent, short, sort_key};
    use crate::charts::{Axis, Chart, Ink, Marks, Point, Series, SeriesStyle};

    #[test]
    fn numbers_have_three_significant_digits() {
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
            (0.0001, "1.0e−4"),
            (-0.00025, "−2.5e−4"),
            // Halfway between two, as the script of the charts rounds, too.
            (12.25, "12.2"),
            (12.75, "12.8"),
            (3.1449, "3.14"),
            (0.125, "0.125"),
            (-0.9996, "−1"),
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
    fn shares_have_no_negative_zero() {
        let nothing: f64 = std::iter::empty::<f64>().sum();
        assert_eq!([nothing, -1e-9, 0.0].map(|share| percent(share, 1)), ["0.0 %"; 3]);
        assert_eq!([percent(nothing, 0), percent(-0.25, 0), percent(0.125, 1)], ["0 %", "−25 %", "12.5 %"]);
    }

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        let points = points.iter().map(|(x, y)| Point::new(*x, *y)).collect();
        Series { name: name.to_owned(), ink: Ink::Series(0), style: SeriesStyle::Markers, points }
    }

    #[test]
    fn every_point_is_in_the_table() {
        let both = vec![
            series("a", &[(12_345.0, 1.0), (12_346.0, 2.0), (12_345.0, 3.0)]),
            series("b", &[(12_346.0, 4.0), (12_346.0, 5.0)]),
        ];
        let (x, y) = (Axis::integer("updates"), Axis::plain("loss"));
        let chart = Chart::new("c", "c", x, y, Marks::Series(both));
        let rows = [
            ["updates", "a", "b"],
            ["12345", "1", ""],
            ["12345", "3", ""],
            ["12346", "2", "4"],
            ["12346", "", "5"],
        ];
        assert_eq!(chart.table(), rows);
    }

    #[test]
    fn sort_keys_keep_the_order_of_numbers() {
        let rising = [f64::NEG_INFINITY, -2.5, -0.1, 0.0, 1e-9, 3.0, 4e200];
        assert!(rising.windows(2).all(|pair| sort_key(pair[0]) < sort_key(pair[1])));
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("a<b>&\"'\u{7}"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}");
    }
}
