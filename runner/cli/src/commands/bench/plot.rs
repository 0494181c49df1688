//! The figures of `dc0-run bench search` as an SVG of four panels.

use std::path::Path;

use dc0_analysis::charts::{Axis, Chart, Ink, Marks, Point, Scale, Series, SeriesStyle, sheet};
use dc0_core::durable;

use super::BenchError;
use super::figures::{Comparison, Engine, Scaling};

/// The size of a panel in pixels.
const SIZE: (f64, f64) = (640.0, 400.0);

/// Plots the figures to a file.
pub(super) fn write(path: &Path, comparison: &Comparison) -> Result<(), BenchError> {
    let svg = sheet(&panels(comparison), 2, SIZE);
    durable::write(path, svg.as_bytes())
        .map_err(|cause| BenchError::Plot { path: path.to_owned(), cause: cause.to_string() })
}

fn panels(comparison: &Comparison) -> [Chart; 4] {
    let speed = |engine: &Engine| vec![("", engine.speed)];
    let memory =
        |engine: &Engine| vec![(", a position", engine.memory[0]), (", a legal move", engine.memory[1])];
    [
        bars("speed", "Speed of one lane", "simulations/s", &comparison.engines, speed),
        bars("memory", "Memory of a tree", "bytes", &comparison.engines, memory),
        lines("lanes", "fast: lanes", Axis::integer("lanes"), &comparison.scaling, &["lanes"]),
        lines(
            "rows",
            "fast: rows of a batch",
            logarithmic("rows"),
            &comparison.scaling,
            &["games", "leaves"],
        ),
    ]
}

/// Bars for each engine with each evaluator.
fn bars(
    name: &str,
    title: &str,
    unit: &str,
    engines: &[Engine],
    values: impl Fn(&Engine) -> Vec<(&'static str, f64)>,
) -> Chart {
    let own = |engine: &Engine| {
        let bar = |(what, value): (&str, f64)| (format!("{} {}{what}", engine.name, engine.evaluator), value);
        values(engine).into_iter().map(bar).collect::<Vec<_>>()
    };
    Chart::new(
        name,
        title,
        Axis::plain("engine"),
        Axis::plain(unit),
        Marks::Bars(engines.iter().flat_map(own).collect()),
    )
}

/// One line for each series of the given variables.
fn lines(name: &str, title: &str, x: Axis, scaling: &[Scaling], variables: &[&str]) -> Chart {
    let series = |(at, series): (usize, &Scaling)| Series {
        name: format!("{}, {}", series.variable, series.evaluator),
        ink: Ink::Series(at),
        style: SeriesStyle::MarkedLine,
        points: series.points.iter().map(|(count, speed)| Point::new(f64::from(*count), *speed)).collect(),
    };
    let shown = scaling.iter().filter(|series| variables.contains(&series.variable));
    let marks = Marks::Series(shown.enumerate().map(series).collect());
    Chart::new(name, title, x, Axis::plain("simulations/s").from_zero(), marks)
}

fn logarithmic(label: &str) -> Axis {
    Axis { scale: Scale::Logarithm, ..Axis::plain(label) }
}
