//! The labels of horizontal reference lines, which stand where they cover the least.

use kuva::render::layout::ComputedLayout;
use kuva::render::render::{Primitive, TextAnchor};

use super::chart::{Chart, Marks, Reference, Series, SeriesStyle};
use super::theme::{TEXT_SIZE, text_width};

/// Between a label and its line or the end of the chart.
const GAP: f64 = 4.0;
/// How far a marker reaches from its point.
const MARKER_RADIUS: f64 = 5.0;
/// The distance of the points at which a line is looked at.
const SAMPLE_DISTANCE: f64 = 4.0;

/// The end of its line at which a label stands, and the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Corner {
    pub(super) is_left: bool,
    pub(super) is_below: bool,
}

/// All corners; of those that cover equally little the first is taken.
const CORNERS: [Corner; 4] = [
    Corner { is_left: false, is_below: false },
    Corner { is_left: true, is_below: false },
    Corner { is_left: false, is_below: true },
    Corner { is_left: true, is_below: true },
];

/// A rectangle of a picture, which may be a point or a vertical line.
#[derive(Debug, Clone, Copy)]
struct Area {
    x: (f64, f64),
    y: (f64, f64),
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        let overlap = |one: (f64, f64), other: (f64, f64)| one.0 < other.1 && other.0 < one.1;
        overlap(self.x, other.x) && overlap(self.y, other.y)
    }
}

impl Chart {
    /// The levels with their labels and the corners where these stand.
    pub(super) fn levels(&self, layout: &ComputedLayout) -> Vec<(f64, &str, Corner)> {
        let mut covered = match &self.marks {
            Marks::Series(series) => series.iter().flat_map(|one| areas(one, layout)).collect(),
            Marks::Stacks { .. } | Marks::Bars(_) | Marks::Parallel { .. } => Vec::new(),
        };
        let with_corner = |(level, label)| {
            let area = |corner: &Corner| area(level, label, *corner, layout);
            let cost = |corner: &&Corner| {
                let own = area(corner);
                covered.iter().filter(|other| own.overlaps(other)).count()
            };
            let corner = *CORNERS.iter().min_by_key(cost).unwrap_or(&CORNERS[0]);
            covered.push(area(&corner));
            (level, label, corner)
        };
        self.level_lines().map(with_corner).collect()
    }

    /// The levels with their labels.
    pub(super) fn level_lines(&self) -> impl Iterator<Item = (f64, &str)> {
        self.references.iter().filter_map(|reference| match reference {
            Reference::Level(level, label) => Some((*level, label.as_str())),
            Reference::Diagonal(_) => None,
        })
    }

    /// The labels of the levels.
    pub(super) fn level_labels(&self, layout: &ComputedLayout) -> Vec<Primitive> {
        let label = |(level, label, corner): (f64, &str, Corner)| {
            let Area { x, y } = area(level, label, corner, layout);
            Primitive::Text {
                x: if corner.is_left { x.0 } else { x.1 },
                // Letters that reach below the baseline take about a quarter of the font size.
                y: if corner.is_below { y.1 } else { y.1 - f64::from(TEXT_SIZE) / 4.0 },
                content: label.to_owned(),
                size: TEXT_SIZE,
                anchor: if corner.is_left { TextAnchor::Start } else { TextAnchor::End },
                rotate: None,
                bold: false,
                color: None,
            }
        };
        self.levels(layout).into_iter().map(label).collect()
    }
}

/// The box of a label.
fn area(level: f64, label: &str, corner: Corner, layout: &ComputedLayout) -> Area {
    let (width, height) = (text_width(label.chars().count()), f64::from(TEXT_SIZE));
    let line = layout.map_y(level);
    let x = if corner.is_left {
        let left = layout.margin_left + GAP;
        (left, left + width)
    } else {
        let right = layout.width - layout.margin_right - GAP;
        (right - width, right)
    };
    let y = if corner.is_below {
        (line + GAP, line + GAP + height)
    } else {
        (line - GAP / 2.0 - height, line - GAP / 2.0)
    };
    Area { x, y }
}

/// What a series covers: its markers, its error bars, and points along its line.
fn areas(series: &Series, layout: &ComputedLayout) -> Vec<Area> {
    let at = |x: f64, y: f64| (layout.map_x(x), layout.map_y(y));
    let around =
        |(x, y): (f64, f64), radius: f64| Area { x: (x - radius, x + radius), y: (y - radius, y + radius) };
    let points: Vec<(f64, f64)> = series.points.iter().map(|point| at(point.x, point.y)).collect();
    let points: Vec<(f64, f64)> =
        points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let mut areas = Vec::new();
    if series.style != SeriesStyle::Line {
        areas.extend(points.iter().map(|point| around(*point, MARKER_RADIUS)));
        areas.extend(series.points.iter().filter_map(|point| {
            let (low, high) = point.interval?;
            let (x, bottom) = at(point.x, low);
            let (_, top) = at(point.x, high);
            Some(Area { x: (x - 1.0, x + 1.0), y: (top, bottom) })
        }));
    }
    if series.style != SeriesStyle::Markers {
        areas.extend(points.windows(2).flat_map(|ends| {
            let [from, to] = [ends[0], ends[1]];
            let steps = ((to.0 - from.0).hypot(to.1 - from.1) / SAMPLE_DISTANCE).ceil().max(1.0);
            let sample = move |step: u32| {
                let share = f64::from(step) / steps;
                around((from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)), 1.0)
            };
            (0..=steps as u32).map(sample)
        }));
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::Corner;
    use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Series, SeriesStyle, Theme};

    const ABOVE_RIGHT: Corner = Corner { is_left: false, is_below: false };

    /// A chart of a line through these points and these levels.
    fn chart(points: &[(f64, f64)], levels: &[f64]) -> Chart {
        let points = points.iter().map(|(x, y)| Point { x: *x, y: *y, interval: None }).collect();
        let (name, ink) = ("n".to_owned(), Ink::Series(0));
        let marks = Marks::Series(vec![Series { name, ink, style: SeriesStyle::MarkedLine, points }]);
        let references =
            levels.iter().map(|level| Reference::Level(*level, "alphabeta".to_owned())).collect();
        Chart { references, ..Chart::new("c", "c", Axis::plain("x"), Axis::plain("y"), marks) }
    }

    fn corners(chart: &Chart) -> Vec<Corner> {
        let layout = chart.computed_layout(560.0, 300.0);
        chart.levels(&layout).into_iter().map(|(_, _, corner)| corner).collect()
    }

    #[test]
    fn a_label_stands_at_the_right_end_above_its_line() {
        assert_eq!(corners(&chart(&[(0.0, 0.0), (10.0, 0.0)], &[5.0])), [ABOVE_RIGHT]);
    }

    #[test]
    fn a_label_does_not_cover_the_last_points() {
        let left = corners(&chart(&[(0.0, 0.0), (9.0, 0.0), (9.5, 5.2), (10.0, 5.2)], &[5.0]));
        assert_eq!(left, [Corner { is_left: true, is_below: false }]);
        let below = corners(&chart(&[(0.0, 5.2), (3.0, 5.2), (5.0, 0.0), (7.0, 5.2), (10.0, 5.2)], &[5.0]));
        assert_eq!(below, [Corner { is_left: false, is_below: true }]);
    }

    #[test]
    fn labels_of_close_levels_do_not_cover_each_other() {
        let [one, other] = corners(&chart(&[(0.0, 0.0), (10.0, 10.0)], &[5.0, 5.1]))[..] else {
            panic!("two levels")
        };
        assert_ne!(one, other);
    }

    #[test]
    fn the_picture_and_the_data_of_the_page_agree() {
        let chart = chart(&[(0.0, 0.0), (9.0, 0.0), (9.5, 5.2), (10.0, 5.2)], &[5.0]);
        let svg = chart.svg(Theme::Page, 560.0, 300.0);
        let label = svg.split("<text").find(|text| text.contains("alphabeta")).expect("the label");
        assert!(!label.contains("text-anchor=\"end\""), "{label}");
        let data = chart.data((560.0, 300.0)).expect("a live chart");
        assert_eq!(data["levels"], serde_json::json!([[5.0, "alphabeta", "left", "above"]]));
    }
}
