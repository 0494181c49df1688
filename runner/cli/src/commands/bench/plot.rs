//! The figures of `dc0-run bench search` as an SVG of four panels.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::BenchError;
use super::figures::{Comparison, Engine, Scaling};

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What the drawing library says went wrong; a string holds nothing that can fail, so this is not met.
type Drawn = Result<(), Box<dyn std::error::Error>>;

const SIZE: (u32, u32) = (1280, 880);
const MARGIN: u32 = 16;
const LABELS: u32 = 70;
/// The qualitative colours of Okabe and Ito, which colour-blind readers tell apart.
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// Draws the figures into a file.
pub(super) fn write(path: &Path, comparison: &Comparison) -> Result<(), BenchError> {
    let failed = |cause: String| BenchError::Plot { path: path.to_owned(), cause };
    let svg = svg(comparison).map_err(|cause| failed(cause.to_string()))?;
    std::fs::write(path, svg).map_err(|cause| failed(cause.to_string()))
}

fn svg(comparison: &Comparison) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let panels = root.split_evenly((2, 2));
        let speed = |of: &Engine| vec![of.speed];
        bars(&panels[0], "Speed of one lane", "simulations/s", comparison, &["simulations/s"], &speed)?;
        let memory = |of: &Engine| of.memory.to_vec();
        bars(&panels[1], "Memory of a tree", "bytes", comparison, &["a position", "a legal move"], &memory)?;
        lines(&panels[2], "fast: lanes", "lanes", comparison, &["lanes"])?;
        lines(&panels[3], "fast: rows of a batch", "rows (logarithmic)", comparison, &["games", "leaves"])?;
        root.present()?;
    }
    Ok(text)
}

/// Groups of bars, one group for each engine and evaluator, one bar for each name in `names`.
fn bars(
    panel: &Panel<'_>,
    title: &str,
    unit: &str,
    comparison: &Comparison,
    names: &[&str],
    values: &dyn Fn(&Engine) -> Vec<f64>,
) -> Drawn {
    let engines = &comparison.engines;
    let top = engines.iter().flat_map(values).fold(1.0, f64::max) * if names.len() > 1 { 1.5 } else { 1.2 };
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 22))
        .margin(MARGIN)
        .x_label_area_size(LABELS / 2)
        .y_label_area_size(LABELS)
        .build_cartesian_2d(0.0..engines.len() as f64, 0.0..top)?;
    chart.configure_mesh().disable_mesh().disable_x_axis().y_desc(unit).y_label_formatter(&counted).draw()?;
    let width = 0.8 / names.len() as f64;
    for (at, (name, colour)) in names.iter().zip(COLOURS).enumerate() {
        let bar = |(group, of): (usize, &Engine)| {
            let left = group as f64 + 0.1 + at as f64 * width;
            Rectangle::new([(left, 0.0), (left + width, values(of)[at])], colour.filled())
        };
        let drawn = chart.draw_series(engines.iter().enumerate().map(bar))?;
        drawn.label(*name).legend(move |at| swatch(at, colour));
        let label = |(group, of): (usize, &Engine)| {
            let value = values(of)[at];
            let left = group as f64 + 0.1 + at as f64 * width;
            Text::new(counted(&value), (left, value + top * 0.045), ("sans-serif", 13))
        };
        chart.draw_series(engines.iter().enumerate().map(label))?;
    }
    for (group, of) in engines.iter().enumerate() {
        let place = chart.backend_coord(&(group as f64 + 0.1, 0.0));
        let own = panel.get_pixel_range();
        let inside = (place.0 - own.0.start, place.1 - own.1.start + 6);
        panel.draw(&Text::new(format!("{} {}", of.name, of.evaluator), inside, ("sans-serif", 14)))?;
    }
    if names.len() > 1 {
        legend(&mut chart)?;
    }
    Ok(())
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn legend<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>) -> Drawn {
    let mut labels = chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperRight).border_style(BLACK).background_style(WHITE.mix(0.8));
    labels.label_font(("sans-serif", 14)).draw()?;
    Ok(())
}

fn swatch((x, y): (i32, i32), colour: RGBColor) -> Rectangle<(i32, i32)> {
    Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled())
}

/// One line for each series of the kinds named, over the logarithm of the count where there are several kinds.
fn lines(panel: &Panel<'_>, title: &str, axis: &str, comparison: &Comparison, kinds: &[&str]) -> Drawn {
    let place = |count: u32| if kinds.len() > 1 { f64::from(count).log2() } else { f64::from(count) };
    let shown: Vec<&Scaling> =
        comparison.scaling.iter().filter(|series| kinds.contains(&series.of)).collect();
    let points = || shown.iter().flat_map(|series| series.points.iter());
    let top = points().map(|(_, speed)| *speed).fold(1.0, f64::max) * 1.6;
    let (first, last) = ends(points().map(|(count, _)| place(*count)));
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 22))
        .margin(MARGIN)
        .x_label_area_size(LABELS / 2)
        .y_label_area_size(LABELS)
        .build_cartesian_2d(first..last, 0.0..top)?;
    let count = |place: &f64| format!("{:.0}", if kinds.len() > 1 { place.exp2() } else { *place });
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(axis).y_desc("simulations/s").x_label_formatter(&count).y_label_formatter(&counted);
    mesh.x_labels((last - first).round() as usize + 1).light_line_style(TRANSPARENT).draw()?;
    for (series, colour) in shown.iter().zip(COLOURS) {
        let points: Vec<(f64, f64)> = series.points.iter().map(|(at, speed)| (place(*at), *speed)).collect();
        let line = LineSeries::new(points, colour.stroke_width(2)).point_size(3);
        let name = format!("{}, {}", series.of, series.evaluator);
        chart.draw_series(line)?.label(name).legend(move |at| swatch(at, colour));
    }
    legend(&mut chart)
}

/// The least and the largest, apart even where they are equal.
fn ends(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let first = values.clone().fold(f64::INFINITY, f64::min);
    let last = values.fold(f64::NEG_INFINITY, f64::max);
    if last > first { (first, last) } else { (first - 1.0, first + 1.0) }
}

/// Thousands and millions by their letters.
fn counted(value: &f64) -> String {
    match *value {
        value if value >= 1e6 => format!("{:.2} M", value / 1e6),
        value if value >= 1e4 => format!("{:.0} k", value / 1e3),
        value if value >= 1e3 => format!("{:.1} k", value / 1e3),
        value if value == value.round() => format!("{value:.0}"),
        value => format!("{value:.1}"),
    }
}
