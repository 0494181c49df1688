//! A chart's data as JSON, for the page's script, which draws it again with values at the pointer and zoom.

use serde_json::{Value as Json, json};

use super::chart::{
    Axis, Chart, Marks, ParallelLine, Point, Reference, Scale, Series, SeriesStyle, StackSeries,
};
use super::levels::Corner;
use super::parallel;
use super::table::rows;
use super::theme::Ink;

impl Chart {
    /// Its axes and its series, whose values are aligned to common rows, and the levels, whose labels stand as in a picture of a size;
    /// `None` for charts that stay pictures.
    pub(super) fn data(&self, (width, height): (f64, f64)) -> Option<Json> {
        let (rows, series) = match &self.marks {
            Marks::Series(series) => aligned(series),
            Marks::Stacks { categories, parts } => {
                ((1..=categories.len()).map(|row| row as f64).collect(), parts.iter().map(part).collect())
            }
            Marks::Bars(_) | Marks::Parallel { .. } => return None,
        };
        let x = match &self.marks {
            Marks::Stacks { categories, .. } => {
                let labels = (1..).map(f64::from).zip(categories.iter().cloned()).collect();
                &Axis { scale: Scale::Categories, labels, ..self.x.clone() }
            }
            _ => &self.x,
        };
        let level = |(level, label, corner): (f64, &str, Corner)| {
            let end = if corner.is_left { "left" } else { "right" };
            json!([rounded(level), label, end, if corner.is_below { "below" } else { "above" }])
        };
        let levels: Vec<Json> =
            self.levels(&self.computed_layout(width, height)).into_iter().map(level).collect();
        Some(json!({
            "x": axis(x, &x.label), "y": axis(&self.y, &self.y.upright_label()), "stacked": matches!(self.marks, Marks::Stacks { .. }),
            "rows": rows.into_iter().map(rounded).collect::<Vec<_>>(), "series": series,
            "levels": levels,
            "diagonal": self.references.iter().any(|reference| matches!(reference, Reference::Diagonal(_))),
        }))
    }
}

impl Chart {
    /// The lines of parallel coordinates with their values, and where they are in pictures of these sizes; `None` for other charts.
    pub(super) fn lines(&self, sizes: &[(f64, f64)]) -> Option<Json> {
        let Marks::Parallel { axes, lines } = &self.marks else { return None };
        let line = |(line, heights): (&ParallelLine, Vec<f64>)| {
            let heights: Vec<Json> = heights.into_iter().map(rounded).collect();
            json!({ "name": line.name, "heights": heights, "values": line.labels })
        };
        let picture = |(width, height): &(f64, f64)| {
            let layout = self.computed_layout(*width, *height);
            let across: Vec<Json> = (1..=axes.len()).map(|axis| rounded(layout.map_x(axis as f64))).collect();
            let [bottom, top] = [0.0, 1.0].map(|height| rounded(layout.map_y(height)));
            json!({ "width": width, "height": height, "across": across, "bottom": bottom, "top": top })
        };
        Some(json!({
            "label": self.x.label,
            "axes": axes.iter().map(|axis| &axis.label).collect::<Vec<_>>(),
            "lines": lines.iter().zip(parallel::heights(axes, lines)).map(line).collect::<Vec<_>>(),
            "pictures": sizes.iter().map(picture).collect::<Vec<_>>(),
        }))
    }
}

fn axis(axis: &Axis, label: &str) -> Json {
    let scale = match axis.scale {
        Scale::Plain => "plain",
        Scale::Integer => "integer",
        Scale::Share => "share",
        Scale::Logarithm => "logarithm",
        Scale::Categories => "categories",
    };
    json!({ "label": label, "scale": scale, "from": axis.from, "to": axis.to, "labels": axis.labels })
}

/// The rows of all series, and the series.
fn aligned(series: &[Series]) -> (Vec<f64>, Vec<Json>) {
    let rows = rows(series, |point| point.x.is_finite() && point.y.is_finite());
    let column = |index: usize, one: &Series| {
        let value = |of: fn(&Point) -> Option<f64>| -> Vec<Json> {
            rows.iter()
                .map(|(_, points)| points[index].as_ref().and_then(of).map_or(Json::Null, rounded))
                .collect()
        };
        let has_intervals = one.points.iter().any(|point| point.interval.is_some());
        let ends = has_intervals
            .then(|| json!([value(|point| Some(point.interval?.0)), value(|point| Some(point.interval?.1))]));
        json!({
            "name": one.name, "colour": one.ink.variable(), "dash": dash(one.ink), "marker": one.ink.outline(),
            "style": match one.style {
                SeriesStyle::Markers => "markers",
                SeriesStyle::MarkedLine => "marked line",
                SeriesStyle::Line => "line",
            },
            "values": value(|point| Some(point.y)), "intervals": ends,
        })
    };
    let columns = series.iter().enumerate().map(|(index, one)| column(index, one)).collect();
    (rows.iter().map(|(x, _)| *x).collect(), columns)
}

fn part(part: &StackSeries) -> Json {
    let values: Vec<Json> = part.values.iter().map(|value| rounded(*value)).collect();
    json!({ "name": part.name, "colour": part.ink.variable(), "values": values })
}

fn dash(ink: Ink) -> Vec<f64> {
    ink.dashes().split(' ').filter_map(|length| length.parse().ok()).collect()
}

/// A number with nine significant digits, which are enough for a picture.
fn rounded(value: f64) -> Json {
    format!("{value:.8e}").parse::<f64>().map_or(Json::Null, |value| json!(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Series, SeriesStyle, StackSeries};

    const SIZE: (f64, f64) = (560.0, 300.0);

    fn chart(marks: Marks) -> Chart {
        let references = vec![Reference::Level(1.0 / 3.0, "greedy".to_owned())];
        let (x, y) = (Axis::integer("net"), Axis::plain("Elo").from_zero());
        Chart { references, ..Chart::new("c", "c", x, y, marks) }
    }

    #[test]
    fn series_share_their_rows() {
        let series = |ink: usize, points: Vec<Point>| Series {
            name: "a".to_owned(),
            ink: Ink::Series(ink),
            style: SeriesStyle::MarkedLine,
            points,
        };
        let several = vec![Point::new(2.0, 5.0), Point::new(2.0, 6.0), Point::new(3.0, f64::NAN)];
        let with_interval = vec![Point { x: 1.0, y: 4.0, interval: Some((3.0, 5.0)) }, Point::new(2.0, 7.0)];
        let data = chart(Marks::Series(vec![series(0, several), series(1, with_interval)])).data(SIZE);
        let data = data.expect("data");
        assert_eq!(data["rows"], json!([1.0, 2.0, 2.0]));
        assert_eq!(data["series"][0]["values"], json!([null, 5.0, 6.0]));
        assert_eq!(data["series"][1]["values"], json!([4.0, 7.0, null]));
        assert_eq!(data["series"][1]["intervals"], json!([[3.0, null, null], [5.0, null, null]]));
        assert_eq!(data["series"][1]["dash"], json!([7.0, 4.0]));
        assert_eq!((&data["series"][0]["intervals"], &data["y"]["from"]), (&json!(null), &json!(0.0)));
        assert_eq!(data["levels"], json!([[0.333_333_333, "greedy", "right", "above"]]));
    }

    #[test]
    fn the_label_of_a_vertical_axis_fits_the_chart() {
        let long = "score against the settings without the change";
        let both = Chart { x: Axis::integer(long), y: Axis::plain(long), ..chart(Marks::Series(Vec::new())) };
        let data = both.data(SIZE).expect("data");
        assert_eq!(
            (&data["x"]["label"], &data["y"]["label"]),
            (&json!(long), &json!("score against the settings without the …"))
        );
    }

    #[test]
    fn the_parts_of_stacks_have_their_categories() {
        let parts = vec![StackSeries { name: "draw".to_owned(), ink: Ink::Draw, values: vec![0.5, 1.0] }];
        let data =
            chart(Marks::Stacks { categories: vec!["7".to_owned(), "8".to_owned()], parts }).data(SIZE);
        let data = data.expect("data");
        assert_eq!((&data["rows"], &data["stacked"]), (&json!([1.0, 2.0]), &json!(true)));
        assert_eq!(data["x"]["labels"], json!([[1.0, "7"], [2.0, "8"]]));
        assert_eq!(data["series"][0]["colour"], "--draw");
        assert!(chart(Marks::Bars(Vec::new())).data(SIZE).is_none());
    }
}
