//! Series as points, lines and intervals.

use kuva::plot::band::BandPlot;
use kuva::plot::line::LinePlot;
use kuva::plot::scatter::ScatterPlot;
use kuva::render::plots::Plot;

use super::chart::{Axis, Joined, Point, Series};
use super::look::{Ink, Look};
use super::table::valued;

const MARKER_SIZE: f64 = 4.0;
const BAND_OPACITY: f64 = 0.16;

/// What draws the series, the bands first so that no line lies under one.
pub(super) fn curves(series: &[Series], look: Look, x: &Axis) -> Vec<Plot> {
    let drawn = || series.iter().filter(|series| !series.points.is_empty());
    let bands =
        drawn().filter(|series| series.joined == Joined::Line).filter_map(|series| band(series, look));
    let lines = drawn().filter(|series| series.joined != Joined::No).map(|series| line(series, look).into());
    // A line through one point would not be seen.
    let marked = drawn().filter(|series| series.joined != Joined::Line || series.points.len() == 1);
    let points = marked.map(|series| points(series, look, x).into());
    bands.chain(lines).chain(points).collect()
}

fn band(series: &Series, look: Look) -> Option<Plot> {
    let ends: Vec<(f64, (f64, f64))> =
        series.points.iter().filter_map(|point| Some((point.x, point.interval?))).collect();
    if ends.len() < 2 {
        return None;
    }
    let (x, low) = (ends.iter().map(|(x, _)| *x), ends.iter().map(|(_, ends)| ends.0));
    let band =
        BandPlot::new(x.collect::<Vec<_>>(), low.collect::<Vec<_>>(), ends.iter().map(|(_, ends)| ends.1));
    Some(band.with_color(series.ink.colour(look)).with_opacity(BAND_OPACITY).into())
}

fn line(series: &Series, look: Look) -> LinePlot {
    let places = series.points.iter().map(|point| (point.x, point.y));
    let width = if series.joined == Joined::Line { 1.8 } else { 1.5 };
    let line = LinePlot::new().with_data(places).with_color(series.ink.colour(look)).with_stroke_width(width);
    line.with_line_style(series.ink.line())
}

fn points(series: &Series, look: Look, x: &Axis) -> ScatterPlot {
    let places = series.points.iter().map(|point| (point.x, point.y));
    let arms = series.points.iter().map(arms);
    let label =
        |point: &Point| format!("{}: {} at {} {}", series.name, valued(point), x.text(point.x), x.label);
    let plot =
        ScatterPlot::new().with_data(places).with_color(series.ink.colour(look)).with_size(MARKER_SIZE);
    let plot = plot.with_marker(series.ink.marker()).with_tooltips();
    let plot = plot.with_tooltip_labels(series.points.iter().map(label));
    if series.points.iter().any(|point| point.interval.is_some()) {
        plot.with_y_err_asymmetric(arms)
    } else {
        plot
    }
}

/// How far the ends of an interval are from the value.
fn arms(point: &Point) -> (f64, f64) {
    point.interval.map_or((0.0, 0.0), |(low, high)| (point.y - low, high - point.y))
}

/// The line where x equals y.
pub(super) fn diagonal(x: &Axis, look: Look) -> Plot {
    let ends = [x.from.unwrap_or(0.0), x.to.unwrap_or(1.0)];
    let line = LinePlot::new().with_data(ends.map(|end| (end, end))).with_color(Ink::Muted.colour(look));
    line.with_stroke_width(1.0).with_dashed().into()
}
