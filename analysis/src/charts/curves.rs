//! Draws series as points, lines and intervals.

use kuva::plot::band::BandPlot;
use kuva::plot::line::LinePlot;
use kuva::plot::scatter::ScatterPlot;
use kuva::render::plots::Plot;

use super::chart::{Axis, Point, Series, SeriesStyle};
use super::table::with_interval;
use super::theme::{Ink, Theme};

const MARKER_SIZE: f64 = 4.0;
const BAND_OPACITY: f64 = 0.16;

/// The plots of some series; bands come first so that they do not cover lines.
pub(super) fn curves(series: &[Series], theme: Theme, x: &Axis) -> Vec<Plot> {
    let drawn = || series.iter().filter(|series| !series.points.is_empty());
    let bands =
        drawn().filter(|series| series.style == SeriesStyle::Line).filter_map(|series| band(series, theme));
    let lines = drawn()
        .filter(|series| series.style != SeriesStyle::Markers)
        .map(|series| line(series, theme).into());
    // A line through a single point would be invisible.
    let marked = drawn().filter(|series| series.style != SeriesStyle::Line || series.points.len() == 1);
    let points = marked.map(|series| points(series, theme, x).into());
    bands.chain(lines).chain(points).collect()
}

fn band(series: &Series, theme: Theme) -> Option<Plot> {
    let ends: Vec<(f64, (f64, f64))> =
        series.points.iter().filter_map(|point| Some((point.x, point.interval?))).collect();
    if ends.len() < 2 {
        return None;
    }
    let (x, low) = (ends.iter().map(|(x, _)| *x), ends.iter().map(|(_, ends)| ends.0));
    let band =
        BandPlot::new(x.collect::<Vec<_>>(), low.collect::<Vec<_>>(), ends.iter().map(|(_, ends)| ends.1));
    Some(band.with_color(series.ink.colour(theme)).with_opacity(BAND_OPACITY).into())
}

fn line(series: &Series, theme: Theme) -> LinePlot {
    let points = series.points.iter().map(|point| (point.x, point.y));
    let width = if series.style == SeriesStyle::Line { 1.8 } else { 1.5 };
    let line =
        LinePlot::new().with_data(points).with_color(series.ink.colour(theme)).with_stroke_width(width);
    line.with_line_style(series.ink.line())
}

fn points(series: &Series, theme: Theme, x: &Axis) -> ScatterPlot {
    let points = series.points.iter().map(|point| (point.x, point.y));
    let errors = series.points.iter().map(errors);
    let label = |point: &Point| {
        format!("{}: {} at {} {}", series.name, with_interval(point), x.text(point.x), x.label)
    };
    let plot =
        ScatterPlot::new().with_data(points).with_color(series.ink.colour(theme)).with_size(MARKER_SIZE);
    let plot = plot.with_marker(series.ink.marker()).with_tooltips();
    let plot = plot.with_tooltip_labels(series.points.iter().map(label));
    if series.points.iter().any(|point| point.interval.is_some()) {
        plot.with_y_err_asymmetric(errors)
    } else {
        plot
    }
}

/// The distances of the interval's ends from the value.
fn errors(point: &Point) -> (f64, f64) {
    point.interval.map_or((0.0, 0.0), |(low, high)| (point.y - low, high - point.y))
}

/// The line x = y.
pub(super) fn diagonal(x: &Axis, theme: Theme) -> Plot {
    let ends = [x.from.unwrap_or(0.0), x.to.unwrap_or(1.0)];
    let line = LinePlot::new().with_data(ends.map(|end| (end, end))).with_color(Ink::Muted.colour(theme));
    line.with_stroke_width(1.0).with_dashed().into()
}
